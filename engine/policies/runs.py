"""Policy runs: what becomes of a task when the policy decides.

Runs from many states advance together, one batched question to the policy per step, and a state
is decided only once. Every state on a run learns its result. Only a run that was walked to its
end gives one: what stopped early stays unknown, and is a lower bound at most.
See docs/theory/definitions.md, "Policies and runs".
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.errors import CancelledError, PolicyError, PolicyLostError
from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.policies.policy import NO_ACTION, NO_OPERATION, BoundPolicy
from engine.policies.run_graph import (
    ABORTED,
    FAILED,
    NO_REASON,
    OUTCOMES,
    REASON_CODES,
    REASONS,
    SOLVED,
    UNKNOWN,
    RunGraph,
)
from engine.records.finding import INFINITY, NO_DECISION, EndReason, Run, RunOutcome
from engine.task.states import StateTable
from engine.workers.link import NULL_LINK

STEP_LIMIT = 10_000
"""Steps after which a run is stopped unless the user says otherwise."""

MAX_ERRORS_IN_A_ROW = 3
"""A policy that failed on so many single states is not asked again in this run."""

RESOLVE_EVERY = 64
"""Steps of bounded runs between two looks for loops."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PolicyRun:
    """One run: pairwise different states and the operators between them.

    The cost is exact if SOLVED, a lower bound if ABORTED, and `None` if FAILED.
    """

    outcome: RunOutcome
    reason: EndReason
    cost: int | None
    states: tuple[int, ...]
    operators: tuple[int, ...]


@dataclass(frozen=True)
class RunResults:
    """Results of many runs, one entry per start.

    `cost` is exact where SOLVED, INFINITY where FAILED, and where ABORTED a lower bound: the cost
    of what was walked.
    """

    starts: Int32Array
    outcome: npt.NDArray[np.object_]  # RunOutcome
    reason: npt.NDArray[np.object_]  # EndReason
    cost: Int64Array


@dataclass
class Statistics:
    calls: int = 0  # questions to the policy
    evaluated: int = 0  # states it was asked about
    seconds: float = 0.0  # spent in it
    faults: Counter[EndReason] = field(default_factory=Counter)  # inapplicable answers, errors
    errors: list[str] = field(default_factory=list)  # what it said when it raised, once each


