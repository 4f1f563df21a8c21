"""The table of bugs: filtered by the language of the command line, sorted, and in groups.

Groups are rows of their own, with the bugs they hold below them. Which bugs there are, in which
order, the workspace says by their numbers; of a million bugs only the rows in sight are read. What
arrives is put in place all at once (`settle`), and selected bugs stay selected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Qt, QTimer, Signal

from app.models.table_model import (
    DESCENDING,
    Column,
    Index,
    Palette,
    SortKeys,
    TableModel,
    moving_rows,
)
from engine.records.finding import BugKind, BugStatus
from engine.report.bug_text import kind_text
from engine.report.loss_text import row_loss_cell
from engine.report.words import count_text
from engine.workspace.bug_columns import Numbers
from engine.workspace.bug_list import NO_BUGS, BugList, BugOverview, BugQuery, Groups
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


def gap_text(row: BugRow) -> str:
    if row.gap is None:
        return "∞"
    return f"≥ {row.gap}" if row.kind is BugKind.STOPPED else str(row.gap)


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


_INFINITE = float("inf")


def _loss(row: BugRow) -> float | None:
    """None where the column is empty."""
    if not row_loss_cell(row):
        return None
    return _INFINITE if row.loss is None else row.loss


PICTURE = "picture"
"""The column that the view draws; it has no text."""
COLUMNS: tuple[Column[Any], ...] = (
    Column("id", "Bug", lambda row: row.id, numeric=True, tip="The bug's number"),
    Column(PICTURE, "Picture", lambda _: None, tip="Small picture of the bug's state", shown=False),
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
        gap_text,
        numeric=True,
        tip="Policy cost minus best known cost; ∞ if the policy fails",
    ),
    Column(
        "loss",
        "Loss",
        _loss,
        row_loss_cell,
        numeric=True,
        token=lambda row: "bad",
        tip="How much more the goal costs because of the worst step",
    ),
    Column(
        "worst",
        "Worst step",
        lambda row: row.worst_action or None,
        lambda row: f"({row.worst_action})" if row.worst_action else "",
        mono=True,
        token=lambda row: "bad" if row.worst_action else "muted",
        row_tip=lambda row: (
            f"({row.worst_action})" if row.worst_action else "Localize the bug to find it"
        ),
        tip="Action of the worst step, which loses most, once the bug is localized",
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
        "pattern",
        "Pattern",
        lambda row: row.pattern,
        lambda row: _number(row.pattern),
        numeric=True,
        row_tip=lambda row: row.family or "Minimize the bug to find it",
        tip="Bugs whose smallest witnesses are the same up to the names of objects",
    ),
    Column(
        "time",
        "Time",
        lambda row: row.seconds,
        lambda row: _seconds(row.seconds),
        numeric=True,
        tip="Time since the start of its unit until the bug was found",
    ),
    Column(
        "action",
        "Bad action",
        lambda row: row.bad_action or None,
        lambda row: f"({row.bad_action})" if row.bad_action else "",
        mono=True,
        tip="Action of the root cause: the last bad step",
        shown=False,
    ),
    Column("policy", "Policy", lambda row: row.policy, shown=False),
    Column("seed", "Seed", lambda row: row.seed, numeric=True, shown=False),
    Column("campaign", "Campaign", lambda row: row.campaign, numeric=True, shown=False),
    Column("note", "Note", lambda row: row.note or None, tip="Your note"),
)


_TELLING: dict[str, Callable[[BugRow], object]] = {
    "note": lambda row: row.note,
    "worst": lambda row: row.worst_action,
    "loss": row_loss_cell,
    "root": lambda row: row.root_cause is not None,
    "pattern": lambda row: row.pattern is not None,
}
"""Columns that say nothing as long as no bug has a value."""


class GroupBy(Enum):
    NOTHING = "No groups"
    PATTERN = "pattern"
    FAMILY = "family"
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
ReadRows = Callable[[list[int]], list[BugRow]]
KEPT_ROWS = 2000
"""Rows in memory, some screens full; a million would take gigabytes."""
PAGE = 64
"""Rows that are read at once where one is needed."""


class _Lines(Sequence[Line]):
    """The lines of the table, made when they are asked for."""

    def __init__(self, table: BugTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.line_count

    def __getitem__(self, number: Any) -> Any:
        return self._table.line(number)


class BugTable(TableModel[Any]):
    """Rows are `BugRow`s and, in groups, `Group`s.

    The table knows which bugs it shows by their numbers (`BugList`) and caches the rows used last.
    `rows_of` reads other rows at once. Rows that are only painted are requested (`missing`) and
    arrive later. The receiver of `asked` provides another list.
    """

    asked = Signal()
    """Another filter, order or other groups are wanted."""
    missing = Signal(object)
    """Rows of these bugs are in sight."""

    def __init__(self, palette: Palette, rows_of: ReadRows, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, palette, parent)
        self.group_by = GroupBy.NOTHING
        self.terms: tuple[Term, ...] = ()
        self.overview = BugOverview()
        self.list = NO_BUGS
        self._read_rows = rows_of
        self._kept: dict[int, BugRow] = {}  # the one used last comes last
        self._missing: set[int] = set()  # visible bugs whose rows are not read yet
        self._coming: set[int] = set()  # were asked for
        self.lines_in_sight: Callable[[], range] = lambda: range(0)  # the view knows
        self._collapsed: set[str] = set()
        self._pattern_titles: dict[int, str] = {}
        self._lines_before = np.empty(0, np.int64)  # for each group
        self._unsettled = False
        self._shown = _Lines(self)  # type: ignore[assignment]

    @property
    def query(self) -> BugQuery:
        """Return the filter, order and groups of the list."""
        order = [
            (self.columns[number].name, order == DESCENDING) for number, order in self.sort_keys
        ]
        return BugQuery(self.terms, tuple(order), _GROUPS[self.group_by][0])

    @property
    def total(self) -> int:
        return self.overview.total

    @property
    def shown_bugs(self) -> int:
        return len(self.list.bugs)

    @property
    def line_count(self) -> int:
        groups = self.list.groups
        if groups is None or not len(groups.starts):
            return len(self.list.bugs)
        last = len(groups.starts) - 1
        return int(self._lines_before[last]) + 1 + self._open_bugs(last)

    def line(self, number: int) -> Line | None:
        """What a line shows, read at once if need be; None if it cannot be read."""
        return self.peek(number, self._read_around)

    def peek(
        self, number: int, otherwise: Callable[[int, int], BugRow | None] | None = None
    ) -> Line | None:
        """What a line shows; None, until it was read, for who can wait."""
        place, group = self._place(number)
        row = (otherwise or self._peek)(place, int(self.list.bugs[place]))
        if row is None or group is None:
            return row
        groups = self.list.groups
        assert groups is not None
        key = groups.key(group)
        return Group(key, self._title(row), int(groups.counts[group]), key in self._collapsed)

    def bug_at(self, number: int) -> BugRow | None:
        """None for the row of a group."""
        if not 0 <= number < self.line_count or self._place(number)[1] is not None:
            return None
        line = self.line(number)
        return line if isinstance(line, BugRow) else None

    def is_bug(self, number: int) -> bool:
        return 0 <= number < self.line_count and self._place(number)[1] is None

    def bugs_at(self, numbers: Iterable[int]) -> list[BugRow]:
        """The bugs in some lines, read all at once; groups are left out."""
        places = [self._place(number) for number in numbers if 0 <= number < self.line_count]
        bugs = [int(self.list.bugs[place]) for place, group in places if group is None]
        found = {row.id: row for row in self._read_rows([b for b in bugs if b not in self._kept])}
        return [row for bug in bugs if (row := self._kept.get(bug) or found.get(bug)) is not None]

    def known(self, bug: int) -> BugRow | None:
        """A bug of the workspace, whether it is shown or not."""
        row = self._kept.get(bug)
        if row is None:
            for row in self._read_rows([bug]):
                self._keep([row])
        return row

    def kept(self, bug: int) -> BugRow | None:
        """A bug whose row is in memory."""
        return self._kept.get(bug)

    def in_sight(self) -> tuple[list[int], int]:
        """The bugs that are seen now, and the place of the first in the list."""
        lines = [line for line in self.lines_in_sight() if 0 <= line < self.line_count]
        places = [self._place(line)[0] for line in lines]
        return [int(self.list.bugs[place]) for place in places], min(places, default=0)

    def kept_bugs_of_cause(self, cause: int) -> list[int]:
        return [row.id for row in self._kept.values() if row.root_cause == cause]

    def places_of(self, bugs: Collection[int]) -> list[int]:
        """The rows in which bugs are shown."""
        lines = (self._line_of(self.list.place_of(bug)) for bug in bugs)
        return sorted(line for line in lines if line >= 0)

    def values(self) -> Mapping[str, Sequence[str]]:
        """What occurs in columns of texts: for completing a filter."""
        return self.overview.values or {}

    def empty_columns(self) -> set[int]:
        """Return the columns with the same value for all bugs."""
        silent = self.overview.silent
        return {number for number, column in enumerate(self.columns) if column.name in silent}

    def take(self, rows: Iterable[BugRow]) -> int:
        """News about bugs; how many there were. Lines stay in their places until `settle`."""
        news = [row for row in rows if self._kept.get(row.id) != row]
        if news:
            self._keep(news)
            said = {name for name, tells in _TELLING.items() if any(map(tells, news))}
            self.overview = replace(self.overview, silent=self.overview.silent - said)
            self._unsettled = True
            self.restyle()
        return len(news)

    def bring(self, rows: Iterable[BugRow]) -> None:
        """Rows that were missing."""
        rows = list(rows)
        self._coming.difference_update(row.id for row in rows)
        self._keep(rows)
        self.restyle()

    def show_list(self, found: BugList, overview: BugOverview, rows: Iterable[BugRow]) -> None:
        """Another list: selected bugs stay selected. Of the rows only these are up to date."""
        self._unsettled = False
        self.overview = overview
        self._kept.clear()
        self._missing.clear()
        self._coming.clear()
        self._keep(rows)
        self._change(found)

    def settle(self) -> None:
        """Put new and changed bugs in their places."""
        if self._unsettled:
            self.asked.emit()

    def set_terms(self, terms: Sequence[Term]) -> None:
        self.terms = tuple(terms)
        self.asked.emit()

    def set_group_by(self, group_by: GroupBy) -> None:
        self.group_by = group_by
        self._collapsed.clear()
        self.asked.emit()

    def sort_by(self, keys: SortKeys) -> None:
        self.sort_keys = keys
        self.asked.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def set_pattern_titles(self, titles: dict[int, str]) -> None:
        """What the mistakes of patterns are, for the headings of their groups."""
        if titles != self._pattern_titles:
            self._pattern_titles = titles
            if self.group_by is GroupBy.PATTERN:
                self.restyle()

    def toggle(self, number: int) -> None:
        """Open or close the group in a row."""
        group = self.line(number)
        if isinstance(group, Group):
            self._collapsed ^= {group.key}
            self._change(self.list)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and index.row() < self.line_count:
            line = self.line(index.row())
            if line is None:
                return None
            if isinstance(line, Group):
                return self._group_data(line, index.column(), role)
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.is_bug(index.row()):
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def _title(self, row: BugRow) -> str:
        """Return the heading of a bug's group."""
        if self.group_by is GroupBy.PATTERN and row.pattern in self._pattern_titles:
            return f"Pattern {row.pattern}  {self._pattern_titles[row.pattern]}"
        return _GROUPS[self.group_by][1](row)

    def _group_data(self, group: Group, column: int, role: int) -> Any:
        texts = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        if role in texts and column == 0:
            state = ", closed" if group.collapsed else ""
            return f"{group.title}: {count_text(group.count, 'bug')}{state}"
        return None

    def _place(self, line: int) -> tuple[int, int | None]:
        """The place in the list that a line shows; for a group, its first bug's, and its number."""
        groups = self.list.groups
        if groups is None:
            return line, None
        group = int(np.searchsorted(self._lines_before, line, "right")) - 1
        below = line - int(self._lines_before[group])
        place = int(groups.starts[group]) + max(0, below - 1)
        return place, None if below else group

    def _line_of(self, place: int) -> int:
        """The line of a place in the list; -1 if there is none."""
        groups = self.list.groups
        if groups is None or place < 0:
            return place
        group = int(np.searchsorted(groups.starts, place, "right")) - 1
        if groups.key(group) in self._collapsed:
            return -1
        return int(self._lines_before[group]) + 1 + place - int(groups.starts[group])

    def _open_bugs(self, group: int) -> int:
        groups = self.list.groups
        assert groups is not None
        return 0 if groups.key(group) in self._collapsed else int(groups.counts[group])

    def _peek(self, place: int, bug: int) -> BugRow | None:
        del place
        row = self._kept.get(bug)
        if row is None and bug not in self._coming:
            if not self._missing:
                QTimer.singleShot(0, self, self._ask_for_missing)
            self._missing.add(bug)
        return row

    def _ask_for_missing(self) -> None:
        if self._missing:
            self._coming |= self._missing
            wanted = sorted(self._missing)
            self._missing.clear()
            self.missing.emit(wanted)

    def _read_around(self, place: int, bug: int) -> BugRow | None:
        """Read a row with those around it, which will be asked for next."""
        row = self._kept.get(bug)
        if row is None:
            first = max(0, place - PAGE // 2)
            near = [int(number) for number in self.list.bugs[first : first + PAGE]]
            self._keep(self._read_rows([number for number in near if number not in self._kept]))
            row = self._kept.get(bug)
        return row

    def _keep(self, rows: Iterable[BugRow]) -> None:
        for row in rows:
            self._kept.pop(row.id, None)
            self._kept[row.id] = row
        while len(self._kept) > KEPT_ROWS:
            del self._kept[next(iter(self._kept))]

    def _change(self, found: BugList) -> None:
        """Another list, or other groups that are closed: what is selected stays so."""
        with moving_rows(self):
            before = self.persistentIndexList()
            places = [self._place(index.row()) for index in before]
            bugs = [int(self.list.bugs[place]) if group is None else -1 for place, group in places]
            self.list = found
            if found.groups is not None:
                self._lines_before = self._count_lines(found.groups)
            lines = [self._line_of(found.place_of(bug)) for bug in bugs]
            after = [
                self.index(line, index.column()) if line >= 0 else QModelIndex()
                for line, index in zip(lines, before, strict=True)
            ]
            self.changePersistentIndexList(before, after)

    def _count_lines(self, groups: Groups) -> Numbers:
        """How many lines come before each group."""
        lines = groups.counts + 1
        for key in self._collapsed:
            group = groups.find(key)
            if group >= 0:
                lines[group] = 1
        return np.concatenate(([0], np.cumsum(lines)[:-1])) if len(lines) else lines


NO_WITNESS = "Without a witness"
"""The tab Evidence says of each bug whether it was minimized, and why it has none."""


def _root_cause(row: BugRow) -> str:
    if row.root_cause is None:
        return "Not localized yet"
    action = f"({row.bad_action})" if row.bad_action else "no action"
    return f"Root cause {row.root_cause}  {action}  in {row.problem}"


def _region(row: BugRow) -> str:
    return "No region" if row.region is None else f"Region of bug {row.region}  in {row.problem}"


def _schema(row: BugRow) -> str:
    schema = row.bad_action.partition(" ")[0]
    return f"Bad action: {schema}" if schema else "Not localized yet"


def _pattern(row: BugRow) -> str:
    return NO_WITNESS if row.pattern is None else f"Pattern {row.pattern}  {row.family}"


_GROUPS: dict[GroupBy, tuple[str, Callable[[BugRow], str]]] = {
    GroupBy.NOTHING: ("", lambda _: ""),
    GroupBy.PATTERN: ("pattern", _pattern),
    GroupBy.FAMILY: ("family", lambda row: row.family or NO_WITNESS),
    GroupBy.ROOT_CAUSE: ("root", _root_cause),
    GroupBy.REGION: ("region", _region),
    GroupBy.SCHEMA: ("schema", _schema),
    GroupBy.PROBLEM: ("problem", lambda row: row.problem),
    GroupBy.KIND: ("kind", lambda row: kind_text(row.kind).capitalize()),
    GroupBy.ORACLE: ("oracle", lambda row: f"Found by {row.found_by}"),
}
"""How the list calls the groups, and the title of the group of a bug."""
