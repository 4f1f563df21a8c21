"""The program: settings, theme, crash log, and a window for every open workspace."""

from __future__ import annotations

import os
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from types import FrameType

from PySide6.QtCore import QObject, QPoint, QSocketNotifier, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

import engine
from app.services.document import Document
from app.services.folders import FIRST_EXAMPLE, example_workspace, is_untitled, untitled_workspace
from app.services.settings import Settings, forget_workspace, last_workspace, remember_workspace
from app.services.theme import MODES, POINT_SIZE, Theme, application_icon
from app.shell.crash import CrashLog
from app.shell.garbage import GarbageCollector
from app.shell.main_window import MainWindow
from app.shell.warm_up import WarmUp, steps_for
from engine.errors import ExitCode, PlumblineError
from engine.files import real_path, resource
from engine.plain_text import printable
from engine.workers.launch import prepare

_STEP = QPoint(24, 24)
"""Offset of a new window, so that it does not hide the last one."""


def _know_workspaces_by_name() -> None:
    """Tell Qt and the desktop's libraries the type of `.plumb` files.

    A file dialog reads files whose type it does not know by name. Closing what it has read would
    drop the locks that SQLite has on a workspace.
    """
    folders = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    own = str(resource("share"))
    if own not in folders.split(os.pathsep):
        os.environ["XDG_DATA_DIRS"] = f"{folders}{os.pathsep}{own}"


class Application(QObject):
    window_opened = Signal(object)  # MainWindow

    def __init__(self, qt: QApplication) -> None:
        super().__init__()
        _know_workspaces_by_name()
        qt.setApplicationName("plumbline")
        qt.setApplicationDisplayName("Plumbline")
        qt.setApplicationVersion(engine.__version__)
        qt.setDesktopFileName("plumbline")  # the entry that `plumbline integrate` writes
        qt.setWindowIcon(application_icon())
        self.settings = Settings(parent=self)
        self.theme = Theme(self)
        mode = self.settings.get("theme", "system")
        self.theme.mode = mode if mode in MODES else "system"
        self.theme.set_point_size(self.settings.get("font-size", POINT_SIZE))
        self.crash_log = CrashLog(tell=self.tell)
        self.windows: list[MainWindow] = []
        self._garbage: GarbageCollector | None = None

    def start(self, workspace: Path | None = None) -> None:
        """Open what was asked for, or what was open last, or the example."""
        self._garbage = GarbageCollector(self)
        crashes = self.crash_log.unread()
        self.crash_log.install()
        wanted = workspace or last_workspace(self.settings)
        problem = ""
        if wanted is not None:
            try:
                self._show(Document.open(wanted))
            except (PlumblineError, OSError) as error:
                problem = str(error)
                forget_workspace(self.settings, wanted)
        if not self.windows:
            self.open_example(FIRST_EXAMPLE)
        if not self.windows:
            self.new_workspace()
        if problem:
            self.tell(problem, "")
        for window in self.windows[:1]:
            if self.settings.problem:
                window.context.messages.warning(self.settings.problem)
            if crashes:
                text = "Plumbline crashed last time; please report it and include the details"
                window.context.messages.warning(text, crashes)
        self._garbage.keep()

    def end(self) -> None:
        """After the last window is closed: restore Python's hooks and write what is unwritten."""
        for window in self.windows:
            window.context.document.close()  # quitting at once closes no window
        if self._garbage is not None:
            self._garbage.close()
        self.settings.write()
        self.crash_log.uninstall()

    def tell(self, text: str, details: str) -> None:
        """Show an error in the window whose signal is being handled, or else in the active one."""
        if not self.windows:
            sys.stderr.write(printable(f"error: {text}\n{details}"))
        asking = self.sender()
        active = [window for window in self.windows if window is asking] or [
            window for window in self.windows if window.isActiveWindow()
        ]
        for window in (active or self.windows)[:1]:
            window.context.messages.error(text, details)

    @Slot(object)
    def open_workspace(self, path: Path) -> MainWindow | None:
        """Open a window on a workspace, or show the one that is open."""
        for window in self.windows:
            document = window.context.document
            if document.path == real_path(path) and not document.is_lost:
                _raise(window)
                return window
        try:
            return self._show(Document.open(path))
        except (PlumblineError, OSError) as error:
            self.tell(str(error), "")
            return None

    @Slot()
    def new_workspace(self) -> MainWindow | None:
        try:
            return self._show(Document.create(untitled_workspace()))
        except (PlumblineError, OSError) as error:
            self.tell(str(error), "")
            return None

    @Slot(str)
    def open_example(self, name: str) -> MainWindow | None:
        try:
            path = example_workspace(name)
        except (PlumblineError, OSError) as error:
            self.tell(str(error), "")
            return None
        return self.open_workspace(path)

    @Slot()
    def quit(self) -> None:
        """Close all windows, each of which may ask."""
        for window in list(self.windows):
            window.close()

    def quit_at_once(self) -> None:
        """Quit without asking; results so far are kept."""
        for window in list(self.windows):
            window.context.jobs.stop_all(wait=True)
        # `quit` would let windows ask; before the event loop runs there is nothing to exit from.
        QTimer.singleShot(0, self, self._exit)

    @Slot()
    def _exit(self) -> None:
        QApplication.exit(0)

    def _close_damaged(self, window: MainWindow, problem: str) -> None:
        """As if it had not been opened."""
        forget_workspace(self.settings, window.context.document.path)
        if self.windows == [window]:
            self.new_workspace()
        window.closed.connect(lambda: self.tell(problem, ""))
        window.close_anyway()

    def _show(self, document: Document) -> MainWindow:
        window = MainWindow(document, self.settings, self.theme)
        window.new_requested.connect(self.new_workspace)
        window.workspace_requested.connect(self.open_workspace)
        window.example_requested.connect(self.open_example)
        window.quit_requested.connect(self.quit)
        window.closed.connect(self._forget)
        document.damaged.connect(partial(self._close_damaged, window))
        if self.windows:
            window.move(self.windows[-1].pos() + _STEP)
        self.windows.append(window)
        remember_workspace(self.settings, document.path)
        if document.store.is_blank():
            window.show_page(window.pages[0].name)  # the next step is to add files
        window.show()
        self.window_opened.emit(window)
        return window

    @Slot(object)
    def _forget(self, window: MainWindow) -> None:
        self.windows.remove(window)
        document = window.context.document
        if is_untitled(document.path) and document.store.is_blank():
            document.close()
            forget_workspace(self.settings, document.path)
            document.path.unlink(missing_ok=True)
        window.deleteLater()
        if self._garbage is not None:
            self._garbage.keep_nothing()


