"""Where pictures are taken: windows on real workspaces, and a camera."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QSize
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.services.folders import EXAMPLES, FIRST_EXAMPLE, example_workspace, workspaces_folder
from app.shell.application import Application
from app.shell.garbage import GarbageCollector
from app.shell.main_window import MainWindow
from engine.campaign.config_reader import read_config
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace
from tools.screenshots.few_colors import in_few_colors

SIZE = QSize(1280, 800)
LARGE = QSize(1600, 1000)
PATIENCE_SECONDS = 300
THEMES = ("light", "dark")

Child = TypeVar("Child", bound=QWidget)


class Stage:
    """Use it as a context manager. All pictures are taken in both themes."""

    def __init__(self, folder: Path, docs: Path, scale: int) -> None:
        self._folder, self._docs, self._scale = folder, docs, scale
        self._qt = QApplication.instance() or QApplication([])
        assert isinstance(self._qt, QApplication)
        self.application = Application(self._qt)
        self._garbage = GarbageCollector(self.application)
        self._garbage.keep()
        self._finished: Path | None = None

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._garbage.close()

    def example(self, name: str = FIRST_EXAMPLE) -> MainWindow:
        """A window on an example that has not been run yet."""
        self.clear()
        example_workspace(name).unlink()
        self.application.open_example(name)
        return self._ready()

    def blank(self) -> MainWindow:
        """A window on a workspace without anything in it."""
        self.clear()
        self.application.new_workspace()
        return self._ready()

    def finished(self) -> MainWindow:
        """A window on the example after its campaign, which is run once for all."""
        self.clear()
        if self._finished is None:
            path = workspaces_folder() / "finished.plumb"
            example_workspace(FIRST_EXAMPLE).rename(path)  # with its project
            with Workspace.open(path) as store:
                run(read_config(EXAMPLES / FIRST_EXAMPLE / "campaign.toml"), store)
            self._finished = path
        self.application.open_workspace(self._finished)
        return self._ready()

    def wait(self, condition: Callable[[], bool], what: str = "") -> None:
        """Let the program live until something is true."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"timed out {what}"
            QTest.qWait(20)

    def settle(self) -> None:
        """Until no job runs and everything is painted."""
        (window,) = self.application.windows
        self.wait(lambda: not window.context.jobs.running, "for jobs to end")
        QTest.qWait(200)

    def grab(self, name: str, widget: QWidget | None = None, *, docs: bool = False) -> None:
        """Take pictures of the window, or of some widget. With `docs` the guide shows it."""
        target = widget or self.application.windows[0]
        for theme in THEMES:
            self.application.theme.set_mode(theme)
            QTest.qWait(250)  # cards take a moment to find their new height
            picture = target.grab()
            suffix = "" if self._scale == 1 else f"@{self._scale}x"
            self._save(picture, self._folder / f"{name}-{theme}{suffix}.png")
            if docs and theme == "light" and self._scale == 1:
                self._save(in_few_colors(picture), self._docs / f"{name}.png")

    def clear(self) -> None:
        """Close all windows, and what they do."""
        for window in list(self.application.windows):
            window.context.jobs.stop_all(wait=True)
            self.wait(partial(_is_idle, window))
            window.close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _ready(self) -> MainWindow:
        (window,) = self.application.windows
        window.resize(SIZE)
        return window

    def _save(self, picture: QPixmap | QImage, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        assert picture.save(str(path)), path
        print(path)


def child(parent: QWidget, kind: type[Child], name: str = "") -> Child:
    """Return a widget within another one."""
    found = parent.findChild(kind, name) if name else parent.findChild(kind)
    assert found is not None, kind
    return found


def _is_idle(window: MainWindow) -> bool:
    return not window.context.jobs.running
