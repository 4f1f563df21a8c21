"""The sheet of all shortcuts, made from the menus so that it is always true."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.page import Page

Group = tuple[str, list[tuple[str, str]]]
"""A heading, and for every line what is done and the keys that do it."""

IN_TABLES: Group = (
    "In tables",
    [
        ("Copy the selected rows", "Ctrl+C"),
        ("Sort by a column", "Click its title"),
        ("Sort by one more column", "Shift+Click its title"),
        ("Choose the columns", "Right click on a title"),
    ],
)


def group_of_menu(menu: QMenu) -> Group:
    lines = _lines(menu.actions())
    for inner in menu.findChildren(QMenu):
        lines += _lines(inner.actions())
    return _plain(menu.title()), lines


def group_of_page(page: Page) -> Group:
    return page.title, _lines(page.page_actions())


def _lines(actions: Sequence[QAction]) -> list[tuple[str, str]]:
    lines = []
    for action in actions:
        keys = [_native(keys) for keys in action.shortcuts()]
        if keys:
            lines.append((_plain(action.text()), " or ".join(keys)))
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
        columns = QHBoxLayout(content)
        columns.setSpacing(40)
        for half in _halves([group for group in groups if group[1]]):
            column = QVBoxLayout()
            column.setSpacing(16)
            for group in half:
                column.addWidget(_sheet(group))
            column.addStretch(1)
            columns.addLayout(column)
        scroll = QScrollArea()
        scroll.setObjectName("shortcut-list")
        scroll.setAccessibleName("Shortcuts")
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setObjectName("shortcuts-close")
        close.setAccessibleName("Close")
        layout = QVBoxLayout(self)
        layout.addWidget(scroll)
        layout.addWidget(buttons)
        hint = content.sizeHint()
        self.resize(hint.width() + 64, min(hint.height() + 96, 720))


def _halves(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """Two columns of about the same height, in order."""
    heights = [len(lines) + 2 for _, lines in groups]
    cut = min(range(len(groups) + 1), key=lambda i: abs(sum(heights[:i]) - sum(heights[i:])))
    return groups[:cut], groups[cut:]


def _sheet(group: Group) -> QWidget:
    heading, lines = group
    sheet = QWidget()
    grid = QGridLayout(sheet)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(24)
    grid.setColumnStretch(0, 1)
    title = QLabel(heading)
    title.setProperty("role", "heading")
    grid.addWidget(title, 0, 0, 1, 2)
    for row, (text, keys) in enumerate(lines, start=1):
        grid.addWidget(QLabel(text), row, 0)
        label = QLabel(keys)
        label.setProperty("role", "muted")
        grid.addWidget(label, row, 1, Qt.AlignmentFlag.AlignRight)
    return sheet
