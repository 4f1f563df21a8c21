"""Why an upper bound on the cost-to-go of a state holds, as a chain of checkable steps.

A chain starts in the state it speaks of and ends in a goal state. A `Walk` executes operators; a
`Morph` passes to another state that dominates: D(s, t) = d says h*(t) <= h*(s) - d. The bound is
the cost of all walks minus all d, so whoever can add can check it. A chain without a morph is a
plan. See docs/theory/evidence.md, "Evidence".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

State = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """Executing `operators`; `origin` is who found them ("policy", "astar", "aras", ...)."""

    operators: tuple[int, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Morph:
    """Passing from a state t to `state` = s, where the dominance function has D(s, t) = `gain`."""

    state: State
    gain: int
    origin: str


Step = Walk | Morph


@dataclass(frozen=True, slots=True)
class Evidence:
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
            raise ValueError("a chain with dominance steps is no plan")
        return tuple(op for step in self.steps if isinstance(step, Walk) for op in step.operators)

    @property
    def kind(self) -> str:
        """In one word: `plan`, or `dominance` when a plan would have to be found first."""
        return "plan" if self.is_plan else "dominance"

    def to_json(self) -> dict[str, Any]:
        return {
            "state": list(self.state),
            "bound": self.bound,
            "steps": [_step_to_json(step) for step in self.steps],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Evidence:
        steps = tuple(_step_from_json(step) for step in document["steps"])
        return cls(_numbers(document["state"]), steps, int(document["bound"]))


def _step_to_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Walk):
        return {"walk": list(step.operators), "origin": step.origin}
    return {"morph": list(step.state), "gain": step.gain, "origin": step.origin}


def _step_from_json(document: Mapping[str, Any]) -> Step:
    if "walk" in document:
        return Walk(_numbers(document["walk"]), str(document["origin"]))
    return Morph(_numbers(document["morph"]), int(document["gain"]), str(document["origin"]))


def _numbers(values: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
