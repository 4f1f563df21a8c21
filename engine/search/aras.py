"""Aras: makes a plan cheaper by action elimination and search around it.

Anytime: whatever ends it, the best plan so far is returned, never a more expensive one than given.
It restarts only around strictly cheaper plans, so zero-cost cycles end. Every plan is replayed.
See docs/theory/searches.md, "Plan improvement".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import PlanError
from engine.native.control import Control
from engine.native.library import Outcome
from engine.native.searches import NativeAras
from engine.search.results import SearchLimits, replay
from engine.task.states import facts_array, native_task
from engine.task.task import Fact, Task
from engine.task.validate import validate_operators

LIMITS = SearchLimits(seconds=300.0, bytes=10**9)
"""What the experiments with the original tool allowed it."""

FIRST_SIZE = 1000
"""Expansions of the first neighborhood; it doubles whenever it holds nothing cheaper."""

MAX_STATES = 2_000_000


@dataclass(frozen=True, slots=True)
class Improvement:
    plan: tuple[int, ...]
    cost: int
    seconds: float  # since the start


@dataclass(frozen=True, slots=True)
class ArasResult:
    """`exhausted`: everything reachable was seen, so the plan is optimal."""

    plan: tuple[int, ...]
    cost: int
    exhausted: bool
    outcome: Outcome  # NO_CHEAPER_PLAN when exhausted, else the limit that ended it
    expansions: int
    seconds: float
    improvements: tuple[Improvement, ...]
    peak_bytes: int


def aras(
    task: Task,
    state: Sequence[int],
    plan: Sequence[int],
    limits: SearchLimits = LIMITS,
    control: Control | None = None,
    *,
    goal: Sequence[Fact] | None = None,
    first_size: int = FIRST_SIZE,
    max_states: int = MAX_STATES,
    on_improvement: Callable[[Improvement], None] | None = None,
) -> ArasResult:
    """Make the plan from `state` cheaper; `on_improvement` receives each cheaper plan at once."""
    began = time.perf_counter()
    target = task if goal is None else replace(task, goal=tuple(sorted(goal)))
    start = task.extend([int(value) for value in state])
    verdict = validate_operators(target, plan, start)
    if not verdict.valid:
        raise PlanError(f"the plan to improve is not valid: {verdict.reason}")
    control = control or Control()
    native = NativeAras(
        native_task(task),
        start=np.array(start, np.int32),
        goal=facts_array(target.goal),
        plan=np.array(plan, np.int32),
        first_size=first_size,
        max_states=max_states,
        limits=limits.native(),
        progress=control.progress,
    )
    improvements: list[Improvement] = []
    best_cost = int(verdict.cost or 0)
    outcome = Outcome.SOLVED
    while outcome is Outcome.SOLVED:
        answer = control.run(native.improve)
        outcome = answer.outcome
        replay(target, answer.plan, answer.cost, start)
        if answer.cost < best_cost:
            best_cost = answer.cost
            found = Improvement(answer.plan, answer.cost, time.perf_counter() - began)
            improvements.append(found)
            if on_improvement:
                on_improvement(found)
    return ArasResult(
        plan=answer.plan,
        cost=answer.cost,
        exhausted=outcome is Outcome.NO_CHEAPER_PLAN,
        outcome=outcome,
        expansions=control.expanded,
        seconds=time.perf_counter() - began,
        improvements=tuple(improvements),
        peak_bytes=control.peak_bytes,
    )
