"""Write the report of a campaign: ask for a file and a format, write it, offer to open it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.services.context import Context
from app.services.folders import last_folder, show_in_desktop
from engine.usecases.report import ReportOptions, WrittenReport, write_report

FOLDER = "report/folder"
KINDS: Mapping[str, tuple[str, str]] = {
    "html": ("Web page", ".html"),
    "csv": ("Table of all bugs", ".csv"),
    "json": ("Data for scripts", ".json"),
    "junit": ("JUnit test results", ".xml"),
}
"""Formats by name: what such a file is, and how its name ends."""
BY_SUFFIX = {suffix: kind for kind, (_, suffix) in KINDS.items()}


def report_filter(kind: str) -> str:
    """The file filter as the dialog shows it."""
    words, suffix = KINDS[kind]
    return f"{words} (*{suffix})"


class CampaignReport(QObject):
    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._window = context, parent

    def ask(self, campaign: int) -> None:
        """Ask where to write; the file is named after the workspace and the campaign."""
        dialog = ReportDialog(campaign, self._name(campaign), self._window)
        dialog.accepted.connect(partial(self._take, dialog))
        dialog.open()

    def write(self, campaign: int, kind: str, path: Path) -> None:
        document = self._context.document
        job = self._context.jobs.start(
            f"Write {path.name}",
            write_report,
            *(document.path, path, ReportOptions(kind, campaign)),
        )
        job.finished.connect(self._tell)

    def _take(self, dialog: ReportDialog) -> None:
        path, kind = dialog.choice()
        self._context.settings.set(FOLDER, str(path.parent))
        self.write(dialog.campaign, kind, path)

    def _name(self, campaign: int) -> Path:
        workspace = self._context.document.path
        folder = last_folder(self._context.settings, FOLDER, workspace)
        return folder / f"{workspace.stem}-campaign-{campaign}.html"

    @Slot(object)
    def _tell(self, report: WrittenReport) -> None:
        path = report.path
        messages = self._context.messages
        messages.info(
            f"Wrote the report to {path}",
            actions=[("Open", partial(show_in_desktop, path, messages))],
        )


class ReportDialog(QFileDialog):
    """Keeps the suffix of the name in line with the format."""

    def __init__(self, campaign: int, path: Path, parent: QWidget) -> None:
        super().__init__(parent, f"Report of campaign {campaign}", str(path.parent))
        self.campaign = campaign
        self.setObjectName("campaign-report-file")
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self._kinds = {report_filter(kind): kind for kind in KINDS}
        self.setNameFilters(list(self._kinds))
        self.setDefaultSuffix(path.suffix)
        self.selectFile(path.name)
        self.filterSelected.connect(self._rename)
        self.finished.connect(self.deleteLater)

    def choice(self) -> tuple[Path, str]:
        """The file, and its format: what its name says, or else what was chosen."""
        path = Path(self.selectedFiles()[0])
        return path, BY_SUFFIX.get(path.suffix.lower(), self._kinds[self.selectedNameFilter()])

    @Slot(str)
    def _rename(self, chosen: str) -> None:
        suffix = KINDS[self._kinds[chosen]][1]
        self.setDefaultSuffix(suffix)
        named = Path(self.selectedFiles()[0])
        if named.suffix.lower() in BY_SUFFIX:
            self.selectFile(named.with_suffix(suffix).name)
