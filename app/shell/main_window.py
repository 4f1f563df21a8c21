"""A window on one workspace: the rail, the screens, banners, menus, and the jobs that run.

It does not know other windows; signals request what concerns the whole program.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QMainWindow, QMessageBox, QStackedWidget, QWidget

from app.services.context import Context
from app.services.document import Document
from app.services.folders import SUFFIX, short_path
from app.services.jobs import Jobs
from app.services.messages import Messages
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.menus import Menus
from app.shell.pages import PAGES, PageEntry, Rail
from app.shell.workspace_notices import WorkspaceNotices
from app.widgets.banner import BannerArea
from app.widgets.job_strip import JobStrip
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, vbox
from app.widgets.page import Page
from engine.errors import PlumblineError
from engine.plain_text import printable
from engine.usecases.housekeeping import restore_backup, save_copy
from engine.workspace.backup import Backup

SIZE = (1280, 800)
MIN_SIZE = (960, 600)
FILES = f"Workspaces (*{SUFFIX})"


class MainWindow(QMainWindow):
    new_requested = Signal()
    workspace_requested = Signal(object)  # Path
    example_requested = Signal(str)
    quit_requested = Signal()
    closed = Signal(object)  # itself

    def __init__(
        self,
        document: Document,
        settings: Settings,
        theme: Theme,
        pages: Sequence[PageEntry] = PAGES,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        document.setParent(self)
        messages = Messages(self)
        self.context = Context(document, Jobs(messages, self), messages, settings, theme)
        self.pages = tuple(pages)
        self._made: dict[str, Page] = {}
        self._may_close = False
        self.setObjectName("window")
        self.setWindowTitle(f"{printable(document.name)} \u2013 Plumbline")
        self.setAcceptDrops(True)
        self.setMinimumSize(*MIN_SIZE)
        self._lay_out()
        self.menus = Menus(self)
        self._notices = WorkspaceNotices(self.context, self.choose_copy, self)
        self._restore()
        self._notices.tell_all()

    @property
    def current_page(self) -> Page:
        page = self._stack.currentWidget()
        assert isinstance(page, Page)
        return page

    def page(self, name: str) -> Page:
        """Return a screen, which is created when it is first needed."""
        if name not in self._made:
            (entry,) = (page for page in self.pages if page.name == name)
            page = entry.load()(self.context)
            page.page_requested.connect(self.show_page)
            page.workspace_requested.connect(self.workspace_requested)
            page.example_requested.connect(self.example_requested)
            self._made[name] = page
            self._stack.addWidget(page)
        return self._made[name]

    @Slot(str)
    @Slot(str, object)
    def show_page(self, name: str, item: object = None) -> None:
        """Switch to a screen, and show an item there."""
        page = self.page(name)
        arriving = page is not self._stack.currentWidget()
        self._stack.setCurrentWidget(page)
        self._rail.show_current(name)
        self.menus.show_page(page)
        self.context.settings.set("window/page", name)
        chosen = arriving and page.focusProxy() is not None  # else Qt takes what comes first
        if chosen or not page.isAncestorOf(self.focusWidget()):
            page.setFocus()
        if item is not None:
            page.show_item(item)

    @Slot()
    def choose_workspace(self) -> None:
        folder = str(self.context.document.path.parent)
        name, _ = QFileDialog.getOpenFileName(self, "Open workspace", folder, FILES)
        if name:
            self.workspace_requested.emit(Path(name))

    @Slot()
    def choose_copy(self) -> None:
        folder = str(Path.home() / self.context.document.path.name)
        name, _ = QFileDialog.getSaveFileName(self, "Save a copy", folder, FILES)
        if name:
            path = Path(name)
            self.save_copy(path if path.suffix else path.with_suffix(SUFFIX))

    def save_copy(self, path: Path) -> None:
        """Save a copy in the background, unless only this process still has the contents."""
        document = self.context.document
        try:
            document.refuse_copy(path)
            if document.is_lost:
                document.save_copy(path)
                self._tell_copied(path)
                return
        except PlumblineError as error:
            self.context.messages.error(str(error))
            return
        job = self.context.jobs.start(f"Save {path.name}", save_copy, document.path, path)
        job.finished.connect(self._tell_copied)

    @Slot(object)
    def _tell_copied(self, path: Path) -> None:
        self.context.messages.info(
            f"Saved a copy to {path}",
            actions=[("Open copy", lambda: self.workspace_requested.emit(path))],
        )

    @Slot()
    def show_shortcuts(self) -> None:
        """Show all shortcuts, including those of hidden screens."""
        from app.shell.shortcuts import IN_TABLES, ShortcutSheet, group_of_menu, group_of_page

        menus = [menu for menu in self.menus.menus if menu is not self.menus.page_menu]
        pages = [self.page(entry.name) for entry in self.pages]
        groups = [*map(group_of_menu, menus), *map(group_of_page, pages), IN_TABLES]
        ShortcutSheet(groups, self).open()

    @Slot()
    def show_about(self) -> None:
        from app.shell.dialogs import AboutDialog

        AboutDialog(self).open()

    @Slot()
    def show_backups(self) -> None:
        from app.shell.dialogs import RestoreDialog

        dialog = RestoreDialog(self.context, self)
        dialog.chosen.connect(self._restore_backup)
        dialog.open()

    @Slot(object)
    def _restore_backup(self, backup: Backup) -> None:
        """The dialog no longer exists when the job has finished."""
        title = f"Restore {backup.workspace.name}"
        job = self.context.jobs.start(title, restore_backup, backup, None)
        job.finished.connect(self._tell_restored)

    @Slot(object)
    def _tell_restored(self, path: Path) -> None:
        self.context.messages.info(f"Restored the backup as {path}")
        self.workspace_requested.emit(path)

    @Slot()
    def show_caches(self) -> None:
        from app.shell.dialogs import CachesDialog

        CachesDialog(self.context, self).open()

    @Slot()
    def close_anyway(self) -> None:
        """Close without a question, as soon as all jobs have stopped."""
        self._may_close = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802  Qt's name
        if not self._may_close and (reasons := self._reasons_to_stay()):
            event.ignore()
            self._ask_to_close(reasons)
        elif self.context.jobs.running:
            event.ignore()
            self._stop_then_close()
        else:
            self._put_away()
            event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802  Qt's name
        if _dropped_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802  Qt's name
        """Open dropped workspaces; add other files to the project."""
        files = _dropped_files(event)
        others = [file for file in files if file.suffix != SUFFIX]
        for file in files:
            if file.suffix == SUFFIX:
                self.workspace_requested.emit(file)
        if others and any(page.name == "project" for page in self.pages):
            self.show_page("project", others)
        event.acceptProposedAction()

    def _lay_out(self) -> None:
        theme = self.context.theme
        self._rail = Rail(self.pages, theme)
        self._rail.chosen.connect(self.show_page)
        self._stack = QStackedWidget()
        right = vbox(BannerArea(self.context.messages, theme), (self._stack, 1), spacing=0)
        center = QWidget()
        hbox(self._rail, (right, 1), parent=center, spacing=0)
        self.setCentralWidget(center)
        path = ElidedLabel(short_path(self.context.document.path))
        path.setToolTip(str(self.context.document.path))
        path.setProperty("role", "muted")
        path.setContentsMargins(8, 0, 8, 0)
        bar = self.statusBar()
        bar.setSizeGripEnabled(False)
        bar.addWidget(path, 1)
        bar.addPermanentWidget(JobStrip(self.context.jobs, theme))

    def _restore(self) -> None:
        settings = self.context.settings
        geometry = QByteArray.fromBase64(settings.get("window/geometry", "").encode())
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            self.resize(*SIZE)
        names = [page.name for page in self.pages]
        last = settings.get("window/page", names[0])
        self.show_page(last if last in names else names[0])

    def _reasons_to_stay(self) -> list[str]:
        reasons = [page.may_close() for page in self._made.values()]
        running = [job.title for job in self.context.jobs.running]
        if running:
            what = ", ".join(running)
            reasons.append(f"Still running: {what}. The results so far are kept.")
        return [reason for reason in reasons if reason]

    def _ask_to_close(self, reasons: list[str]) -> None:
        box = QMessageBox(self)
        box.setObjectName("close-question")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("Close")
        box.setText("Close this window?")
        box.setInformativeText("\n".join(reasons))
        running = bool(self.context.jobs.running)
        close = box.addButton(
            "Stop and close" if running else "Close", QMessageBox.ButtonRole.AcceptRole
        )
        close.setObjectName("close-yes")
        stay = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        stay.setObjectName("close-no")
        box.setDefaultButton(stay)
        box.accepted.connect(self.close_anyway)
        box.open()

    def _stop_then_close(self) -> None:
        self._may_close = True
        self.setEnabled(False)
        self.context.jobs.changed.connect(self._close_when_idle)
        self.context.jobs.stop_all()

    @Slot()
    def _close_when_idle(self) -> None:
        if not self.context.jobs.running:
            self.close()

    def _put_away(self) -> None:
        settings = self.context.settings
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        settings.set("window/geometry", geometry)
        settings.write()
        self.closed.emit(self)
        self.context.document.close()


def _dropped_files(event: QDropEvent) -> list[Path]:
    urls = event.mimeData().urls()
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
