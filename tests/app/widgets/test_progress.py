"""Bars are full only when work has ended."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QProgressBar
from pytestqt.qtbot import QtBot

from app.widgets.progress import STEPS, running_share, show_running


@pytest.mark.parametrize(
    ("done", "total", "share"),
    [(0, 4, 0), (1, 4, 0.25), (4, 4, 0.99), (9, 4, 0.99), (-1, 4, 0), (3, 0, 0), (0.999, 1, 0.99)],
)
def test_work_that_continues_is_never_whole(done: float, total: float, share: float) -> None:
    assert running_share(done, total) == share


def test_a_bar_moves_if_the_end_is_unknown(qtbot: QtBot) -> None:
    bar = QProgressBar()
    qtbot.addWidget(bar)
    show_running(bar, 1, 2)
    assert (bar.value(), bar.maximum()) == (STEPS // 2, STEPS)
    show_running(bar, 7, 2)  # Qt would leave a value beyond the range where it was
    assert STEPS // 2 < bar.value() < STEPS
    show_running(bar, 7, None)
    assert bar.minimum() == bar.maximum() == 0
    show_running(bar, 1, 4)
    assert bar.value() == STEPS // 4
