"""The dialogs of the caches (sizes, limits, clearing) and of the backups (listed, restored)."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.document import UNDO_STEPS
from app.services.messages import MAX_MESSAGES, Messages
from app.shell.dialogs import CachesDialog, RestoreDialog
from engine.caches import DISK_CACHES, DOMINANCE, TRANSLATIONS, keep
from engine.records.events import Warned
from engine.workspace.workspace import Workspace


@pytest.fixture
def dialog(qtbot: QtBot, context: Context, own_folders: Path) -> CachesDialog:
    del own_folders
    for number in range(3):
        keep(TRANSLATIONS.folder / f"{number}", b"x" * 400_000, TRANSLATIONS.max_bytes())
    keep(DOMINANCE.folder / "function", b"x" * 100_000, DOMINANCE.max_bytes())
    dialog = CachesDialog(context)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    assert [label.text() for label in dialog.sizes] == ["…"] * 3
    assert not dialog.clear_buttons[0].isEnabled()
    qtbot.waitUntil(dialog.clear_buttons[0].isEnabled, timeout=PATIENCE)
    return dialog


def test_caches_are_measured_and_cleared(qtbot: QtBot, dialog: CachesDialog) -> None:
    assert [label.text() for label in dialog.sizes] == ["1.2 MB", "0.1 MB", "0.0 MB"]
    assert [box.value() for box in dialog.limits] == [500] * 3
    QTest.mouseClick(dialog.clear_buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.clear_buttons[0].isEnabled, timeout=PATIENCE)
    assert [label.text() for label in dialog.sizes] == ["0.0 MB", "0.1 MB", "0.0 MB"]
    assert TRANSLATIONS.size() == 0
    assert not dialog.grab().toImage().isNull()


def test_other_limits_hold_when_it_is_closed(
    qtbot: QtBot, dialog: CachesDialog, context: Context
) -> None:
    dialog.limits[0].setFocus()
    dialog.limits[0].selectAll()
    QTest.keyClicks(dialog.limits[0], "1")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not context.jobs.running, timeout=PATIENCE)
    assert [cache.limit_megabytes() for cache in DISK_CACHES] == [1, 500, 500]
    assert TRANSLATIONS.size() == 800_000


def test_what_cannot_be_cleared_is_reported(qtbot: QtBot, dialog: CachesDialog) -> None:
    (TRANSLATIONS.folder / "folder").mkdir()
    (TRANSLATIONS.folder / "folder" / "file").touch()
    QTest.mouseClick(dialog.clear_buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.clear_buttons[0].isEnabled, timeout=PATIENCE)
    assert "cannot clear the cache" in dialog.problem.text()
    assert dialog.problem.isVisible()


def test_memory_has_bounds_too(qapp: object, context: Context) -> None:
    del qapp
    messages = Messages()
    for number in range(MAX_MESSAGES + 5):
        messages.info(str(number))
    assert len(messages.history) == MAX_MESSAGES
    assert messages.history[-1].text == str(MAX_MESSAGES + 4)
    assert context.document.undo_stack.undoLimit() == UNDO_STEPS
    messages.deleteLater()


def opened(qtbot: QtBot, context: Context) -> RestoreDialog:
    dialog = RestoreDialog(context)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # qtbot does it
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
    with qtbot.waitSignal(dialog.chosen, timeout=PATIENCE) as chosen:
        QTest.mouseClick(dialog.restore, Qt.MouseButton.LeftButton)
    (backup,) = chosen.args
    assert backup.workspace == here
