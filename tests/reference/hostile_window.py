"""The window on a workspace of a stranger: every screen, and all that can be chosen there.

Exceptions of slots and of drawing do not reach the code that caused them, so a hook catches them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTabWidget

from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.views.bugs.page import BugsPage
from app.views.campaign.page import CampaignPage
from app.views.equivalence.page import EquivalencePage
from app.views.train.page import TrainPage
from engine.errors import PlumblineError

PATIENCE = 300.0
SOON = 200
"""Milliseconds after which the last pause of a screen is over."""


def look_at(path: Path, settings: Settings, theme: Theme) -> list[str]:
    """What it told. Raises what it could not cope with, and what made it refuse the file."""
    with _unexpected() as found, _window(path, settings, theme) as window:
        for entry in window.pages:
            window.show_page(entry.name)
            _settle(window)
            _choose_everything(window)
            _settle(window)
            window.grab()
        said = [message.text for message in window.context.messages.history]
    for error in found:
        raise error
    return said


@contextmanager
def _unexpected() -> Iterator[list[BaseException]]:
    found: list[BaseException] = []
    before = sys.excepthook

    def hear(_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, PlumblineError):
            found.append(error.with_traceback(trace))

    sys.excepthook = hear
    try:
        yield found
    finally:
        sys.excepthook = before


@contextmanager
def _window(path: Path, settings: Settings, theme: Theme) -> Iterator[MainWindow]:
    settings.set("window/page", "log")  # the first screen is made like all others
    document = Document.open(path)
    window: MainWindow | None = None
    try:
        window = MainWindow(document, settings, theme)
        window.show()
        yield window
    finally:
        if window is not None:
            window.context.jobs.stop_all(wait=True)
            _wait(lambda: not window.context.jobs.running)
            window._may_close = True
            window.close()
            window.deleteLater()
        else:
            document.close()
            document.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the window waits for something"
        QTest.qWait(5)


def _settle(window: MainWindow) -> None:
    """All questions to the workspace are answered, also those that waited for their turn."""
    document, told = window.context.document, []
    for rounds in (1, 2):
        document.reader.ask(document, lambda _: None, told.append, told.append)
        _wait(lambda n=rounds: len(told) == n)


def _choose_everything(window: MainWindow) -> None:
    match window.current_page:
        case CampaignPage() as page:
            page.list.table.select_row(0)
        case BugsPage() as page:
            for row in (0, 1):
                page.view.select_row(row)
                QTest.qWait(SOON)
                _settle(window)
        case EquivalencePage() as page:
            for row in range(page.history.rowCount()):
                page.history_table.select_row(row)
                page.history_table.activated.emit(page.history_table.currentIndex())
                for number in range(page.verdict.operators.rowCount()):
                    page.verdict.operator_table.select_row(number)
        case TrainPage() as page:
            page.earlier.setCurrentIndex(page.earlier.count() - 1)
    for tabs in window.current_page.findChildren(QTabWidget):
        for number in range(tabs.count()):
            tabs.setCurrentIndex(number)
            _settle(window)