class PolicyRuns:
    """All runs of one policy on the states of one table. Not for two threads at once."""

    def __init__(self, policy: BoundPolicy, table: StateTable) -> None:
        self.policy = policy
        self.table = table
        self.statistics = Statistics()
        self.lost: PolicyLostError | None = None  # why nobody decides any more
        costs = [operator.cost for operator in table.task.operators]
        self._graph = RunGraph(np.array(costs, dtype=np.int64))
        self._examined = np.zeros(0, dtype=np.bool_)
        self._touched_in = np.zeros(0, dtype=np.int64)
        self._turn = 0
        self._touched: list[Int32Array] = []
        self._gave_up = False

    def run(
        self,
        starts: npt.ArrayLike,
        step_limit: int | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> RunResults:
        """Run from each state to the end; the limit counts new questions along each run."""
        starts = self._begin(starts)
        frontier = self._advance(starts)
        steps = 0
        try:
            while len(frontier) and not self._gave_up and steps != step_limit:
                if cancelled():
                    raise CancelledError
                frontier = self._advance(self._ask(frontier))
                steps += 1
        finally:
            self._resolve()
        return self._results(starts)

    def run_bounded(
        self,
        starts: npt.ArrayLike,
        cutoffs: npt.ArrayLike,
        max_steps: int | None = None,
        *,
        dead_end: Callable[[Int32Array], BoolArray] | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        enough: Callable[[Int32Array, Int64Array], BoolArray] | None = None,
    ) -> Int64Array:
        """Policy costs where they are below the cut-off of their start, INFINITY elsewhere.

        INFINITY here only means "not shown to be below": the run may have been stopped by its
        cost, by `max_steps`, by a visited state that `dead_end` recognizes, or because its state
        and what it has cost so far were `enough` for whoever asks.
        """
        starts = self._begin(starts)
        bound = np.broadcast_to(np.asarray(cutoffs, dtype=np.int64), starts.shape)
        state, spent = starts.copy(), np.zeros(len(starts), dtype=np.int64)
        answer = np.full(len(starts), INFINITY, dtype=np.int64)
        active = np.flatnonzero(bound > 0)
        steps = 0
        try:
            while len(active) and not self._gave_up:
                if cancelled():
                    raise CancelledError
                active = self._settle(active, state, spent, bound, answer)
                if dead_end is not None and len(active):
                    active = active[~dead_end(state[active])]
                if enough is not None and len(active):
                    active = active[~enough(state[active], spent[active])]
                if steps == max_steps:
                    break
                active = self._step(active, state, spent)
                active = active[spent[active] < bound[active]]
                steps += 1
                if steps % RESOLVE_EVERY == 0:
                    self._resolve()
        finally:
            self._resolve()
        return answer

    def known(self, states: npt.ArrayLike) -> RunResults:
        """What is known without asking the policy; UNKNOWN where that is nothing."""
        states = self._begin(states)
        self._examine(states)
        graph = self._graph
        outcome, reason = OUTCOMES[graph.outcome[states]], REASONS[graph.reason[states]]
        return RunResults(states, outcome, reason, graph.cost[states])

    def decisions(self, states: npt.ArrayLike) -> Int32Array:
        """The policy's operators, asking where they are not known.

        `NO_ACTION` and `NO_OPERATION` are possible; `UNDECIDED` stands where nothing is to be
        decided, since the goal is reached, and where the policy has no usable answer.
        """
        states = self._begin(states)
        self._ask(self._undecided(self._touch(states)))
        self._resolve()
        return self._graph.decision[states]

    def parents(self, state: int) -> list[int]:
        """The states from which the policy was seen to go to `state`."""
        self._grow()
        parents: list[int] = self._graph.parents(np.array([state], dtype=np.int32)).tolist()
        return parents

    def steps_to(self, state: int) -> list[tuple[int, int]]:
        """The known steps of the policy that lead to `state`: from where, by which operator."""
        self._grow()
        return self._graph.steps_to(state)

    def trace(self, start: int) -> PolicyRun:
        """The run from a state as far as it has been walked."""
        outcome, reason, cost = self._result(start)
        graph = self._graph
        states, operators, seen = [start], list[int](), {start}
        while (child := int(graph.child[states[-1]])) >= 0 and child not in seen:
            operators.append(int(graph.decision[states[-1]]))
            states.append(child)
            seen.add(child)
        return PolicyRun(
            outcome,
            reason,
            None if outcome is RunOutcome.FAILED else cost,
            tuple(states),
            tuple(operators),
        )

    def record(self, start: int) -> Run:
        """The run from a state as far as it has been walked, for whoever has no table."""
        run, last = self.trace(start), NO_DECISION
        if run.outcome is RunOutcome.FAILED:
            last = int(self._graph.decision[run.states[-1]])
        return Run(run.outcome, run.reason, run.cost, run.operators, last)

    def _result(self, start: int) -> tuple[RunOutcome, EndReason, int]:
        """What is known of one run; of a finished one that is asked too often for arrays."""
        self._grow()
        graph = self._graph
        outcome: RunOutcome = OUTCOMES[graph.outcome[start]]
        if outcome is not RunOutcome.UNKNOWN:
            return outcome, REASONS[graph.reason[start]], int(graph.cost[start])
        results = self._results(self._begin(start))
        return results.outcome[0], results.reason[0], int(results.cost[0])

    def _begin(self, states: npt.ArrayLike) -> Int32Array:
        self._turn += 1
        self._gave_up = False
        self._touched = [np.empty(0, dtype=np.int32)]
        self._grow()
        return np.atleast_1d(np.asarray(states, dtype=np.int32))

    def _grow(self) -> None:
        size = len(self.table)
        self._graph.grow(size)
        if size > len(self._examined):
            room = max(2 * size, 1024)
            self._examined = np.concatenate(
                [self._examined, np.zeros(room - len(self._examined), dtype=np.bool_)]
            )
            self._touched_in = np.concatenate(
                [self._touched_in, np.zeros(room - len(self._touched_in), dtype=np.int64)]
            )

    def _examine(self, states: Int32Array) -> None:
        """The goal test comes before any decision: in a goal state a run is over."""
        fresh = np.unique(states[~self._examined[states]])
        self._examined[fresh] = True
        goals = fresh[self.table.is_goal(fresh)]
        self._graph.add_ends(goals, SOLVED, EndReason.GOAL)

    def _touch(self, states: Int32Array) -> Int32Array:
        """Those of the states that this turn has not seen yet, each once."""
        fresh = np.unique(states[self._touched_in[states] != self._turn])
        self._touched_in[fresh] = self._turn
        self._touched.append(fresh)
        return fresh

    def _undecided(self, states: Int32Array) -> Int32Array:
        """Those of the states that the policy has yet to be asked about."""
        self._examine(states)
        graph = self._graph
        open_end = (graph.outcome[states] == UNKNOWN) & (graph.child[states] < 0)
        undecided: Int32Array = states[open_end & (graph.reason[states] == NO_REASON)]
        return undecided

    def _advance(self, states: Int32Array) -> Int32Array:
        """Walk on along known decisions; the undecided states where that ends."""
        frontier = [np.empty(0, dtype=np.int32)]
        while len(states := self._touch(states)):
            frontier.append(self._undecided(states))
            states = states[self._graph.outcome[states] == UNKNOWN]
            states = self._graph.child[states]
            states = states[states >= 0]
        return np.concatenate(frontier)

    def _settle(
        self,
        active: Int64Array,
        state: Int32Array,
        spent: Int64Array,
        bound: Int64Array,
        answer: Int64Array,
    ) -> Int64Array:
        """Enter the answers of runs whose result is known; the others go on."""
        current = state[active]
        self._touch(current)
        self._examine(current)
        outcome = self._graph.outcome[current]
        solved = active[outcome == SOLVED]
        total = spent[solved] + self._graph.cost[state[solved]]
        below = total < bound[solved]
        answer[solved[below]] = total[below]
        unsettled: Int64Array = active[outcome == UNKNOWN]
        return unsettled

    def _step(self, active: Int64Array, state: Int32Array, spent: Int64Array) -> Int64Array:
        """One step of each run; those that cannot go on leave."""
        self._ask(self._undecided(np.unique(state[active])))
        active = active[self._graph.child[state[active]] >= 0]
        spent[active] += self._graph.edge_costs(state[active])
        state[active] = self._graph.child[state[active]]
        return active

    def _resolve(self) -> None:
        self._graph.resolve(np.concatenate(self._touched))

    def _results(self, starts: Int32Array) -> RunResults:
        graph = self._graph
        outcome, reason = graph.outcome[starts], graph.reason[starts]
        cost = np.where(outcome == SOLVED, graph.cost[starts], INFINITY)
        aborted = outcome == UNKNOWN
        ends, cost[aborted] = graph.follow(starts[aborted])
        stopped = REASON_CODES[EndReason.POLICY_ERROR if self._gave_up else EndReason.STEP_LIMIT]
        reason[aborted] = np.where(graph.reason[ends] == NO_REASON, stopped, graph.reason[ends])
        outcome[aborted] = ABORTED
        return RunResults(starts, OUTCOMES[outcome], REASONS[reason], cost)

    def _ask(self, states: Int32Array) -> Int32Array:
        """Decide for distinct states, check the answers and enter them; the children."""
        if not len(states):
            return states
        states, answers = self._answers(states)
        graph = self._graph
        possible = (answers >= 0) & (answers < len(self.table.task.operators))
        children = np.full(len(states), -1, dtype=np.int32)
        children[possible] = self.table.apply(states[possible], answers[possible])
        self._grow()
        moved = children >= 0
        graph.decision[states[moved]] = answers[moved]
        graph.add_edges(states[moved], children[moved])
        if not moved.all():
            self._end(states[~moved], answers[~moved])
        return children[moved]

    def _end(self, states: Int32Array, answers: Int64Array) -> None:
        """Enter answers that lead nowhere: none, no operator, or a wrong one."""
        usable = (answers == NO_ACTION) | (answers == NO_OPERATION)
        self._graph.decision[states[usable]] = answers[usable]
        for reason, chosen in (
            (EndReason.NO_ACTION, states[answers == NO_ACTION]),
            (EndReason.LOOP, states[answers == NO_OPERATION]),
            (EndReason.INAPPLICABLE, states[~usable]),
        ):
            self._graph.add_ends(chosen, FAILED, reason)
        if not usable.all():
            self.statistics.faults[EndReason.INAPPLICABLE] += int((~usable).sum())

    def _answers(self, states: Int32Array) -> tuple[Int32Array, Int64Array]:
        """The states that got an answer, and the answers: none from a policy that was lost.

        When the policy raises, the states are asked one by one, to find those it fails on. That
        proves nothing about its decision there, so such runs are ABORTED.
        """
        nothing = states[:0], np.empty(0, dtype=np.int64)
        if self.lost is not None:
            self._gave_up = True
            return nothing
        try:
            return states, self._question(states)
        except CancelledError:
            raise
        except PolicyLostError as error:
            self.lost, self._gave_up = error, True
            self.statistics.errors.append(f"{type(error).__name__}: {error}")
            return nothing
        except Exception as error:
            if len(states) == 1:
                self._note_error(states, error)
                return nothing
        answered: list[tuple[Int32Array, Int64Array]] = []
        in_a_row = 0
        for number in range(len(states)):
            part, answers = self._answers(states[number : number + 1])
            answered.append((part, answers))
            in_a_row = 0 if len(part) else in_a_row + 1
            if in_a_row == MAX_ERRORS_IN_A_ROW:
                self._gave_up = True
                break
        return (
            np.concatenate([part for part, _ in answered]),
            np.concatenate([answers for _, answers in answered]),
        )

    def _question(self, states: Int32Array) -> Int64Array:
        values = self.table.values(states)
        started = time.perf_counter()
        try:
            answers = np.asarray(self.policy.decide(values))
        finally:
            self.statistics.seconds += time.perf_counter() - started
            self.statistics.calls += 1
            self.statistics.evaluated += len(states)
        if answers.shape != (len(states),) or not np.issubdtype(answers.dtype, np.integer):
            raise PolicyError(
                f"the policy answered with {answers.dtype} of shape {answers.shape} "
                f"when asked about {len(states)} states",
                hint="it must give one operator id per state",
            )
        return answers.astype(np.int64)

    def _note_error(self, states: Int32Array, error: Exception) -> None:
        self._graph.add_ends(states, UNKNOWN, EndReason.POLICY_ERROR)
        self.statistics.faults[EndReason.POLICY_ERROR] += 1
        text = f"{type(error).__name__}: {error}"
        if text not in self.statistics.errors:
            self.statistics.errors.append(text)
            _log.warning("the policy failed on state %d", int(states[0]), exc_info=error)
