"""A limit that one may do without: a tick box, and the number that holds while it is ticked."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget

NO_LIMIT = "no limit"
MOST = 10**9

SpinBox = QSpinBox | QDoubleSpinBox


def seconds_box() -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(0.1, MOST)
    box.setDecimals(1)
    box.setSuffix(" s")
    return box


def megabytes_box(least: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(least, MOST)
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
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.tick)
        layout.addWidget(box, 1)
        self.setFocusProxy(self.tick)
        self.tick.toggled.connect(self._toggle)
        box.valueChanged.connect(self._edit)
        self._show()

    def value(self) -> float | None:
        return self.box.value() if self.tick.isChecked() else None

    def setValue(self, value: float | None) -> None:  # noqa: N802  as its siblings call it
        self._number = self._number if value is None else value
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
        self.tick.setToolTip(f"{text} Without a tick there is no limit.")

    @Slot()
    def _toggle(self) -> None:
        self._show()
        self.changed.emit()

    @Slot()
    def _edit(self) -> None:
        self._number = self.box.value()
        self.changed.emit()

    def _show(self) -> None:
        """Without a limit the box says so: with its special text, that of the least value."""
        is_on, box = self.tick.isChecked(), self.box
        box.blockSignals(True)
        box.setSpecialValueText("" if is_on else NO_LIMIT)
        if isinstance(box, QSpinBox):
            box.setValue(int(self._number) if is_on else box.minimum())
        else:
            box.setValue(self._number if is_on else box.minimum())
        box.setEnabled(is_on)
        box.blockSignals(False)
