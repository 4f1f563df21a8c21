"""The dialog that lists all shortcuts, generated from the menus."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QMenu, QScrollArea, QWidget

from app.widgets.builders import describe, heading, label
from app.widgets.dialog import close_button
from app.widgets.layouts import hbox, vbox
from app.widgets.page import Page

COLUMNS = 3
Group = tuple[str, list[tuple[str, str]]]
"""A heading, and for every line what is done and the keys that do it."""

IN_TABLES: Group = (
    "In tables",
    [
        ("Copy selected rows", "Ctrl+C"),
        ("Sort by a column", "Click its title"),
        ("Sort by another column as well", "Shift+click its title"),
        ("Choose columns", "Right-click a title"),
    ],
)


def group_of_menu(menu: QMenu) -> Group:
    return _plain(menu.title()), _lines(menu.actions())


def group_of_page(page: Page) -> Group:
    return page.title, _lines([*page.page_actions(), *page.table_actions()])


def _lines(actions: Sequence[QAction]) -> list[tuple[str, str]]:
    lines = []
    for action in actions:
        keys = [_native(keys) for keys in action.shortcuts()]
        if keys:
            lines.append((_plain(action.text()), " or ".join(keys)))
        inner = action.menu()
        if isinstance(inner, QMenu):
            lines += _lines(inner.actions())
    return lines


def _native(keys: QKeySequence) -> str:
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def _plain(text: str) -> str:
    return text.replace("&", "").removesuffix("\u2026")


class ShortcutSheet(QDialog):
    def __init__(self, groups: Sequence[Group], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcuts")
        self.setWindowTitle("Shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        content = QWidget()
        parts = in_columns([group for group in groups if group[1]], COLUMNS)
        columns = [vbox(*map(_sheet, part), 1, spacing=16) for part in parts]
        hbox(*columns, parent=content, spacing=40, margins=None)
        scroll = QScrollArea()
        describe(scroll, "shortcut-list", "Shortcuts")
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        vbox(scroll, close_button(self), parent=self, margins=None)
        hint = content.sizeHint()
        self.resize(hint.width() + 64, min(hint.height() + 96, 780))


def in_columns(groups: Sequence[Group], count: int) -> list[list[Group]]:
    """Distribute groups over columns in order, with the highest column as low as possible."""
    places = range(len(groups) + 1)
    ways = combinations_with_replacement(places, count - 1)
    columns = (_cut(groups, cuts) for cuts in ways)
    return min(columns, key=lambda each: max(map(_height, each)))


def _cut(groups: Sequence[Group], cuts: Sequence[int]) -> list[list[Group]]:
    return [list(groups[start:end]) for start, end in pairwise((0, *cuts, len(groups)))]


def _height(column: Sequence[Group]) -> int:
    return sum(len(lines) + 2 for _, lines in column)  # with the heading and the gap


def _sheet(group: Group) -> QWidget:
    title, lines = group
    sheet = QWidget()
    grid = QGridLayout(sheet)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    grid.addWidget(heading(title), 0, 0, 1, 2)
    for row, (text, keys) in enumerate(lines, start=1):
        grid.addWidget(QLabel(text), row, 0)
        grid.addWidget(label(keys, "muted"), row, 1, Qt.AlignmentFlag.AlignRight)
    return sheet
