"""A large workspace in the window: read at once, checked beside it, closed if it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from reference.forging import forge
from reference.listed_bugs import store_bugs
from reference.screens import PATIENCE

from app.services.document import Document
from engine.errors import PlumblineError, WorkspaceError
from engine.records.finding import BugKind, BugStatus
from engine.workspace import seal
from engine.workspace.bug_list import BugQuery
from engine.workspace.filter import parse_terms
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that counts as a large one, and has no seal."""
    monkeypatch.setattr(seal, "LARGE_BYTES", 1000)
    path = tmp_path / "bugs.plumb"
    row = BugRow(
        *(1, 1, 1, BugKind.TOO_EXPENSIVE, "p1", "policy", 0, 20, 10, 10, "bmo", "plan"),
        *(None, None, BugStatus.NEW, "", 0.5, None, False),
    )
    store_bugs(path, [row])
    return path


def test_the_window_checks_beside_its_work(qtbot: QtBot, large: Path) -> None:
    document = Document.open(large)
    assert document.store.awaits_check
    qtbot.waitUntil(lambda: not document.store.awaits_check, timeout=PATIENCE)
    document.store.set_note([1], "seen")
    document.close()
    again = Document.open(large)
    assert not again.store.awaits_check, "it was sealed"
    again.close()


def test_the_window_tells_of_damage(qtbot: QtBot, large: Path) -> None:
    forge(large, "UPDATE findings SET seconds = 'soon' WHERE id = 1")
    document = Document.open(large)
    with qtbot.waitSignal(document.damaged, timeout=PATIENCE) as told:
        pass
    assert "findings.seconds" in told.args[0]
    with pytest.raises(WorkspaceError, match="still being checked"):
        document.store.set_note([1], "never")
    document.close()
    with pytest.raises(WorkspaceError, match=r"findings\.seconds"):
        Workspace.open(large)


def test_what_cannot_be_read_before_the_check_is_no_defect_of_ours(
    qtbot: QtBot, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's file may hold values that no reader expects."""
    monkeypatch.setattr(Document, "_check", lambda self: None)  # it takes forever
    forge(large, "UPDATE problems SET name = x'ff00'")
    document = Document.open(large)
    told: list[PlumblineError] = []
    question = BugQuery(parse_terms("problem:p1"))
    document.reader.ask(document, lambda store: store.bug_list(question), print, told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE)
    assert "still being checked" in str(told[0])
    document.close()


def test_what_cannot_be_shown_before_the_check_is_no_defect_of_ours(
    qtbot: QtBot, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of the wrong type breaks its receiver."""
    monkeypatch.setattr(Document, "_check", lambda self: None)  # it takes forever
    document = Document.open(large)
    told: list[PlumblineError] = []
    document.reader.ask(document, lambda _: "soon", lambda time: time < 0.5, told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE)
    assert "still being checked" in str(told[0])
    document.close()
