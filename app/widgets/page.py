"""The base class of all screens."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.services.context import Context


class Page(QWidget):
    """Created when it is first shown; lives as long as its window."""

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]

    page_requested = Signal(str, object)  # show another screen, with something to show there
    workspace_requested = Signal(object)  # Path: open another workspace
    example_requested = Signal(str)  # open a bundled example

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setObjectName(self.name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # or a focus proxy, for the keyboard
        self.setAccessibleName(self.title)

    def show_item(self, item: object) -> None:
        """Show something that another screen has sent the user here for."""

    def prepare(self) -> None:
        """Create slow parts in advance, while the user is idle."""

    def page_actions(self) -> list[QAction]:
        """Return the entries of the screen's menu; their shortcuts need the screen in front."""
        return []

    def table_actions(self) -> list[QAction]:
        """Return actions whose keys work only in a table of the screen.

        They are listed among the shortcuts but are in no menu, which would take their single
        letters for its mnemonics.
        """
        return []

    def may_close(self) -> str:
        """Return why closing now would lose something, or an empty string."""
        return ""
