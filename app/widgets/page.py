"""The base of a screen."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.services.context import Context


class Page(QWidget):
    """A screen is made when it is first shown, and lives as long as its window."""

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
        """Called after switching here with something to show; screens say what they take.

        The project screen takes a list of paths: files to add to the project.
        """

    def prepare(self) -> None:
        """Make now, while nothing happens, what will be slow to make later."""

    def page_actions(self) -> list[QAction]:
        """For the screen's own menu; their shortcuts work while the screen is visible."""
        return []

    def table_actions(self) -> list[QAction]:
        """Those with keys that work in a table of the screen only: told, but in no menu.

        In a menu their single letters would be taken for those of its entries.
        """
        return []

    def may_close(self) -> str:
        """Empty, or a sentence why closing now would lose something."""
        return ""
