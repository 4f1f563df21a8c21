"""Why an upper bound on the cost-to-go of a state holds, as a chain of checkable steps.

A chain starts in the state it is about and ends in a goal state. A `Walk` executes operators; a
`Morph` passes to another state that dominates: D(s, t) = d says h*(t) <= h*(s) - d. The bound is
the cost of all walks minus all d, so it can be checked by adding up. A chain without a morph is a
plan. See docs/theory/evidence.md, "Evidence".
"""

from __future__ import annotations

import msgspec

from engine.records.codec import Count, Record

State = tuple[Count, ...]


class Walk(Record):
    """Executing `operators`; `origin` is who found them ("policy", "astar", "aras", ...)."""

    operators: tuple[Count, ...] = msgspec.field(name="walk")
    origin: str


class Morph(Record):
    """Passing from a state t to `state` = s, where the dominance function has D(s, t) = `gain`."""

    state: State = msgspec.field(name="morph")
    gain: int
    origin: str


Step = Walk | Morph


class Evidence(Record):
    """The claim h*(state) <= bound and the chain that proves it."""

    state: State
    steps: tuple[Step, ...]
    bound: int

    @property
    def is_plan(self) -> bool:
        return all(isinstance(step, Walk) for step in self.steps)

    @property
    def operators(self) -> tuple[int, ...]:
        """The plan, if the chain is one."""
        if not self.is_plan:
            raise ValueError("a chain with dominance steps is not a plan")
        return tuple(op for step in self.steps if isinstance(step, Walk) for op in step.operators)

    @property
    def kind(self) -> str:
        """In one word: `plan`, or `dominance` when a plan would have to be found first."""
        return "plan" if self.is_plan else "dominance"
