"""Which steps of a policy run are bad, by bisection.

Along any path F = cost so far + h* never falls, and a step is optimal where F stays the same.
Where F is equal at both ends of a stretch, all its steps are optimal; where not, a search in the
middle tells in which half F rises. On a solved run F is the policy's cost minus its gap; on one
that fails F becomes infinite where the goal is lost, so all runs are treated alike. The paper
checks one action at a time, and so can we; bisection needs few searches when few steps are bad.
See docs/theory/localization.md, "Bad steps of a run".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TypeVar

from engine.errors import UsageError, WorkspaceError
from engine.localize.action_optimality import ALGORITHMS as ACTION_ALGORITHMS
from engine.localize.cost_bounds import CostBounds
from engine.localize.losses import (
    cause_of,
    failure_of,
    find_worst_step,
    loss_between,
    settle_solvability,
    share_gap,
)
from engine.localize.run_searches import DEFAULT_LIMITS, LocalizationLimits, RunSearches
from engine.native.control import Control
from engine.policies.runs import PolicyRun
from engine.records.finding import INFINITY, EndReason, Finding, RunOutcome
from engine.records.localization import Localization, LocalizedStep, StepVerdict
from engine.search.aoca_star import admissible_kernel
from engine.task.states import StateTable
from engine.workers.link import NULL_LINK


@dataclass(frozen=True, slots=True)
class Searched:
    """The progress of localizing a run, reported after each search."""

    searches: int
    expanded: int
    decided: int
    steps: int


Listener = Callable[[Searched], None]

Answer = TypeVar("Answer")

BISECTION = "bisection"
ALGORITHMS = (BISECTION, *ACTION_ALGORITHMS)


class Localizer:
    """Localizes bad steps on many runs through the states of one table.

    All runs share what is known, so one that joins a run that was examined before costs little.
    Any algorithm but bisection is asked about one step after the other.
    """

    def __init__(
        self,
        table: StateTable,
        *,
        algorithm: str = BISECTION,
        heuristic: str = "lmcut",
        limits: LocalizationLimits = DEFAULT_LIMITS,
        control: Control | None = None,
        emit: Listener = NULL_LINK.emit,
    ) -> None:
        if algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise UsageError(f"unknown algorithm '{algorithm}'", hint=f"choose one of {known}")
        admissible_kernel(heuristic, table.task)  # others would pass off any plan as optimal
        self.table = table
        self.bounds = CostBounds(table)
        self._algorithm, self._limits = algorithm, limits
        self._searching = RunSearches(self.bounds, heuristic, control or Control())
        self._emit = emit

    def localize(
        self,
        run: PolicyRun,
        last_decision: int | None = None,
        *,
        known_plan: tuple[int, ...] | None = None,
        known_bound: int | None = None,
        limits: LocalizationLimits | None = None,
    ) -> Localization:
        """Verdicts on the steps of a run, and on `last_decision` if that closes a loop.

        A plan from the first state, or a bound on its h*, spares searches if it is known. Limits
        may differ from run to run. A stop through the control leaves steps undecided.
        """
        self._searching.begin(limits or self._limits)
        path = Path.of(run, last_decision, self.table)
        if known_plan is not None:
            self.bounds.add_plan(path.states[0], known_plan, optimal=False)
        self.bounds.add_path(path.states, path.operators)
        examination = _Examination(path, self.bounds, self._searching, self._emit, known_bound)
        return examination.result(run, self._algorithm)

    def localize_finding(
        self, finding: Finding, limits: LocalizationLimits | None = None
    ) -> Localization:
        """Verdicts on the steps of a bug's run; what its evidence proves spares searches."""
        run, evidence = finding.run, finding.evidence
        states: list[int] = self.table.add(finding.state).tolist()
        for operator in run.operators:
            (successor,) = self.table.apply([states[-1]], [operator]).tolist()
            if successor < 0:
                raise WorkspaceError(
                    "the policy's run cannot be replayed", hint="restore a backup of the workspace"
                )
            states.append(successor)
        closes_loop = run.reason is EndReason.LOOP and run.last_decision >= 0
        return self.localize(
            PolicyRun(run.outcome, run.reason, run.cost, tuple(states), run.operators),
            run.last_decision if closes_loop else None,
            known_plan=evidence.operators if evidence.is_plan else None,
            known_bound=evidence.bound,
            limits=limits,
        )


