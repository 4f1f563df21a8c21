"""The dialog that lists the backups of workspaces and restores one of them."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.services.context import Context
from app.services.folders import short_path
from app.widgets.builders import describe, paragraph
from app.widgets.dialog import FormDialog
from engine.caches import backup_folder
from engine.plain_text import printable
from engine.usecases.housekeeping import restore_backup
from engine.workspace.backup import Backup, backups

_ABOUT = (
    "Plumbline copies a workspace before it is first changed and every ten minutes while it is "
    "changed. A backup is restored as a file of its own; no file is replaced."
)


WIDTH = 90  # characters


class RestoreDialog(FormDialog):
    """Backups of the workspace in this window come first."""

    restored = Signal(object)  # the path of the new file

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__("restore", "Restore a backup", _ABOUT, parent)
        self._context = context
        here = context.document.path
        found = sorted(backups(), key=lambda backup: backup.workspace != here)
        self.setMinimumWidth(WIDTH * self.fontMetrics().averageCharWidth())
        self.list = QListWidget()
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        describe(self.list, "restore-backups", "Backups")
        for backup in found:
            item = QListWidgetItem(_words(backup), self.list)
            item.setToolTip(str(backup.workspace))
            item.setData(Qt.ItemDataRole.UserRole, backup)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self.accept)
        self.body.addWidget(self.list, 1)
        if not found:
            self.body.addWidget(paragraph("No backups yet."))
        self.body.addWidget(paragraph(f"Backups are in {short_path(backup_folder())}"))
        self.restore = self.add_buttons("Restore", "Restore the selected backup")
        self.restore.setEnabled(bool(found))

    @Slot()
    def accept(self) -> None:
        if self.list.currentRow() < 0:
            return
        backup = self.list.currentItem().data(Qt.ItemDataRole.UserRole)
        title = f"Restore {backup.workspace.name}"
        job = self._context.jobs.start(title, restore_backup, backup, None)
        job.finished.connect(self.restored)
        super().accept()


def _words(backup: Backup) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(backup.seconds))
    folder = short_path(backup.workspace.parent)
    return printable(f"{when}   {backup.workspace.name}   {backup.size / 1e6:,.1f} MB   {folder}")
