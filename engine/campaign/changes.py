"""Two campaigns side by side: which bugs are new, gone, or still there.

A bug is a policy in a state of a problem, so the very same problems must have been tested, and each
policy is compared with the one that took its place. That no bug was found proves nothing. What a
finding proves is a bound on h*, which holds for every policy: whether the other policy costs more
decides, or fails where both campaigns ask for the goal alone; and where it was not run to its end
in that state nothing is decided. See docs/theory/definitions.md, "Changes between campaigns".
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from operator import attrgetter

from engine.oracles.objective import GoalReaching
from engine.records.finding import BugKind, RunOutcome
from engine.records.policy_spec import PolicySpec
from engine.verify.claims import ABORTED, FAILED, SOLVED
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow

ANY_COST = sys.float_info.max
"""A policy that costs no more than this reaches the goal."""


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
    BugKind.FAILS: FAILED,
    BugKind.TOO_EXPENSIVE: SOLVED,
    BugKind.STOPPED: ABORTED,
}


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """The cost of a policy in a state: infinite if it fails, uncertain if it was stopped."""

    at_least: float
    at_most: float

    @classmethod
    def of(cls, outcome: RunOutcome, cost: int | None) -> PolicyCost:
        if outcome is SOLVED and cost is not None:
            return cls(cost, cost)
        return cls(inf, inf) if outcome is FAILED else cls(cost or 0, inf)

    @classmethod
    def of_bug(cls, bug: BugRow) -> PolicyCost:
        return cls.of(_OUTCOMES[bug.kind], bug.policy_cost)


@dataclass(frozen=True, slots=True)
class ComparedBug:
    """A policy in a state; of the two findings at least one is there.

    Costs are known where a policy was run, even if no bug was found.
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
        """How the later policy compares with the earlier one."""
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


def compare_campaigns(store: WorkspaceReader, before: int, after: int) -> Comparison:
    """The later campaign against the earlier, on the problems they share."""
    names = store.problem_names(after)
    problems = names.keys() & store.problem_names(before).keys()
    goal_alone = _ask_for_goal_alone(store, {before, after})
    earlier = _policies(store, before)
    same = {policy.number: policy.number for policy in earlier}
    partners = _partners(earlier, _policies(store, after))
    old, new = _findings(store, before, problems, same), _findings(store, after, problems, partners)
    places = old.keys() | new.keys()
    runs_before = _runs(store, before, places, same)
    runs_after = _runs(store, after, places, partners)

    def compared(place: Place) -> ComparedBug:
        first, second = old.get(place), new.get(place)
        return ComparedBug(
            _change(first, second, runs_before.get(place), runs_after.get(place), goal_alone),
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
    goal_alone: bool,
) -> Change:
    if old is not None and new is not None:
        return Change.STILL
    found, other = (old, cost_after) if old is not None else (new, cost_before)
    assert found is not None
    if other is None:
        return Change.UNTESTED
    allowed = ANY_COST if goal_alone else found.bound
    if other.at_least > allowed:
        return Change.STILL  # found once only, but its bound proves a bug of the other policy, too
    if other.at_most > allowed:
        return Change.UNDECIDED
    return Change.NEW if old is None else Change.GONE


def _ask_for_goal_alone(store: WorkspaceReader, campaigns: set[int]) -> bool:
    """Whether both campaigns ask for the goal alone, so that reaching it leaves no bug."""
    rows = (row for row in store.campaigns() if row.id in campaigns)
    return all(row.config.testing.objective == GoalReaching.name for row in rows)


@dataclass(frozen=True, slots=True)
class _Policy:
    number: int
    name: str
    content: tuple[str, str]  # the file, and what of a plug-in; without a file the spec


def _policies(store: WorkspaceReader, campaign: int) -> list[_Policy]:
    return [
        _Policy(row.id, row.name, _content(row.spec, row.file)) for row in store.policies(campaign)
    ]


def _content(spec: str, file: str | None) -> tuple[str, str]:
    if file is None:
        return spec, ""
    return file, PolicySpec.parse(spec).factory


def _partners(before: list[_Policy], after: list[_Policy]) -> dict[int, int]:
    """Which earlier policy a later one is compared with: itself, its namesake, or the only one."""
    if len(before) == len(after) == 1:
        return {after[0].number: before[0].number}
    partners: dict[int, int] = {}
    for trait in map(attrgetter, ("number", "content", "name")):
        taken = set(partners.values())
        left = {trait(policy): policy.number for policy in before if policy.number not in taken}
        for policy in after:
            if policy.number not in partners and trait(policy) in left:
                partners[policy.number] = left.pop(trait(policy))
    # One without a partner gets a number that no earlier policy has.
    return {policy.number: partners.get(policy.number, -policy.number) for policy in after}


def _findings(
    store: WorkspaceReader, campaign: int, problems: Iterable[int], policies: Mapping[int, int]
) -> dict[Place, BugRow]:
    """The findings; of those that several seeds made, the one with the best proof."""
    bugs = {bug.id: bug for bug in store.bugs(campaign)}
    shared = frozenset(problems)
    return {
        (place.state, policies[place.policy]): bugs[place.id]
        for place in store.finding_places(campaign)
        if place.problem in shared and place.id in bugs
    }


def _runs(
    store: WorkspaceReader, campaign: int, places: Iterable[Place], policies: Mapping[int, int]
) -> dict[Place, PolicyCost]:
    """Return the costs of the policies where they were run; the whole range if seeds disagree."""
    wanted = frozenset(places)
    found: dict[Place, PolicyCost] = {}
    for run in store.policy_runs(campaign):
        place = (run.state, policies[run.policy])
        if place in wanted:
            now = PolicyCost.of(run.outcome, run.policy_cost)
            known = found.get(place, now)
            found[place] = PolicyCost(
                min(known.at_least, now.at_least), max(known.at_most, now.at_most)
            )
    return found
