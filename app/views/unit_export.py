"""Export the pool, bugs, policy cache or task of a unit as a file for other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QRadioButton, QWidget

from app.services.context import Context
from app.services.folders import last_folder, show_in_desktop
from app.widgets.builders import describe, paragraph
from app.widgets.dialog import FormDialog
from app.widgets.fields import choice
from app.widgets.layouts import vbox
from engine.campaign.exchange import FORMATS, Exported
from engine.report.words import count_text
from engine.usecases.export import export_unit_file
from engine.workspace.rows import UnitRow

FOLDER = "exchange/folder"
FILES: Mapping[str, tuple[str, str]] = {
    "pool": ("Pool", "The tested states and how they were reached"),
    "bugs": ("Bugs", "The states of all bugs with their gaps and bounds"),
    "policy-cache": ("Policy cache", "The policy's decisions on its runs from all bugs"),
    "sas": ("Task", "The grounded task in the format of Fast Downward (output.sas)"),
}
"""Formats by name: a word, and what is in such a file."""


def unit_text(unit: UnitRow) -> str:
    states, bugs = unit.statistics.states, unit.statistics.bugs
    where = f"{unit.problem}, {unit.policy}, seed {unit.seed}"
    return f"{unit.id}: {where} ({count_text(states, 'state')}, {count_text(bugs, 'bug')})"


class UnitExport(QObject):
    """Asks for a unit, a format and a file, writes it in the background, and reports it."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._window = context, parent

    def ask(self, campaign: int | None = None, unit: int | None = None) -> None:
        """Offer the units of a campaign, or of all campaigns, with one of them selected."""
        units = [row for row in self._context.document.store.units(campaign) if row.started]
        if not units:
            self._context.messages.info("Run a campaign first; there is nothing to export yet.")
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
            f"Export {word.lower()}",
            str(folder / f"unit-{unit}{suffix}"),
            f"{word} (*{suffix});;All files (*)",
        )
        if path:
            self._context.settings.set(FOLDER, str(Path(path).parent))
            self.export(unit, name, Path(path))

    def export(self, unit: int, name: str, path: Path) -> None:
        workspace = self._context.document.path
        job = self._context.jobs.start(
            f"Export {path.name}", export_unit_file, workspace, unit, name, path
        )
        job.finished.connect(self._tell)

    @Slot(object)
    def _tell(self, written: Exported) -> None:
        word = FILES[written.format][0].lower()
        messages = self._context.messages
        messages.info(
            f"Wrote the {word} of unit {written.unit.id} to {written.path}: {written.counted}",
            actions=[("Open folder", partial(show_in_desktop, written.path.parent, messages))],
        )


class UnitExportDialog(FormDialog):
    chosen = Signal(int, str)  # unit, format

    def __init__(
        self, units: Sequence[UnitRow], unit: int | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "export",
            "Export for other tools",
            "Writes a file that research tools for policy testing can read. A file belongs to one "
            "unit, that is, one problem, one policy and one seed.",
            parent,
        )
        self.unit = choice({row.id: unit_text(row) for row in units})
        for number, row in enumerate(units):  # `choice` cuts its texts at colons
            self.unit.setItemText(number, unit_text(row))
        describe(self.unit, "export-unit", "Unit")
        self.unit.setCurrentIndex(max(0, self.unit.findData(unit)))
        self.add_form().addRow("Unit", self.unit)
        self.formats: dict[str, QRadioButton] = {}
        for name, (word, sentence) in FILES.items():
            button = QRadioButton(word)
            describe(button, f"export-{name}", f"{word}: {sentence}")
            about = paragraph(sentence)
            about.setContentsMargins(20, 0, 0, 0)
            pair = vbox(button, about, spacing=2)
            self.body.addLayout(pair)
            self.formats[name] = button
        self.formats["pool"].setChecked(True)
        self.add_buttons("Export…", "Export")

    def accept(self) -> None:
        (name,) = (name for name, button in self.formats.items() if button.isChecked())
        super().accept()
        self.chosen.emit(int(self.unit.currentData()), name)
