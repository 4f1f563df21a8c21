"""Bugs by the pattern of their mistake: across problems, policies and campaigns of a workspace."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.records.pattern import Certificate, Witness
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow, PatternRow, WitnessRow


@dataclass(frozen=True, slots=True)
class PatternBugs:
    """A pattern with its bugs; `witness` is the number of the smallest bug that shows it."""

    id: int
    key: str
    family: str
    certificate: Certificate
    witness: int
    about: Witness
    bugs: tuple[int, ...]
    root_causes: tuple[int, ...]
    problems: tuple[str, ...]
    policies: tuple[str, ...]
    campaigns: tuple[int, ...]
    largest_gap: int | None  # None: the policy fails in one of them
    witnesses: tuple[int, ...] = ()

    @property
    def fails(self) -> bool:
        return self.largest_gap is None


class _Group:
    """What a pattern shows of its bugs, gathered while they are read one by one."""

    def __init__(self) -> None:
        self.bugs = array("q")
        self.root_causes: set[int] = set()
        self.problems: dict[str, None] = {}
        self.policies: dict[str, None] = {}
        self.campaigns: set[int] = set()
        self.largest_gap: int | None = 0

    def add(self, row: BugRow) -> None:
        self.bugs.append(row.id)
        if row.root_cause is not None:
            self.root_causes.add(row.root_cause)
        self.problems[row.problem] = None
        self.policies[row.policy] = None
        self.campaigns.add(row.campaign)
        if row.gap is None or self.largest_gap is None:
            self.largest_gap = None
        else:
            self.largest_gap = max(self.largest_gap, row.gap)


def pattern_bugs(store: WorkspaceReader, rows: Iterable[BugRow]) -> list[PatternBugs]:
    """Return the patterns of some bugs, those with the most bugs first."""
    groups: defaultdict[int, _Group] = defaultdict(_Group)
    for row in rows:
        if row.pattern is not None:
            groups[row.pattern].add(row)
    members: defaultdict[int, list[WitnessRow]] = defaultdict(list)
    for witness in store.witnesses():
        if witness.pattern is not None:
            members[witness.pattern].append(witness)
    found = [
        _pattern_bugs(row, groups[row.id], members[row.id])
        for row in store.patterns()
        if row.id in groups and members[row.id]
    ]
    return sorted(found, key=lambda item: (-len(item.bugs), item.id))


def _pattern_bugs(pattern: PatternRow, group: _Group, members: Sequence[WitnessRow]) -> PatternBugs:
    first = members[0]
    assert first.finding is not None
    assert first.attempt.witness is not None
    return PatternBugs(
        id=pattern.id,
        key=pattern.key,
        family=pattern.family,
        certificate=pattern.certificate,
        witness=first.finding,
        about=first.attempt.witness,
        bugs=tuple(group.bugs),
        root_causes=tuple(sorted(group.root_causes)),
        problems=tuple(group.problems),
        policies=tuple(group.policies),
        campaigns=tuple(sorted(group.campaigns)),
        largest_gap=group.largest_gap,
        witnesses=tuple(item.finding for item in members if item.finding is not None),
    )


def without_witness(store: WorkspaceReader, rows: Iterable[BugRow]) -> list[tuple[WitnessRow, int]]:
    """Root causes of some bugs that were minimized in vain, with the numbers of their bugs."""
    bugs = Counter(row.root_cause for row in rows if row.pattern is None)
    tried = [row for row in store.witnesses() if row.finding is None and row.step is None]
    found = {row.root_cause: row for row in reversed(tried) if row.root_cause is not None}
    return [(found[cause], bugs[cause]) for cause in sorted(found) if bugs[cause]]


class PatternChange(StrEnum):
    """How a pattern changed between two campaigns."""

    NEW = "new"
    GONE = "gone"
    STILL = "still there"
    NOT_EXAMINED = "not examined"  # the other campaign may have it, too


@dataclass(frozen=True, slots=True)
class ComparedPattern:
    id: int
    family: str
    change: PatternChange
    bugs_before: int
    bugs_after: int


def compare_patterns(store: WorkspaceReader, before: int, after: int) -> list[ComparedPattern]:
    """The patterns of two campaigns; by keys, so problems and policies may differ.

    That a campaign does not have a pattern is known only if all its bugs have smallest witnesses.
    And never of a policy that made the mistake in the other campaign: it only did not come across
    it again.
    """
    minimized = {
        row.root_cause
        for row in store.witnesses()
        if row.step is None and row.pattern is not None and row.attempt.minimal
    }
    rows = {campaign: store.bugs(campaign) for campaign in (before, after)}
    examined = {
        campaign: all(row.root_cause is not None and row.root_cause in minimized for row in bugs)
        for campaign, bugs in rows.items()
    }
    counts = {
        campaign: Counter(row.pattern for row in bugs if row.pattern is not None)
        for campaign, bugs in rows.items()
    }
    tested = {  # what a policy file holds counts, not where it lies
        campaign: {row.id: row.file or row.spec for row in store.policies(campaign)}
        for campaign in rows
    }
    makers = _makers(store, rows, tested[before] | tested[after])
    found = []
    for pattern in store.patterns():
        old, new = counts[before][pattern.id], counts[after][pattern.id]
        if not old and not new:
            continue
        other = after if old else before
        if old and new:
            change = PatternChange.STILL
        elif not examined[other] or makers[pattern.id] & set(tested[other].values()):
            change = PatternChange.NOT_EXAMINED
        else:
            change = PatternChange.GONE if old else PatternChange.NEW
        found.append(ComparedPattern(pattern.id, pattern.family, change, old, new))
    return found


def _makers(
    store: WorkspaceReader, rows: Mapping[int, Sequence[BugRow]], tested: Mapping[int, str]
) -> defaultdict[int, set[str]]:
    """The policies that make each mistake."""
    makers: defaultdict[int, set[str]] = defaultdict(set)
    for campaign, bugs in rows.items():
        policies = {place.id: tested[place.policy] for place in store.finding_places(campaign)}
        for row in bugs:
            if row.pattern is not None:
                makers[row.pattern].add(policies[row.id])
    return makers
