"""Additive Cartesian abstractions: subtasks that share the operators' costs.

One abstraction per fact landmark and per goal, each refined where its cheapest plan fails, until
it has its share of the transitions; loops do not count, the last split may exceed the share.
See docs/theory/searches.md, "Cartesian abstractions".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.native.abstractions import native_cartesian
from engine.native.control import Control
from engine.records.finding import INFINITY
from engine.search.abstraction import Abstraction, build_for_state
from engine.search.results import NO_LIMITS, SearchLimits
from engine.task.states import native_task
from engine.task.task import Fact, Task


@dataclass(frozen=True, slots=True)
class CartesianOptions:
    """How far to refine (None: to the end), and the subtasks to have, landmarks first."""

    max_transitions: int | None = 1_000_000
    landmarks: bool = True
    goals: bool = True


DEFAULT_OPTIONS = CartesianOptions()


def build_cartesian(
    task: Task,
    state: Sequence[int] | None = None,
    goal: Sequence[Fact] | None = None,
    *,
    options: CartesianOptions = DEFAULT_OPTIONS,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> Abstraction:
    """The heuristic for states that can be reached from `state` (default: the initial one)."""
    control = control or Control()
    compiled = native_task(task)
    most = INFINITY if options.max_transitions is None else options.max_transitions
    return build_for_state(
        lambda start, facts: native_cartesian(
            compiled,
            start,
            facts,
            max_transitions=most,
            landmarks=options.landmarks,
            goals=options.goals,
            limits=limits.native(),
            progress=control.progress,
        ),
        task,
        state,
        goal,
        control,
    )
