"""A window: screens by keyboard, banners, jobs, closing while something runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QGuiApplication, QUndoCommand
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QMenu,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot
from reference import background_work as works
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.dialogs import AboutDialog, RestoreDialog
from app.shell.main_window import MainWindow
from app.shell.pages import PageEntry
from app.shell.shortcuts import ShortcutSheet, in_columns
from app.widgets import banner
from app.widgets.banner import MAX_BANNERS, BannerArea
from app.widgets.job_strip import JobItem
from app.widgets.page import Page
from engine.records.events import Warned
from engine.workspace.workspace import Workspace

pytestmark = pytest.mark.usefixtures("callable_works")
CTRL = Qt.KeyboardModifier.ControlModifier


class FirstPage(Page):
    name, title, icon = "project", "Project", "project"
    shown: list[object]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.shown, self.ran = [], 0
        self._action = QAction("Run a campaign", self)
        self._action.setShortcut("F5")
        self._action.triggered.connect(self._run)
        self._more = QMenu("More", self)
        self._more.addAction("Run another").setShortcut("Ctrl+F5")
        self.reason = ""

    def show_item(self, item: object) -> None:
        self.shown.append(item)

    def page_actions(self) -> list[QAction]:
        return [self._action, self._more.menuAction()]

    def may_close(self) -> str:
        return self.reason

    def _run(self) -> None:
        self.ran += 1


PAGES = (
    PageEntry("project", "Project", "project", f"{__name__}:FirstPage"),
    PageEntry("log", "Log", "log", "app.views.log:LogPage"),
)


@pytest.fixture
def make_window(
    qtbot: QtBot,
    settings: Settings,
    theme: Theme,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], MainWindow]]:
    made: list[MainWindow] = []
    monkeypatch.setattr(PageEntry, "load", _load)

    def make() -> MainWindow:
        document = Document.create(tmp_path / f"w{len(made)}.plumb")
        window = MainWindow(document, settings, theme, PAGES)
        made.append(window)
        with qtbot.waitExposed(window, timeout=PATIENCE):
            window.show()
        return window

    yield make
    for window in made:
        window._may_close = True
        window.close()
        qtbot.waitUntil(lambda w=window: not w.isVisible(), timeout=PATIENCE)
        window.deleteLater()


def _load(entry: PageEntry) -> type[Page]:
    from app.views.log import LogPage

    return FirstPage if entry.name == "project" else LogPage


@pytest.fixture
def window(make_window: Callable[[], MainWindow]) -> MainWindow:
    return make_window()


def banners(window: MainWindow) -> list[str]:
    area = window.findChild(BannerArea)
    assert area is not None
    return [item.message.text for item in area.banners()]


def click(qtbot: QtBot, window: MainWindow, name: str) -> None:
    button = window.findChild(QPushButton, name)
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_screens_are_reached_by_keyboard_and_mouse(qtbot: QtBot, window: MainWindow) -> None:
    assert window.current_page.name == "project"
    qtbot.keyClick(window, Qt.Key.Key_2, CTRL)
    assert window.current_page.name == "log"
    button = window.findChild(QToolButton, "rail-project")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.current_page.name == "project"
    assert window.menus.page_menu.title() == "&Project"


def test_shortcuts_of_a_screen_rest_while_another_is_shown(
    qtbot: QtBot, window: MainWindow
) -> None:
    page = window.current_page
    assert isinstance(page, FirstPage)
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert page.ran == 1
    window.show_page("log")
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert page.ran == 1


def test_a_screen_can_ask_for_another(window: MainWindow) -> None:
    window.show_page("log")
    window.current_page.page_requested.emit("project", 17)
    page = window.current_page
    assert isinstance(page, FirstPage)
    assert page.shown == [17]


def test_the_last_screen_and_the_size_are_remembered(
    make_window: Callable[[], MainWindow], settings: Settings
) -> None:
    first = make_window()
    first.show_page("log")
    first.resize(first.minimumWidth(), 655)  # the screen of the tests is not large
    first.close()
    second = make_window()
    assert second.current_page.name == "log"
    assert second.height() == 655


def test_theme_and_text_size_change_at_run_time(
    qtbot: QtBot, window: MainWindow, settings: Settings, theme: Theme
) -> None:
    window.menus.action("theme-dark").trigger()
    assert theme.name == "dark"
    assert settings.get("theme", "") == "dark"
    assert window.menus.action("theme-dark").isChecked()
    image = window.grab().toImage()
    assert image.pixelColor(image.width() - 20, image.height() // 2).lightness() < 80
    qtbot.keyClick(window, Qt.Key.Key_Equal, CTRL)
    assert theme.point_size == settings.get("font-size", 0) == 11
    qtbot.keyClick(window, Qt.Key.Key_Minus, CTRL)
    qtbot.keyClick(window, Qt.Key.Key_Minus, CTRL)
    assert theme.point_size == 9
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL)
    assert theme.point_size == 10


def test_a_question_mark_shows_all_shortcuts(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Question)
    sheet = window.findChild(ShortcutSheet)
    assert sheet is not None
    words = {label.text() for label in sheet.findChildren(QLabel)}
    assert {"Run a campaign", "F5", "Filter log", "Ctrl+F", "Larger text"} <= words
    sheet.close()


def test_shortcuts_of_submenus_are_shown_after_other_screens(
    qtbot: QtBot, window: MainWindow
) -> None:
    kept = window.current_page.page_actions()
    for name in ("log", "project", "log"):
        window.show_page(name)
    assert [action.text() for action in kept] == ["Run a campaign", "More"]
    qtbot.keyClick(window, Qt.Key.Key_Question)
    sheet = window.findChild(ShortcutSheet)
    assert "Run another" in {label.text() for label in sheet.findChildren(QLabel)}
    sheet.close()


def test_shortcuts_stand_in_columns_of_about_the_same_height() -> None:
    groups = [(str(number), [("", "")] * number) for number in (5, 2, 9, 1, 15, 4, 2)]
    columns = in_columns(groups, 3)
    assert [group for column in columns for group in column] == groups
    assert [len(column) for column in columns] == [3, 2, 2]
    assert in_columns([], 3) == [[], [], []]


def test_about_tells_the_versions(qtbot: QtBot, window: MainWindow) -> None:
    window.menus.action("about").trigger()
    about = window.findChild(AboutDialog)
    assert about is not None
    copy = about.findChild(QPushButton, "about-copy")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert "Qt: 6." in QGuiApplication.clipboard().text()
    about.close()


def test_banners_tell_copy_and_go(qtbot: QtBot, window: MainWindow) -> None:
    done: list[str] = []
    messages = window.context.messages
    messages.error("It failed", "Traceback", [("Try again", lambda: done.append("again"))])
    assert banners(window) == ["It failed"]
    click(qtbot, window, "banner-details")
    click(qtbot, window, "banner-copy")
    assert QGuiApplication.clipboard().text() == "It failed\n\nTraceback"
    click(qtbot, window, "banner-action-0")
    assert done == ["again"]
    assert banners(window) == []
    warning = messages.warning("Look out")
    messages.warning("Look out")
    assert banners(window) == ["Look out"]
    click(qtbot, window, "banner-close")
    assert banners(window) == []
    messages.withdraw(warning)
    assert len(messages.history) == 3


def test_news_with_a_button_go_but_what_lasts_stays(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(banner, "OFFER_MILLISECONDS", 1)
    messages, offer = window.context.messages, [("Open", lambda: None)]
    messages.info("A campaign runs elsewhere", actions=offer, lasting=True)
    messages.warning("Look out", actions=offer)
    messages.info("Exported", actions=offer)
    qtbot.waitUntil(lambda: "Exported" not in banners(window), timeout=PATIENCE)
    assert banners(window) == ["Look out", "A campaign runs elsewhere"]


def test_only_the_newest_banners_are_shown(window: MainWindow) -> None:
    for number in range(MAX_BANNERS + 2):
        window.context.messages.error(f"error {number}")
    assert banners(window) == [f"error {number}" for number in range(MAX_BANNERS + 1, 1, -1)]


def test_running_jobs_are_shown_and_stopped(qtbot: QtBot, window: MainWindow) -> None:
    jobs = window.context.jobs
    height = window.statusBar().sizeHint().height()
    job = jobs.start("Counting", works.count_until_stopped, 100)
    qtbot.waitUntil(lambda: job.progress is not None, timeout=PATIENCE)
    bar = window.findChild(QProgressBar, "job-progress")
    assert bar is not None
    qtbot.waitUntil(lambda: bar.maximum() > 0, timeout=PATIENCE)
    assert window.statusBar().sizeHint().height() == height
    click(qtbot, window, "job-stop")
    qtbot.waitUntil(lambda: not jobs.running, timeout=PATIENCE)
    assert banners(window) == []


def test_the_status_bar_says_that_a_job_is_paused(qtbot: QtBot, window: MainWindow) -> None:
    job = window.context.jobs.start("Waiting", works.wait_while_paused)
    job.pause(True)
    item = window.findChild(JobItem)
    assert item is not None
    qtbot.waitUntil(lambda: "half, paused" in words_of(item), timeout=PATIENCE)
    job.pause(False)
    qtbot.waitUntil(lambda: not window.context.jobs.running, timeout=PATIENCE)


def words_of(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def test_many_jobs_are_in_a_menu_and_stop_at_once(qtbot: QtBot, window: MainWindow) -> None:
    jobs = window.context.jobs
    for number in range(4):
        jobs.start(f"Job {number}", works.wait_to_be_stopped)
    more = window.findChild(QPushButton, "jobs-more")
    assert more is not None
    assert more.isVisible()
    assert more.text() == "2 more"
    qtbot.keyClick(window, Qt.Key.Key_Period, CTRL)
    assert all(job.stopping for job in jobs.running)
    assert all("stopping…" in words_of(item) for item in window.findChildren(JobItem))
    qtbot.waitUntil(lambda: not jobs.running, timeout=PATIENCE)
    assert not more.isVisible()


def test_closing_while_something_runs_asks_once(qtbot: QtBot, window: MainWindow) -> None:
    window.context.jobs.start("Counting", works.wait_to_be_stopped)
    window.close()
    box = window.findChild(QMessageBox, "close-question")
    assert box is not None
    assert "Still running: Counting." in box.informativeText()
    qtbot.mouseClick(box.findChild(QPushButton, "close-no"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is None, timeout=PATIENCE)
    assert window.isVisible()
    assert not window.context.jobs.running[0].stopping
    window.close()
    box = window.findChild(QMessageBox, "close-question")
    qtbot.mouseClick(box.findChild(QPushButton, "close-yes"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=PATIENCE)
    assert not window.context.jobs.running


def test_closing_asks_what_screens_say(qtbot: QtBot, window: MainWindow) -> None:
    page = window.current_page
    assert isinstance(page, FirstPage)
    page.reason = "A note is not saved."
    window.close()
    box = window.findChild(QMessageBox, "close-question")
    assert box is not None
    assert box.informativeText() == "A note is not saved."
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert window.isVisible()


def test_an_idle_window_closes_without_a_word(window: MainWindow) -> None:
    window.close()
    assert not window.isVisible()


def test_a_worker_killed_from_outside_leaves_the_window(qtbot: QtBot, window: MainWindow) -> None:
    jobs = window.context.jobs
    jobs.start("Campaign", works.print_and_die)
    qtbot.waitUntil(lambda: not jobs.running, timeout=PATIENCE)
    assert window.isVisible()
    (text,) = banners(window)
    assert text.startswith("Campaign: the worker ended with exit code 7")


def test_undo_is_the_documents(qtbot: QtBot, window: MainWindow) -> None:
    done: list[str] = []

    class Confirm(QUndoCommand):
        def redo(self) -> None:
            done.append("redo")

        def undo(self) -> None:
            done.append("undo")

    window.context.document.undo_stack.push(Confirm("confirm bug 3"))
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert done == ["redo", "undo"]


def test_a_copy_is_saved_where_the_user_says(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, messages = tmp_path / "copy", window.context.messages
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(target), ""))
    window.menus.action("save-copy").trigger()
    (job,) = window.context.jobs.running
    assert job.title == "Save copy.plumb"
    qtbot.waitUntil(lambda: bool(messages.history), timeout=PATIENCE)
    with Workspace.open(tmp_path / "copy.plumb") as copy:
        assert copy.campaigns() == []
    wanted: list[Path] = []
    window.workspace_requested.connect(wanted.append)
    messages.history[0].actions[0][1]()
    assert wanted == [tmp_path / "copy.plumb"]
    for name in ("/nowhere/x.plumb", str(window.context.document.path)):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args, name=name: (name, ""))
        before = len(messages.history)
        window.menus.action("save-copy").trigger()
        qtbot.waitUntil(lambda n=before: len(messages.history) > n, timeout=PATIENCE)
        assert messages.history[-1].level == "error"
    qtbot.waitUntil(lambda: not window.context.jobs.running, timeout=PATIENCE)


def test_a_copy_of_a_deleted_workspace_is_still_saved(window: MainWindow, tmp_path: Path) -> None:
    window.context.document.path.unlink()
    window.save_copy(tmp_path / "rescued.plumb")
    assert not window.context.jobs.running
    with Workspace.open(tmp_path / "rescued.plumb") as copy:
        assert copy.campaigns() == []


def test_dropped_files_go_where_they_belong(window: MainWindow, tmp_path: Path) -> None:
    wanted: list[Path] = []
    window.workspace_requested.connect(wanted.append)
    window.show_page("log")
    files = [tmp_path / "domain.pddl", tmp_path / "other.plumb"]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(50, 50), copy, data, buttons, keys)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    window.dropEvent(QDropEvent(QPointF(50, 50), copy, data, buttons, keys))
    assert wanted == [files[1]]
    page = window.current_page
    assert isinstance(page, FirstPage)
    assert page.shown == [[files[0]]]


def test_a_restored_backup_is_told_and_opened(qtbot: QtBot, window: MainWindow) -> None:
    """The dialog is deleted before the job has finished."""
    here = window.context.document.path
    for text in ("old", "new"):
        with Workspace.open(here) as store:
            store.apply([Warned(None, text)])
    window.show_backups()
    dialog = window.findChild(RestoreDialog)
    assert dialog is not None
    assert dialog.list.count() > 0
    with qtbot.waitSignal(window.workspace_requested, timeout=PATIENCE) as requested:
        QTest.mouseClick(dialog.restore, Qt.MouseButton.LeftButton)
    (path,) = requested.args
    assert path.parent == here.parent
    assert path != here
    assert banners(window)[0] == f"Restored the backup as {path}"
    with Workspace.open(path) as store:
        assert "new" not in [row.text for row in store.log()]
