"""The dialog of the caches: sizes, limits, clearing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.services.context import Context
from app.services.document import UNDO_STEPS
from app.services.messages import MAX_MESSAGES, Messages
from app.shell.dialogs import CachesDialog
from engine.caches import DISK_CACHES, DOMINANCE, TRANSLATIONS, keep

PATIENCE = 300_000


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


def test_what_cannot_be_cleared_is_said(qtbot: QtBot, dialog: CachesDialog) -> None:
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
