"""Form fields: numbers, choices and limits that are read and filled the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from app.widgets.layouts import hbox

NO_LIMIT = "no limit"
MAX_NUMBER = 10**9

SpinBox = QSpinBox | QDoubleSpinBox


def seconds_box() -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(0.1, MAX_NUMBER)
    box.setDecimals(1)
    box.setSuffix(" s")
    return box


def megabytes_box(minimum: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(minimum, MAX_NUMBER)
    box.setSingleStep(100)
    box.setSuffix(" MB")
    return box


class LimitField(QWidget):
    """Its value is None without a limit; `usual` is offered when it gets one."""

    changed = Signal()

    def __init__(self, box: SpinBox, usual: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tick, self.box = QCheckBox(), box
        self._number: float = usual  # kept while there is no limit
        box.setGroupSeparatorShown(True)
        box.setAccelerated(True)
        hbox(self.tick, (box, 1), parent=self, spacing=6)
        self.setFocusProxy(self.tick)
        self.tick.toggled.connect(self._toggle)
        box.valueChanged.connect(self._edit)
        self._show()

    def value(self) -> float | None:
        return self.box.value() if self.tick.isChecked() else None

    def setValue(self, value: float | None) -> None:  # noqa: N802  as its siblings call it
        self._number = self._number if value is None else min(value, self.box.maximum())
        self.tick.setChecked(value is not None)
        self._show()

    def setObjectName(self, name: str) -> None:  # noqa: N802  Qt's name
        super().setObjectName(name)
        self.tick.setObjectName(f"{name}-on")
        self.box.setObjectName(f"{name}-box")

    def setAccessibleName(self, name: str) -> None:  # noqa: N802  Qt's name
        super().setAccessibleName(name)
        self.tick.setAccessibleName(f"Limit: {name}")
        self.box.setAccessibleName(name)

    def setToolTip(self, text: str) -> None:  # noqa: N802  Qt's name
        super().setToolTip(text)
        self.tick.setToolTip(f"{text} No limit if unchecked.")

    @Slot()
    def _toggle(self) -> None:
        self._show()
        self.changed.emit()

    @Slot()
    def _edit(self) -> None:
        self._number = self.box.value()
        self.changed.emit()

    def _show(self) -> None:
        """Without a limit the box shows its special text, which Qt ties to its minimum."""
        is_on, box = self.tick.isChecked(), self.box
        box.blockSignals(True)
        box.setSpecialValueText("" if is_on else NO_LIMIT)
        if isinstance(box, QSpinBox):
            box.setValue(int(self._number) if is_on else box.minimum())
        else:
            box.setValue(self._number if is_on else box.minimum())
        box.setEnabled(is_on)
        box.blockSignals(False)


class _CalmWheel(QObject):
    """Scrolling past a field must not change it."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget):
            event.ignore()
            return not watched.hasFocus()
        return False


def calm(widget: QWidget) -> None:
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_CalmWheel(widget))


def number(minimum: int, maximum: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(minimum, maximum)
    box.setGroupSeparatorShown(True)
    box.setAccelerated(True)
    return box


def choice(words: Mapping[Any, str]) -> QComboBox:
    """One of several; a tooltip shows what follows the colon of an entry."""
    box = QComboBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(12)
    for value, text in words.items():
        box.addItem(text.partition(":")[0], value)
        box.setItemData(box.count() - 1, text, Qt.ItemDataRole.ToolTipRole)
    return box


def changed_signal(widget: QWidget) -> Any:
    match widget:
        case QCheckBox():
            return widget.toggled
        case QComboBox():
            return widget.currentIndexChanged
        case QSpinBox() | QDoubleSpinBox():
            return widget.valueChanged
        case LimitField():
            return widget.changed
    raise TypeError(widget)


def value_of(widget: QWidget) -> object:
    match widget:
        case QCheckBox():
            return widget.isChecked()
        case QComboBox():
            return widget.currentData()
        case QSpinBox() | QDoubleSpinBox() | LimitField():
            return widget.value()
    raise TypeError(widget)


def show_value(widget: QWidget, value: Any) -> None:
    match widget:
        case QCheckBox():
            widget.setChecked(value)
        case QComboBox():
            widget.setCurrentIndex(max(0, widget.findData(value)))  # it may be from elsewhere
        case QSpinBox() | QDoubleSpinBox():
            widget.setValue(min(value, widget.maximum()))  # Qt refuses what exceeds its numbers
        case LimitField():
            widget.setValue(value)


class KeyedLineEdit(QLineEdit):
    focus_changed = Signal()

    def __init__(self, takes: Callable[[QKeyEvent], bool], parent: QWidget | None = None) -> None:
        """`takes` sees every key first and returns whether it has handled it."""
        super().__init__(parent)
        self._takes = takes

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if not self._takes(event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusOutEvent(event)
        self.focus_changed.emit()
