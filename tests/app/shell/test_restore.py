"""The dialog of the backups: what it lists, and what it restores."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.services.context import Context
from app.shell.restore import RestoreDialog
from engine.records.events import Warned
from engine.workspace.workspace import Workspace

PATIENCE = 300_000


def opened(qtbot: QtBot, context: Context) -> RestoreDialog:
    dialog = RestoreDialog(context)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def test_without_backups_nothing_can_be_restored(qtbot: QtBot, context: Context) -> None:
    dialog = opened(qtbot, context)
    assert dialog.list.count() == 0
    assert not dialog.restore.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert not context.jobs.running


def test_the_backups_of_this_workspace_come_first(
    qtbot: QtBot, context: Context, tmp_path: Path
) -> None:
    here = context.document.path
    for path in (here, tmp_path / "other\u202e.plumb"):
        with Workspace.create(path) as store:
            store.apply([Warned(None, "old")])
        with Workspace.open(path) as store:
            store.apply([Warned(None, "new")])
    dialog = opened(qtbot, context)
    texts = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert len(texts) == 2
    assert here.name in texts[0]
    assert r"other\u202e.plumb" in texts[1]
    with qtbot.waitSignal(dialog.restored, timeout=PATIENCE) as restored:
        QTest.mouseClick(dialog.restore, Qt.MouseButton.LeftButton)
    (path,) = restored.args
    assert path.parent == here.parent
    assert path != here
    with Workspace.open(path) as store:
        assert [row.text for row in store.log()] == ["old"]
    with Workspace.open(here) as store:
        assert [row.text for row in store.log()] == ["old", "new"]
    qtbot.waitUntil(lambda: not context.jobs.running, timeout=PATIENCE)
