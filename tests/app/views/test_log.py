"""The log: the workspace's and the window's entries, by level and words, followed and copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from reference.forging import forging
from reference.screens import answered

from app.services.context import Context
from app.views.log import LogPage


def write(context: Context, *rows: tuple[float, str, str]) -> None:
    with forging(context.document.path) as connection:
        connection.executemany("INSERT INTO log (time, level, text) VALUES (?, ?, ?)", rows)


@pytest.fixture
def page(qtbot: QtBot, context: Context) -> LogPage:
    page = LogPage(context)
    qtbot.addWidget(page)
    page.resize(900, 600)
    page.show()
    fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
    QAbstractItemModelTester(page.model, fatal, page)
    return page


def texts(page: LogPage) -> list[str]:
    return [page.model.row(number).text for number in range(page.model.rowCount())]


def test_nothing_has_happened_yet(qtbot: QtBot, context: Context) -> None:
    page = LogPage(context)
    qtbot.addWidget(page)
    assert page.table.isVisibleTo(page)  # whether there are entries is not known yet
    answered(qtbot, context)
    assert not page.table.isVisibleTo(page)
    page.show()
    assert not page.table.isVisible()


def test_entries_are_mixed_by_time(qtbot: QtBot, page: LogPage, context: Context) -> None:
    context.messages.info("from the window")
    write(context, (1.0, "info", "long ago"), (9e9, "error", "in the future"))
    context.document.notify("log")
    answered(qtbot, context)
    assert texts(page) == ["long ago", "from the window", "in the future"]
    assert page.table.isVisible()
    write(context, (9e9 + 1, "warning", "later"))
    context.document.notify("outside")
    answered(qtbot, context)
    assert texts(page)[-1] == "later"
    assert page.count.text() == "4"


def test_what_was_said_before_is_there(qtbot: QtBot, context: Context) -> None:
    context.messages.error("early", "with details")
    page = LogPage(context)
    qtbot.addWidget(page)
    assert texts(page) == ["early"]


def test_levels_and_words_filter(qtbot: QtBot, page: LogPage, context: Context) -> None:
    rows = [("info", "Unit one"), ("warning", "unit two"), ("error", "unit three")]
    write(context, *((float(n), level, text) for n, (level, text) in enumerate(rows)))
    context.document.notify("log")
    answered(qtbot, context)
    page.level.setFocus()
    qtbot.keyClick(page.level, Qt.Key.Key_Down)
    assert texts(page) == ["unit two", "unit three"]
    assert page.count.text() == "2 of 3"
    qtbot.keyClicks(page.words, "THREE unit")
    assert texts(page) == ["unit three"]
    page.words.clear()
    page.level.setCurrentIndex(0)
    assert len(texts(page)) == 3


def test_the_newest_entry_stays_in_view_if_requested(
    qtbot: QtBot, page: LogPage, context: Context
) -> None:
    bar = page.table.verticalScrollBar()
    write(context, *((float(n), "info", f"entry {n}") for n in range(100)))
    context.document.notify("log")
    answered(qtbot, context)
    assert bar.value() == bar.maximum() > 0
    page.follow.click()
    page.table.scrollToTop()
    write(context, *((float(n), "info", f"entry {n}") for n in range(100, 200)))
    context.document.notify("log")
    answered(qtbot, context)
    assert bar.value() == 0


def test_an_entry_is_read_in_full_and_copied(qtbot: QtBot, page: LogPage, context: Context) -> None:
    context.messages.error("it failed", "line 1\nline 2")
    context.messages.info("it went on")
    page.table.setFocus()
    page.table.select_row(0)
    assert "it failed\nline 1\nline 2" in page.details.toPlainText()
    qtbot.mouseClick(page.copy, Qt.MouseButton.LeftButton)
    head, row = QGuiApplication.clipboard().text().splitlines()
    assert head == "Time\tLevel\tSource\tMessage"
    assert row.endswith("error\twindow\tit failed")
