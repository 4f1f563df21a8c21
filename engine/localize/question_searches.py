"""The searches behind one question: they share its limits, and what they use is added up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Protocol

from engine.localize.action_question import Reason, UndecidedError
from engine.native.control import Control
from engine.native.library import Int64Array, Outcome
from engine.records.finding import INFINITY
from engine.search.forward import SearchLimits, SearchResult, search
from engine.task.successors import State
from engine.task.task import Task

_REASONS = {
    Outcome.TIME_LIMIT: Reason.TIME_LIMIT,
    Outcome.MEMORY_LIMIT: Reason.MEMORY_LIMIT,
    Outcome.EXPANSION_LIMIT: Reason.EXPANSION_LIMIT,
    Outcome.CANCELLED: Reason.CANCELLED,
}


class Finished(Protocol):
    """The statistics of all searches."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def expanded(self) -> int: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...


def reason_of(outcome: Outcome) -> Reason | None:
    """Why a search ended early; None if it came to its own end."""
    return _REASONS.get(outcome)


def demand_end(outcome: Outcome) -> None:
    """A search that was ended early decides nothing."""
    if reason := reason_of(outcome):
        raise UndecidedError(reason)


@dataclass
class QuestionSearches:
    """One after the other; `heuristic` is admissible."""

    task: Task
    heuristic: str | Int64Array
    limits: SearchLimits
    control: Control
    expanded: int = 0
    evaluated: int = 0
    peak_bytes: int = 0
    _began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def remaining(self) -> SearchLimits:
        """What the next search may use."""
        limits = self.limits
        if self.control.cancelled:
            raise UndecidedError(Reason.CANCELLED)
        if limits.seconds is not None:
            limits = replace(limits, seconds=limits.seconds - self.seconds)
        if limits.expansions is not None:
            if self.expanded >= limits.expansions:
                raise UndecidedError(Reason.EXPANSION_LIMIT)
            limits = replace(limits, expansions=limits.expansions - self.expanded)
        return limits

    def count(self, result: Finished) -> None:
        self.expanded += result.expanded
        self.evaluated += result.evaluated
        self.peak_bytes = max(self.peak_bytes, result.peak_bytes)

    def astar(self, state: State, bound: int | None = None) -> SearchResult:
        """A* from a state for plans below the bound; what it proved before a limit holds."""
        result = search(
            self.task,
            "astar",
            self.heuristic,
            state=state,
            bound=None if bound is None or bound >= INFINITY else bound,
            limits=self.remaining(),
            control=self.control,
        )
        self.count(result)
        return result
