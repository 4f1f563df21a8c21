"""The dialogs of the menus: About, caches, and backups of workspaces."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from importlib import metadata

from PySide6.QtCore import Qt, Signal, Slot, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSpinBox,
    QWidget,
)

import engine
from app.services.context import Context
from app.services.folders import short_path
from app.services.jobs import Failure, Job
from app.services.settings import settings_path
from app.services.theme import application_icon
from app.shell.crash import crash_folder
from app.widgets.builders import button, describe, label, paragraph
from app.widgets.dialog import FormDialog, close_button, grow
from app.widgets.fields import number
from app.widgets.layouts import hbox, vbox
from engine.caches import DISK_CACHES, MAX_MEGABYTES, DiskCache, backup_folder, cache_folder
from engine.logs import log_path
from engine.plain_text import printable
from engine.usecases.housekeeping import (
    Sizes,
    clear_cache,
    limit_caches,
    measure_caches,
)
from engine.workspace.backup import Backup, backups

PACKAGES = ("torch", "numpy", "z3-solver", "pyqtgraph")


def versions() -> list[tuple[str, str]]:
    return [
        ("Plumbline", engine.__version__),
        ("Python", platform.python_version()),
        ("Qt", qVersion()),
        *((name, metadata.version(name)) for name in PACKAGES),
        ("System", platform.platform()),
        ("Settings", str(settings_path())),
        ("Log", str(log_path())),
        ("Crash reports", str(crash_folder())),
    ]


class AboutDialog(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("about")
        self.setWindowTitle("About Plumbline")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._text = "\n".join(f"{name}: {value}" for name, value in versions())
        picture = QLabel()
        picture.setPixmap(application_icon().pixmap(64, 64))
        title = label("Plumbline", "title")
        what = QLabel(
            "Finds bugs in learned action policies\n"
            "and decides whether two domain models mean the same."
        )
        body = label(self._text, "muted", selectable=True)
        words = vbox(title, what, body, spacing=12)
        top = hbox((picture, 0, Qt.AlignmentFlag.AlignTop), words, spacing=20)
        vbox(top, self._buttons(), parent=self, spacing=16, margins=(20, 20, 20, 16))

    def _buttons(self) -> QDialogButtonBox:
        buttons = close_button(self)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        describe(copy, "about-copy", "Copy the versions")
        copy.clicked.connect(self._copy)
        copy.setAutoDefault(False)
        return buttons

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)


CAPTIONS = ("Cache", "Size", "Limit", "")


class CachesDialog(QDialog):
    """Limits hold for the window, the command line and the workers of campaigns alike."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caches")
        self.setWindowTitle("Caches")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context = context
        self._job: Job | None = None
        self.sizes: list[QLabel] = []
        self.limits: list[QSpinBox] = []
        self.clear_buttons: list[QPushButton] = []
        what = paragraph(
            "Caches keep results that are expensive to compute; backups keep earlier versions of "
            "workspaces. When a limit is reached, the oldest entries are deleted. Clearing a cache "
            "is safe; without backups, a lost workspace cannot be restored.",
            role="",
        )
        place = label(str(cache_folder()), "muted", selectable=True)
        self.problem = paragraph(role="bad")
        self.problem.hide()
        vbox(
            what,
            self._grid(),
            self.problem,
            place,
            close_button(self),
            parent=self,
            spacing=12,
            margins=(20, 20, 20, 16),
        )
        self._work("Measure caches", measure_caches)

    def done(self, result: int) -> None:
        """Limits hold from now on."""
        limits = tuple(box.value() for box in self.limits)
        if limits != tuple(cache.limit_megabytes() for cache in DISK_CACHES):
            self._context.jobs.start("Limit caches", limit_caches, limits)
        super().done(result)

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        for column, caption in enumerate(CAPTIONS):
            heading = label(caption, "muted")
            grid.addWidget(heading, 0, column)
        for row, cache in enumerate(DISK_CACHES, start=1):
            for column, widget in enumerate(self._row(cache)):
                grid.addWidget(widget, row, column)
        return grid

    def _row(self, cache: DiskCache) -> tuple[QWidget, ...]:
        words = cache.holds.capitalize()
        size = QLabel("…")
        size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        size.setAccessibleName(f"Size of the cache: {cache.holds}")
        limit = number(0, MAX_MEGABYTES)
        describe(limit, f"cache-limit-{cache.name}", f"Limit of the cache: {cache.holds}")
        limit.setSuffix(" MB")
        limit.setSingleStep(100)
        limit.setValue(cache.limit_megabytes())
        clear = button(
            "Clear",
            f"cache-clear-{cache.name}",
            clicked=self._clear,
            accessible=f"Clear the cache: {cache.holds}",
        )
        clear.setAutoDefault(False)
        clear.setProperty("number", len(self.sizes))
        self.sizes.append(size)
        self.limits.append(limit)
        self.clear_buttons.append(clear)
        return QLabel(words), size, limit, clear

    @Slot()
    def _clear(self) -> None:
        self._work("Clear cache", clear_cache, self.sender().property("number"))

    def _work(self, title: str, work: Callable[..., object], *arguments: object) -> None:
        self._job = self._context.jobs.start(title, work, *arguments, banner=False)
        self._job.finished.connect(self._show_sizes)
        self._job.failed.connect(self._show_failure)
        self._job.ended.connect(self._on_ended)
        for item in self.clear_buttons:
            item.setEnabled(False)

    @Slot(object)
    def _show_sizes(self, sizes: Sizes) -> None:
        self.problem.hide()
        for shown, size in zip(self.sizes, sizes, strict=True):
            shown.setText(f"{size / 1e6:,.1f} MB")

    @Slot(object)
    def _show_failure(self, failure: Failure) -> None:
        self.problem.setText(failure.text)
        self.problem.show()
        grow(self)

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        for item in self.clear_buttons:
            item.setEnabled(True)


_ABOUT = (
    "Plumbline backs up a workspace before its first change and then every ten minutes while it "
    "changes. A backup is restored as a new file; no file is replaced."
)


WIDTH = 110  # characters


class RestoreDialog(FormDialog):
    """Backups of the workspace in this window come first."""

    chosen = Signal(object)  # the backup to restore

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__("restore", "Restore a backup", _ABOUT, parent)
        here = context.document.path
        found = sorted(backups(), key=lambda backup: backup.workspace != here)
        self.setMinimumWidth(WIDTH * self.fontMetrics().averageCharWidth())
        self.list = QListWidget()
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setFont(context.theme.mono_font)  # columns are aligned
        describe(self.list, "restore-backups", "Backups")
        widest = max((len(_name(backup)) for backup in found), default=0)
        for backup in found:
            item = QListWidgetItem(_words(backup, widest), self.list)
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
        self.chosen.emit(self.list.currentItem().data(Qt.ItemDataRole.UserRole))
        super().accept()


def _words(backup: Backup, widest: int) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(backup.seconds))
    folder = printable(short_path(backup.workspace.parent))
    return f"{when} {backup.size / 1e6:7,.1f} MB  {_name(backup):{widest}}  {folder}"


def _name(backup: Backup) -> str:
    return printable(backup.workspace.name)
