"""Upper bounds u(s) >= h*(s) for every state anybody touched, each with the step that proves it.

Every bound rests on one step to another state: an operator, or a dominance value. Following the
steps ends in a goal state, so the evidence for any bound can be written down at any time. Bounds
only ever fall; a fall is passed on to all known predecessors, again and again if need be, because
with several policies a state has several children (pitfall P25). What is
known without dominance values is kept beside, for whoever cannot confirm one.
See docs/theory/oracles.md, "Propagation".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from engine.native.library import Int32Array, Int64Array
from engine.records.evidence import Evidence, Morph, Step, Walk
from engine.records.finding import INFINITY
from engine.task.states import StateTable

Parent = tuple[int, int, str]
"""A known predecessor: its state, the operator that leads here, and who chose that operator."""

Parents = Callable[[int], Iterable[Parent]]

Number = TypeVar("Number", bound=np.integer[Any])

_NOTHING = -3
_GOAL = -2
_MORPH = -1


class Bounds:
    """Columns indexed by the state ids of one table."""

    def __init__(self, table: StateTable, parents: Parents) -> None:
        self.table = table
        self._parents = parents
        self._registered: dict[int, dict[Parent, None]] = {}
        self._costs = [operator.cost for operator in table.task.operators]
        self._u: Int64Array = np.empty(0, np.int64)
        self._via: Int32Array = np.empty(0, np.int32)  # an operator, or one of the marks above
        self._next: Int32Array = np.empty(0, np.int32)
        self._gain: Int64Array = np.empty(0, np.int64)
        self._origin: Int32Array = np.empty(0, np.int32)
        self._origins: list[str] = []
        self._changed: dict[int, None] = {}
        self._plans: Bounds | None = None

    @property
    def plans(self) -> Bounds:
        """The bounds that rest on operators alone: no other ones until there is a morph."""
        return self._plans or self

    def u(self, state: int) -> int:
        """The bound of one state; INFINITY when nothing is known."""
        return int(self._u[state]) if state < len(self._u) else INFINITY

    def all(self, states: npt.ArrayLike) -> Int64Array:
        """The bounds of many states."""
        return self.by_id()[np.asarray(states, np.int64)]

    def by_id(self) -> Int64Array:
        """The bounds of all states of the table, by their ids; not to be changed."""
        self._grow()
        return self._u

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
        self._grow()
        fallen = [states[-1]] if self._recognize_goal(states[-1]) else []
        for k in range(len(operators) - 1, -1, -1):
            if register:
                known = self._registered.setdefault(states[k + 1], {})
                known[states[k], operators[k], origin] = None
            if self._relax(states[k], operators[k], states[k + 1], origin):
                fallen.append(states[k])
        self._propagate(fallen)
        if self._plans is not None:
            self._plans.add_path(states, operators, origin)

    def add_plan(self, state: int, operators: Sequence[int], origin: str) -> None:
        """A plan from `state`: every state on it gets a bound."""
        states = [state]
        for operator in operators:
            (successor,) = self.table.apply([states[-1]], [operator]).tolist()
            if successor < 0:
                raise ValueError(f"{origin}: operator {operator} is not applicable in its plan")
            states.append(successor)
        self.add_path(states, operators, origin)

    def add_morph(self, state: int, source: int, gain: int, origin: str) -> None:
        """D(source, state) = gain, so u(state) <= u(source) - gain."""
        self._grow()
        if self._u[source] == INFINITY:
            return  # the dominance value says nothing about states nobody can solve (P13)
        if self._u[source] - gain < self._u[state]:
            if self._plans is None:
                self._plans = self._copy()
            bound = int(self._u[source]) - gain
            self._set(state, bound, via=_MORPH, following=source, gain=gain, origin=origin)
            self._propagate([state])

    def take_changed(self) -> list[int]:
        """The states whose bound fell since this was asked last."""
        changed, self._changed = list(self._changed), {}
        return changed

    def evidence(self, state: int) -> Evidence:
        """The chain that proves the present bound of a state."""
        bound = self.u(state)
        if bound == INFINITY:
            raise ValueError("there is no evidence where nothing is known")
        chain = self._chain(state)
        morphs = [following for via, following, _, _ in chain if via == _MORPH]
        start, *sources = map(tuple, self.table.values([state, *morphs]).tolist())
        steps: list[Step] = []
        walk, walker = list[int](), ""
        for via, _, gain, origin in chain:
            if walk and (via == _MORPH or origin != walker):
                steps.append(Walk(tuple(walk), walker))
                walk = []
            if via == _MORPH:
                steps.append(Morph(sources.pop(0), gain, origin))
            else:
                walk.append(via)
                walker = origin
        if walk:
            steps.append(Walk(tuple(walk), walker))
        return Evidence(start, tuple(steps), bound)

    def _chain(self, state: int) -> list[tuple[int, int, int, str]]:
        """The steps from a state to a goal: how, where to, by which D, who found it."""
        chain, seen = [], {state}
        while (via := int(self._via[state])) != _GOAL:
            following, gain = int(self._next[state]), int(self._gain[state])
            chain.append((via, following, gain, self._origins[self._origin[state]]))
            if following in seen:
                raise RuntimeError("the evidence of a bound runs in a circle")
            seen.add(following)
            state = following
        return chain

    def _copy(self) -> Bounds:
        """The same bounds; who the predecessors are stays common knowledge."""
        other = copy(self)
        for column in ("_u", "_via", "_next", "_gain", "_origin"):
            setattr(other, column, getattr(self, column).copy())
        other._origins, other._changed = self._origins.copy(), self._changed.copy()
        return other

    def _grow(self) -> None:
        size, had = len(self.table), len(self._u)
        if size <= had:
            return
        size = max(size, 2 * had, 1024)
        self._u = _grown(self._u, size, INFINITY)
        self._via = _grown(self._via, size, _NOTHING)
        self._next = _grown(self._next, size, -1)
        self._gain = _grown(self._gain, size, 0)
        self._origin = _grown(self._origin, size, -1)

    def _recognize_goal(self, state: int) -> bool:
        if self._u[state] > 0 and bool(self.table.is_goal([state])[0]):
            self._set(state, 0, via=_GOAL, following=-1, origin="goal")
            return True
        return False

    def _relax(self, state: int, operator: int, successor: int, origin: str) -> bool:
        """u(state) <= c(operator) + u(successor); whether that is news."""
        beyond = int(self._u[successor])
        if beyond == INFINITY:
            return False
        bound = beyond + self._costs[operator]
        if bound >= self._u[state]:
            return False
        self._set(state, bound, via=operator, following=successor, origin=origin)
        return True

    def _propagate(self, fallen: Iterable[int]) -> None:
        """Pass falls on to all predecessors until nothing falls any more."""
        queue = deque(fallen)
        while queue:
            state = queue.popleft()
            known = (*self._parents(state), *self._registered.get(state, ()))
            for parent, operator, origin in known:
                if self._relax(parent, operator, state, origin):
                    queue.append(parent)

    def _set(
        self, state: int, bound: int, *, via: int, following: int, origin: str, gain: int = 0
    ) -> None:
        self._u[state] = bound
        self._via[state] = via
        self._next[state] = following
        self._gain[state] = gain
        if origin not in self._origins:
            self._origins.append(origin)
        self._origin[state] = self._origins.index(origin)
        self._changed[state] = None


def _grown(column: npt.NDArray[Number], size: int, default: int) -> npt.NDArray[Number]:
    larger = np.full(size, default, column.dtype)
    larger[: len(column)] = column
    return larger
