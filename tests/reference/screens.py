"""What tests of several screens do alike: wait, find the open dialog, press a button, listen."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.services.context import Context
from app.views.campaign.page import CampaignPage
from app.views.project.page import ProjectPage

PATIENCE = 300_000


def settled(qtbot: QtBot, page: ProjectPage | CampaignPage) -> None:
    """All files of the project have been looked at."""
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def answered(qtbot: QtBot, context: Context) -> None:
    """All that was asked of the workspace so far has been told, also what waited for its turn."""
    told: list[None] = []
    for rounds in (1, 2):
        context.document.reader.ask(context.document, lambda _: None, told.append, told.append)
        qtbot.waitUntil(lambda n=rounds: len(told) == n, timeout=PATIENCE)


def dialog_of(page: QWidget) -> QDialog:
    (dialog,) = (item for item in page.findChildren(QDialog) if item.isVisible())
    return dialog


def press(parent: QWidget, name: str) -> None:
    button = parent.findChild(QPushButton, name)
    assert button is not None, name
    assert button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def said(context: Context) -> list[str]:
    return [message.text for message in context.messages.history]
