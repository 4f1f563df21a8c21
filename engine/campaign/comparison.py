"""Two campaigns side by side: which bug states are new, gone, or still there.

States are compared, so both campaigns must have tested the very same problems. A bug that is gone
is no proof that the policy got better: `tested` says whether the other campaign looked at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from engine.campaign.reading import BugRow, Reading


class Change(Enum):
    NEW = "new"
    GONE = "gone"
    STILL = "still there"


@dataclass(frozen=True, slots=True)
class ComparedBug:
    """A bug state; of the two findings at least one is there."""

    change: Change
    before: BugRow | None
    after: BugRow | None
    tested: bool  # whether the campaign without this bug has tested the state

    @property
    def finding(self) -> BugRow:
        found = self.after or self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Comparison:
    bugs: tuple[ComparedBug, ...]
    shared_problems: tuple[str, ...]  # names of problems that both have tested

    def count(self, change: Change) -> int:
        return sum(bug.change is change for bug in self.bugs)


def compare_campaigns(store: Reading, before: int, after: int) -> Comparison:
    """The later campaign against the earlier, on the problems they share."""
    names = _problems(store, after)
    problems = names.keys() & _problems(store, before).keys()
    old, new = _findings(store, before, problems), _findings(store, after, problems)
    tested_before, tested_after = _tested(store, before), _tested(store, after)

    def compared(state: int) -> ComparedBug:
        if state not in old:
            return ComparedBug(Change.NEW, None, new[state], state in tested_before)
        if state not in new:
            return ComparedBug(Change.GONE, old[state], None, state in tested_after)
        return ComparedBug(Change.STILL, old[state], new[state], True)

    order = list(Change)
    bugs = sorted(
        map(compared, {**old, **new}),
        key=lambda bug: (order.index(bug.change), bug.finding.id),
    )
    return Comparison(tuple(bugs), tuple(sorted(names[problem] for problem in problems)))


def _problems(store: Reading, campaign: int) -> dict[int, str]:
    rows = store.rows(
        "SELECT DISTINCT p.id, p.name FROM units u JOIN problems p ON p.id = u.problem "
        "WHERE u.campaign = ?",
        (campaign,),
    )
    return dict(rows)


def _findings(store: Reading, campaign: int, problems: set[int]) -> dict[int, BugRow]:
    """By state; where several seeds found the same one, the first."""
    rows = store.rows(
        "SELECT f.state, min(f.id), u.problem FROM findings f JOIN units u ON u.id = f.unit "
        "WHERE u.campaign = ? GROUP BY f.state",
        (campaign,),
    )
    bugs = {bug.id: bug for bug in store.bugs(campaign)}
    return {state: bugs[number] for state, number, problem in rows if problem in problems}


def _tested(store: Reading, campaign: int) -> set[int]:
    rows = store.rows(
        "SELECT DISTINCT x.state FROM pool x JOIN units u ON u.id = x.unit "
        "WHERE u.campaign = ? AND x.tested",
        (campaign,),
    )
    return {state for (state,) in rows}
