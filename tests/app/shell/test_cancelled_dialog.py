"""A file dialog beside an open workspace and a running campaign: nothing is read, nothing lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QTableView, QTreeView
from pytestqt.qtbot import QtBot
from reference.bug_workspace import CONFIG, DOMAIN, problem_text
from reference.opened_files import Opened, locks
from reference.screens import PATIENCE

from app.shell.application import Application
from app.shell.main_window import MainWindow
from engine.workspace.workspace import Workspace


def start_campaign(folder: Path, seed: int) -> subprocess.Popen[bytes]:
    """As the window does: in a process of its own."""
    config = folder / f"seed-{seed}.toml"
    config.write_text(f"seeds = [{seed}]\n" + CONFIG)
    command = [sys.executable, "-P", "-m", "engine.cli", "campaign", str(config)]
    return subprocess.Popen([*command, "--out", str(folder / "w.plumb")], stderr=subprocess.DEVNULL)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for loads in (2, 3):
        (tmp_path / f"p{loads}.pddl").write_text(problem_text(loads))
    assert start_campaign(tmp_path, 1).wait() == 0
    return tmp_path / "w.plumb"


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, path: Path) -> Iterator[MainWindow]:
    hook = sys.excepthook
    application = Application(qapp)
    application.settings.set("window/page", "log")
    window = application.open_workspace(path)
    assert window is not None
    yield window
    window.context.jobs.stop_all(wait=True)
    application.quit()
    qtbot.waitUntil(lambda: not application.windows, timeout=PATIENCE)
    application.end()
    application.deleteLater()
    sys.excepthook = hook
    qapp.setStyleSheet("")


def cancel_dialog(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    """Ctrl+O, wait until the file is listed, Escape."""
    shown: list[str] = []

    def escape() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        for view in (*dialog.findChildren(QTreeView), *dialog.findChildren(QTableView)):
            view.show()  # the column of the types, too
        qtbot.waitUntil(lambda: path.name in _listed(dialog), timeout=PATIENCE)
        dialog.selectFile(str(path))
        QTest.qWait(100)
        shown.extend(_listed(dialog))
        QTest.keyClick(dialog, Qt.Key.Key_Escape)

    QTimer.singleShot(0, escape)
    window.menus.action("open").trigger()
    assert path.name in shown


def _listed(dialog: QFileDialog) -> list[str]:
    (view, *_) = dialog.findChildren(QTreeView)
    model, root = view.model(), view.rootIndex()
    return [model.index(row, 0, root).data() for row in range(model.rowCount(root))]


def test_the_dialog_reads_no_workspace_and_drops_no_lock(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    with closing(Opened(path)) as opened:
        with window.context.document.store._connection.writing():
            assert locks(path) == {"POSIX", "OFDLCK"}
            cancel_dialog(qtbot, window, path)
            assert locks(path) == {"POSIX", "OFDLCK"}
        assert opened.count() == 0


def test_a_cancelled_dialog_beside_campaigns_loses_nothing(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    store = window.context.document.store
    bugs = [row.id for row in store.bugs()]
    second = start_campaign(path.parent, 2)
    cancel_dialog(qtbot, window, path)
    for number in bugs[:3]:
        store.set_status([number], "confirmed", note=f"note {number}")
    assert second.wait() == 0
    cancel_dialog(qtbot, window, path)
    store.set_status(bugs[3:4], "ignored")
    assert start_campaign(path.parent, 3).wait() == 0
    assert len(store.campaigns()) == 3
    window.context.document.close()
    with Workspace.open(path) as again:
        assert [campaign.status for campaign in again.campaigns()] == ["finished"] * 3
        status = {row.id: (row.status, row.note) for row in again.bugs()}
        assert [status[number] for number in bugs[:3]] == [
            ("confirmed", f"note {number}") for number in bugs[:3]
        ]
        assert status[bugs[3]][0] == "ignored"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not list(path.parent.glob("w.plumb-*"))
