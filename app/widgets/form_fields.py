"""Fields of forms: made, read and filled alike, whatever kind of widget they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.widgets.limit_field import LimitField

MOST = 10**9


def card(title: str) -> tuple[QFrame, QVBoxLayout]:
    card = QFrame()
    card.setProperty("card", True)
    heading = QLabel(title)
    heading.setProperty("role", "heading")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(12, 12, 12, 12)
    layout.setSpacing(8)
    layout.addWidget(heading)
    return card, layout


def form(layout: QVBoxLayout) -> QFormLayout:
    form = QFormLayout()
    form.setHorizontalSpacing(12)
    form.setVerticalSpacing(6)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    layout.addLayout(form)
    return form


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


def number(least: int, most: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(least, most)
    box.setGroupSeparatorShown(True)
    box.setAccelerated(True)
    return box


def choice(words: Mapping[Any, str]) -> QComboBox:
    """One of several; what follows a colon is told by a tooltip."""
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
            widget.setCurrentIndex(widget.findData(value))
        case QSpinBox() | QDoubleSpinBox() | LimitField():
            widget.setValue(value)
