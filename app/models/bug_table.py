"""The table of bugs: filtered by the language of the command line, sorted, and in groups.

Groups are rows of their own, with the bugs they hold below them. A hundred thousand bugs are
arranged in a moment because conditions and keys run over whole lists; what arrives is put in place
all at once (`settle`), and selected bugs stay selected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from PySide6.QtCore import QObject, Qt

from app.models.table_model import Column, Index, Palette, SortKeys, TableModel
from engine.records.finding import BugKind, BugStatus
from engine.report.bug_text import kind_text
from engine.report.words import count_text
from engine.workspace.filter import Term
from engine.workspace.rows import BugRow

STATUS_ICONS = {
    BugStatus.NEW: "new",
    BugStatus.CONFIRMED: "check",
    BugStatus.IGNORED: "ignore",
    BugStatus.DUPLICATE: "duplicate",
}
STATUS_TOKENS = {
    BugStatus.NEW: "accent",
    BugStatus.CONFIRMED: "bad",
    BugStatus.IGNORED: "muted",
    BugStatus.DUPLICATE: "muted",
}


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _cost(row: BugRow) -> str:
    if row.policy_cost is None:
        return "never"
    return f"≥ {row.policy_cost}" if row.kind is BugKind.STOPPED else f"{row.policy_cost}"


def _gap(row: BugRow) -> str:
    if row.gap is None:
        return "∞"
    return f"≥ {row.gap}" if row.kind is BugKind.STOPPED else str(row.gap)


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


_INFINITE = float("inf")

COLUMNS: tuple[Column[Any], ...] = (
    Column("id", "Bug", lambda row: row.id, numeric=True, tip="The bug's number"),
    Column(
        "status",
        "Status",
        lambda row: row.status.value,
        icon=lambda row: STATUS_ICONS[row.status],
        token=lambda row: STATUS_TOKENS[row.status],
        text=lambda row: row.status_text,
        row_tip=lambda row: row.note or row.status_text,
        tip="Result of triage: press C to confirm, I to ignore, D to mark a duplicate",
    ),
    Column(
        "kind",
        "Kind",
        lambda row: kind_text(row.kind),
        icon=lambda row: "error" if row.gap is None else "cost",
        tip="Fails: the policy never reaches the goal. Too expensive: a lower cost suffices",
    ),
    Column("problem", "Problem", lambda row: row.problem),
    Column(
        "cost",
        "Policy cost",
        lambda row: _INFINITE if row.policy_cost is None else row.policy_cost,
        _cost,
        numeric=True,
        token=lambda row: "policy",
        tip="Cost of the policy from the bug state to the goal",
    ),
    Column(
        "bound",
        "Best known",
        lambda row: row.bound,
        numeric=True,
        token=lambda row: "better",
        tip="Proven upper bound on the optimal cost from the bug state",
    ),
    Column(
        "gap",
        "Gap",
        lambda row: _INFINITE if row.gap is None else row.gap,
        _gap,
        numeric=True,
        tip="Policy cost minus best known cost; ∞ if the policy fails",
    ),
    Column(
        "action",
        "Bad action",
        lambda row: row.bad_action or None,
        lambda row: f"({row.bad_action})" if row.bad_action else "",
        mono=True,
        token=lambda row: "bad" if row.bad_action else "muted",
        row_tip=lambda row: (
            f"({row.bad_action})" if row.bad_action else "Localize the bug to find it"
        ),
        tip="Action of the root cause, once the bug is localized",
    ),
    Column("oracle", "Found by", lambda row: row.found_by, tip="Oracle that proved it first"),
    Column(
        "evidence",
        "Evidence",
        lambda row: "plan" if row.evidence_kind == "plan" else "bound",
        icon=lambda row: "optimal" if row.evidence_kind == "plan" else "unknown",
        row_tip=lambda row: (
            "A better plan is known"
            if row.evidence_kind == "plan"
            else "Dominance proves that a better plan exists, but none is known"
        ),
        tip="Plan: a better plan is known. Bound: a better plan is proven to exist",
    ),
    Column(
        "region",
        "Region",
        lambda row: row.region,
        lambda row: _number(row.region),
        numeric=True,
        tip="Bugs in connected states form a region, numbered by its first bug",
    ),
    Column(
        "root",
        "Root cause",
        lambda row: row.root_cause,
        lambda row: _number(row.root_cause),
        numeric=True,
        tip="Bugs with the same bad action in the same state share a root cause",
    ),
    Column(
        "time",
        "Time",
        lambda row: row.seconds,
        lambda row: _seconds(row.seconds),
        numeric=True,
        tip="Time since the start of its unit until the bug was found",
    ),
    Column("policy", "Policy", lambda row: row.policy, shown=False),
    Column("seed", "Seed", lambda row: row.seed, numeric=True, shown=False),
    Column("campaign", "Campaign", lambda row: row.campaign, numeric=True, shown=False),
    Column("note", "Note", lambda row: row.note or None, tip="Your note"),
)


class GroupBy(Enum):
    NOTHING = "No groups"
    ROOT_CAUSE = "root cause"
    REGION = "region"
    SCHEMA = "action schema"
    PROBLEM = "problem"
    KIND = "kind"
    ORACLE = "found by"


@dataclass(frozen=True, slots=True)
class Group:
    key: str
    title: str
    count: int
    collapsed: bool


Line = BugRow | Group


class BugTable(TableModel[Any]):
    """Rows are `BugRow`s and, in groups, `Group`s."""

    def __init__(self, palette: Palette, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, palette, parent)
        self.group_by = GroupBy.NOTHING
        self.terms: tuple[Term, ...] = ()
        self.shown_bugs = 0
        self._places: dict[int, int] = {}  # of bugs in all rows
        self._collapsed: set[str] = set()
        self._unsettled = False
        self._values: dict[str, list[str]] | None = None

    @property
    def total(self) -> int:
        return len(self._rows)

    @property
    def last_id(self) -> int:
        return self._rows[-1].id if self._rows else 0

    def line(self, number: int) -> Line:
        line: Line = self.row(number)
        return line

    def bug_at(self, number: int) -> BugRow | None:
        """None for the row of a group."""
        if not 0 <= number < len(self._shown):
            return None
        line = self._shown[number]
        return line if isinstance(line, BugRow) else None

    def known(self, bug: int) -> BugRow | None:
        place = self._places.get(bug)
        return None if place is None else self._rows[place]

    def places_of(self, bugs: Collection[int]) -> list[int]:
        """In which rows bugs are shown."""
        wanted = {id(self.known(bug)) for bug in bugs}
        return [number for number, line in enumerate(self._shown) if id(line) in wanted]

    def values(self) -> dict[str, list[str]]:
        """What occurs in columns of texts: for completing a filter."""
        if self._values is None:
            self._values = self._find_values()
        return self._values

    def _find_values(self) -> dict[str, list[str]]:
        rows = self._rows
        return {
            "status": list(BugStatus),
            "kind": ["fails", "too expensive"],
            "problem": sorted({row.problem for row in rows}),
            "policy": sorted({row.policy for row in rows}),
            "oracle": sorted({row.found_by for row in rows}),
            "evidence": ["plan", "dominance"],
            "action": sorted({row.bad_action.partition(" ")[0] for row in rows} - {""}),
        }

    def take(self, rows: Iterable[BugRow]) -> int:
        """News from the store: new bugs, and known ones that changed. How many there were.

        In a table that is neither sorted nor in groups new bugs appear at once at its end,
        else with the next `settle`.
        """
        new: list[BugRow] = []
        changed: dict[int, BugRow] = {}
        for row in rows:
            place = self._places.get(row.id)
            if place is None:
                self._places[row.id] = len(self._rows) + len(new)
                new.append(row)
            elif self._rows[place] != row:
                changed[id(self._rows[place])] = row
                self._rows[place] = row
        if new and not self.sort_keys and self.group_by is GroupBy.NOTHING:
            self.add_rows(new)
            self.shown_bugs = len(self._shown)
        else:
            self._rows += new
            self._unsettled |= bool(new)
        if new or changed:
            self._values = None
        if changed:
            self._shown = [changed.get(id(line), line) for line in self._shown]
            self._unsettled = True
            self.restyle()
        return len(new) + len(changed)

    def settle(self) -> None:
        """Put everything that came or changed in its place."""
        if self._unsettled:
            self.arrange()

    def set_terms(self, terms: Sequence[Term]) -> None:
        self.terms = tuple(terms)
        self.arrange()

    def set_group_by(self, group_by: GroupBy) -> None:
        self.group_by = group_by
        self._collapsed.clear()
        self.arrange()

    def toggle(self, number: int) -> None:
        """Open or close the group in a row."""
        group = self._shown[number]
        if isinstance(group, Group):
            self._collapsed ^= {group.key}
            self.arrange()

    def fold_all(self, folded: bool) -> None:
        keys = {line.key for line in self._shown if isinstance(line, Group)}
        self._collapsed = keys if folded else set()
        self.arrange()

    def arrange(self) -> None:
        self._unsettled = False
        self._rearrange(self._in_order(self._pass(self._rows)))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and index.row() < len(self._shown):
            line = self._shown[index.row()]
            if isinstance(line, Group):
                return self._group_data(line, index.column(), role)
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.bug_at(index.row()) is not None:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def sort_by(self, keys: SortKeys) -> None:
        self._unsettled = False
        super().sort_by(keys)

    def _group_data(self, group: Group, column: int, role: int) -> Any:
        texts = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        if role in texts and column == 0:
            state = ", closed" if group.collapsed else ""
            return f"{group.title}: {count_text(group.count, 'bug')}{state}"
        return None

    def _pass(self, rows: list[Any]) -> list[Any]:
        for term in self.terms:
            holds = term.holds
            rows = [row for row in rows if holds(row)]
        return list(rows)

    def _in_order(self, rows: list[Any]) -> list[Any]:
        ordered = super()._in_order(rows)
        self.shown_bugs = len(ordered)
        return ordered if self.group_by is GroupBy.NOTHING else self._in_groups(ordered)

    def _in_groups(self, lines: list[BugRow]) -> list[Line]:
        """The largest group first; what belongs to none comes last."""
        name = _GROUPS[self.group_by]
        titles: dict[str, str] = {}
        groups: dict[str, list[BugRow]] = {}
        for line in lines:
            key, title = name(line)
            titles.setdefault(key, title)
            groups.setdefault(key, []).append(line)
        arranged: list[Line] = []
        for key, members in sorted(groups.items(), key=lambda item: (not item[0], -len(item[1]))):
            collapsed = key in self._collapsed
            arranged.append(Group(key, titles[key], len(members), collapsed))
            arranged += () if collapsed else members
        return arranged


def _root_cause(row: BugRow) -> tuple[str, str]:
    cause = row.root_cause
    if cause is None:
        return "", "Not localized yet"
    action = f"({row.bad_action})" if row.bad_action else "no action"
    return f"root {cause}", f"Root cause {cause}  {action}  in {row.problem}"


def _region(row: BugRow) -> tuple[str, str]:
    region = row.region
    if region is None:
        return "", "No region"
    return f"region {region}", f"Region of bug {region}  in {row.problem}"


def _schema(row: BugRow) -> tuple[str, str]:
    schema = row.bad_action.partition(" ")[0]
    return (f"schema {schema}", f"Bad action: {schema}") if schema else ("", "Not localized yet")


_GROUPS: dict[GroupBy, Callable[[BugRow], tuple[str, str]]] = {
    GroupBy.ROOT_CAUSE: _root_cause,
    GroupBy.REGION: _region,
    GroupBy.SCHEMA: _schema,
    GroupBy.PROBLEM: lambda row: (row.problem, row.problem),
    GroupBy.KIND: lambda row: (row.kind, kind_text(row.kind).capitalize()),
    GroupBy.ORACLE: lambda row: (row.found_by, f"Found by {row.found_by}"),
}
"""The key and the title of the group of a bug; an empty key means none."""
