"""Two campaigns side by side: which bugs are new, gone, or still there.

A bug is a policy in a state of a problem, so the very same problems must have been tested, and each
policy is compared with the one that took its place. That no bug was found proves nothing. What a
finding proves is a bound on h*, which holds for every policy: whether the other policy pays more
decides, and where it was not run to its end in that state nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf

from engine.campaign.checking import ABORTED, FAILED, SOLVED
from engine.campaign.reading import BugRow, Reading
from engine.oracles.objective import BugKind


class Change(Enum):
    NEW = "new"
    GONE = "gone"
    STILL = "still there"
    UNDECIDED = "undecided"  # the other policy's run was stopped
    UNTESTED = "not tested"  # by the other campaign


class Trend(Enum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "the same"
    UNKNOWN = "unknown"


_OUTCOMES = {
    BugKind.QUALITATIVE.value: FAILED,
    BugKind.QUANTITATIVE.value: SOLVED,
    BugKind.UNCLASSIFIED.value: ABORTED,
}


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """What a policy pays in a state: infinitely much if it fails, uncertain if it was stopped."""

    at_least: float
    at_most: float

    @classmethod
    def of(cls, outcome: str, cost: int | None) -> PolicyCost:
        if outcome == SOLVED and cost is not None:
            return cls(cost, cost)
        return cls(inf, inf) if outcome == FAILED else cls(cost or 0, inf)

    @classmethod
    def of_bug(cls, bug: BugRow) -> PolicyCost:
        return cls.of(_OUTCOMES[bug.kind], bug.policy_cost)


@dataclass(frozen=True, slots=True)
class ComparedBug:
    """A policy in a state; of the two findings at least one is there.

    Costs are known where a policy was run, also where no bug was found.
    """

    change: Change
    before: BugRow | None
    after: BugRow | None
    cost_before: PolicyCost | None
    cost_after: PolicyCost | None

    @property
    def finding(self) -> BugRow:
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def trend(self) -> Trend:
        """How the later policy does in comparison with the earlier one."""
        before, after = self.cost_before, self.cost_after
        if before is None or after is None:
            return Trend.UNKNOWN
        if after.at_most < before.at_least:
            return Trend.BETTER
        if after.at_least > before.at_most:
            return Trend.WORSE
        exact = before == after and before.at_least == before.at_most
        return Trend.SAME if exact else Trend.UNKNOWN


@dataclass(frozen=True, slots=True)
class Comparison:
    bugs: tuple[ComparedBug, ...]
    shared_problems: tuple[str, ...]  # names of problems that both have tested

    def count(self, change: Change) -> int:
        return sum(bug.change is change for bug in self.bugs)


Place = tuple[int, int]
"""A state of a problem, and the earlier campaign's number of the policy in it."""


def compare_campaigns(store: Reading, before: int, after: int) -> Comparison:
    """The later campaign against the earlier, on the problems they share."""
    names = _problems(store, after)
    problems = names.keys() & _problems(store, before).keys()
    earlier = _policies(store, before)
    same = {policy: policy for policy in earlier}
    partners = _partners(earlier, _policies(store, after))
    old, new = _findings(store, before, problems, same), _findings(store, after, problems, partners)
    places = old.keys() | new.keys()
    runs_before = _runs(store, before, places, same)
    runs_after = _runs(store, after, places, partners)

    def compared(place: Place) -> ComparedBug:
        first, second = old.get(place), new.get(place)
        return ComparedBug(
            _change(first, second, runs_before.get(place), runs_after.get(place)),
            first,
            second,
            PolicyCost.of_bug(first) if first else runs_before.get(place),
            PolicyCost.of_bug(second) if second else runs_after.get(place),
        )

    order = list(Change)
    bugs = sorted(map(compared, places), key=lambda bug: (order.index(bug.change), bug.finding.id))
    return Comparison(tuple(bugs), tuple(sorted(names[problem] for problem in problems)))


def _change(
    old: BugRow | None,
    new: BugRow | None,
    cost_before: PolicyCost | None,
    cost_after: PolicyCost | None,
) -> Change:
    if old is not None and new is not None:
        return Change.STILL
    found, other = (old, cost_after) if old is not None else (new, cost_before)
    assert found is not None
    if other is None:
        return Change.UNTESTED
    if other.at_least > found.bound:
        return Change.STILL  # nobody noticed, but what the finding proves shows it
    if other.at_most > found.bound:
        return Change.UNDECIDED
    return Change.NEW if old is None else Change.GONE


def _problems(store: Reading, campaign: int) -> dict[int, str]:
    rows = store.rows(
        "SELECT DISTINCT p.id, p.name FROM units u JOIN problems p ON p.id = u.problem "
        "WHERE u.campaign = ?",
        (campaign,),
    )
    return dict(rows)


def _policies(store: Reading, campaign: int) -> dict[int, tuple[str, str]]:
    """Names and contents."""
    rows = store.rows(
        "SELECT DISTINCT y.id, y.name, ifnull(y.file, y.spec) FROM units u "
        "JOIN policies y ON y.id = u.policy WHERE u.campaign = ?",
        (campaign,),
    )
    return {number: (name, content) for number, name, content in rows}


def _partners(
    before: Mapping[int, tuple[str, str]], after: Mapping[int, tuple[str, str]]
) -> dict[int, int]:
    """Which earlier policy a later one is compared with: itself, its namesake, or the only one."""
    if len(before) == len(after) == 1:
        return dict(zip(after, before, strict=True))
    same = {content: number for number, (_, content) in before.items()}
    partners = {number: same[content] for number, (_, content) in after.items() if content in same}
    taken = set(partners.values())
    namesakes = {name: number for number, (name, _) in before.items() if number not in taken}
    for number, (name, _) in after.items():
        # One without a partner gets a number that no earlier policy has.
        partners.setdefault(number, namesakes.get(name, -number))
    return partners


def _findings(
    store: Reading, campaign: int, problems: Iterable[int], policies: Mapping[int, int]
) -> dict[Place, BugRow]:
    """Where several seeds found the same one, the one with the best proof."""
    rows = store.rows(
        "SELECT f.id, f.state, u.problem, u.policy FROM findings f JOIN units u ON u.id = f.unit "
        "WHERE u.campaign = ? ORDER BY f.bound DESC, f.id DESC",
        (campaign,),
    )
    bugs = {bug.id: bug for bug in store.bugs(campaign)}
    shared = frozenset(problems)
    return {
        (state, policies[policy]): bugs[number]
        for number, state, problem, policy in rows
        if problem in shared
    }


def _runs(
    store: Reading, campaign: int, places: Iterable[Place], policies: Mapping[int, int]
) -> dict[Place, PolicyCost]:
    """What the policies pay where they were run; the whole range where seeds disagree."""
    rows = store.rows(
        "SELECT x.state, u.policy, x.outcome, x.policy_cost FROM pool x JOIN units u "
        "ON u.id = x.unit WHERE u.campaign = ? AND x.outcome IS NOT NULL",
        (campaign,),
    )
    wanted = frozenset(places)
    found: dict[Place, PolicyCost] = {}
    for state, policy, outcome, cost in rows:
        place = (state, policies[policy])
        if place in wanted:
            now = PolicyCost.of(outcome, cost)
            known = found.get(place, now)
            found[place] = PolicyCost(
                min(known.at_least, now.at_least), max(known.at_most, now.at_most)
            )
    return found
