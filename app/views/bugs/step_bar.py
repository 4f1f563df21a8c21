"""Below the plans: a slider with the bad steps marked on it, and a button that localizes.

The button has its settings in a menu, and shows progress while it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from PySide6.QtCore import QRect, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QProgressBar, QSlider, QStyle, QToolButton, QWidget

from app.models.step_cursor import Side, StepCursor
from app.services.settings import Settings
from app.services.theme import Theme
from app.widgets.builders import describe, icon_button, label
from app.widgets.layouts import hbox
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
        describe(self.progress, "localize-progress", "Progress of the localization")
        self.progress.setFixedWidth(PROGRESS_WIDTH)
        self.stop_button = icon_button(
            theme, "stop", "localize-stop", "Stop localizing", clicked=self.stop_requested
        )
        hbox(
            self.button,
            self.settings_button,
            self.progress,
            self.stop_button,
            parent=self,
            spacing=4,
        )
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


class StepBar(QWidget):
    """Follows the cursor, and moves it along the plan it is on."""

    folding = Signal(bool)
    """Whether to fold common steps."""

    def __init__(self, theme: Theme, cursor: StepCursor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._previous = icon_button(
            theme, "left", "step-left", "Previous step (Alt+Left)", clicked=self.back
        )
        self._next = icon_button(
            theme, "right", "step-right", "Next step (Alt+Right)", clicked=self.forth
        )
        self.slider = _MarkedSlider(theme)
        self.slider.valueChanged.connect(self._on_value_changed)
        self.label = label(role="muted")
        self.label.setMinimumWidth(
            self.fontMetrics().horizontalAdvance("better plan, step 100 of 100")
        )
        self.localize = LocalizeButton(theme)
        layout = hbox(
            self._previous,
            self.slider,
            self._next,
            self.label,
            self.localize,
            self._fold_button(theme),
            parent=self,
            spacing=4,
            margins=(8, 2, 8, 2),
        )
        layout.setStretch(1, 1)
        cursor.comparison_changed.connect(self._show_comparison)
        cursor.moved.connect(self._follow)
        theme.changed.connect(self.slider.update)
        self._show_comparison()

    def _fold_button(self, theme: Theme) -> QToolButton:
        button = icon_button(
            theme,
            "fold",
            "fold-common",
            "Fold common steps",
            "Hide long parts that both plans have in common",
        )
        button.setCheckable(True)
        button.setChecked(True)
        button.toggled.connect(self.folding)
        return button

    @Slot()
    def back(self) -> None:
        self.slider.setValue(self.slider.value() - 1)

    @Slot()
    def forth(self) -> None:
        self.slider.setValue(self.slider.value() + 1)

    @Slot()
    def _show_comparison(self) -> None:
        comparison = self._cursor.comparison
        found = comparison.localization if comparison else None
        self.slider.bad = found.bad_steps if found else ()
        self.slider.worst = found.worst_step if found else None
        self.setEnabled(comparison is not None)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        trace = self._cursor.trace
        if trace is None:
            self.label.setText("")
            return
        blocked = self.slider.blockSignals(True)
        self.slider.setRange(0, len(trace.steps))
        self.slider.setValue(self._cursor.index)
        self.slider.blockSignals(blocked)
        self.slider.marked = self._cursor.side is Side.POLICY
        self.slider.update()
        whose = "policy" if self._cursor.side is Side.POLICY else "better plan"
        place = (
            "at the end"
            if self._cursor.index >= len(trace.steps)
            else f"step {self._cursor.index + 1} of {len(trace.steps)}"
        )
        self.label.setText(f"{whose}, {place}")

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        self._cursor.move(self._cursor.side, value)


class _MarkedSlider(QSlider):
    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        describe(self, "step-slider", "Step")
        self.setPageStep(5)
        self._theme = theme
        self.bad: tuple[int, ...] = ()
        self.worst: int | None = None
        self.marked = True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        super().paintEvent(event)
        if not (self.marked and self.bad and self.maximum()):
            return
        painter = QPainter(self)
        handle = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, None, self)
        room = self.width() - handle
        for step in self.bad:
            x = QStyle.sliderPositionFromValue(0, self.maximum(), step, room) + handle // 2
            height = 9 if step == self.worst else 5
            painter.fillRect(QRect(x - 2, 0, 4, height), self._theme.color("bad"))
        painter.end()