def _raise(window: MainWindow) -> None:
    if window.isMinimized():
        window.showNormal()
    window.raise_()
    window.activateWindow()


class QuitOnSignal(QObject):
    """Quits on Ctrl-C or SIGTERM; wakes Python, which handles signals only while it runs."""

    def __init__(self, application: Application) -> None:
        super().__init__(application)
        self._application = application
        self._ours, self._pythons = socket.socketpair()
        for end in (self._ours, self._pythons):
            end.setblocking(False)
        signal.set_wakeup_fd(self._pythons.fileno())
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        self._notifier.setEnabled(False)
        self._ours.close()
        self._pythons.close()

    @Slot()
    def _wake(self) -> None:
        self._ours.recv(64)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._application.quit_at_once()


def _warm_up(window: MainWindow) -> None:
    window.closed.connect(WarmUp(steps_for(window), window).stop)


def run(workspace: Path | None) -> int:
    """Show the window and stay until the last one is closed."""
    from engine.logs import set_up_logging

    set_up_logging()
    qt = QApplication(sys.argv[:1])
    application = Application(qt)
    application.window_opened.connect(_warm_up)
    signals = QuitOnSignal(application)
    application.start(workspace)
    QTimer.singleShot(0, prepare)  # it would keep the window waiting on a busy machine
    code = qt.exec() if application.windows else int(ExitCode.BAD_INPUT)
    signals.close()
    application.end()
    return code
