"""Plots: drawn seldom, values by mouse and keyboard, clicks, and what they export."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pyqtgraph import PlotDataItem
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.theme import Theme
from app.widgets.plot import Curve, Plot, Points
from app.widgets.plot_series import MAX_POINTS
from engine.errors import DiskError


@pytest.fixture
def plot(qtbot: QtBot, theme: Theme) -> Plot:
    plot = Plot(theme, "plot", "Bugs over time", ("time (s)", "bugs"), counts=True)
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    plot.show()
    return plot


def drawn(qtbot: QtBot, plot: Plot) -> None:
    with qtbot.waitSignal(plot.drawn, timeout=PATIENCE):
        pass


def shown_label(plot: Plot) -> str:
    return str(plot.label.toPlainText()) if plot.label.isVisible() else ""


def test_many_updates_are_drawn_once(qtbot: QtBot, plot: Plot) -> None:
    count = []
    plot.drawn.connect(lambda: count.append(1))
    for number in range(50):
        plot.set_curves([Curve("a", [0, number], [0, number])])
    assert not count
    qtbot.waitUntil(lambda: bool(count), timeout=PATIENCE)
    assert len(count) == 1


def test_the_title_of_the_x_axis_is_not_cut_off(qtbot: QtBot, plot: Plot) -> None:
    plot.set_curves([Curve("a", [0, 1], [0, 1])])
    drawn(qtbot, plot)
    title = plot.item.getAxis("bottom").label
    assert title.sceneBoundingRect().bottom() <= plot.canvas.height()


def test_axes_follow_the_values_and_do_not_go_below_zero(qtbot: QtBot, plot: Plot) -> None:
    axis, pictures = plot.item.getAxis("left"), []
    for largest in (10, 1000):
        plot.set_curves([Curve("a", [0, 1], [0, largest])])
        drawn(qtbot, plot)
        pictures.append(plot.grab().toImage().copy(0, 0, 50, 300))  # the numbers of the y axis
        lowest, highest = axis.range
        assert highest >= largest
        ticks = [tick for _, level in axis.tickValues(lowest, highest, 250) for tick in level]
        assert min(ticks) == 0
    assert pictures[0] != pictures[1]
    plot.set_curves([Curve("a", [0, 1], [-5, 5])])
    drawn(qtbot, plot)
    plot.grab()
    assert axis.range[0] <= -5


def test_an_empty_plot_does_not_keep_the_range_of_what_it_showed(qtbot: QtBot, plot: Plot) -> None:
    plot.set_curves([Curve("a", [0, 20], [0, 70])])
    drawn(qtbot, plot)
    plot.set_curves([Curve("a", [], [])])
    drawn(qtbot, plot)
    for side in ("bottom", "left"):
        assert plot.item.getAxis(side).range[1] < 2
    plot.set_curves([Curve("a", [0, 5], [0, 30])])
    drawn(qtbot, plot)
    assert plot.item.getAxis("left").range[1] >= 30


@pytest.mark.parametrize("last", [7, 12, 100, 12_000])
def test_numbers_below_a_narrow_plot_do_not_touch(qtbot: QtBot, plot: Plot, last: int) -> None:
    plot.resize(300, 200)
    plot.set_curves([Curve("a", [0, last], [0, 1])])
    drawn(qtbot, plot)
    plot.grab()
    axis, image = plot.item.getAxis("bottom"), QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    _, _, texts = axis.generateDrawSpecs(painter)
    painter.end()
    places = sorted((rect.left(), rect.right()) for rect, _, _ in texts)
    assert len(places) > 2
    assert all(next_left - right >= 6 for (_, right), (next_left, _) in pairwise(places))
    values = [float(text) for _, _, text in sorted(texts, key=lambda text: text[0].left())]
    assert len({b - a for a, b in pairwise(values)}) == 1


def test_an_axis_from_zero_shows_small_differences_as_small(qtbot: QtBot, theme: Theme) -> None:
    plot = Plot(theme, "plot", "Solved", ("epoch", "%"), from_zero=True)
    qtbot.addWidget(plot)
    plot.show()
    plot.set_curves([Curve("solved", [1, 2, 3], [65, 80, 100])])
    drawn(qtbot, plot)
    low, high = plot.item.vb.viewRange()[1]
    assert low <= 0
    assert high >= 100
    left, right = plot.item.vb.viewRange()[0]
    assert 0 < left < 1.5
    assert 2.5 < right < 4


def test_time_does_not_begin_before_zero(qtbot: QtBot, plot: Plot) -> None:
    plot.set_curves([Curve("a", [0], [0])])
    drawn(qtbot, plot)
    plot.grab()
    for side in ("bottom", "left"):
        assert -0.1 < plot.item.getAxis(side).range[0] <= 0


def test_axes_are_not_a_frame_behind(qtbot: QtBot, plot: Plot) -> None:
    for highest in (2, 40):
        plot.set_curves([Curve("a", [0, 1], [0, highest])])
        drawn(qtbot, plot)
        assert plot.item.getAxis("left").range[1] >= highest  # before anything is painted


def test_a_single_value_is_seen(qtbot: QtBot, plot: Plot) -> None:
    (line,) = plot_lines(qtbot, plot, Curve("a", [1], [5]))
    assert line.opts["symbol"] == "o"
    (line,) = plot_lines(qtbot, plot, Curve("a", [1, 2], [5, 6]))
    assert line.opts["symbol"] is None


def plot_lines(qtbot: QtBot, plot: Plot, curve: Curve) -> list[PlotDataItem]:
    plot.set_curves([curve])
    drawn(qtbot, plot)
    return list(plot.drawing.lines)


def test_values_can_be_read_by_keyboard(qtbot: QtBot, plot: Plot) -> None:
    plot.set_curves([Curve("astar", [0, 1, 2], [0, 5, 9]), Curve("ehc", [0, 2], [0, 4])])
    drawn(qtbot, plot)
    assert shown_label(plot) == ""
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert "time (s): 1" in shown_label(plot)
    assert "astar: 5" in shown_label(plot)
    assert "ehc: 0" in shown_label(plot)
    for _ in range(5):
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert "astar: 9" in shown_label(plot)
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert "astar: 5" in shown_label(plot)


def test_a_click_on_a_point_says_what_is_behind_it(qtbot: QtBot, plot: Plot) -> None:
    plot.set_points([Points("bugs", [1, 5], [2, 8], [17, 18], "policy")], diagonal=True)
    drawn(qtbot, plot)
    place = plot.canvas.mapFromScene(plot.item.vb.mapViewToScene(QPointF(5, 8)))
    with qtbot.waitSignal(plot.point_activated, timeout=PATIENCE) as clicked:
        QTest.mouseClick(
            plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.x(), place.y())
        )
    assert clicked.args == [18]
    assert "bugs" in shown_label(plot)


def test_the_plot_with_the_keyboard_focus_is_framed(qtbot: QtBot, plot: Plot, theme: Theme) -> None:
    plot.activateWindow()
    qtbot.waitUntil(plot.isActiveWindow, timeout=PATIENCE)
    pictures = []
    for focus in (plot.setFocus, plot.export_button.setFocus):
        focus()
        image = plot.canvas.grab().toImage()
        pictures.append(image.pixelColor(0, image.height() // 2))
    assert pictures == [theme.color("accent"), theme.color("surface")]


def test_points_are_reached_by_keyboard(qtbot: QtBot, plot: Plot) -> None:
    fails = Points("fails", [3], [9], [30], "bad", "x", "the policy fails")
    plot.set_points([Points("costly", [5, 1], [8, 2], [50, 10], "policy"), fails])
    drawn(qtbot, plot)
    seen: list[object] = []
    plot.point_activated.connect(seen.append)
    for _ in range(4):
        QTest.keyClick(plot, Qt.Key.Key_Right)
        QTest.keyClick(plot, Qt.Key.Key_Return)
    assert seen == [10, 50, 30, 10]
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert "the policy fails" in shown_label(plot)


def test_without_points_nothing_is_below_zero(qtbot: QtBot, plot: Plot) -> None:
    for x in ([50, 60], []):
        y = [value + 2 for value in x]
        plot.set_points([Points("bugs", x, y, x, "policy")], diagonal=True)
        drawn(qtbot, plot)
    plot.grab()
    for side in ("bottom", "left"):
        lowest, highest = plot.item.getAxis(side).range
        assert -0.5 < lowest <= 0
        assert 0 < highest < 10


def test_an_empty_plot_does_no_harm(qtbot: QtBot, plot: Plot, tmp_path: Path) -> None:
    plot.set_curves([Curve("a", [], [])])
    drawn(qtbot, plot)
    assert plot.is_empty
    QTest.keyClick(plot, Qt.Key.Key_Right)
    QTest.keyClick(plot, Qt.Key.Key_Return)
    for ending in ("png", "svg", "csv"):
        plot.save(tmp_path / f"empty.{ending}")


def test_it_is_exported(qtbot: QtBot, plot: Plot, tmp_path: Path) -> None:
    plot.set_curves([Curve("a", [0, 1.5], [1, 2], steps=True), Curve("b", [3], [4])])
    for ending in ("png", "svg", "csv"):
        plot.save(tmp_path / f"plot.{ending}")
    picture = QImage(str(tmp_path / "plot.png"))
    assert picture.width() >= 2 * plot.width() - 2
    colors = {picture.pixel(x, y) for x in range(0, 900, 7) for y in range(0, 500, 7)}
    assert len(colors) > 3
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    with (tmp_path / "plot.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["series", "time (s)", "bugs"]
    assert rows[1:] == [["a", "0", "1"], ["a", "1.5", "2"], ["b", "3", "4"]]
    with pytest.raises(DiskError, match=r"nowhere"):
        plot.save(tmp_path / "nowhere" / "plot.png")


def test_long_curves_are_thinned_but_end_where_they_end(qtbot: QtBot, plot: Plot) -> None:
    x = np.arange(100_000)
    plot.set_curves([Curve("a", x, x)])
    drawn(qtbot, plot)
    curve = next(item for item in plot.item.listDataItems() if hasattr(item, "xData"))
    assert len(curve.xData) <= MAX_POINTS
    assert curve.xData[-1] == x[-1]


def test_a_long_legend_covers_no_curve(qtbot: QtBot, plot: Plot) -> None:
    def overlap() -> bool:
        box = plot.item.vb.sceneBoundingRect()
        return bool(box.intersects(plot.legend.sceneBoundingRect()))

    names = [f"oracle {number}" for number in range(11)]
    plot.set_curves([Curve(name, [0, 1], [0, 1]) for name in names])
    drawn(qtbot, plot)
    plot.grab()
    assert not overlap()
    pens = [line.opts["pen"] for line in plot.drawing.lines]
    assert len({(pen.color().name(), pen.style()) for pen in pens}) == len(names)
    plot.set_curves([Curve(name, [0, 1], [0, 1]) for name in names[:2]])
    drawn(qtbot, plot)
    plot.grab()
    assert overlap()  # few lines have room over the curves


def test_what_is_laid_over_is_thin_and_in_the_same_color(qtbot: QtBot, plot: Plot) -> None:
    below = [Curve(name, [0, 1], [0, 1]) for name in ("a", "b")]
    over = Curve("other: b", [0, 1], [0, 1], style=1, thin=True, legend="")
    plot.set_curves([*below, over])
    drawn(qtbot, plot)
    _, b, other = (line.opts["pen"] for line in plot.drawing.lines)
    assert (b.color(), b.style()) == (other.color(), other.style())
    assert other.width() < b.width()
    assert [label.text for _, label in plot.legend.items] == ["a", "b"]


def test_both_themes(qtbot: QtBot, plot: Plot, theme: Theme) -> None:
    plot.set_curves([Curve("a", [0, 1], [0, 1]), Curve("b", [0, 1], [1, 0])])
    drawn(qtbot, plot)
    light = plot.grab().toImage()
    theme.set_mode("dark")
    dark = plot.grab().toImage()
    assert light.pixelColor(250, 60).lightness() > 200
    assert dark.pixelColor(250, 60).lightness() < 100


def test_words_grow_with_the_text(qtbot: QtBot, plot: Plot, theme: Theme) -> None:
    plot.set_curves([Curve("a", [0, 1], [0, 1]), Curve("b", [0, 1], [1, 0])])
    plot.set_points([Points("fails", [0.5], [1.0], [1], "bad", y_text="the policy fails")])
    drawn(qtbot, plot)

    def heights() -> list[float]:
        titles = [plot.item.getAxis(side).label for side in ("bottom", "left")]
        names = [label.item for _, label in plot.legend.items]
        (line,) = plot.drawing.heights
        return [item.boundingRect().height() for item in (*titles, *names, line.label.textItem)]

    before = heights()
    assert len(before) == 6
    theme.set_point_size(theme.point_size + 5)
    assert all(now > then for then, now in zip(before, heights(), strict=True))


def test_counts_have_whole_ticks(qtbot: QtBot, plot: Plot) -> None:
    plot.set_curves([Curve("a", [0, 1], [0, 2])])
    drawn(qtbot, plot)
    axis = plot.item.getAxis("left")
    assert all(step >= 1 for step, _ in axis.tickSpacing(0, 2, 300))
