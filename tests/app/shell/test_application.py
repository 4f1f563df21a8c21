"""The program: which window opens when, the same workspace twice, and a bad start."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot
from reference.forging import forge
from reference.screens import PATIENCE

from app.services.folders import EXAMPLES, example_names, example_workspace, workspaces_folder
from app.services.settings import recent_workspaces, settings_path
from app.shell.application import Application, QuitOnSignal
from app.shell.crash import CrashLog, crash_folder
from app.views.log import LogPage
from engine.records.events import Warned
from engine.usecases.serve import serve
from engine.workspace import seal
from engine.workspace.schema import VERSION
from engine.workspace.workspace import Workspace


@pytest.fixture
def make_application(qtbot: QtBot, qapp: QApplication) -> Iterator[Callable[[], Application]]:
    made: list[Application] = []
    hook = sys.excepthook

    def make() -> Application:
        application = Application(qapp)
        application.settings.set("window/page", "log")  # the others start work of their own
        made.append(application)
        return application

    yield make
    for application in made:
        _close(qtbot, application)
        application.end()
        application.deleteLater()
    sys.excepthook = hook
    qapp.setStyleSheet("")


def _close(qtbot: QtBot, application: Application) -> None:
    for window in list(application.windows):
        window.context.jobs.stop_all(wait=True)
        qtbot.waitUntil(lambda w=window: not w.context.jobs.running, timeout=PATIENCE)
    application.quit()
    qtbot.waitUntil(lambda: not application.windows, timeout=PATIENCE)


@pytest.fixture
def application(make_application: Callable[[], Application]) -> Application:
    return make_application()


def errors(application: Application) -> list[str]:
    messages = [m for window in application.windows for m in window.context.messages.history]
    return [message.text for message in messages if message.level != "info"]


def test_quitting_at_once_ends_all_readers(application: Application) -> None:
    application.start()
    assert "reader" in {thread.name for thread in threading.enumerate()}
    application.end()  # as after a signal: no window was closed
    assert "reader" not in {thread.name for thread in threading.enumerate()}
    for window in list(application.windows):
        application.windows.remove(window)
        window.deleteLater()


def test_a_large_workspace_that_turns_out_to_be_damaged_is_closed(
    qtbot: QtBot, application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, "all is well")])
    forge(path, "UPDATE log SET time = 'soon'")
    monkeypatch.setattr(seal, "LARGE_BYTES", 1000)
    window = application.open_workspace(path)
    assert window is not None
    ferry = EXAMPLES / "ferry"
    files = str(ferry / "domain.pddl"), str(ferry / "problems" / "p01.pddl")
    window.context.jobs.start("Serve", serve, "builtin:gc", files, False, "127.0.0.1:0")
    qtbot.waitUntil(lambda: window not in application.windows, timeout=PATIENCE)
    assert len(application.windows) == 1
    assert "log.time" in errors(application)[-1]
    assert path not in recent_workspaces(application.settings)


def test_garbage_is_collected_in_the_windows_thread_from_the_start(
    qtbot: QtBot, application: Application, tmp_path: Path
) -> None:
    path = tmp_path / "talkative.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, "told")] * 5000)
    where: list[str] = []

    def note(phase: str, _: object) -> None:
        where.append(threading.current_thread().name)

    gc.enable()  # as Python starts
    gc.callbacks.append(note)
    try:
        application.start(path)
        (page,) = (window.current_page for window in application.windows)
        assert isinstance(page, LogPage)
        qtbot.waitUntil(lambda: len(page.model.rows) == 5000, timeout=PATIENCE)
        qtbot.waitUntil(lambda: bool(where), timeout=PATIENCE)
    finally:
        gc.callbacks.remove(note)
    assert set(where) == {threading.current_thread().name}


def test_the_first_start_opens_the_example_ready_to_run(application: Application) -> None:
    application.start()
    (window,) = application.windows
    assert window.isVisible()
    assert window.context.document.name == "parcel-delivery"
    project = window.context.document.store.project()
    assert len(project.problems) == 4
    assert project.draft is not None
    assert project.draft.domain == project.domain
    assert errors(application) == []


def test_the_first_screen_is_the_project(application: Application) -> None:
    application.settings.set("window/page", "a screen of another version")
    application.start()
    assert application.windows[0].current_page.name == "project"


def test_the_next_start_opens_what_was_open_last(
    qtbot: QtBot, make_application: Callable[[], Application], tmp_path: Path
) -> None:
    mine = tmp_path / "mine.plumb"
    Workspace.create(mine).close()
    first = make_application()
    first.start(mine)
    _close(qtbot, first)
    second = make_application()
    second.start()
    assert [window.context.document.path for window in second.windows] == [mine]
    _close(qtbot, second)
    mine.unlink()
    third = make_application()
    third.start()
    assert third.windows[0].context.document.name == "parcel-delivery"
    assert "does not exist" in errors(third)[0]


def test_the_same_workspace_is_opened_once(application: Application, tmp_path: Path) -> None:
    application.start()
    (window,) = application.windows
    path = window.context.document.path
    link = tmp_path / "link.plumb"
    link.symlink_to(path)
    assert application.open_workspace(path) is window
    assert application.open_workspace(link) is window
    assert application.windows == [window]


def test_a_workspace_that_was_replaced_is_opened_beside_the_old_one(
    application: Application, tmp_path: Path
) -> None:
    path = tmp_path / "mine.plumb"
    Workspace.create(path).close()
    old = application.open_workspace(path)
    path.rename(tmp_path / "away.plumb")
    with Workspace.create(path) as store:
        store.apply([Warned(None, "another one")])
    new = application.open_workspace(path)
    assert new is not None
    assert new is not old
    assert [row.text for row in new.context.document.store.log()] == ["another one"]
    assert application.open_workspace(path) is new


def test_several_workspaces_have_several_windows(application: Application) -> None:
    application.start()
    application.windows[0].example_requested.emit("ferry")
    application.windows[0].new_requested.emit()
    names = [window.context.document.name for window in application.windows]
    assert names == ["parcel-delivery", "ferry", "untitled-1"]
    recent = [path.stem for path in recent_workspaces(application.settings)]
    assert recent == ["untitled-1", "ferry", "parcel-delivery"]


def test_recent_workspaces_are_in_the_menu(application: Application) -> None:
    application.start()
    (window,) = application.windows
    ferry = application.open_example("ferry")
    assert ferry is not None
    (menu,) = (menu for menu in window.findChildren(QMenu) if "recent" in menu.title())
    menu.aboutToShow.emit()
    assert [action.text() for action in menu.actions()] == ["ferry", "parcel-delivery"]
    ferry.close()
    menu.actions()[0].trigger()
    names = [window.context.document.name for window in application.windows]
    assert names == ["parcel-delivery", "ferry"]


def test_a_new_workspace_that_was_never_used_is_not_kept(
    qtbot: QtBot, application: Application
) -> None:
    application.start()
    first = application.new_workspace()
    assert first is not None
    path = first.context.document.path
    first.context.document.store.apply([Warned(None, "used")])
    first.show_page("campaign")
    second = application.new_workspace()
    assert second is not None
    assert second.current_page.name == "project"  # wherever one was before
    assert second.context.document.path != path
    _close(qtbot, application)
    kept = sorted(file.name for file in workspaces_folder().glob("untitled*"))
    assert kept == ["untitled-1.plumb"]
    assert second.context.document.path not in recent_workspaces(application.settings)


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_ready_to_run(name: str) -> None:
    with Workspace.open(example_workspace(name)) as store:
        project = store.project()
        assert project.domain is not None
        for path in (project.domain, *project.problems):
            assert Path(path).is_file()
        assert project.policies


def test_an_example_keeps_what_the_user_changed() -> None:
    path = example_workspace("ferry")
    with Workspace.open(path) as store:
        store.set_project(store.project().without(store.project().policies))
    with Workspace.open(example_workspace("ferry")) as store:
        assert store.project().policies == ()


def test_an_example_of_an_installation_that_is_gone_is_replaced(tmp_path: Path) -> None:
    with Workspace.open(example_workspace("ferry")) as store:
        right = store.project()
        store.set_project(replace(right, domain=str(tmp_path / "gone" / "domain.pddl")))
    with Workspace.open(example_workspace("ferry")) as store:
        assert store.project() == right


def test_an_example_that_cannot_be_opened_gets_a_neighbor() -> None:
    first = workspaces_folder() / "ferry.plumb"
    first.write_text("of another version")
    second = example_workspace("ferry")
    assert second.name == "ferry-2.plumb"
    assert example_workspace("ferry") == second
    with Workspace.open(second) as store:
        assert not store.project().is_empty
    assert first.read_text() == "of another version"


def test_files_that_are_no_workspaces_are_refused_in_words(
    application: Application, tmp_path: Path
) -> None:
    application.start()
    text = tmp_path / "text.plumb"
    text.write_text("hello " * 1000)
    newer = tmp_path / "newer.plumb"
    Workspace.create(newer).close()
    forge(newer, f"PRAGMA user_version = {VERSION + 7}")
    for path in (text, newer, tmp_path, tmp_path / "nothing.plumb"):
        assert application.open_workspace(path) is None
    assert len(application.windows) == 1
    told = errors(application)
    assert "not a Plumbline workspace" in told[0]
    assert "newer Plumbline" in told[1]
    assert len(told) == 4
    assert not any("'plumbline" in text for text in told)  # a command of a terminal


def test_an_error_appears_in_the_window_that_asked(
    application: Application, tmp_path: Path
) -> None:
    """After its file dialog no window may be active."""
    application.start()
    first, second = application.windows[0], application.new_workspace()
    assert second is not None
    for window in (second, first):
        before = len(first.context.messages.history), len(second.context.messages.history)
        window.workspace_requested.emit(tmp_path / "missing.plumb")
        after = len(first.context.messages.history), len(second.context.messages.history)
        grown = (1, 0) if window is first else (0, 1)
        assert (after[0] - before[0], after[1] - before[1]) == grown


def test_a_damaged_workspace_is_refused_in_words(application: Application, tmp_path: Path) -> None:
    application.start()
    path = tmp_path / "damaged.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, f"{number} {'long ' * 500}") for number in range(100)])
    content = bytearray(path.read_bytes())
    content[4096:] = b"x" * (len(content) - 4096)
    path.write_bytes(content)
    assert application.open_workspace(path) is None
    assert len(application.windows) == 1
    assert "damaged" in errors(application)[0]


def test_without_any_place_to_write_it_says_so(
    application: Application,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    application.start()
    assert application.windows == []
    assert "error: " in capsys.readouterr().err


def test_a_workspace_named_at_the_start_may_be_wrong(
    application: Application, tmp_path: Path
) -> None:
    application.start(tmp_path / "nothing.plumb")
    assert application.windows[0].context.document.name == "parcel-delivery"
    assert "does not exist" in errors(application)[0]


def test_a_crash_is_offered_at_the_next_start(application: Application) -> None:
    CrashLog(crash_folder()).write("Traceback of last time")
    application.start()
    (message,) = application.windows[0].context.messages.history
    assert "last time" in message.text
    assert "Traceback of last time" in message.details


def test_an_unexpected_exception_becomes_a_banner(
    application: Application, capsys: pytest.CaptureFixture[str]
) -> None:
    application.start()
    try:
        raise KeyError("surprise")
    except KeyError as error:
        sys.excepthook(KeyError, error, error.__traceback__)
    (text,) = errors(application)
    assert "KeyError" in text
    assert "Traceback" in capsys.readouterr().err
    assert "surprise" in application.crash_log.unread()


def test_broken_settings_are_reported(make_application: Callable[[], Application]) -> None:
    settings_path().parent.mkdir(parents=True)
    settings_path().write_text("{")
    application = make_application()
    application.start()
    assert "settings" in errors(application)[0]


def test_theme_and_size_are_remembered(
    qtbot: QtBot, make_application: Callable[[], Application]
) -> None:
    first = make_application()
    first.start()
    first.windows[0].menus.action("theme-dark").trigger()
    first.windows[0].menus.action("larger").trigger()
    _close(qtbot, first)
    second = make_application()
    assert second.theme.name == "dark"
    assert second.theme.point_size == 11


def test_a_signal_ends_the_program_in_good_order(
    qtbot: QtBot, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    quits: list[int] = []
    monkeypatch.setattr(QApplication, "exit", quits.append)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ears = QuitOnSignal(application)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        qtbot.waitUntil(lambda: quits == [0], timeout=PATIENCE)
    finally:
        ears.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_signal_before_the_event_loop_runs_is_not_lost(qapp: QApplication) -> None:
    application = Application(qapp)
    application.quit_at_once()
    guard = QTimer()
    guard.setSingleShot(True)
    guard.timeout.connect(lambda: qapp.exit(1))
    guard.start(PATIENCE)
    assert qapp.exec() == 0
    guard.stop()
    application.deleteLater()
