"""The course of a campaign over time, read from the store piece by piece.

A running campaign is read as it grows, a finished one in portions that hold nobody up; both give
the same. Time is time worked: idle hours between a stop and the day it was taken up again do not
count, and units that ran side by side share theirs.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.records.events import OracleVerdict
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import UnitRow

Times = NDArray[np.float64]
PORTION = 500
"""Rows that are read at once: some milliseconds."""


@dataclass(frozen=True, slots=True)
class OracleScore:
    """What an oracle did to pool states; `unique` bugs were proven by no other oracle.

    `examined_bugs` of the states it examined are known to be bugs by now, whoever proved it.
    """

    oracle: str
    examined: int
    bugs: int
    unique: int
    optimal: int
    examined_bugs: int
    seconds: float

    @property
    def recall(self) -> float | None:
        """The share of the bugs in front of it that it proved by itself."""
        return self.bugs / self.examined_bugs if self.examined_bugs else None


@dataclass(frozen=True)
class Progress:
    """How far a campaign has come; nothing of it changes later, so that any thread may have it."""

    oracles: tuple[str, ...]
    units: Sequence[UnitRow]
    kinds: Mapping[str, int]  # bugs of each kind
    scores: Sequence[OracleScore]  # in the order of the configuration
    state_times: Times
    """When each pool state was tested, in order."""
    first_times: Mapping[str, Times]
    """When bugs were found, by the oracle that was the first to prove them."""
    proof_times: Mapping[str, Times]
    """When each oracle proved a pool state to be a bug, whether or not others did before."""

    @property
    def states(self) -> int:
        return len(self.state_times)

    @property
    def bugs(self) -> int:
        return sum(self.kinds.values())

    @property
    def policy_calls(self) -> int:
        """How many states were put to policies."""
        return sum(unit.statistics.policy_states for unit in self.units)

    @property
    def seconds(self) -> float:
        """Time worked so far."""
        offsets = unit_offsets(self.units)
        ends = [
            offsets[unit.id] + unit.statistics.seconds for unit in self.units if unit.id in offsets
        ]
        return max(ends, default=0.0)


@dataclass
class _Moments:
    """Points in time, as the unit and the unit's own clock have them."""

    units: array[int] = field(default_factory=lambda: array("q"))
    seconds: array[float] = field(default_factory=lambda: array("d"))

    def add(self, unit: int, seconds: float) -> None:
        self.units.append(unit)
        self.seconds.append(seconds)

    def times(self, offsets: Mapping[int, float]) -> Times:
        """In order. A unit without its problem or policy is not among those of a damaged file."""
        units, places = np.unique(np.array(self.units, dtype=np.int64), return_inverse=True)
        begins = np.array([offsets.get(unit, 0.0) for unit in units.tolist()], dtype=np.float64)
        return np.sort(begins[places] + np.array(self.seconds, dtype=np.float64))


