"""What a plot shows, and how it gets into pyqtgraph: curves and points in the theme's colors.

Drawing the same series with more values only changes their values: making them anew takes some
ten times as long.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from app.services.theme import Theme

LINE_WIDTH, THIN_WIDTH = 2, 1
POINT_SIZE = 9
MAX_LEGEND = 24
"""Letters of a name in the legend; all of it appears on hover."""
MAX_POINTS = 2000
"""A longer curve is thinned to this number of points, because there are no more pixels."""

SERIES = (
    ("#2F6FDE", "#6FA1FF"),
    ("#B35900", "#F0A35E"),
    ("#1A7F4B", "#57C785"),
    ("#8A3FA0", "#CBA6F7"),
    ("#A8323E", "#FF8A80"),
    ("#0B7285", "#56C4D6"),
    ("#6B5B00", "#D9C34A"),
    ("#57606A", "#9AA4B2"),
)
"""Colors of curves without a meaning of their own, in the light and the dark theme."""
_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
_FILL_ALPHA = 110

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """`token` is a color of the theme; without one the curve gets one of the series."""

    name: str
    x: ArrayLike
    y: ArrayLike
    token: str = ""
    steps: bool = False  # holds its value until the next point
    style: int | None = None  # color and dashes of the series; None: those of its place
    thin: bool = False  # belongs to what is laid over the others
    legend: str | None = None  # what the legend says instead of the name; empty: nothing


@dataclass(frozen=True, eq=False)
class Points:
    """Single points that can be clicked; `keys` say what is behind each."""

    name: str
    x: ArrayLike
    y: ArrayLike
    keys: Sequence[object] | NDArray[np.int64]
    token: str
    symbol: str = "o"
    y_text: str = ""  # shown instead of an infinite value: "the policy fails"


class Drawing:
    """The series of one plot as items of pyqtgraph."""

    def __init__(self, plot: pg.PlotItem, legend: pg.LegendItem, theme: Theme) -> None:
        self._plot, self._legend, self._theme = plot, legend, theme
        self._shape: object = None
        self.lines: list[pg.PlotDataItem] = []
        self._dots: list[pg.PlotDataItem] = []
        self.heights: list[pg.InfiniteLine] = []
        self._diagonal: pg.PlotDataItem | None = None

    def draw(self, curves: Sequence[Curve], points: Sequence[Points], diagonal: bool) -> None:
        """Draw points; with `diagonal`, also a line where both values are the same."""
        shape = (
            (self._theme.name, self._theme.point_size),
            tuple((c.name, c.token, c.style, c.thin, c.legend) for c in curves),
            tuple((item.name, item.token, item.symbol, item.y_text) for item in points),
            diagonal,
        )
        if shape != self._shape:
            self._make(curves, points, diagonal)
            self._shape = shape
        for line, curve in zip(self.lines, curves, strict=True):
            x, y = _line_of(curve)
            line.setData(x, y, symbol="o" if len(x) == 1 else None)  # else it would not be seen
        for dots, item in zip(self._dots, points, strict=True):
            dots.setData(*_places_of(item))
        for height, item in zip(self.heights, (i for i in points if i.y_text), strict=True):
            height.setPos(float(floats(item.y)[0]) if np.size(item.y) else 0.0)
        if self._diagonal is not None:
            largest = _largest(points)
            self._diagonal.setData([0, largest], [0, largest])

    def _make(self, curves: Sequence[Curve], points: Sequence[Points], diagonal: bool) -> None:
        for item in (*self.lines, *self._dots, *self.heights, self._diagonal):
            if item is not None:
                self._plot.removeItem(item)
        self._legend.clear()
        self.lines = [self._make_line(number, curve) for number, curve in enumerate(curves)]
        pen = pg.mkPen(self._theme.color("muted"), width=1, style=Qt.PenStyle.DashLine)
        self._diagonal = self._plot.plot(pen=pen) if diagonal else None
        self._dots = [self._make_dots(item) for item in points]
        self.heights = [self._make_height(item.y_text) for item in points if item.y_text]
        self._legend.setVisible(len(curves) + len(points) > 1)

    def _make_line(self, number: int, curve: Curve) -> pg.PlotDataItem:
        pen = self._pen(number, curve)
        return self._plot.plot(
            pen=pen,
            symbolSize=POINT_SIZE,
            symbolPen=pg.mkPen(pen.color()),
            symbolBrush=pen.color(),
            name=_in_legend(curve.name if curve.legend is None else curve.legend),
        )

    def _make_dots(self, points: Points) -> pg.PlotDataItem:
        color = self._theme.color(points.token)
        fill = QColor(color)
        fill.setAlpha(_FILL_ALPHA)
        return self._plot.plot(
            pen=None,
            symbol=points.symbol,
            symbolSize=POINT_SIZE,
            symbolPen=pg.mkPen(color, width=1),
            symbolBrush=fill,
            name=_in_legend(points.name),
        )

    def _make_height(self, text: str) -> pg.InfiniteLine:
        color = self._theme.color("muted")
        pen = pg.mkPen(color, width=1, style=Qt.PenStyle.DotLine)
        options = {"color": color, "position": 0.98, "anchors": [(1, 0), (1, 0)]}
        line = pg.InfiniteLine(0.0, angle=0, pen=pen, label=text, labelOpts=options)
        line.label.setFont(self._theme.ui_font)
        self._plot.addItem(line)
        return line

    def _pen(self, number: int, curve: Curve) -> QPen:
        number = number if curve.style is None else curve.style
        if curve.token:
            color, style = self._theme.color(curve.token), Qt.PenStyle.SolidLine
        else:
            color = QColor(SERIES[number % len(SERIES)][self._theme.is_dark])
            style = _DASHES[(number + number // len(SERIES)) % len(_DASHES)]
        width = THIN_WIDTH if curve.thin else LINE_WIDTH
        return pg.mkPen(color, width=width, style=style)  # type: ignore[no-any-return]


def floats(values: ArrayLike) -> Values:
    return np.asarray(values, dtype=np.float64)


def _line_of(curve: Curve) -> tuple[Values, Values]:
    x, y = floats(curve.x), floats(curve.y)
    if curve.steps and len(x):
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    return _thinned(x, y)


def _places_of(points: Points) -> tuple[Values, Values]:
    """Return at most as many points as can be distinguished."""
    x, y = floats(points.x), floats(points.y)
    if len(x) <= MAX_POINTS:
        return x, y
    places = np.unique(x + 1j * y)  # some ten times as fast as with pairs
    return places.real, places.imag


def _thinned(x: Values, y: Values) -> tuple[Values, Values]:
    """Evenly chosen points, the last among them."""
    if len(x) <= MAX_POINTS:
        return x, y
    chosen = np.unique(np.linspace(0, len(x) - 1, MAX_POINTS).astype(np.int64))
    return x[chosen], y[chosen]


def _largest(points: Sequence[Points]) -> float:
    numbers = [floats(v) for item in points if not item.y_text for v in (item.x, item.y)]
    return max((float(values.max()) for values in numbers if len(values)), default=0.0) or 1.0


def _in_legend(name: str) -> str | None:
    """Legends are HTML, and narrow."""
    short = name if len(name) <= MAX_LEGEND else f"{name[: MAX_LEGEND - 1]}…"
    return html.escape(short, quote=False) or None
