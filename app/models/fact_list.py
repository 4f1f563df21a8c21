"""The facts of a state as a list with headings: goals first, then what holds, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.report.state_facts import Change, FactLine, GoalLine, Grouping, StateFacts

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    count: str


Line = Heading | GoalLine | FactLine

_CHANGES = {
    Change.ADDED: "becomes true",
    Change.REMOVED: "becomes false",
    Change.NONE: "stays true",
}


class FactList(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []
        self._facts: StateFacts | None = None
        self._grouping = Grouping.PREDICATE
        self._words = ""
        self._static = False

    def show_facts(self, facts: StateFacts | None) -> None:
        self._facts = facts
        self._rebuild()

    def set_grouping(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._rebuild()

    def set_words(self, words: str) -> None:
        """Show only facts that contain all of these words."""
        self._words = words
        self._rebuild()

    def set_static(self, shown: bool) -> None:
        """Whether facts that never change are shown."""
        self._static = shown
        self._rebuild()

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.text
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return _said(line)
        return None

    def _rebuild(self) -> None:
        self.beginResetModel()
        self.lines = [] if self._facts is None else self._build(self._facts)
        self.endResetModel()

    def _build(self, facts: StateFacts) -> list[Line]:
        wanted = self._words.lower().split()
        lines: list[Line] = []
        goals = [goal for goal in facts.goals if all(word in goal.text for word in wanted)]
        if goals:
            lines.append(Heading("Goals", f"{facts.reached} of {len(facts.goals)} reached"))
            lines += [goal for goal in goals if not goal.after]
            lines += [goal for goal in goals if goal.after]
        added, removed = facts.changed(Change.ADDED), facts.changed(Change.REMOVED)
        if (added or removed) and not wanted:
            lines.append(
                Heading("Changed by the step", f"+{len(added)}  \N{MINUS SIGN}{len(removed)}")
            )
            changed = [group.lines for group in facts.groups(Grouping.PREDICATE)]
            flat = [line for group in changed for line in group]
            lines += [line for line in flat if line.change is Change.ADDED]
            lines += [line for line in flat if line.change is Change.REMOVED]
        for group in facts.groups(self._grouping, self._words, self._static):
            lines.append(Heading(group.title, str(len(group.lines))))
            lines += group.lines
        return lines


def _said(line: Line) -> str:
    match line:
        case Heading(text, count):
            return f"{text}: {count}"
        case GoalLine():
            if line.before != line.after:
                return f"{line.text}: goal that this step {'reaches' if line.after else 'undoes'}"
            return f"{line.text}: {'reached' if line.after else 'open'} goal"
        case FactLine():
            return f"{line.text} {'is constant' if line.static else _CHANGES[line.change]}"