class Timeline:
    """Call `read_more` until it says that there is no more, and again when there may be."""

    def __init__(self, store: WorkspaceReader, campaign: int) -> None:
        self._store, self._campaign = store, campaign
        self._units: list[UnitRow] = []
        self._kinds: Counter[str] = Counter()
        self._next_state: dict[int, int] = {}
        self._last_finding = 0
        self._pool = _Moments()
        self._first: defaultdict[str, _Moments] = defaultdict(_Moments)
        self._proofs: defaultdict[str, _Moments] = defaultdict(_Moments)
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._oracle_seconds: defaultdict[str, float] = defaultdict(float)
        self._bugs: set[tuple[int, int]] = set()  # unit and state
        self._examined: dict[tuple[int, int], tuple[str, ...]] = {}  # by whom
        (config,) = (row.config for row in store.campaigns() if row.id == campaign)
        self._oracles = tuple(config.testing.oracles)

    def read_more(self, portion: int = PORTION) -> bool:
        """Whether there is more to read at once."""
        self._units = self._store.units(self._campaign)
        more = self._read_findings(portion)
        for unit in self._units:
            if unit.started is not None:
                more |= self._read_states(unit.id, portion)
        return more

    def progress(self) -> Progress:
        """What has been read so far."""
        offsets = unit_offsets(self._units)
        return Progress(
            self._oracles,
            self._units,
            Counter(self._kinds),
            [self._score(oracle) for oracle in self._oracles],
            self._pool.times(offsets),
            {oracle: moments.times(offsets) for oracle, moments in self._first.items()},
            {oracle: moments.times(offsets) for oracle, moments in self._proofs.items()},
        )

    def _score(self, oracle: str) -> OracleScore:
        counts = self._counts[oracle]
        return OracleScore(
            oracle,
            examined=counts["examined"],
            bugs=counts[OracleVerdict.BUG.value],
            unique=counts["unique"],
            optimal=counts[OracleVerdict.OPTIMAL.value],
            examined_bugs=counts["examined bugs"],
            seconds=self._oracle_seconds[oracle],
        )

    def _read_findings(self, portion: int) -> bool:
        rows = self._store.finding_moments(self._campaign, after=self._last_finding, limit=portion)
        for row in rows:
            place = row.unit, row.state
            self._last_finding = row.id
            self._bugs.add(place)
            self._count_examined_bug(self._examined.get(place, ()))
            self._kinds[row.kind] += 1
            self._first[row.oracle].add(row.unit, row.seconds)
        return len(rows) == portion

    def _read_states(self, unit: int, portion: int) -> bool:
        """Pool states are tested in order, so what is new comes after what is known."""
        begin = self._next_state.get(unit, 0)
        rows = self._store.tested_states(unit, begin=begin, limit=portion)
        if not rows:
            return False
        answers: defaultdict[int, dict[str, tuple[str, float]]] = defaultdict(dict)
        for answer in self._store.answers(unit, begin, rows[-1].number):
            answers[answer.number][answer.oracle] = answer.verdict, answer.seconds
        self._next_state[unit] = rows[-1].number + 1
        for row in rows:
            place = unit, row.state
            self._pool.add(unit, row.seconds)
            self._count(unit, row.seconds, answers[row.number])
            examined = tuple(answers[row.number])
            self._examined[place] = self._examined.get(place, ()) + examined
            if place in self._bugs:
                self._count_examined_bug(examined)
        return len(rows) == portion

    def _count_examined_bug(self, oracles: Iterable[str]) -> None:
        for oracle in oracles:
            self._counts[oracle]["examined bugs"] += 1

    def _count(self, unit: int, began: float, answers: dict[str, tuple[str, float]]) -> None:
        proven = []
        for oracle in self._oracles:
            if oracle not in answers:
                continue
            verdict, seconds = answers[oracle]
            began += seconds
            self._counts[oracle]["examined"] += 1
            self._counts[oracle][verdict] += 1
            self._oracle_seconds[oracle] += seconds
            if verdict == OracleVerdict.BUG.value:
                proven.append(oracle)
                self._proofs[oracle].add(unit, began)
        if len(proven) == 1:
            self._counts[proven[0]]["unique"] += 1


def unit_offsets(units: Sequence[UnitRow]) -> dict[int, float]:
    """When each unit began, in seconds since the first, leaving out when none was at work."""
    offsets: dict[int, float] = {}
    idle, busy_until = 0.0, None
    for unit in _by_start(units):
        assert unit.started is not None
        if busy_until is None:
            idle = unit.started
        elif unit.started > busy_until:
            idle += unit.started - busy_until
        offsets[unit.id] = unit.started - idle
        end = unit.started + unit.statistics.seconds
        if unit.status == "running":
            end = float("inf")
        busy_until = end if busy_until is None else max(busy_until, end)
    return offsets


def _by_start(units: Iterable[UnitRow]) -> list[UnitRow]:
    begun = [unit for unit in units if unit.started is not None]
    return sorted(begun, key=lambda unit: (unit.started, unit.id))


def whole_course(store: WorkspaceReader, campaign: int) -> Progress:
    """All there is at the moment."""
    course = Timeline(store, campaign)
    while course.read_more():
        pass
    return course.progress()
