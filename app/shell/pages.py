"""The screens in the order of the rail on the left, and the rail itself.

A screen is imported when it is first shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeySequence
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe
from app.widgets.layouts import vbox
from app.widgets.page import Page


@dataclass(frozen=True, slots=True)
class PageEntry:
    """Must agree with the class variables of its page."""

    name: str
    title: str
    icon: str
    where: str  # module:class

    @property
    def module(self) -> str:
        return self.where.partition(":")[0]

    def load(self) -> type[Page]:
        page: type[Page] = getattr(import_module(self.module), self.where.partition(":")[2])
        return page


PAGES: tuple[PageEntry, ...] = (
    PageEntry("project", "Project", "project", "app.views.project.page:ProjectPage"),
    PageEntry("campaign", "Campaign", "campaign", "app.views.campaign.page:CampaignPage"),
    PageEntry("bugs", "Bugs", "bugs", "app.views.bugs.page:BugsPage"),
    PageEntry(
        "equivalence", "Equivalence", "equivalence", "app.views.equivalence.page:EquivalencePage"
    ),
    PageEntry("train", "Train", "train", "app.views.train.page:TrainPage"),
    PageEntry(
        "experiments", "Experiments", "experiments", "app.views.experiments.page:ExperimentsPage"
    ),
    PageEntry("log", "Log", "log", "app.views.log:LogPage"),
)


WIDTH = 84
MARGIN = 4
ICON = QSize(24, 24)


class Rail(QWidget):
    chosen = Signal(str)  # the name of a page

    def __init__(
        self, pages: Sequence[PageEntry], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        describe(self, "rail", "Screens")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._icons = {page.name: page.icon for page in pages}
        self._buttons: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        buttons = [self._make_button(page, number) for number, page in enumerate(pages, start=1)]
        for button in buttons:
            group.addButton(button)
        vbox(*buttons, 1, parent=self, spacing=0, margins=(0, 8, 0, 8))
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_current(self, name: str) -> None:
        self._buttons[name].setChecked(True)
        self._show_icons()

    def _make_button(self, page: PageEntry, number: int) -> QToolButton:
        button = QToolButton(self)
        describe(button, f"rail-{page.name}", page.title)
        button.setText(page.title)
        keys = QKeySequence(f"Ctrl+{number}").toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{page.title} ({keys})")
        button.setCheckable(True)
        button.setIconSize(ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(self._choose)
        self._buttons[page.name] = button
        return button

    @Slot()
    def _choose(self) -> None:
        sender = self.sender()
        assert sender is not None
        self.chosen.emit(sender.objectName().removeprefix("rail-"))

    @Slot()
    def _restyle(self) -> None:
        """Fit the width to the longest word, also with larger text."""
        self._show_icons()
        words = [button.text() for button in self._buttons.values()]
        font = self._theme.ui_font
        font.setPointSize(font.pointSize() - 1)  # as the style sheet says
        widest = max(map(QFontMetrics(font).horizontalAdvance, words), default=0)
        self.setFixedWidth(max(WIDTH, widest + 2 * MARGIN))

    def _show_icons(self) -> None:
        for name, button in self._buttons.items():
            token = "accent" if button.isChecked() else "muted"
            button.setIcon(self._theme.icon(self._icons[name], token))
