"""What a unit holds, as files of other tools: which unit, which file, and where to.

One for each screen that offers it. The file is written in the background.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QLabel, QRadioButton, QVBoxLayout, QWidget

from app.services.context import Context
from app.services.folders import last_folder, show_in_desktop
from app.widgets.dialog import FormDialog
from app.widgets.fields import choice
from engine.campaign.exchange import FORMATS, Exported
from engine.usecases.export import export_for_others
from engine.workspace.rows import UnitRow

FOLDER = "exchange/folder"
FILES: Mapping[str, tuple[str, str]] = {
    "pool": ("Pool", "The states that were tested, with how they were reached"),
    "bugs": ("Bugs", "The states of all bugs, how bad they are, and bounds"),
    "policy-cache": ("Policy cache", "What the policy decided on its runs from all bugs"),
    "sas": ("Task", "The grounded task as Fast Downward writes it (output.sas)"),
}
"""Formats by name: a word, and what is in such a file."""


def unit_text(unit: UnitRow) -> str:
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
        folder = last_folder(self._context.settings, FOLDER, self._context.document.path)
        path, _ = QFileDialog.getSaveFileName(
            self._window,
            f"Export: {word}",
            str(folder / f"unit-{unit}{suffix}"),
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

    @Slot(object)
    def _tell(self, written: Exported) -> None:
        word = FILES[written.format][0].lower()
        messages = self._context.messages
        messages.info(
            f"Wrote the {word} of unit {written.unit.id} to {written.path}: {written.counted}",
            actions=[("Open the folder", partial(show_in_desktop, written.path.parent, messages))],
        )


class UnitExportDialog(FormDialog):
    chosen = Signal(int, str)  # unit, format

    def __init__(
        self, units: Sequence[UnitRow], unit: int | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "export",
            "Export for other tools",
            "In the formats that the research tools for policy testing read. A file is about one "
            "unit: one problem, one policy, one seed.",
            parent,
        )
        self.unit = choice({row.id: unit_text(row) for row in units})
        for number, row in enumerate(units):  # all of it: here colons mean nothing
            self.unit.setItemText(number, unit_text(row))
        self.unit.setObjectName("export-unit")
        self.unit.setAccessibleName("Unit")
        self.unit.setCurrentIndex(max(0, self.unit.findData(unit)))
        self.add_form().addRow("Unit", self.unit)
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
            self.body.addLayout(pair)
            self.formats[name] = button
        self.formats["pool"].setChecked(True)
        self.add_buttons("Export…", "Export")

    def accept(self) -> None:
        (name,) = (name for name, button in self.formats.items() if button.isChecked())
        super().accept()
        self.chosen.emit(int(self.unit.currentData()), name)
