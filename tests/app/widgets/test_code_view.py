"""The viewer for PDDL: lines, colors, marks where something is wrong, and jumps to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.services.theme import Theme
from app.widgets.code_view import CodeView, Mark

EXAMPLES = Path(__file__).resolve().parents[3] / "resources" / "examples"
TEXT = (EXAMPLES / "ferry" / "domain.pddl").read_text()


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> CodeView:
    view = CodeView(theme, "code", "Code")
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show_text(TEXT)
    view.show()
    return view


def colors(view: CodeView, line: int) -> dict[str, QColor]:
    """What the words of a line are colored."""
    block = view.document().findBlockByNumber(line - 1)
    return {
        block.text()[span.start : span.start + span.length]: span.format.foreground().color()
        for span in block.layout().formats()
    }


def test_words_have_the_colors_of_the_theme(view: CodeView, theme: Theme) -> None:
    line = next(n for n, text in enumerate(TEXT.splitlines(), 1) if ":parameters" in text)
    seen = colors(view, line)
    assert seen[":parameters"] == theme.color("accent")
    assert seen["("] == theme.color("muted")
    light = dict(seen)
    theme.set_mode("dark")
    assert colors(view, line)[":parameters"] == theme.color("accent") != light[":parameters"]


def test_it_jumps_to_a_place(view: CodeView) -> None:
    view.jump_to(3, 5)
    assert view.place == (3, 5)
    view.jump_to(3, 10_000)
    assert view.place == (3, len(TEXT.splitlines()[2]) + 1)
    view.jump_to(10_000)
    assert view.place[0] == view.blockCount()
    view.jump_to(0, 0)
    assert view.place == (1, 1)


def test_marks_are_seen_and_reached(qtbot: QtBot, view: CodeView) -> None:
    before = view.grab().toImage()
    view.set_marks([Mark(3, 5, "this is wrong"), Mark(4, 1, "doubtful", is_error=False)])
    assert view.grab().toImage() != before
    wave = QTextCharFormat.UnderlineStyle.WaveUnderline
    waves = [s for s in view.extraSelections() if s.format.underlineStyle() == wave]
    assert [s.cursor.blockNumber() + 1 for s in waves] == [3, 4]
    assert all(s.cursor.hasSelection() for s in waves)
    gutter = next(child for child in view.children() if type(child).__name__ == "_Gutter")
    height = view.fontMetrics().height()
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(4, height * 2 + 8))
    assert view.place == (3, 5)
    view.set_marks([])
    assert not [s for s in view.extraSelections() if s.format.underlineStyle() == wave]


def test_a_mark_beyond_the_text_does_no_harm(view: CodeView) -> None:
    view.set_marks([Mark(9999, 1, "at the end"), Mark(1, 9999, "after the line")])
    assert not view.grab().isNull()
    wave = QTextCharFormat.UnderlineStyle.WaveUnderline
    waves = [s for s in view.extraSelections() if s.format.underlineStyle() == wave]
    assert [s.cursor.selectedText() for s in waves] == ["", TEXT.splitlines()[0]]
    assert view.toPlainText() == TEXT


def test_the_pair_of_a_parenthesis_is_shown(view: CodeView) -> None:
    view.show_text("(define (domain x))")
    view.jump_to(1, 9)
    places = [s.cursor.selectionStart() for s in view.extraSelections() if s.cursor.hasSelection()]
    assert sorted(places) == [8, 17]
    view.show_text("(never closed")
    view.jump_to(1, 1)
    assert not [s for s in view.extraSelections() if s.cursor.hasSelection()]


def test_nothing_can_be_typed(qtbot: QtBot, view: CodeView) -> None:
    QTest.keyClicks(view, "hello")
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert view.toPlainText() == TEXT
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.place[0] == 2
