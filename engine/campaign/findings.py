"""The findings of a unit that hold, and the regions that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from engine.campaign.regions import Regions
from engine.records.evidence import State
from engine.records.finding import Finding
from engine.task.task import Task

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
        """Raise after an examination if the unit cannot go on."""

    def confirm(
        self, finding: Finding, known: Finding | None, withdraw: Withdraw
    ) -> Finding | None:
        """Return the finding if it holds, or what is left of it."""

    def report(self, finding: Finding) -> None:
        """Report a finding that holds and is new, or better than the known one."""
