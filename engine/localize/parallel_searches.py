"""Action optimality by searches side by side: PMS-BC and PMS-LAMA.

A* from the state and A* from behind the action run in threads, LAMA in a process of its own. Their
bounds are read every few milliseconds; the first that decide end all searches. Beyond the paper,
the plan behind the action bounds the search from the state, too: that one need not expand a goal.
See docs/theory/localization.md, "Several searches".
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from engine.localize.action_question import (
    ActionQuestion,
    DecidedBy,
    Decision,
    Knowledge,
    Reason,
    UndecidedError,
)
from engine.localize.question_searches import QuestionSearches, reason_of
from engine.localize.sequential_searches import starts_with
from engine.native.control import Control
from engine.records.finding import INFINITY
from engine.records.localization import StepVerdict
from engine.search.forward import SearchLimits, SearchResult, search
from engine.search.planners import FoundPlan, Planner, PlannerOutcome, run_planner
from engine.task.states import native_task
from engine.task.successors import State
from engine.task.translate import Limits

THREAD_NAME = "action optimality"

LONGEST_PAUSE = 0.02
"""Seconds between two looks at searches that take long; short ones are looked at more often."""


def pms_bc(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    return _Race(question, known, searches).run()


def pms_lama(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    return _Race(question, known, searches, with_lama=True).run()


@dataclass
class _Runner:
    """An A* search in a thread of its own."""

    state: State
    control: Control = field(default_factory=Control)
    result: SearchResult | None = None

    @property
    def low(self) -> int:
        """What every plan from the state costs at least, as far as is proved."""
        return self.control.best if self.result is None else self.result.lower_bound

    @property
    def high(self) -> int:
        cost = None if self.result is None else self.result.cost
        return INFINITY if cost is None else cost


class _Race:
    def __init__(
        self,
        question: ActionQuestion,
        known: Knowledge,
        searches: QuestionSearches,
        with_lama: bool = False,
    ) -> None:
        self._question, self._known, self._searches = question, known, searches
        self._from_state = _Runner(question.state)
        self._from_successor = _Runner(question.successor)
        self._runners = (self._from_state, self._from_successor)
        self._with_lama = with_lama
        self._lama_cost = INFINITY
        self._lama_says_unsolvable = False
        self._stop = threading.Event()
        self._ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._limits = self._share(searches.remaining())

    def run(self) -> Decision:
        native_task(self._question.task)  # compiled once, before the threads ask for it
        jobs: list[Callable[[], None]] = [partial(self._search, r) for r in self._runners]
        if self._with_lama:
            jobs.append(self._improve)
        threads = [
            threading.Thread(target=self._guarded, args=(job,), name=THREAD_NAME, daemon=True)
            for job in jobs
        ]
        try:
            for thread in threads:
                thread.start()
            return self._wait()
        finally:
            self._stop.set()
            for runner in self._runners:
                runner.control.cancel()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            self._count()

    def _count(self) -> None:
        """Both had their memory at the same time."""
        for runner in self._runners:
            if runner.result is not None:
                self._searches.count(runner.result)
        together = sum(runner.control.peak_bytes for runner in self._runners)
        self._searches.peak_bytes = max(self._searches.peak_bytes, together)

    # What the threads do.

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as problem:
            self._ended.put(problem)
        else:
            self._ended.put(None)

    def _search(self, runner: _Runner) -> None:
        runner.result = search(
            self._question.task,
            "astar",
            self._searches.heuristic,
            state=runner.state,
            limits=self._limits,
            control=runner.control,
        )

    def _improve(self) -> None:
        megabytes = self._limits.bytes and max(self._limits.bytes // 2**20, 1)
        result = run_planner(
            Planner.LAMA,
            self._question.task,
            self._question.state,
            bound=None if self._known.optimal_high == INFINITY else self._known.optimal_high,
            limits=Limits(self._limits.seconds, megabytes),
            cancelled=self._stop.is_set,
            on_plan=self._take_plan,
        )
        self._lama_says_unsolvable = result.outcome is PlannerOutcome.UNSOLVABLE

    def _take_plan(self, plan: FoundPlan) -> None:
        self._lama_cost = min(self._lama_cost, plan.cost)

    def _share(self, limits: SearchLimits) -> SearchLimits:
        """Two searches, perhaps three, use memory at the same time; two expand states."""
        processes = 3 if self._with_lama else 2
        memory = None if limits.bytes is None else limits.bytes // processes
        expansions = None if limits.expansions is None else max(limits.expansions // 2, 1)
        return replace(limits, bytes=memory, expansions=expansions)

    # What is made of it.

    def _wait(self) -> Decision:
        while True:
            is_over = all(runner.result is not None for runner in self._runners)
            decision = self._decision()
            if decision is not None:
                return decision
            if is_over:
                raise UndecidedError(self._reason())
            if self._searches.control.cancelled:
                raise UndecidedError(Reason.CANCELLED)
            try:
                problem = self._ended.get(timeout=min(LONGEST_PAUSE, self._searches.seconds / 10))
            except queue.Empty:
                self._publish()
            else:
                if problem is not None:
                    raise problem

    def _decision(self) -> Decision | None:
        known, question = self._known, self._question
        plan = self._from_state.result and self._from_state.result.plan
        known.add_optimal(self._from_state.low, self._from_state.high)
        if known.optimal_low == INFINITY or self._lama_says_unsolvable:
            raise UndecidedError(Reason.UNSOLVABLE)
        if plan and starts_with(question, plan):
            return Decision(StepVerdict.OPTIMAL, DecidedBy.PLAN, (question.operator, *plan[1:]))
        step = question.action.cost
        low, high = self._from_successor.low, self._from_successor.high
        known.add_after(*(INFINITY if cost == INFINITY else step + cost for cost in (low, high)))
        known.add_optimal(0, self._lama_cost)
        if known.verdict is None:
            return None
        decided_by = known.grounds
        is_worse = known.verdict is StepVerdict.NOT_OPTIMAL and decided_by is DecidedBy.BOUNDS
        if is_worse and self._lama_cost < self._from_state.high:
            decided_by = DecidedBy.LAMA
        return Decision(known.verdict, decided_by, plan or None)

    def _publish(self) -> None:
        """Publish the progress of the whole."""
        shared = self._searches.control.progress
        shared.expanded = sum(runner.control.expanded for runner in self._runners)
        shared.evaluated = sum(runner.control.evaluated for runner in self._runners)

    def _reason(self) -> Reason:
        """Both searches have ended and nothing is decided: a limit struck at least one."""
        for runner in self._runners:
            reason = None if runner.result is None else reason_of(runner.result.outcome)
            if reason is not None:
                return reason
        raise RuntimeError(f"two searches have ended, but decide nothing: {self._known}")
