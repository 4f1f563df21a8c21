"""What a unit holds, as files of other tools: which unit, which file, and where to.

One for each screen that offers it. The file is written in the background.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.context import Context
from app.folders import show_folder
from app.widgets.dialog_room import set_width
from app.widgets.form_fields import choice
from app.work.export import export_for_others
from engine.campaign.exchange import FORMATS, Exported
from engine.campaign.reading import UnitRow

FOLDER = "exchange/folder"
WIDTH = 68  # characters
FILES: Mapping[str, tuple[str, str]] = {
    "pool": ("Pool", "The states that were tested, with how they were reached"),
    "bugs": ("Bugs", "The states of all bugs, how bad they are, and bounds"),
    "policy-cache": ("Policy cache", "What the policy decided on its runs from all bugs"),
    "sas": ("Task", "The grounded task as Fast Downward writes it (output.sas)"),
}
"""Formats by name: a word, and what is in such a file."""


def unit_words(unit: UnitRow) -> str:
    states, bugs = unit.statistics.get("states", 0), unit.statistics.get("bugs", 0)
    where = f"{unit.problem}, {unit.policy}, seed {unit.seed}"
    return f"{unit.id}: {where} ({states:,} states, {bugs:,} bugs)"


class UnitExport(QObject):
    """Asks in two steps, writes, and tells what was written."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._window = context, parent

    def ask(self, campaign: int | None = None, unit: int | None = None) -> None:
        """About the units of a campaign, or of all, with one of them to begin with."""
        units = [row for row in self._context.document.store.units(campaign) if row.started]
        if not units:
            self._context.messages.info("There is nothing to export yet: run a campaign first.")
            return
        dialog = UnitExportDialog(units, unit, self._window)
        dialog.chosen.connect(self._choose_path)
        dialog.open()

    @Slot(int, str)
    def _choose_path(self, unit: int, name: str) -> None:
        word, suffix = FILES[name][0], FORMATS[name].suffix
        path, _ = QFileDialog.getSaveFileName(
            self._window,
            f"Export: {word}",
            str(self._folder() / f"unit-{unit}{suffix}"),
            f"{word} (*{suffix});;All files (*)",
        )
        if path:
            self._context.settings.set(FOLDER, str(Path(path).parent))
            self.export(unit, name, Path(path))

    def export(self, unit: int, name: str, path: Path) -> None:
        workspace = self._context.document.path
        job = self._context.jobs.start(
            f"Export {path.name}", export_for_others, workspace, unit, name, path
        )
        job.finished.connect(self._tell)

    def _folder(self) -> Path:
        """Where the last one went, at first beside the workspace."""
        beside = self._context.document.path.parent
        last = Path(self._context.settings.get(FOLDER, str(beside)))
        return last if last.is_dir() else beside

    @Slot(object)
    def _tell(self, written: Exported) -> None:
        word = FILES[written.format][0].lower()
        self._context.messages.info(
            f"Wrote the {word} of unit {written.unit.id} to {written.path}: {written.counted}",
            actions=[("Show in folder", partial(show_folder, written.path.parent))],
        )


class UnitExportDialog(QDialog):
    chosen = Signal(int, str)  # unit, format

    def __init__(
        self, units: Sequence[UnitRow], unit: int | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("unit-export")
        self.setWindowTitle("Export for other tools")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        set_width(self, WIDTH)
        title = QLabel("Export for other tools")
        title.setProperty("role", "title")
        what = QLabel(
            "In the formats that the research tools for policy testing read. A file is about one "
            "unit: one problem, one policy, one seed."
        )
        what.setWordWrap(True)
        what.setProperty("role", "muted")
        self.unit = choice({row.id: unit_words(row) for row in units})
        for number, row in enumerate(units):  # all of it: here colons mean nothing
            self.unit.setItemText(number, unit_words(row))
        self.unit.setObjectName("export-unit")
        self.unit.setAccessibleName("Unit")
        self.unit.setCurrentIndex(max(0, self.unit.findData(unit)))
        fields = QFormLayout()
        fields.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        fields.setHorizontalSpacing(12)
        fields.addRow("Unit", self.unit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(title)
        layout.addWidget(what)
        layout.addLayout(fields)
        self.formats: dict[str, QRadioButton] = {}
        for name, (word, sentence) in FILES.items():
            button = QRadioButton(word)
            button.setObjectName(f"export-{name}")
            button.setAccessibleName(f"{word}: {sentence}")
            about = QLabel(sentence)
            about.setProperty("role", "muted")
            about.setWordWrap(True)
            about.setContentsMargins(20, 0, 0, 0)
            pair = QVBoxLayout()
            pair.setSpacing(2)
            pair.addWidget(button)
            pair.addWidget(about)
            layout.addLayout(pair)
            self.formats[name] = button
        self.formats["pool"].setChecked(True)
        layout.addWidget(self._buttons())

    def _buttons(self) -> QDialogButtonBox:
        box = QDialogButtonBox()
        go_on = box.addButton("Export…", QDialogButtonBox.ButtonRole.AcceptRole)
        go_on.setObjectName("export-go")
        go_on.setAccessibleName("Export")
        go_on.setProperty("primary", True)
        cancel = box.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName("export-cancel")
        cancel.setAccessibleName("Cancel")
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        return box

    def accept(self) -> None:
        (name,) = (name for name, button in self.formats.items() if button.isChecked())
        super().accept()
        self.chosen.emit(int(self.unit.currentData()), name)
