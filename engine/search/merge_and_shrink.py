"""Merge-and-shrink: SCC-DFP merging, bisimulation, exact label reduction.

Exact where the limits allow it. Beyond the original a product has a limit of transitions, too: its
factors are shrunk until it keeps it, so that building takes seconds and little memory.
See docs/theory/searches.md, "Merge-and-shrink".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.native.abstractions import native_merge_and_shrink
from engine.native.control import Control
from engine.records.finding import INFINITY
from engine.search.abstraction import Abstraction, build_for_state
from engine.search.results import NO_LIMITS, SearchLimits
from engine.task.states import native_task
from engine.task.task import Fact, Task


@dataclass(frozen=True, slots=True)
class MergeAndShrinkOptions:
    """How large a product may be; None: as large as it is."""

    max_states: int | None = 50_000
    max_transitions: int | None = 10_000_000


DEFAULT_OPTIONS = MergeAndShrinkOptions()


def build_merge_and_shrink(
    task: Task,
    state: Sequence[int] | None = None,
    goal: Sequence[Fact] | None = None,
    *,
    options: MergeAndShrinkOptions = DEFAULT_OPTIONS,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> Abstraction:
    """The heuristic for states that can be reached from `state` (default: the initial one)."""
    control = control or Control()
    compiled = native_task(task)
    return build_for_state(
        lambda start, facts: native_merge_and_shrink(
            compiled,
            start,
            facts,
            max_states=INFINITY if options.max_states is None else options.max_states,
            max_transitions=(
                INFINITY if options.max_transitions is None else options.max_transitions
            ),
            limits=limits.native(),
            progress=control.progress,
        ),
        task,
        state,
        goal,
        control,
    )
