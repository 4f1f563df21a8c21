"""The timeline of a campaign, read from the store in portions.

A running campaign is read as it grows, a finished one in portions that block no other query; both
give the same. Time is time worked: idle hours between a stop and a resume do not count, and units
that ran side by side share theirs.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.campaign.summary import per_oracle
from engine.records.config import Mode
from engine.records.events import OracleVerdict
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import CampaignRow, FindingMoment, FlagRow, UnitRow

Times = NDArray[np.float64]
PORTION = 500
"""Rows that are read at once: some milliseconds."""


@dataclass(frozen=True, slots=True)
class OracleScore:
    """What an oracle did to the pool states of all units, as `OracleStatistics` has it."""

    oracle: str
    mode: Mode
    examined: int = 0
    examined_unsolved: int = 0
    bugs: int = 0
    bugs_unsolved: int = 0
    unique: int = 0
    optimal: int = 0
    first: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    @property
    def recall(self) -> float | None:
        """The share of the examined states in which it proves a bug by itself."""
        return self._share(self.bugs, self.examined)

    @property
    def recall_unsolved(self) -> float | None:
        """The same, of the states that the policy does not solve."""
        return self._share(self.bugs_unsolved, self.examined_unsolved)

    @property
    def recall_solved(self) -> float | None:
        """The same, of the states that the policy solves."""
        bugs = self.bugs - self.bugs_unsolved
        return self._share(bugs, self.examined - self.examined_unsolved)

    def _share(self, bugs: int, states: int) -> float | None:
        """Nothing in a team: there an oracle builds on what others proved."""
        return bugs / states if states and self.mode is Mode.COMPARE else None


@dataclass(frozen=True)
class Progress:
    """The progress of a campaign; immutable, so that any thread may use it."""

    oracles: tuple[str, ...]
    mode: Mode
    units: Sequence[UnitRow]
    kinds: Mapping[str, int]  # bugs of each kind, in states of the pool
    further: int  # bugs in states that are not in the pool
    scores: Sequence[OracleScore]  # in the order of the configuration
    state_times: Times
    """When each pool state was tested, in order."""
    first_times: Mapping[str, Times]
    """When bugs were found, by the oracle that was the first to prove them."""
    proof_times: Mapping[str, Times]
    """When each oracle proved a pool state to be a bug: in a team, whether or not others did
    before; compared with others, on its own clock of CPU time, unit after unit."""

    @property
    def states(self) -> int:
        return len(self.state_times)

    @property
    def bug_times(self) -> Mapping[str, Times]:
        """Return when bugs in the pool were found, as this mode shows its oracles."""
        return self.proof_times if self.mode is Mode.COMPARE else self.first_times

    @property
    def solved(self) -> int:
        """States of the pool from which the policies reach the goal."""
        return sum(unit.statistics.solved for unit in self.units)

    @property
    def bugs(self) -> int:
        """The number of bugs in states of the pool."""
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
    """Call `read_more` until it returns False, and again when there may be more."""

    def __init__(self, store: WorkspaceReader, campaign: int) -> None:
        self._store, self._campaign = store, campaign
        self._units: list[UnitRow] = []
        self._kinds: Counter[str] = Counter()
        self._next_state: dict[int, int] = {}
        self._last_finding = 0
        self._pool = _Moments()
        self._first: defaultdict[str, _Moments] = defaultdict(_Moments)
        self._proofs: defaultdict[str, _Moments] = defaultdict(_Moments)
        self._places: dict[tuple[int, int], float] = {}  # unit and state of the pool, and when
        self._outside: dict[tuple[int, int], FindingMoment] = {}
        self._flags: dict[int, list[FlagRow]] = {}  # by unit
        self._whole: set[int] = set()  # finished units whose flags are known
        (config,) = (row.config for row in store.campaigns() if row.id == campaign)
        self._oracles, self._mode = tuple(config.testing.oracles), config.testing.mode

    def read_more(self, portion: int = PORTION) -> bool:
        """Whether there is more to read at once."""
        self._units = self._store.units(self._campaign)
        more = self._read_findings(portion)
        for unit in self._units:
            if unit.started is not None:
                more |= self._read_states(unit.id, portion)
                if self._mode is Mode.COMPARE:
                    self._read_flags(unit)
        return more

    def progress(self) -> Progress:
        """What has been read so far."""
        offsets = unit_offsets(self._units)
        return Progress(
            self._oracles,
            self._mode,
            self._units,
            Counter(self._kinds),
            len(self._outside),
            _scores(self._oracles, self._mode, self._units),
            self._pool.times(offsets),
            {oracle: moments.times(offsets) for oracle, moments in self._first.items()},
            _clock_times(self._units, lambda unit: self._flags.get(unit, ()))
            if self._mode is Mode.COMPARE
            else {oracle: moments.times(offsets) for oracle, moments in self._proofs.items()},
        )

    def _read_flags(self, unit: UnitRow) -> None:
        """Read all flags: a state can be flagged long after it was examined."""
        if unit.id in self._whole:
            return
        self._flags[unit.id] = self._store.flags(unit.id)
        if unit.status == "finished":
            self._whole.add(unit.id)

    def _read_findings(self, portion: int) -> bool:
        rows = self._store.finding_moments(self._campaign, after=self._last_finding, limit=portion)
        for row in rows:
            self._last_finding = row.id
            self._outside[row.unit, row.state] = row
            self._count_pool_bug((row.unit, row.state))
        return len(rows) == portion

    def _read_states(self, unit: int, portion: int) -> bool:
        """Pool states are tested in order, so what is new comes after what is known.

        The last one may not be tested yet, but a bug in it is a bug in the pool.
        """
        begin = self._next_state.get(unit, 0)
        found = self._store.states_of_pool(unit, begin=begin, limit=portion)
        for row in found:
            self._places[unit, row.state] = row.seconds
            self._count_pool_bug((unit, row.state))
        rows = [row for row in found if row.tested]
        if not rows:
            return False
        answers: defaultdict[int, dict[str, tuple[str, float]]] = defaultdict(dict)
        for answer in self._store.answers(unit, begin, rows[-1].number):
            answers[answer.number][answer.oracle] = answer.verdict, answer.seconds
        self._next_state[unit] = rows[-1].number + 1
        for row in rows:
            self._pool.add(unit, row.seconds)
            self._count(unit, row.seconds, answers[row.number])
        return len(found) == portion

    def _count_pool_bug(self, place: tuple[int, int]) -> None:
        """A bug counts from when it is known and its state is in the pool."""
        if place in self._outside and place in self._places:
            found = self._outside.pop(place)
            self._kinds[found.kind] += 1
            self._first[found.oracle].add(found.unit, max(found.seconds, self._places[place]))

    def _count(self, unit: int, began: float, answers: dict[str, tuple[str, float]]) -> None:
        for oracle in self._oracles:
            if oracle in answers:
                verdict, seconds = answers[oracle]
                began += seconds
                if verdict == OracleVerdict.BUG.value:
                    self._proofs[oracle].add(unit, began)


def _scores(
    oracles: Sequence[str], mode: Mode, units: Sequence[UnitRow]
) -> tuple[OracleScore, ...]:
    sums = per_oracle(units)
    return tuple(OracleScore(oracle, mode, **sums.get(oracle, {})) for oracle in oracles)


def _clock_times(
    units: Sequence[UnitRow], flags: Callable[[int], Iterable[FlagRow]]
) -> dict[str, Times]:
    """When oracles proved bugs on their own clocks, which run only while they work."""
    times: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    offsets: defaultdict[str, float] = defaultdict(float)
    for unit in _by_start(units):
        for flag in flags(unit.id):
            times[flag.oracle].append(offsets[flag.oracle] + flag.cpu)
        for item in unit.statistics.oracles:
            offsets[item.oracle] += item.cpu
    return {oracle: np.sort(np.array(moments)) for oracle, moments in times.items()}


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
    """Read all there is now."""
    course = Timeline(store, campaign)
    while course.read_more():
        pass
    return course.progress()


@dataclass(frozen=True, slots=True)
class BugCourse:
    """What a report shows of `Progress`, read without a look at every state of the pool."""

    scores: tuple[OracleScore, ...]
    bug_times: Mapping[str, Times]


def bug_course(store: WorkspaceReader, row: CampaignRow) -> BugCourse:
    units, testing = store.units(row.id), row.config.testing
    scores = _scores(testing.oracles, testing.mode, units)
    if testing.mode is Mode.COMPARE:
        return BugCourse(scores, _clock_times(units, store.flags))
    first: defaultdict[str, _Moments] = defaultdict(_Moments)
    last, more = 0, True
    while more:
        rows = store.pool_bug_moments(row.id, after=last, limit=PORTION)
        for bug in rows:
            first[bug.oracle].add(bug.unit, bug.seconds)
            last = bug.id
        more = len(rows) == PORTION
    offsets = unit_offsets(units)
    return BugCourse(scores, {oracle: found.times(offsets) for oracle, found in first.items()})
