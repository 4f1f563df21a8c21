"""Whether a situation shows the same mistake: a policy is bound to it, asked and proven wrong.

The cheapest questions come first. Costs are exact, by A*; a search that meets its limit proves
nothing, and then the situation does not count. See docs/theory/witnesses.md, "The same mistake".
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property

from engine.errors import (
    CancelledError,
    LimitReachedError,
    PolicyLostError,
    TranslationError,
    UnsupportedError,
)
from engine.minimize.situation import Situation
from engine.native.library import Outcome
from engine.pddl import Severity, format_problem
from engine.pddl.model import Problem
from engine.pddl.problem_checks import check_problem
from engine.policies.policy import NO_ACTION, NO_OPERATION, Policy, close_policy
from engine.policies.runs import STEP_LIMIT, PolicyRuns
from engine.records.evidence import Evidence, Walk
from engine.records.finding import INFINITY, BugKind, EndReason, Finding, Run, RunOutcome
from engine.records.localization import CauseKind
from engine.records.pattern import Same
from engine.search.forward import SearchLimits, search
from engine.task.load import is_trivial, load_models
from engine.task.states import StateTable
from engine.task.successors import is_applicable, successor
from engine.task.task import PddlSource, Task
from engine.task.translation_cache import NO_CACHE
from engine.workers.link import TimedLink
from engine.workers.translator import Translator

MAX_EXPANSIONS = 20_000
"""Of one search in a candidate."""
MAX_ORIGIN_EXPANSIONS = 200_000
"""Of one search in the state that everything starts from."""
ORACLE = "minimize"
"""What finds witnesses, beside the oracles."""


class Refusal(StrEnum):
    """Why a candidate does not show the mistake."""

    GOAL = auto()  # it holds already
    TASK = auto()  # nothing to search for, or what the translator does not accept
    BINDING = auto()  # the policy cannot be bound to it
    DECISION = auto()  # the policy decides otherwise
    UNSOLVABLE = auto()
    OPTIMAL = auto()  # the action is not a mistake there
    KIND = auto()  # the run ends otherwise
    LATER_STEP = auto()  # a later step is bad, too
    NO_BETTER = auto()  # no action that was better in the origin is better there
    LOSS = auto()  # it costs too much by another amount
    LIMIT = auto()  # a search met its limit, or the translator ran out of memory: unknown


@dataclass(frozen=True, slots=True)
class Mistake:
    """What has to stay the same.

    `reason` stands for the action where there is none: how the run ends in the state. `better`
    are the optimal actions of the origin. Not all steps of a loop lose something.
    """

    kind: CauseKind
    action: str
    reason: EndReason
    same: Same = Same.ACTION
    better: frozenset[str] | None = None  # None: it does not matter
    loses: bool = True  # whether the action is proven not to be optimal
    loss: int | None = None
    rest_is_optimal: bool = True  # of a detour: no step after it is bad

    @property
    def schema(self) -> str:
        return self.action.partition(" ")[0]


class Costs:
    """Exact costs-to-go of single states of a task."""

    def __init__(
        self, task: Task, link: TimedLink, expansions: int, megabytes: int | None = None
    ) -> None:
        self.task = task
        self._link, self._expansions = link, expansions
        self._bytes = None if megabytes is None else megabytes * 2**20
        self._heuristic = "lmcut" if task.is_plain else "blind"

    def within(self, link: TimedLink, expansions: int) -> Costs:
        """Return the same costs, for searches with other limits."""
        found = copy.copy(self)
        found._link, found._expansions = link, expansions
        return found

    @cached_property
    def initial(self) -> tuple[int, tuple[int, ...]] | None:
        """h* of the initial state and a plan; INFINITY if there is none, None at a limit."""
        return self._search(self.task.init, None)

    def after(self, operator: int) -> int | None:
        """What the goal costs if an operator is applied first."""
        state = successor(self.task, self.task.operators[operator], self.task.init)
        found = self._search(state, None)
        if found is None or found[0] == INFINITY:
            return None if found is None else INFINITY
        return found[0] + self.task.operators[operator].cost

    def is_optimal(self, operator: int) -> bool | None:
        """Whether an operator begins a cheapest plan; None at a limit."""
        assert self.initial is not None
        cost, plan = self.initial
        if cost == INFINITY or (plan and plan[0] == operator):
            return cost < INFINITY
        state = successor(self.task, self.task.operators[operator], self.task.init)
        left = cost - self.task.operators[operator].cost
        if left < 0:
            return False
        found = self._search(state, left + 1)
        return None if found is None else found[0] < INFINITY

    def optimal_actions(self) -> tuple[set[str], bool]:
        """The ground actions that are proven to begin a cheapest plan, and whether these are all.

        A search that meets its limit leaves open whether there are more.
        """
        found: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
        for number, operator in enumerate(self.task.operators):
            if is_applicable(operator, self.task.init):
                found[self.is_optimal(number)].add(operator.name)
        return found[True], found[None] <= found[True]

    def _search(
        self, state: tuple[int, ...], bound: int | None
    ) -> tuple[int, tuple[int, ...]] | None:
        """The cost of a cheapest plan below a bound; INFINITY if it is proven that none is."""
        result = search(
            self.task,
            "astar",
            self._heuristic,
            state=state,
            bound=bound,
            limits=SearchLimits(self._link.seconds_left, self._bytes, self._expansions),
            control=self._link.control,
        )
        self._link.check()
        if result.outcome is Outcome.TIME_LIMIT:
            raise LimitReachedError("the time limit was reached")
        if result.outcome is Outcome.SOLVED:
            assert result.cost is not None
            return result.cost, result.plan or ()
        proven = result.outcome in (Outcome.UNSOLVABLE, Outcome.NO_CHEAPER_PLAN)
        return (INFINITY, ()) if proven else None


@dataclass(frozen=True)
class Shown:
    """A situation that shows the mistake."""

    situation: Situation
    problem: Problem
    costs: Costs
    run: Run
    action: str  # ground; by schema it may have other objects
    loss: int | None

    @property
    def task(self) -> Task:
        return self.costs.task

    @property
    def run_length(self) -> int:
        """The step that closes a loop is one of the run."""
        closes = self.run.reason is EndReason.LOOP and self.run.last_decision >= 0
        return len(self.run.operators) + closes

    @cached_property
    def finding(self) -> Finding:
        assert self.costs.initial is not None
        bound, plan = self.costs.initial
        solved = self.run.outcome is RunOutcome.SOLVED
        evidence = Evidence(self.task.init, (Walk(plan, "astar"),), bound)
        kind = BugKind.TOO_EXPENSIVE if solved else BugKind.FAILS
        return Finding(self.task.init, kind, self.run, bound, evidence, ORACLE)


@dataclass(frozen=True)
class Laboratory:
    """What candidates of one problem are tried with: its domain, the policy, a translator."""

    source: PddlSource  # of the problem at the state
    domain_text: str
    policy: Policy
    translator: Translator
    link: TimedLink
    megabytes: int | None = None  # of one search

    def examine(
        self, situation: Situation, mistake: Mistake, expansions: int = MAX_EXPANSIONS
    ) -> Shown | Refusal:
        """Whether a situation shows a mistake; raises `LimitReachedError` if the time is over."""
        if situation.holds_goal():
            return Refusal.GOAL
        problem = situation.problem(self.source.problem)
        task = self._task(problem)
        if isinstance(task, Refusal):
            return task
        try:
            with closing(self._runs(task)) as runs:
                costs = Costs(task, self.link, expansions, self.megabytes)
                return _Trial(situation, problem, runs.value, costs, self.link).result(mistake)
        except _BindingError:
            return Refusal.BINDING

    def answer(self, situation: Situation) -> str:
        """What the policy does in a situation that has a task: it decides, or is not bound."""
        task = self._task(situation.problem(self.source.problem))
        if isinstance(task, Refusal):
            return "cannot be asked again"
        try:
            with closing(self._runs(task)) as runs:
                decision = int(runs.value.decisions(runs.value.table.add(task.init))[0])
        except _BindingError as error:
            return f"fails: {error}"
        if decision >= 0:
            return f"decides ({task.operators[decision].name})"
        words = {NO_ACTION: "decides nothing", NO_OPERATION: "decides an action without effect"}
        return words.get(decision, "decides what cannot be executed")

    def _task(self, problem: Problem) -> Task | Refusal:
        """The task of a candidate, or why there is none."""
        source = PddlSource(self.source.domain, problem, self.source.unit_costs)
        found = check_problem(problem, source.domain)
        if any(item.severity is Severity.ERROR for item in found):
            return Refusal.TASK
        try:
            task = load_models(
                source,
                (self.domain_text, format_problem(problem)),
                cancelled=self.link.cancelled,
                cache=NO_CACHE,
                translator=self.translator,
            )
        except CancelledError:
            self.link.check()
            raise
        except LimitReachedError:
            return Refusal.LIMIT
        except (TranslationError, UnsupportedError):
            return Refusal.TASK
        return Refusal.TASK if is_trivial(task) else task

    def _runs(self, task: Task) -> _Bound:
        try:
            bound = self.policy.bind(task)
        except (CancelledError, PolicyLostError, MemoryError):  # say nothing about the candidate
            raise
        except Exception as error:  # a plug-in raises what it likes
            raise _BindingError(str(error)) from error
        return _Bound(PolicyRuns(bound, StateTable(task)))


class _BindingError(Exception):
    """A policy that cannot be bound to a candidate makes it another situation, never an error."""


@dataclass(frozen=True)
class _Bound:
    """The runs of a policy that is closed at the end."""

    value: PolicyRuns

    def close(self) -> None:
        close_policy(self.value.policy)


@dataclass(frozen=True)
class _Trial:
    """One situation and one policy that is bound to it."""

    situation: Situation
    problem: Problem
    runs: PolicyRuns
    costs: Costs
    link: TimedLink

    def result(self, mistake: Mistake) -> Shown | Refusal:
        (start,) = self.runs.table.add(self.costs.task.init).tolist()
        operator = int(self.runs.decisions([start])[0])
        if self.runs.lost is not None:
            raise self.runs.lost
        if not self._decides(operator, start, mistake):
            return Refusal.DECISION
        if self.costs.initial is None:
            return Refusal.LIMIT
        optimal, plan = self.costs.initial
        if optimal == INFINITY or not plan:
            return Refusal.GOAL if optimal == 0 else Refusal.UNSOLVABLE
        after: int | None = INFINITY if operator < 0 else self.costs.after(operator)
        if after is None:
            return Refusal.LIMIT
        if after == optimal and mistake.loses:
            return Refusal.OPTIMAL
        return self._result_of_run(start, operator, after, mistake)

    def _decides(self, operator: int, start: int, mistake: Mistake) -> bool:
        """Whether the policy decides as in the origin."""
        if not mistake.action:
            run = self._run(start, 1)
            return operator < 0 and not run.operators and run.reason is mistake.reason
        if operator < 0:
            return False
        name = self.costs.task.operators[operator].name
        if mistake.same is Same.SCHEMA:
            return name.partition(" ")[0] == mistake.schema
        return name == mistake.action

    def _result_of_run(
        self, start: int, operator: int, after: int, mistake: Mistake
    ) -> Shown | Refusal:
        run = self._run(start, STEP_LIMIT)
        if not _is_of_kind(run, after, mistake.kind):
            return Refusal.KIND
        if mistake.kind is CauseKind.DETOUR and mistake.rest_is_optimal and run.cost != after:
            return Refusal.LATER_STEP
        assert self.costs.initial is not None
        loss = None if after == INFINITY else after - self.costs.initial[0]
        if mistake.same is Same.LOSS and loss != mistake.loss:
            return Refusal.LOSS
        if mistake.better is not None and not self._has_better(mistake.better):
            return Refusal.NO_BETTER
        name = self.costs.task.operators[operator].name if operator >= 0 else ""
        return Shown(self.situation, self.problem, self.costs, run, name, loss)

    def _run(self, start: int, steps: int) -> Run:
        self.runs.run([start], steps, self.link.cancelled)
        self.link.check()
        return self.runs.record(start)

    def _has_better(self, better: Iterable[str]) -> bool:
        """Whether an action that is optimal in the origin is so here, under its new names."""
        task = self.costs.task
        assert task.source is not None
        assert self.costs.initial is not None
        mapping = {item.name: item.name for item in task.source.domain.constants}
        mapping |= self.situation.mapping
        wanted = {mapped for action in better if (mapped := _mapped(action, mapping))}
        if task.operators[self.costs.initial[1][0]].name in wanted:
            return True
        return any(
            is_applicable(task.operators[number], task.init) and self.costs.is_optimal(number)
            for name in sorted(wanted)
            for number in task.operators_of_action.get(name, ())
        )


def _mapped(action: str, mapping: Mapping[str, str]) -> str:
    """An action of the origin with the objects that are left; empty if one of them is gone."""
    schema, *objects = action.split(" ")
    if any(name not in mapping for name in objects):
        return ""
    return " ".join([schema, *(mapping[name] for name in objects)])


def _is_of_kind(run: Run, after: int, kind: CauseKind) -> bool:
    """Whether a run that begins with the action goes wrong in the same way."""
    if kind is CauseKind.DETOUR:
        return run.outcome is RunOutcome.SOLVED
    if run.outcome is not RunOutcome.FAILED:
        return False
    if kind is CauseKind.DEAD_END:
        return after == INFINITY
    return kind is not CauseKind.LOOP or run.reason is EndReason.LOOP
