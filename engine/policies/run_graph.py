"""The graph of a policy's decisions: each state has at most one child and any number of parents.

Results flow from where runs end to all their ancestors. What is left and leads to no open end
leads into a loop.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.native.library import Int32Array, Int64Array
from engine.records.finding import INFINITY, EndReason, RunOutcome

Number = TypeVar("Number", bound=np.integer[Any])

NONE = -1
UNDECIDED = -3


OUTCOMES: NDArray[np.object_] = np.array(list(RunOutcome), dtype=object)
REASONS: NDArray[np.object_] = np.array(list(EndReason), dtype=object)
"""Columns hold codes: places in these arrays."""

UNKNOWN, SOLVED, FAILED, ABORTED = range(len(RunOutcome))
REASON_CODES = {reason: code for code, reason in enumerate(EndReason)}
NO_REASON = REASON_CODES[EndReason.NONE]


class RunGraph:
    """Columns indexed by state id; `grow` before using ids that are new to the table."""

    def __init__(self, operator_costs: Int64Array) -> None:
        self._operator_costs = operator_costs
        self.decision = np.empty(0, np.int32)
        self.child = np.empty(0, np.int32)
        self.outcome = np.empty(0, np.int8)
        self.reason = np.empty(0, np.int8)
        self.cost = np.empty(0, np.int64)  # meaningful where SOLVED
        self._first_parent = np.empty(0, np.int32)
        self._next_parent = np.empty(0, np.int32)
        self._seen_in = np.empty(0, np.int64)
        self._round = 0

    def grow(self, size: int) -> None:
        if size <= len(self.child):
            return
        size = max(size, 2 * len(self.child), 1024)
        self.decision = _grown(self.decision, size, UNDECIDED)
        self.child = _grown(self.child, size, NONE)
        self.outcome = _grown(self.outcome, size, UNKNOWN)
        self.reason = _grown(self.reason, size, NO_REASON)
        self.cost = _grown(self.cost, size, INFINITY)
        self._first_parent = _grown(self._first_parent, size, NONE)
        self._next_parent = _grown(self._next_parent, size, NONE)
        self._seen_in = _grown(self._seen_in, size, 0)

    def add_ends(self, states: Int32Array, outcome: int, reason: EndReason) -> None:
        """States in which runs end. UNKNOWN with a reason: they end, but prove nothing."""
        self.outcome[states] = outcome
        self.reason[states] = REASON_CODES[reason]
        if outcome == SOLVED:
            self.cost[states] = 0

    def add_edges(self, states: Int32Array, children: Int32Array) -> None:
        """Distinct states whose decision leads to `children`."""
        if not len(states):
            return
        self.child[states] = children
        order = np.argsort(children, kind="stable")
        states, children = states[order], children[order]
        # Siblings are chained; the last one is followed by the parents known before.
        last = np.append(children[1:] != children[:-1], True)
        following = np.append(states[1:], NONE)
        self._next_parent[states] = np.where(last, self._first_parent[children], following)
        first = np.append(True, last[:-1])
        self._first_parent[children[first]] = states[first]

    def edge_costs(self, states: Int32Array) -> Int64Array:
        return self._operator_costs[self.decision[states]]

    def parents(self, states: Int32Array) -> Int32Array:
        """All parents of distinct states."""
        found = [np.empty(0, np.int32)]
        parents = self._first_parent[states]
        while len(parents := parents[parents >= 0]):
            found.append(parents)
            parents = self._next_parent[parents]
        return np.concatenate(found)

    def steps_to(self, state: int) -> list[tuple[int, int]]:
        """The parents of one state, each with its decision; asked far too often for arrays."""
        steps = []
        parent = int(self._first_parent[state])
        while parent >= 0:
            steps.append((parent, int(self.decision[parent])))
            parent = int(self._next_parent[parent])
        return steps

    def resolve(self, recent: Int32Array) -> None:
        """Give every state its result that has one; all new edges must start in `recent`."""
        states = self._descendants(recent)
        self._propagate(states[self.outcome[states] != UNKNOWN])
        waiting = states[self.outcome[states] == UNKNOWN]
        open_states = self._ancestors(waiting[self.child[waiting] < 0])
        looping = np.setdiff1d(waiting, open_states)
        self.add_ends(looping, FAILED, EndReason.LOOP)
        self._propagate(looping)

    def _descendants(self, states: Int32Array) -> Int32Array:
        """The states and where they lead, each once, as far as there is no result."""
        self._round += 1
        found = [np.empty(0, np.int32)]
        while len(states := np.unique(states[self._seen_in[states] != self._round])):
            self._seen_in[states] = self._round
            found.append(states)
            states = self.child[states[self.outcome[states] == UNKNOWN]]
            states = states[states >= 0]
        return np.concatenate(found)

    def _propagate(self, states: Int32Array) -> None:
        while len(states):
            states = self.parents(states)
            states = states[self.outcome[states] == UNKNOWN]
            children = self.child[states]
            self.outcome[states] = self.outcome[children]
            self.reason[states] = self.reason[children]
            solved = self.outcome[states] == SOLVED
            winners = states[solved]
            self.cost[winners] = self.cost[children[solved]] + self.edge_costs(winners)

    def _ancestors(self, states: Int32Array) -> Int32Array:
        """The states and all from which they are reached; they must not lie on loops."""
        found = [states]
        while len(states):
            states = self.parents(states)
            found.append(states)
        return np.concatenate(found)

    def follow(self, starts: Int32Array) -> tuple[Int32Array, Int64Array]:
        """Where runs without a result stand now, and what they have cost so far."""
        states, costs = starts.copy(), np.zeros(len(starts), dtype=np.int64)
        moving = np.arange(len(starts))
        while len(moving := moving[self.child[states[moving]] >= 0]):
            costs[moving] += self.edge_costs(states[moving])
            states[moving] = self.child[states[moving]]
        return states, costs


def _grown(column: NDArray[Number], size: int, default: int) -> NDArray[Number]:
    larger = np.full(size, default, dtype=column.dtype)
    larger[: len(column)] = column
    return larger
