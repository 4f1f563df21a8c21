"""Screens are made while the user does nothing, one step after the other."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.shell.pages import PAGES
from app.shell.warm_up import IDLE_MILLISECONDS, Step, WarmUp, steps_for
from app.widgets.page import Page


def test_steps_are_taken_one_after_the_other(qtbot: QtBot) -> None:
    taken: list[int] = []

    def steps() -> Iterator[Step]:
        for number in range(3):
            yield lambda number=number: taken.append(number)

    window = QObject()
    warm_up = WarmUp(steps(), window)
    assert not taken
    qtbot.waitUntil(lambda: warm_up.done, timeout=PATIENCE)
    assert taken == [0, 1, 2]
    window.deleteLater()


def test_a_user_who_does_something_is_not_disturbed(qtbot: QtBot) -> None:
    window = QObject()
    warm_up = WarmUp(iter([]), window)
    timer = warm_up.findChild(QTimer)
    qtbot.waitUntil(lambda: timer.remainingTime() < IDLE_MILLISECONDS / 2, timeout=PATIENCE)
    key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier)
    before = time.monotonic()
    QCoreApplication.sendEvent(window, key)
    left = timer.remainingTime()
    passed = 1000 * (time.monotonic() - before)  # a busy machine may do something else here
    assert warm_up.done or left + passed > IDLE_MILLISECONDS / 2
    qtbot.waitUntil(lambda: warm_up.done, timeout=PATIENCE)
    window.deleteLater()


def test_all_screens_of_a_window_are_made(settings: Settings, theme: Theme) -> None:
    names = ("log", "equivalence")
    entries = [page for page in PAGES if page.name in names]
    document = Document.create(settings.path.with_name("w.plumb"))
    settings.set("window/page", "log")
    window = MainWindow(document, settings, theme, entries)
    assert [page.name for page in window.findChildren(Page)] == ["log"]
    for step in steps_for(window):
        step()
    assert {page.name for page in window.findChildren(Page)} == set(names)
    assert window.current_page.name == "log"
    window.close()
    window.deleteLater()


def test_the_window_appears_before_what_its_first_screen_does_not_need_is_imported() -> None:
    code = (
        "import sys; import app.shell.application, app.views.project.page\n"
        "slow = ('numpy', 'pyqtgraph', 'engine.fuzzing.fuzzer', 'engine.usecases.check_project')\n"
        "print(*(name for name in slow if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.split()
