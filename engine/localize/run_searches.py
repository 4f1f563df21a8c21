"""The searches of a localization: what they prove goes into the bounds, what they use is counted.

A limit never becomes a claim: a search that was cut short leaves the lower bound it had reached.
A state that was too hard once is not tried again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from engine.localize.action_optimality import check_action
from engine.localize.cost_bounds import CostBounds
from engine.native.control import Control
from engine.native.library import Outcome
from engine.records.finding import INFINITY
from engine.records.localization import StepVerdict
from engine.search.forward import SearchLimits, SearchResult, search
from engine.task.task import Task

MEGABYTES = 2048


@dataclass(frozen=True, slots=True)
class LocalizationLimits:
    """What one search, and all searches for one run together, may use; None is no limit.

    Limits in seconds cost repeatability.
    """

    search_expansions: int | None = 100_000
    search_seconds: float | None = None
    total_expansions: int | None = None
    total_seconds: float | None = None
    megabytes: int = MEGABYTES


DEFAULT_LIMITS = LocalizationLimits()


_COST = "astar"  # what finds h*


class RunSearches:
    """QuestionSearches from the states of one table, within the limits of one run at a time."""

    def __init__(self, bounds: CostBounds, heuristic: str, control: Control) -> None:
        self._bounds, self._heuristic = bounds, heuristic
        self._task: Task = bounds.table.task
        self.control = control
        self._too_hard: dict[tuple[str, int], SearchLimits] = {}  # with all that a search may use
        self.begin(DEFAULT_LIMITS)

    def begin(self, limits: LocalizationLimits) -> None:
        """A new run and what it may use."""
        self._limits = limits
        self.searches = 0
        self.expanded = 0
        self._failed: set[tuple[str, int]] = set()
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def find_cost(self, state: int, at_most: int = INFINITY) -> bool:
        """Whether h* of a state is known now; `at_most` is an upper bound without a plan."""
        bounds = self._bounds
        if bounds.is_exact(state):
            return True
        below = min(bounds.high(state), at_most + 1 if at_most < INFINITY else INFINITY)
        result = self._search(state, _COST, self._heuristic, below)
        if result is None:
            return False
        bounds.raise_low(state, result.lower_bound)
        if result.plan is not None:
            bounds.add_plan(state, result.plan, optimal=True)
        return bounds.is_exact(state)

    def is_too_hard(self, state: int) -> bool:
        """Whether a search for h* has failed, so that the same one would fail again."""
        return not self._bounds.is_exact(state) and self._was_in_vain((_COST, state))

    def find_plan(self, state: int) -> bool:
        """Whether it is known now if there is a plan; only an exhausted search says no."""
        bounds = self._bounds
        if bounds.is_settled(state):
            return True
        result = self._search(state, "gbfs", "ff", INFINITY)
        if result is None:
            return False
        if result.plan is not None:
            bounds.add_plan(state, result.plan, optimal=False)
        elif result.outcome is Outcome.UNSOLVABLE:
            bounds.raise_low(state, INFINITY)
        return bounds.is_settled(state)

    def ask(self, state: int, operator: int, algorithm: str) -> StepVerdict:
        """Whether an operator is optimal in a state that has a plan, by an algorithm of its own."""
        limits, bounds = self._remaining(), self._bounds
        if limits is None:
            return StepVerdict.UNDECIDED
        answer = check_action(
            self._task,
            self._values(state),
            operator,
            algorithm,
            self._heuristic,
            solvable=True,
            plan_cost=bounds.high(state),
            limits=limits,
            control=self.control,
        )
        self.searches += 1
        self.expanded += answer.expanded
        if answer.plan is not None:
            bounds.add_plan(state, answer.plan, optimal=True)
        bounds.raise_low(state, answer.optimal_low)
        cost = self._task.operators[operator].cost
        beyond = answer.after_low if answer.after_low == INFINITY else answer.after_low - cost
        bounds.raise_low(int(bounds.table.apply([state], [operator])[0]), beyond)
        return answer.verdict

    def _values(self, state: int) -> list[int]:
        values: list[int] = self._bounds.table.values([state])[0].tolist()
        return values

    def _search(
        self, state: int, algorithm: str, heuristic: str, below: int
    ) -> SearchResult | None:
        limits = self._remaining()
        question = algorithm, state
        if limits is None or self._was_in_vain(question):
            return None
        result = search(
            self._task,
            algorithm,
            heuristic,
            state=self._values(state),
            bound=None if below == INFINITY else below,
            limits=limits,
            control=self.control,
        )
        self.searches += 1
        self.expanded += result.expanded
        if result.outcome.is_limit or result.outcome is Outcome.CANCELLED:
            self._failed.add(question)
            if result.outcome.is_limit and limits == self._whole():
                self._too_hard[question] = limits
        return result

    def _was_in_vain(self, question: tuple[str, int]) -> bool:
        return question in self._failed or self._too_hard.get(question) == self._whole()

    def _whole(self) -> SearchLimits:
        """What a search may use when the run's own limits are far away."""
        return SearchLimits(
            self._limits.search_seconds,
            self._limits.megabytes * 2**20,
            self._limits.search_expansions,
        )

    def _remaining(self) -> SearchLimits | None:
        """What the next search may use; None: nothing, it is over."""
        limits = self._limits
        seconds, expansions = limits.search_seconds, limits.search_expansions
        if limits.total_seconds is not None:
            left = limits.total_seconds - self.seconds
            seconds = left if seconds is None else min(seconds, left)
        if limits.total_expansions is not None:
            rest = limits.total_expansions - self.expanded
            expansions = rest if expansions is None else min(expansions, rest)
        over = (
            self.control.cancelled
            or (seconds is not None and seconds <= 0)
            or (expansions is not None and expansions <= 0)
        )
        return None if over else SearchLimits(seconds, limits.megabytes * 2**20, expansions)
