"""A window without a screen, settings of its own, and a look for what a test leaves behind.

A test that leaks a thread, a process, an active timer or a top-level widget fails; so does one
during which Qt warns of something (`qt_log_level_fail` in pyproject.toml).
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.document import Document
from app.services.jobs import Jobs
from app.services.messages import Messages
from app.services.settings import Settings
from app.services.theme import POINT_SIZE, Theme
from engine.caches import BACKUP_VARIABLE


@pytest.fixture(scope="session")
def translations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_folders(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, translations: Path
) -> Path:
    """Settings, data and logs of a test are its own; the tests translate the same tasks."""
    home = tmp_path_factory.mktemp("home")
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(translations))
    monkeypatch.setenv(BACKUP_VARIABLE, str(home / "backups"))
    return home


@pytest.fixture
def callable_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers may call the functions of `reference.background_work`, too."""
    monkeypatch.setattr("engine.workers.launch.WORKER", "reference.callable_worker")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True)
def no_leaks(qapp: QApplication) -> Iterator[None]:
    """What a test starts it ends."""
    _release_keys()
    gc.freeze()  # what was there before is none of this test's business, and slow to look through
    gc.disable()  # see app/shell/garbage.py
    threads, children = set(threading.enumerate()), _children()
    widgets = set(map(id, _top_levels()))
    yield
    _delete_later()
    gc.enable()
    _wait_until(lambda: not set(threading.enumerate()) - threads)
    assert not set(threading.enumerate()) - threads
    assert not _children() - children
    left = [widget for widget in _top_levels() if id(widget) not in widgets]
    assert not left, f"widgets without a parent are left: {left}"
    ticking = [timer for timer in _timers() if timer.isActive()]
    assert not ticking, f"timers tick on: {[timer.parent() for timer in ticking]}"


def _release_keys() -> None:
    """Qt takes the Ctrl of the last `QTest.keyClick` for pressed until another key is."""
    if QGuiApplication.keyboardModifiers():
        widget = QWidget()
        QTest.keyClick(widget, Qt.Key.Key_F35)
        widget.deleteLater()


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def _delete_later() -> None:
    gc.collect()
    for _ in range(2):  # what is deleted may delete more
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()


def _children() -> set[int]:
    """Processes that this one has started and that still run."""
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            found |= set(map(int, task.read_text().split()))
        except OSError:
            continue  # the thread has ended meanwhile
    return found


def _top_levels() -> list[QObject]:
    return [widget for widget in QApplication.topLevelWidgets() if widget.parent() is None]


def _timers() -> list[QTimer]:
    # By their type alone: some objects of other libraries warn when asked for their class.
    timers = [item for item in gc.get_objects() if issubclass(type(item), QTimer)]
    return [item for item in timers if _is_there(item)]


def _is_there(item: QObject) -> bool:
    from shiboken6 import isValid

    return bool(isValid(item))


@pytest.fixture(scope="session")
def drawn(qapp: QApplication) -> Iterator[Theme]:
    """Draws every icon once for all tests."""
    theme = Theme()
    yield theme
    theme.deleteLater()


@pytest.fixture
def theme(qapp: QApplication, drawn: Theme) -> Iterator[Theme]:
    """Light, at the usual size."""
    drawn.point_size = POINT_SIZE
    drawn.set_mode("light")
    yield drawn
    qapp.setStyleSheet("")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    settings = Settings(tmp_path / "settings.json")
    yield settings
    settings.write()
    settings.deleteLater()


@pytest.fixture
def make_context(
    qtbot: QtBot, theme: Theme, settings: Settings
) -> Iterator[Callable[..., Context]]:
    """What a page needs, on a workspace of your choice; all is closed at the end."""
    made: list[Context] = []

    def make(workspace: Path, open_only: bool = False) -> Context:
        document = Document.open(workspace) if open_only else Document.create(workspace)
        messages = Messages()
        context = Context(document, Jobs(messages), messages, settings, theme)
        made.append(context)
        return context

    yield make
    for context in made:
        context.jobs.stop_all(wait=True)
        qtbot.waitUntil(lambda c=context: not c.jobs.running, timeout=PATIENCE)
        context.document.close()
        for item in (context.jobs, context.messages, context.document):
            item.deleteLater()


@pytest.fixture
def context(make_context: Callable[..., Context], tmp_path: Path) -> Context:
    """What a page needs, on an empty workspace."""
    return make_context(tmp_path / "workspace.plumb")
