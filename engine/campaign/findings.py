"""The findings of a unit that hold, and the regions that they form.

A bug region is a connected component of bug states under single transitions: two bug states lie in
the same region if one operator leads from one to the other. Components are found by union-find over
the bug states and their successors, all at once; that is done again whenever there are half as many
bugs more, so the work stays proportional to their number.
See docs/theory/definitions.md, "Regions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

import numpy as np

from engine.native.library import Int32Array, Int64Array
from engine.records.evidence import State
from engine.records.finding import Finding
from engine.task.states import StateTable
from engine.task.task import Task

_CHUNK = 4096


class Regions:
    """The regions of a growing set of bug states, each named after its first state."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._states: list[State] = []
        self._known: list[int] = []  # the first state of each state's region, when asked last

    def add(self, state: State) -> None:
        self._states.append(state)

    @property
    def due(self) -> bool:
        new = len(self._states) - len(self._known)
        return new >= 8 and 2 * new >= len(self._known)

    def changes(self) -> list[tuple[State, State]]:
        """States with the first state of their region, where that is news."""
        first = regions(self._task, self._states)
        changed = [
            (self._states[number], self._states[leader])
            for number, leader in enumerate(first)
            if number >= len(self._known) or self._known[number] != leader
        ]
        self._known = first
        return changed


def regions(task: Task, states: list[State]) -> list[int]:
    """Return for each of the distinct states the number of the first one in its region."""
    if not states:
        return []
    leader = list(range(len(states)))
    for source, target in _edges(task, states):
        _unite(leader, source, target)
    return [_find(leader, number) for number in range(len(states))]


def _edges(task: Task, states: list[State]) -> list[tuple[int, int]]:
    """Transitions between the states, as pairs of numbers."""
    table = StateTable(task)
    table.add(states)  # ids are now the numbers, and later states have larger ones
    pairs: list[tuple[int, int]] = []
    for begin in range(0, len(states), _CHUNK):
        ids: Int32Array = np.arange(begin, min(begin + _CHUNK, len(states)), dtype=np.int32)
        row_begin, _, successors = table.successors_of(ids)
        sources: Int64Array = np.repeat(ids, np.diff(row_begin))
        inside = successors < len(states)
        pairs += zip(sources[inside].tolist(), successors[inside].tolist(), strict=True)
    return pairs


def _find(leader: list[int], number: int) -> int:
    while leader[number] != number:
        leader[number] = leader[leader[number]]
        number = leader[number]
    return number


def _unite(leader: list[int], one: int, other: int) -> None:
    """The smaller number leads, so that a region keeps the name of its first state."""
    one, other = _find(leader, one), _find(leader, other)
    leader[max(one, other)] = min(one, other)


Withdraw = Callable[[Finding, Finding | None], Finding | None]
"""Replaces a finding by the last one that was confirmed; returns what plans still prove."""


class UnitFindings:
    def __init__(self, task: Task) -> None:
        self.reported: dict[State, Finding] = {}
        self.cleared: set[State] = set()  # pool states examined without success
        self.pool: set[State] = set()
        self.first: Counter[str] = Counter()  # by the oracle that was the first to prove them
        self.regions = Regions(task)

    def add(self, finding: Finding) -> None:
        """Add a finding that is new, or better than the known one."""
        is_new = finding.state not in self.reported
        self.reported[finding.state] = finding
        if is_new:
            self.first[finding.oracle] += 1
            if finding.state in self.pool:
                self.regions.add(finding.state)

    def enter(self, state: State) -> None:
        """Put a state into the pool; it may already be known to be a bug."""
        self.pool.add(state)
        if state in self.reported:
            self.regions.add(state)

    @property
    def pool_bugs(self) -> int:
        return len(self.pool & self.reported.keys())


class FindingUnit(Protocol):
    """The unit, as its oracles see it."""

    findings: UnitFindings

    def look(self) -> None:
        """Raise after an examination if the unit cannot continue."""

    def confirm(
        self, finding: Finding, known: Finding | None, withdraw: Withdraw
    ) -> Finding | None:
        """Return the finding if it holds, or what is left of it."""

    def report(self, finding: Finding) -> None:
        """Report a finding that holds and is new, or better than the known one."""
