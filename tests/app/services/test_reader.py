"""Reading in the background: in order, answered in the window's thread, not after deletion."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, answered

from app.services.context import Context
from app.services.reader import LatestQuery, QueryThread
from engine.errors import PlumblineError, UsageError
from engine.records.events import Warned
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace


def unexpected(what: object) -> None:
    raise AssertionError(what)


def test_answers_come_in_order_and_in_the_windows_thread(qtbot: QtBot, context: Context) -> None:
    here, told = threading.get_ident(), []
    owner = QObject()

    def read(store: WorkspaceReader) -> tuple[int, int]:
        return threading.get_ident(), len(store.campaigns())

    for _ in range(20):
        context.document.reader.ask(
            owner, read, lambda answer: told.append((threading.get_ident(), *answer)), unexpected
        )
    assert told == []
    qtbot.waitUntil(lambda: len(told) == 20, timeout=PATIENCE)
    assert {(where, count) for where, _, count in told} == {(here, 0)}
    (there,) = {thread for _, thread, _ in told}
    assert there != here


def test_what_goes_wrong_is_reported(qtbot: QtBot, context: Context) -> None:
    errors: list[PlumblineError] = []
    reader = context.document.reader
    reader.ask(context.document, lambda store: store.bug(1), unexpected, errors.append)
    answered(qtbot, context)
    (error,) = errors
    assert isinstance(error, UsageError)
    with qtbot.captureExceptions() as surprises:
        reader.ask(context.document, lambda _: 1 // 0, unexpected, errors.append)
        answered(qtbot, context)
    ((kind, _, _),) = surprises
    assert kind is ZeroDivisionError
    assert "ZeroDivisionError" in str(errors[-1])  # the caller need not wait forever


def test_who_is_gone_is_not_told(qtbot: QtBot, context: Context) -> None:
    owner, told = QObject(), []
    context.document.reader.ask(owner, WorkspaceReader.campaigns, told.append, told.append)
    owner.deleteLater()
    del owner
    answered(qtbot, context)
    context.document.reader.ask(
        context.document, WorkspaceReader.campaigns, told.append, told.append
    )
    context.document.close()
    qtbot.wait(50)
    assert len(told) <= 1  # the first one may have been quick


def test_it_reads_what_was_written_and_writes_nothing(qtbot: QtBot, context: Context) -> None:
    context.document.store.apply([Warned(None, "new")])
    texts: list[str] = []
    reader, owner = context.document.reader, context.document
    reader.ask(owner, lambda s: s.log(), lambda rows: texts.extend(r.text for r in rows), print)
    answered(qtbot, context)
    assert texts == ["new"]


@pytest.mark.parametrize("pause", [0.0, 0.2], ids=["in a query", "between two"])
def test_closing_ends_a_long_question(qtbot: QtBot, tmp_path: Path, pause: float) -> None:
    """However much there is to read, closing does not wait for an unwanted answer."""
    with Workspace.create(tmp_path / "w.plumb") as store:
        reader = QueryThread(store.for_another_thread())
        begun = threading.Event()

        def endless(store: WorkspaceReader) -> object:
            begun.set()
            time.sleep(pause)
            return store._rows(  # no question of ours takes that long
                "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n) "
                "SELECT count(*) FROM n"
            )

        reader.ask(reader, endless, unexpected, unexpected)
        reader.ask(reader, endless, unexpected, unexpected)
        assert begun.wait(PATIENCE / 1000)
        time.sleep(pause / 2)
        reader.close()
        reader.close()
        assert "reader" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(RuntimeError, match="closed"):
        store.log()
    qtbot.wait(0)
    reader.deleteLater()


def test_a_workspace_that_can_only_be_read(qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    Workspace.create(folder / "w.plumb").close()
    with Workspace.open(folder / "w.plumb") as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)
        reader = QueryThread(store.for_another_thread())
        told: list[object] = []
        reader.ask(reader, lambda s: s.campaigns(), told.append, unexpected)
        qtbot.waitUntil(lambda: told == [[]], timeout=PATIENCE)
        reader.close()
    reader.deleteLater()


def test_of_questions_that_wait_only_the_last_is_asked(qtbot: QtBot, context: Context) -> None:
    told: list[int] = []
    asked: list[int] = []
    inquiry = LatestQuery(context.document.reader, context.document, told.append, unexpected)
    may_go_on = threading.Event()

    def first(_: WorkspaceReader) -> int:
        assert may_go_on.wait(PATIENCE / 1000)
        return 0

    inquiry.ask(first)
    for number in range(1, 6):
        inquiry.ask(lambda _, n=number: asked.append(n) or n)
    assert inquiry.is_waiting
    may_go_on.set()
    qtbot.waitUntil(lambda: told == [0, 5], timeout=PATIENCE)
    assert asked == [5]
    assert not inquiry.is_waiting
