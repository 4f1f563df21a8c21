"""What a search on a kernel has found; a plan is replayed on the task before it is trusted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.native.control import Control
from engine.native.library import NativeLimits, Outcome
from engine.native.searches import NativeAnswer
from engine.records.finding import INFINITY
from engine.task.task import Task
from engine.task.validate import validate_operators


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`plan` and `cost` go together; an outcome SOLVED has both."""

    outcome: Outcome
    plan: tuple[int, ...] | None
    cost: int | None
    expanded: int
    evaluated: int
    generated: int
    seconds: float
    peak_bytes: int
    lower_bound: int  # of the cost of every plan; 0 says nothing, INFINITY that there is none

    @classmethod
    def of(
        cls, answer: NativeAnswer, plan: tuple[int, ...] | None, control: Control, began: float
    ) -> SearchResult:
        """The answer of a kernel that has worked since `began` under a control."""
        return cls(
            outcome=answer.outcome,
            plan=plan,
            cost=None if plan is None else answer.cost,
            expanded=control.expanded,
            evaluated=control.evaluated,
            generated=control.generated,
            seconds=time.perf_counter() - began,
            peak_bytes=control.peak_bytes,
            lower_bound=answer.lower_bound,
        )


def replay(task: Task, plan: Sequence[int], cost: int, start: Sequence[int]) -> None:
    """Check that a kernel's plan is valid and has this cost."""
    verdict = validate_operators(task, plan, start)
    if not verdict.valid or verdict.cost != cost:
        raise RuntimeError(f"a kernel returned an invalid plan: {verdict}, cost {cost}")


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search may use; None is no limit."""

    seconds: float | None = None
    bytes: int | None = None
    expansions: int | None = None

    def native(self) -> NativeLimits:
        """The kernels' form, where 0 is no limit: less than that ends at the first look."""
        seconds = 0.0 if self.seconds is None else max(self.seconds, 1e-9)
        memory = INFINITY if self.bytes is None else min(max(self.bytes, 0), INFINITY)
        expansions = 0 if self.expansions is None else min(max(self.expansions, 1), INFINITY)
        return NativeLimits(seconds, expansions, memory)


NO_LIMITS = SearchLimits()
