"""Below the plans: a slider with the bad steps marked on it, and localizing."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QStyle, QToolButton, QWidget

from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.views.bugs.localize_button import LocalizeButton
from app.widgets.builders import icon_button


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
        self.label = QLabel()
        self.label.setProperty("role", "muted")
        self.label.setMinimumWidth(
            self.fontMetrics().horizontalAdvance("better plan, step 100 of 100")
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 8, 2)
        layout.setSpacing(4)
        self.localize = LocalizeButton(theme)
        for widget in (
            self._previous,
            self.slider,
            self._next,
            self.label,
            self.localize,
            self._fold_button(theme),
        ):
            layout.addWidget(widget)
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
        self.setObjectName("step-slider")
        self.setAccessibleName("Step")
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
