"""A list of names with check boxes, and one that checks all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QWidget

from app.widgets.builders import describe, label
from app.widgets.layouts import hbox, vbox

_NAME = int(Qt.ItemDataRole.UserRole)
MIN_ROW_HEIGHT = 20
MAX_ROWS = 8


class TickList(QWidget):
    changed = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._barred: dict[str, str] = {}
        self.all = QCheckBox(title)
        describe(self.all, f"{name}-all", f"All {title.lower()}")
        self.all.setTristate(True)
        self.all.clicked.connect(self._tick_all)
        self._count = label(role="muted")
        self.list = QListWidget()
        describe(self.list, name, title)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setSpacing(1)
        self.list.itemChanged.connect(self._on_item_changed)
        top = hbox(self.all, (self._count, 1))
        vbox(top, self.list, parent=self, spacing=4)

    def set_names(self, names: Sequence[str], text: Callable[[str], str] = str) -> None:
        """Set the names; unticked ones stay unticked, new ones are ticked."""
        self.set_ticked(names, set(names) - self.unticked(), text)

    def set_ticked(
        self, names: Sequence[str], ticked: set[str], text: Callable[[str], str] = str
    ) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        for name in names:
            item = QListWidgetItem(text(name))
            item.setData(_NAME, name)
            item.setToolTip(self._barred.get(name, name))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            is_ticked = name in ticked and name not in self._barred
            item.setCheckState(Qt.CheckState.Checked if is_ticked else Qt.CheckState.Unchecked)
            if name in self._barred:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self.list.addItem(item)
        self.list.blockSignals(False)
        row = max(self.list.sizeHintForRow(0), MIN_ROW_HEIGHT) + 2
        self.list.setFixedHeight(row * min(max(len(names), 1), MAX_ROWS) + 4)
        self._show_count()

    def bar(self, reasons: Mapping[str, str]) -> None:
        """Disable names, with reasons; names that are enabled again are ticked."""
        unticked = self.unticked()
        self._barred = dict(reasons)
        self._show_ticked(lambda name: name not in unticked)

    def tick_only(self, names: set[str]) -> None:
        self._tick(names.__contains__)

    def ticked(self) -> tuple[str, ...]:
        return tuple(self._names(Qt.CheckState.Checked))

    def unticked(self) -> set[str]:
        """Return the names that the user unticked, without disabled ones."""
        return set(self._names(Qt.CheckState.Unchecked)) - self._barred.keys()

    def _names(self, state: Qt.CheckState) -> list[str]:
        items = [self.list.item(row) for row in range(self.list.count())]
        return [str(item.data(_NAME)) for item in items if item.checkState() == state]

    @Slot()
    def _tick_all(self) -> None:
        self._tick(lambda name: self.all.checkState() != Qt.CheckState.Unchecked)

    def _tick(self, wanted: Callable[[str], bool]) -> None:
        self._show_ticked(wanted)
        self.changed.emit()

    def _show_ticked(self, wanted: Callable[[str], bool]) -> None:
        items = [self.list.item(row) for row in range(self.list.count())]
        texts = {str(item.data(_NAME)): item.text() for item in items}
        self.set_ticked(list(texts), set(filter(wanted, texts)), texts.__getitem__)

    @Slot()
    def _on_item_changed(self) -> None:
        self._show_count()
        self.changed.emit()

    def _show_count(self) -> None:
        ticked, total = len(self.ticked()), self.list.count()
        self._count.setText(f"{ticked} of {total}")
        state = Qt.CheckState.PartiallyChecked
        if ticked == 0:
            state = Qt.CheckState.Unchecked
        elif not self.unticked():
            state = Qt.CheckState.Checked
        self.all.setCheckState(state)
