"""An open workspace: who writes to it, copies, and files that disappear."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from reference.forging import forge
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.document import Document
from app.shell.workspace_notices import WorkspaceNotices
from engine.errors import WorkspaceError
from engine.records.events import Warned
from engine.workspace.lock import Writer
from engine.workspace.schema import VERSION
from engine.workspace.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]

# Claims the workspace, says so, and holds it until it is spoken to.
WRITER = """
import sys
from collections.abc import Callable
from engine.records.events import Warned
from engine.workspace.workspace import Workspace
with Workspace.open(sys.argv[1]) as store:
    with store.writing():
        store.apply([Warned(None, "hello")])
        print("claimed", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def topics(context: Context) -> list[str]:
    heard: list[str] = []
    context.document.changed.connect(heard.append)
    return heard


def test_changes_are_announced(context: Context, topics: list[str]) -> None:
    context.document.notify("bugs")
    assert topics == ["bugs"]


def test_a_new_workspace_is_blank_until_something_happens(context: Context) -> None:
    document = context.document
    assert document.store.is_blank()
    document.store.apply([Warned(None, "x")])
    assert not document.store.is_blank()


def test_another_writer_is_noticed_and_named(
    qtbot: QtBot, context: Context, topics: list[str]
) -> None:
    notices = WorkspaceNotices(context, lambda: None)
    notices.tell_all()
    assert not context.messages.history
    withdrawn: list[object] = []
    context.messages.withdrawn.connect(withdrawn.append)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(context.document.path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        qtbot.waitUntil(lambda: bool(context.messages.history), timeout=PATIENCE)
        (message,) = context.messages.history
        assert f"Process {process.pid} on " in message.text
        assert [row.text for row in context.document.store.log()] == ["hello"]  # still readable
        process.kill()
    qtbot.waitUntil(lambda: withdrawn == [message], timeout=PATIENCE)
    assert "outside" in topics


def test_a_copy_is_whole_and_has_no_writer(context: Context, tmp_path: Path) -> None:
    document = context.document
    with document.store.writing():
        document.store.apply([Warned(None, "kept")])
        document.save_copy(tmp_path / "copy.plumb")
    with Workspace.open(tmp_path / "copy.plumb") as copy:
        assert [row.text for row in copy.log()] == ["kept"]
        assert copy.writer() is None
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []


def test_a_copy_replaces_a_file_only_when_it_is_done(context: Context, tmp_path: Path) -> None:
    target = tmp_path / "there.plumb"
    target.write_text("something else")
    context.document.save_copy(target)
    with Workspace.open(target) as copy:
        assert copy.log() == []
    with pytest.raises(WorkspaceError, match="cannot replace its own workspace"):
        context.document.save_copy(context.document.path)
    with pytest.raises(WorkspaceError):
        context.document.save_copy(tmp_path / "no such folder" / "copy.plumb")
    folder = tmp_path / "folder.plumb"
    folder.mkdir()
    with pytest.raises(WorkspaceError):
        context.document.save_copy(folder)
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []


def test_a_deleted_file_is_reported_once_and_can_still_be_saved(
    qtbot: QtBot, context: Context, tmp_path: Path
) -> None:
    document = context.document
    document.store.apply([Warned(None, "rescued")])
    WorkspaceNotices(context, lambda: None, context.messages)
    looks: list[None] = []
    document.looked.connect(lambda: looks.append(None))
    document.path.unlink()
    qtbot.waitUntil(lambda: bool(context.messages.history), timeout=PATIENCE)
    document.save_copy(tmp_path / "rescued.plumb")
    with Workspace.open(tmp_path / "rescued.plumb") as copy:
        assert [row.text for row in copy.log()] == ["rescued"]
    seen = len(looks)
    qtbot.waitUntil(lambda: len(looks) > seen + 1, timeout=PATIENCE)
    (message,) = context.messages.history
    assert message.level == "error"
    assert "was deleted" in message.text


def test_what_this_window_writes_is_not_a_change_by_others(qtbot: QtBot, context: Context) -> None:
    document, topics, looks = context.document, [], []
    document.changed.connect(topics.append)
    document.looked.connect(looks.append)
    news = [Warned(None, "new")]
    for count in (1, 2):
        document.store.apply(news)
        qtbot.waitUntil(lambda n=count: len(looks) > 2 * n, timeout=PATIENCE)
    assert topics == []
    document.store.apply(news)
    with Workspace.open(document.path) as other:
        other.apply(news)
    qtbot.waitUntil(lambda: topics == ["outside"], timeout=PATIENCE)
    with Workspace.open(document.path) as other:
        other.apply(news)
    qtbot.waitUntil(lambda: topics == ["outside"] * 2, timeout=PATIENCE)


def test_a_file_that_is_gone_is_reported_though_nothing_can_be_read(
    qtbot: QtBot, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when its disk was taken away."""

    def cannot_be_read(*_: object) -> None:
        raise WorkspaceError("the disk cannot be written or read")

    document, lost = context.document, []
    document.lost.connect(lambda: lost.append(None))
    monkeypatch.setattr(document.reader._store, "data_version", cannot_be_read)
    document.path.unlink()
    qtbot.waitUntil(lambda: lost == [None], timeout=PATIENCE)


def test_a_link_that_leads_elsewhere_loses_nothing(
    qtbot: QtBot, make_context: Callable[..., Context], tmp_path: Path
) -> None:
    Workspace.create(tmp_path / "a.plumb").close()
    link = tmp_path / "link.plumb"
    link.symlink_to("a.plumb")
    document = make_context(link, open_only=True).document
    lost: list[None] = []
    document.lost.connect(lambda: lost.append(None))
    link.unlink()
    link.symlink_to("b.plumb")
    for _ in range(2):
        qtbot.waitSignal(document.looked, timeout=PATIENCE).wait()
    assert not lost
    assert not document.is_lost


def test_a_job_that_has_just_ended_is_not_foreign(context: Context) -> None:
    WorkspaceNotices(context, lambda: None, context.messages)
    context.jobs._ended_pids.add(12345)
    context.document.looked.emit(Writer(12345, "here"))
    assert not context.messages.history
    context.document.looked.emit(Writer(12346, "here"))
    assert "Process 12346 on here is running" in context.messages.history[0].text


def test_a_file_that_cannot_be_written_can_be_read(
    make_context: Callable[..., Context], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "read-only.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, "there")])
    # The user who runs the tests may be root, who can write to any file.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    context = make_context(path, open_only=True)
    WorkspaceNotices(context, lambda: None, context.messages).tell_all()
    assert [row.text for row in context.document.store.log()] == ["there"]
    (message,) = context.messages.history
    assert "is read-only" in message.text
    with pytest.raises(WorkspaceError):
        context.document.store.apply([Warned(None, "more")])
    context.document.save_copy(tmp_path / "copy.plumb")


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.plumb"
    Workspace.create(path).close()
    forge(path, f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(WorkspaceError, match="newer Plumbline"):
        Document.open(path)


def test_a_workspace_in_two_windows_is_reported_and_followed(
    context: Context, topics: list[str], qtbot: QtBot
) -> None:
    notices = WorkspaceNotices(context, lambda: None)
    other = Document.open(context.document.path)  # a lock belongs to an open file
    with qtbot.waitSignal(context.messages.posted, timeout=PATIENCE) as told:
        pass
    assert "also open in another window" in told.args[0].text
    other.store.apply([Warned(None, "x")])
    qtbot.waitUntil(lambda: "outside" in topics, timeout=PATIENCE)
    with qtbot.waitSignal(context.messages.withdrawn, timeout=PATIENCE) as withdrawn:
        other.close()
    assert withdrawn.args == told.args
    assert notices is not None