@dataclass(frozen=True, slots=True)
class Path:
    """A run as a path; one that ends in a loop has its first repeated state at its end."""

    states: tuple[int, ...]
    operators: tuple[int, ...]
    loop_begin: int | None

    @classmethod
    def of(cls, run: PolicyRun, last_decision: int | None, table: StateTable) -> Path:
        if last_decision is None or last_decision < 0:
            return cls(run.states, run.operators, None)
        (again,) = table.apply([run.states[-1]], [last_decision]).tolist()
        if again not in run.states:
            raise ValueError("the last decision does not close a loop")
        operators = (*run.operators, last_decision)
        return cls((*run.states, again), operators, run.states.index(again))


class _Examination:
    """One run."""

    def __init__(
        self,
        path: Path,
        bounds: CostBounds,
        searching: RunSearches,
        emit: Listener,
        known_bound: int | None,
    ) -> None:
        self.path, self.bounds, self.searching, self.emit = path, bounds, searching, emit
        self.known_bound = INFINITY if known_bound is None else known_bound
        self.costs = [bounds.table.task.operators[o].cost for o in path.operators]
        self.spent = [0, *accumulate(self.costs)]
        self.answers: dict[int, StepVerdict] = {}  # to questions about single steps

    def result(self, run: PolicyRun, algorithm: str) -> Localization:
        solved = run.outcome is RunOutcome.SOLVED
        if not solved:
            settle_solvability(self.path.states, self._knows_if_solvable, self.bounds)
        if algorithm == BISECTION:
            self._bisect(self._last_solvable())
        else:
            self._ask_about_steps(algorithm)
        steps = tuple(self._verdict(k, run) for k in range(len(self.path.operators)))
        start = self.path.states[0]
        if solved:
            steps = share_gap(steps, self.spent[-1] - self.bounds.low(start))
        failure = (
            None if solved else failure_of(self.path.states, self.path.loop_begin, self.bounds)
        )
        cause = cause_of(run, steps, failure, self.bounds)
        worst = find_worst_step(steps, cause, failure)
        beaten = not solved or self.bounds.high(start) < self.spent[-1]
        return Localization(
            steps=steps,
            cause=cause,
            failure=failure,
            searches=self.searching.searches,
            naive_searches=len(set(self.path.states)),
            expanded=self.searching.expanded,
            seconds=self.searching.seconds,
            limited=any(step.verdict is StepVerdict.UNDECIDED for step in steps)
            or not all(map(self.bounds.is_settled, self.path.states)),
            worst_step=worst,
            worst_action=self._action(worst),
            better_plan=self.bounds.plan(start) if beaten else None,
        )

    def _action(self, step: int | None) -> str:
        if step is None or step == len(self.path.operators):
            return ""
        return self.bounds.table.task.operators[self.path.operators[step]].name

    def _last_solvable(self) -> int:
        known = [k for k, s in enumerate(self.path.states) if self.bounds.high(s) != INFINITY]
        return max(known, default=0)

    def _bisect(self, last: int) -> None:
        """Search in the middle of stretches on which F rises, from the end to the beginning.

        A state that is too hard says that those before it are too, most likely: nothing is tried
        between two such states, so that limits strike only a few times.
        """
        self._knows_cost(last)
        self._knows_cost(0)
        stretches = [(0, last)]
        while stretches:
            begin, end = stretches.pop()
            if not self._is_exact(begin):
                begin = self._last_too_hard(begin, end)
            if end - begin < 2 or self._is_level(begin, end):
                continue
            middle = (begin + end) // 2
            known = self._knows_cost(middle)
            if known or self._is_exact(begin):
                stretches.append((begin, middle))
            if known or self._is_exact(end):
                stretches.append((middle, end))

    def _ask_about_steps(self, algorithm: str) -> None:
        """One step after the other, from the end, as far as what is known does not decide."""
        for k in reversed(range(len(self.path.operators))):
            state, operator = self.path.states[k], self.path.operators[k]
            if self._judge(k) is StepVerdict.UNDECIDED and self.bounds.high(state) != INFINITY:
                self.answers[k] = self._watched(
                    partial(self.searching.ask, state, operator, algorithm)
                )

    def _last_too_hard(self, begin: int, end: int) -> int:
        """Other runs may have come here before."""
        states = self.path.states
        hard = [k for k in range(begin, end) if self.searching.is_too_hard(states[k])]
        return max(hard, default=begin)

    def _is_exact(self, k: int) -> bool:
        return self.bounds.is_exact(self.path.states[k])

    def _is_level(self, begin: int, end: int) -> bool:
        """Whether F is known to be the same at both ends."""
        low = self.bounds.low(self.path.states[begin])
        high = self.bounds.high(self.path.states[end])
        return self.spent[begin] + low == self.spent[end] + high

    def _knows_cost(self, k: int) -> bool:
        at_most = self.known_bound if k == 0 else INFINITY
        return self._watched(partial(self.searching.find_cost, self.path.states[k], at_most))

    def _knows_if_solvable(self, state: int) -> bool:
        return self._watched(partial(self.searching.find_plan, state))

    def _watched(self, question: Callable[[], Answer]) -> Answer:
        before = self.searching.searches
        answer = question()
        if self.searching.searches > before:
            steps = range(len(self.path.operators))
            decided = sum(self._judge(k) is not StepVerdict.UNDECIDED for k in steps)
            self.emit(
                Searched(self.searching.searches, self.searching.expanded, decided, len(steps))
            )
        return answer

    def _after(self, k: int) -> tuple[int, int]:
        """What the goal costs at least and at most when step k is taken."""
        state = self.path.states[k + 1]
        low, high = self.bounds.low(state), self.bounds.high(state)
        return _plus(low, self.costs[k]), _plus(high, self.costs[k])

    def _judge(self, k: int) -> StepVerdict:
        state = self.path.states[k]
        low, high = self.bounds.low(state), self.bounds.high(state)
        after_low, after_high = self._after(k)
        if low == INFINITY:
            return StepVerdict.OPTIMAL  # nothing is better: the goal is lost
        if high < after_low:
            return StepVerdict.NOT_OPTIMAL
        return (
            StepVerdict.OPTIMAL if after_high <= low else self.answers.get(k, StepVerdict.UNDECIDED)
        )

    def _verdict(self, k: int, run: PolicyRun) -> LocalizedStep:
        state, verdict = self.path.states[k], self._judge(k)
        after_low, after_high = self._after(k)
        low, high = self.bounds.low(state), self.bounds.high(state)
        loss_low, loss_high = loss_between(verdict, low, high, after_low, after_high)
        plan = self.bounds.plan(state) if high < after_low else None
        total = run.cost if run.outcome is RunOutcome.SOLVED else None
        return LocalizedStep(
            index=k,
            operator=self.path.operators[k],
            verdict=verdict,
            policy_cost_to_go=None if total is None else total - self.spent[k],
            optimal_low=low,
            optimal_high=high,
            after_low=after_low,
            after_high=after_high,
            loss_low=loss_low,
            loss_high=loss_high,
            better_operator=plan[0] if plan else None,
            better_plan=plan,
        )


def _plus(bound: int, cost: int) -> int:
    return bound if bound == INFINITY else bound + cost
