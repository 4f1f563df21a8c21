"""Localizing, beside the plans: a button, its settings in a menu, and progress while it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QProgressBar, QToolButton, QWidget

from app.services.settings import Settings
from app.services.theme import Theme
from app.widgets.builders import describe, icon_button
from engine.search.heuristics import ADMISSIBLE
from engine.usecases.localize import ALGORITHMS, DEFAULT_OPTIONS, LocalizeOptions

ALGORITHM_TEXTS = {
    "bisection": "Bisection (few searches; default)",
    "aoca": "AOCA* (one search per step)",
    "sms": "SMS (two searches per step)",
    "sms-rev": "SMS reversed (successor first)",
    "sms-bc": "SMS with bounds (second search ends early)",
    "pms-bc": "PMS with bounds (both searches in parallel)",
    "pms-lama": "PMS with LAMA (and a planner in parallel)",
    "dominance": "Dominance only (no search, decides little)",
}
HEURISTIC_TEXTS = {
    "lmcut": "LM-cut (strong; default)",
    "cartesian": "Cartesian abstractions",
    "ms": "Merge-and-shrink",
    "hmax": "h^max (weak but fast)",
    "blind": "Blind (for tiny tasks)",
}
STATES: dict[object, str] = {
    100_000: "100,000 states",
    1_000_000: "1,000,000 states (default)",
    0: "No limit",
}
SECONDS: dict[object, str] = {
    10: "10 seconds",
    60: "1 minute (default)",
    600: "10 minutes",
    0: "No limit",
}
PROGRESS_WIDTH = 90
SETTING = "bugs/localize"


class LocalizeButton(QWidget):
    localize_requested = Signal(object)
    """A `LocalizeOptions`: look for bad steps."""
    stop_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings: Settings | None = None
        self.button = QToolButton()
        self.button.setText("Localize")
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setAutoRaise(True)
        tip = "Find the steps that cost too much (L)"
        describe(self.button, "localize-run", "Localize", tip)
        theme.keep_icon(self.button, "localize", "text")
        self.button.clicked.connect(self._run)
        self.menu = QMenu(self)
        self.menu.setObjectName("localize-settings")
        self.algorithm = self._choice("Algorithm", _texts(ALGORITHM_TEXTS, ALGORITHMS))
        self.heuristic = self._choice("Heuristic", _texts(HEURISTIC_TEXTS, ADMISSIBLE))
        self.states = self._choice("States per search", STATES)
        self.seconds = self._choice("Time per bug", SECONDS)
        self.settings_button = icon_button(
            theme, "settings", "localize-settings-button", "Settings of the localization"
        )
        self.settings_button.setMenu(self.menu)
        self.settings_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._take(DEFAULT_OPTIONS)
        self.progress = QProgressBar()
        self.progress.setObjectName("localize-progress")
        self.progress.setAccessibleName("Progress of the localization")
        self.progress.setFixedWidth(PROGRESS_WIDTH)
        self.stop_button = icon_button(
            theme, "stop", "localize-stop", "Stop localizing", clicked=self.stop_requested
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self.button, self.settings_button, self.progress, self.stop_button):
            layout.addWidget(widget)
        self.show_running(False)

    @property
    def options(self) -> LocalizeOptions:
        """What the menu says."""
        return LocalizeOptions(
            str(_chosen(self.algorithm)),
            str(_chosen(self.heuristic)),
            cast("int", _chosen(self.states)) or None,
            cast("int", _chosen(self.seconds)) or None,
        )

    def remember(self, settings: Settings) -> None:
        """Take the settings of the last time, and keep them from now on."""
        known: list[object] = settings.get(SETTING, [])
        for group, value in zip(self._groups, known, strict=False):
            _choose(group, value)
        self._settings = settings

    def show_running(self, running: bool, decided: int = 0, steps: int = 0) -> None:
        self.button.setVisible(not running)
        self.settings_button.setVisible(not running)
        self.progress.setVisible(running)
        self.stop_button.setVisible(running)
        self.progress.setRange(0, steps)
        self.progress.setValue(decided)

    @property
    def _groups(self) -> tuple[QActionGroup, ...]:
        return self.algorithm, self.heuristic, self.states, self.seconds

    def _choice(self, title: str, texts: Mapping[object, str]) -> QActionGroup:
        menu, group = self.menu.addMenu(title), QActionGroup(self)
        for value, text in texts.items():
            action = QAction(text, group)
            action.setCheckable(True)
            action.setData(value)
            menu.addAction(action)
        group.triggered.connect(self._keep)
        return group

    def _take(self, options: LocalizeOptions) -> None:
        _choose(self.algorithm, options.algorithm)
        _choose(self.heuristic, options.heuristic)
        _choose(self.states, options.search_expansions)
        _choose(self.seconds, int(options.bug_seconds or 0))

    @Slot()
    def _keep(self) -> None:
        if self._settings is not None:
            self._settings.set(SETTING, [_chosen(group) for group in self._groups])

    @Slot()
    def _run(self) -> None:
        self.localize_requested.emit(self.options)


def _texts(texts: dict[str, str], names: Collection[str]) -> dict[object, str]:
    return {name: text for name, text in texts.items() if name in names}


def _choose(group: QActionGroup, value: object) -> None:
    """Check the action with this value; without one everything stays as it is."""
    for action in group.actions():
        if action.data() == value:
            action.setChecked(True)


def _chosen(group: QActionGroup) -> object:
    return group.checkedAction().data()
