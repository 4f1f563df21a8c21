"""Policy runs: what becomes of a task when the policy decides.

Decisions and results lie in a graph of the kernels. A policy of the kernels runs there from the
first state to the last; any other one is asked about many states at once: runs advance together,
one batched question per step. A state is decided only once, and every state on a run learns its
result. Only a run that was walked to its end gives one: what stopped early stays unknown, and is
a lower bound at most. See docs/theory/definitions.md, "Policies and runs".
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.errors import CancelledError, PolicyError, PolicyLostError
from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.native.policies import BoundedRuns, NativePolicy, NativeRuns
from engine.policies.ahead import Ahead, MoreStarts
from engine.policies.policy import BoundPolicy
from engine.records.finding import INFINITY, NO_DECISION, EndReason, Run, RunOutcome
from engine.task.states import StateTable
from engine.workers.link import NULL_LINK

STEP_LIMIT = 10_000
"""Steps after which a run is stopped unless the user says otherwise."""

MAX_ERRORS_IN_A_ROW = 3
"""A policy that failed on this many single states is not asked again in this run."""

UNDECIDED = -3
_WRONG = -4
"""Stands for an invalid answer."""

OUTCOMES: npt.NDArray[np.object_] = np.array(list(RunOutcome), dtype=object)
REASONS: npt.NDArray[np.object_] = np.array(list(EndReason), dtype=object)
"""The kernels' codes are places in these arrays."""

