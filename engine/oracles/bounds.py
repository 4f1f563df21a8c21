"""Upper bounds u(s) >= h*(s) of all states seen so far, each with the step that proves it.

Every bound rests on one step to another state: an operator, or a dominance value. Following the
steps ends in a goal state, so the evidence for any bound can be written down at any time. Bounds
only ever fall. A lower bound is passed on to all known predecessors, repeatedly if necessary,
because with several policies a state has several children (pitfall P25). Bounds that need no
dominance value are kept as well, in case a value cannot be confirmed. The kernel holds all of
this, because it knows the policy's steps. See docs/theory/oracles.md, "Propagation".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.native.bounds import MORPH, NativeBounds
from engine.native.library import Int64Array
from engine.policies.runs import PolicyRuns
from engine.records.evidence import Evidence, Morph, Step, Walk
from engine.records.finding import INFINITY
from engine.task.states import StateTable, state_ids

POLICY = "policy"
"""The origin of steps that the policy under test takes itself."""


class Bounds:
    """Bounds by the state ids of one table; the policy's steps are those of `runs`, if given."""

    def __init__(self, table: StateTable, runs: PolicyRuns | None = None) -> None:
        self.table = table
        self.native = NativeBounds(table.native, None if runs is None else runs.native)
        self._origins = ["goal", POLICY]  # by the kernel's numbers
        self._plans: Bounds | None = None

    @property
    def plans(self) -> Bounds:
        """The bounds that rest on operators alone: no other ones until there is a morph."""
        if self._plans is None and (native := self.native.plans()) is not None:
            self._plans = self._beside(native)
        return self._plans or self

    def u(self, state: int) -> int:
        """The bound of one state; INFINITY when nothing is known."""
        return self.native.u(state)

    def all(self, states: npt.ArrayLike) -> Int64Array:
        """The bounds of many states."""
        return self.native.all(state_ids(states))

    def by_id(self) -> Int64Array:
        """The bounds of all states of the table, by their ids."""
        return self.native.by_state()

    def add_path(
        self,
        states: Sequence[int],
        operators: Sequence[int],
        origin: str,
        register: bool = False,
    ) -> None:
        """A walk through the state space: operators[k] leads from states[k] to states[k + 1].

        Its last state may be a goal, have a bound, or neither. With `register`, later falls of a
        bound on the walk are passed back along it.
        """
        self.native.add_path(states, operators, self.number_of(origin), register=register)

    def add_plan(self, state: int, operators: Sequence[int], origin: str) -> None:
        """A plan from `state`: every state on it gets a bound."""
        try:
            self.native.add_plan(state, operators, self.number_of(origin))
        except ValueError:
            message = f"{origin}: an operator is not applicable in its plan"
            raise ValueError(message) from None

    def add_morph(self, state: int, source: int, gain: int, origin: str) -> None:
        """D(source, state) = gain, so u(state) <= u(source) - gain."""
        self.native.add_morph(state, source, gain, self.number_of(origin))

    def number_of(self, origin: str) -> int:
        """Return by which number the kernel knows who finds steps."""
        if origin not in self._origins:
            self._origins.append(origin)
        return self._origins.index(origin)

    def take_changed(self) -> list[int]:
        """The states whose bound fell since this was asked last."""
        return self.native.take_changed()

    def evidence(self, state: int) -> Evidence:
        """The chain that proves the present bound of a state."""
        bound = self.u(state)
        if bound == INFINITY:
            raise ValueError("there is no evidence where nothing is known")
        chain = self.native.chain(state)
        morphs = [
            following
            for via, following in zip(chain.vias, chain.nexts, strict=True)
            if via == MORPH
        ]
        shown = np.array([state, *morphs], np.int32)
        start, *sources = map(tuple, self.table.values(shown).tolist())
        steps: list[Step] = []
        walk, walker = list[int](), -1
        for via, gain, origin in zip(chain.vias, chain.gains, chain.origins, strict=True):
            if walk and (via == MORPH or origin != walker):
                steps.append(Walk(tuple(walk), self._origins[walker]))
                walk = []
            if via == MORPH:
                steps.append(Morph(sources.pop(0), gain, self._origins[origin]))
            else:
                walk.append(via)
                walker = origin
        if walk:
            steps.append(Walk(tuple(walk), self._origins[walker]))
        return Evidence(start, tuple(steps), bound)

    def _beside(self, native: NativeBounds) -> Self:
        """Other bounds of the same origins."""
        other = type(self).__new__(type(self))
        other.table, other.native = self.table, native
        other._origins, other._plans = self._origins, None
        return other