_UNKNOWN = list(RunOutcome).index(RunOutcome.UNKNOWN)
_NO_BOUNDS = np.empty(0, np.int64)

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
        self.lost: PolicyLostError | None = None  # why the policy can no longer decide
        self.kernel: NativePolicy | None = getattr(policy, "kernel", None)
        self.native = NativeRuns(table.native, self.kernel)
        self._ahead: Ahead | None = None
        self._gave_up = False
        self._wrong = 0  # answers that were counted as inapplicable

    def apart(self) -> PolicyRuns:
        """The same policy on the same table, with runs that know nothing of these.

        What it is asked is counted here as well.
        """
        others = PolicyRuns(self.policy, self.table)
        others.statistics = self.statistics
        return others

    def run(
        self,
        starts: npt.ArrayLike,
        step_limit: int | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> RunResults:
        """Run from each state to the end; the limit counts new questions along each run."""
        starts, limit, again = _ids(starts), _limit(step_limit), False
        self._gave_up = False
        if cancelled():
            raise CancelledError
        while len(missing := self._run(starts, limit, cancelled, again)):
            self._ask(missing, cancelled)
            if self._gave_up:
                self.native.decide(missing)  # what it did answer counts
                break
            again = True
        return self._results(starts)

    def ask_ahead(
        self,
        start: int,
        more: MoreStarts,
        step_limit: int | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> None:
        """Ask now what the run from a state will ask, together with what later runs will.

        This changes no result: an answer counts when a run needs it. A policy of the kernels
        needs no questions, and one that raises an error is left to the runs.
        """
        if self.kernel is not None or self.lost is not None:
            return
        run = self.trace(start)
        if run.outcome is not RunOutcome.ABORTED:
            return
        ahead = self._ahead = self._ahead or Ahead(self.table.task)
        for states in ahead.questions(self.table.values(run.states[-1]), step_limit, more):
            if cancelled():
                raise CancelledError
            try:
                ahead.note(states, self._question(states))
            except CancelledError:
                raise
            except Exception:
                ahead.leave_out()
                return

    def run_bounded(
        self,
        starts: npt.ArrayLike,
        cutoffs: npt.ArrayLike,
        max_steps: int | None = None,
        *,
        dead_end: Callable[[Int32Array], BoolArray] | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        bounds: Int64Array = _NO_BOUNDS,
    ) -> Int64Array:
        """Policy costs where they are below the cut-off of their start, INFINITY elsewhere.

        INFINITY here only means "not shown to be below": the run may have been stopped by its
        cost, by `max_steps`, by a visited state that `dead_end` recognizes, or by one whose bound
        in `bounds` (by state id) is already below what is left of the cut-off.
        """
        starts = _ids(starts)
        cutoffs = np.broadcast_to(np.asarray(cutoffs, np.int64), starts.shape)
        runs = BoundedRuns.begin(starts, np.ascontiguousarray(cutoffs))
        self._gave_up = False
        if dead_end is None:
            self._run_bounded(runs, _limit(max_steps), bounds, cancelled)
            return runs.answers
        steps = 0
        while not runs.ended.all() and not self._gave_up:
            self._run_bounded(runs, steps, bounds, cancelled)
            going = np.flatnonzero(~runs.ended)
            runs.ended[going] = dead_end(runs.states[going])
            if steps == max_steps:
                break
            steps += 1
        return runs.answers

    def known(self, states: npt.ArrayLike) -> RunResults:
        """What is known without asking the policy; UNKNOWN where that is nothing."""
        states = _ids(states)
        found = self.native.results(states)
        known = found.outcomes != _UNKNOWN
        return RunResults(
            states,
            OUTCOMES[found.outcomes],
            np.where(known, REASONS[found.reasons], EndReason.NONE),
            np.where(known, found.costs, INFINITY),
        )

    def decisions(self, states: npt.ArrayLike) -> Int32Array:
        """The policy's operators, asking where they are not known.

        `NO_ACTION` and `NO_OPERATION` are possible; `UNDECIDED` stands where nothing is to be
        decided, since the goal is reached, and where the policy has no usable answer.
        """
        states = _ids(states)
        with self._counted():
            decisions, missing = self.native.decide(states)
        if len(missing):
            self._gave_up = False
            self._ask(np.unique(missing))
            decisions, _ = self.native.decide(states)
        return decisions

    def trace(self, start: int) -> PolicyRun:
        """The run from a state as far as it has been walked."""
        return self._traced(start)[0]

    def record(self, start: int) -> Run:
        """Return the known part of the run from a state, without ids of the state table."""
        run, last = self._traced(start)
        failed = run.outcome is RunOutcome.FAILED
        return Run(
            run.outcome, run.reason, run.cost, run.operators, last if failed else NO_DECISION
        )

    def adopt(self, other: PolicyRuns, start: int) -> tuple[int, int | None]:
        """Take over a run of the same policy on another table, without asking again.

        Returns the state where it starts in this table and, if it has no result, its cost so far.
        """
        return self.native.adopt(other.native, start)

    def _traced(self, start: int) -> tuple[PolicyRun, int]:
        """The run from a state, and the decision in its last state."""
        found = self.native.trace(start)
        states, decisions = found.steps
        outcome, reason = OUTCOMES[found.outcome], REASONS[found.reason]
        if outcome is RunOutcome.UNKNOWN:
            outcome, reason = RunOutcome.ABORTED, self._why_aborted(reason)
        cost = None if outcome is RunOutcome.FAILED else found.cost
        run = PolicyRun(outcome, reason, cost, tuple(states), tuple(decisions[:-1]))
        return run, decisions[-1]

    def _why_aborted(self, reason: EndReason) -> EndReason:
        if reason is not EndReason.NONE:
            return reason
        return EndReason.POLICY_ERROR if self._gave_up else EndReason.STEP_LIMIT

    def _results(self, starts: Int32Array) -> RunResults:
        found = self.native.results(starts)
        outcomes, reasons = OUTCOMES[found.outcomes], REASONS[found.reasons]
        for place in np.flatnonzero(found.outcomes == _UNKNOWN).tolist():
            outcomes[place] = RunOutcome.ABORTED
            reasons[place] = self._why_aborted(reasons[place])
        return RunResults(starts, outcomes, reasons, found.costs)

    def _run(
        self, starts: Int32Array, limit: int, cancelled: Callable[[], bool], again: bool
    ) -> Int32Array:
        with self._counted():
            return self.native.run(starts, limit, cancelled, again=again)

    def _run_bounded(
        self, runs: BoundedRuns, limit: int, bounds: Int64Array, cancelled: Callable[[], bool]
    ) -> None:
        while True:
            with self._counted():
                missing = self.native.run_bounded(runs, limit, bounds, cancelled)
            if not len(missing):
                return
            self._ask(missing, cancelled)
            if self._gave_up:
                self.native.decide(missing)
                return

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count what a policy of the kernels does, and the wrong answers of any policy."""
        before, started = self.native.asked, time.perf_counter()
        try:
            yield
        finally:
            statistics = self.statistics
            if asked := self.native.asked - before:
                statistics.seconds += time.perf_counter() - started
                statistics.calls += 1
                statistics.evaluated += asked
            if wrong := self.native.inapplicable - self._wrong:
                statistics.faults[EndReason.INAPPLICABLE] += wrong
                self._wrong += wrong

    def _ask(self, states: Int32Array, cancelled: Callable[[], bool] = NULL_LINK.cancelled) -> None:
        """Put distinct states to the policy and tell its answers: none if it was lost.

        When the policy raises, the states are asked one by one, to find those it fails on. That
        proves nothing about its decision there, so such runs are ABORTED.
        """
        if self.lost is not None:
            self._gave_up = True
            return
        if cancelled():
            raise CancelledError
        try:
            self.native.tell(states, self._answers(self.table.values(states)))
        except CancelledError:
            raise
        except PolicyLostError as error:
            self.lost, self._gave_up = error, True
            self.statistics.errors.append(f"{type(error).__name__}: {error}")
        except Exception as error:
            if len(states) == 1:
                self._note_error(int(states[0]), error)
            else:
                self._ask_one_by_one(states)

    def _ask_one_by_one(self, states: Int32Array) -> None:
        in_a_row = 0
        for number in range(len(states)):
            failed = self.statistics.faults[EndReason.POLICY_ERROR]
            self._ask(states[number : number + 1])
            answered = self.statistics.faults[EndReason.POLICY_ERROR] == failed
            in_a_row = 0 if answered and not self._gave_up else in_a_row + 1
            if in_a_row == MAX_ERRORS_IN_A_ROW:
                self._gave_up = True
            if self._gave_up:
                return

    def _answers(self, states: Int32Array) -> Int32Array:
        """What the policy says in states, given by their values, or has said when asked ahead."""
        if self._ahead is None:
            return self._question(states)
        known = self._ahead.answers(states)
        if None in known:
            new = states[[answer is None for answer in known]]
            self._ahead.note(new, self._question(new))
            known = self._ahead.answers(states)
        return np.array(known, np.int32)

    def _question(self, states: Int32Array) -> Int32Array:
        started = time.perf_counter()
        try:
            answers = np.asarray(self.policy.decide(states))
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
        return answers.clip(_WRONG, len(self.table.task.operators)).astype(np.int32)

    def _note_error(self, state: int, error: Exception) -> None:
        self.native.fail(state)
        self.statistics.faults[EndReason.POLICY_ERROR] += 1
        text = f"{type(error).__name__}: {error}"
        if text not in self.statistics.errors:
            self.statistics.errors.append(text)
            _log.warning("the policy failed on state %d", state, exc_info=error)


def _ids(states: npt.ArrayLike) -> Int32Array:
    return np.atleast_1d(np.asarray(states, np.int32))


def _limit(steps: int | None) -> int:
    return -1 if steps is None else steps
