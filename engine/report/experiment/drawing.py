"""Figures as lists of shapes, which become SVG or PDF: one layout, two ways to write it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10

from engine.records.experiment import Figure, FigureForm, Series
from engine.report.charts import ticks

COLORS = (
    "#2F6FDE",
    "#B35900",
    "#1A7F4B",
    "#8250DF",
    "#C62F2B",
    "#0E8A9A",
    "#BF3989",
    "#57606A",
    "#7A5C00",
    "#1B3A8C",
    "#6FBF3F",
    "#000000",
)
INK, GRID = "#1B1F24", "#DDE2E8"
HEIGHT, PLOT_WIDTH, LEGEND_WIDTH = 300.0, 400.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 14.0, 28.0, 44.0
DONE = "4 3"
"""The dashes of a line behind its end."""
SMALL, NORMAL = 10.0, 11.0


@dataclass(frozen=True, slots=True)
class Line:
    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 1.0
    dashes: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A small filled shape: a polygon around a place."""

    points: tuple[tuple[float, float], ...]
    color: str


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    anchor: str = "start"  # middle, end
    size: float = SMALL
    upright: bool = True


Shape = Line | Mark | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """Coordinates as in SVG: y grows downward."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    begin: float  # on the paper
    end: float
    logarithmic: bool
    whole: bool = False  # counts have no fractions

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = log10(max(value, low)), log10(low), log10(high)
        share = (min(max(value, low), high) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[tuple[float, str]]:
        if self.logarithmic:
            powers = range(round(log10(self.low)), round(log10(self.high)) + 1)
            return [(10.0**power, f"{10.0**power:g}") for power in powers]
        values = [value for value in ticks(self.high) if not self.whole or value == int(value)]
        return [(value, f"{value:g}") for value in values]


def draw(figure: Figure) -> Drawing:
    is_scatter = figure.form is FigureForm.SCATTER
    plot = HEIGHT - TOP - BOTTOM if is_scatter else PLOT_WIDTH
    width = LEFT + plot + RIGHT + LEGEND_WIDTH
    across = _axis([x for s in figure.series for x in s.x], LEFT, LEFT + plot, figure.log_x)
    upward = _axis([y for s in figure.series for y in s.y], HEIGHT - BOTTOM, TOP, figure.log_y)
    upward = replace(upward, whole=not is_scatter)
    if is_scatter:
        low, high = min(across.low, upward.low), max(across.high, upward.high)
        across = _Axis(low, high, LEFT, LEFT + plot, figure.log_x)
        upward = _Axis(low, high, HEIGHT - BOTTOM, TOP, figure.log_y)
    shapes: list[Shape] = [*_frame(figure, across, upward)]
    if is_scatter:
        shapes.append(
            Line(((across.begin, upward.begin), (across.end, upward.end)), INK, 0.8, "2 3")
        )
    for number, series in enumerate(figure.series):
        color = COLORS[number % len(COLORS)]
        if is_scatter:
            shapes += [
                _mark(number, across.at(x), upward.at(y), color, 2.6)
                for x, y in zip(series.x, series.y, strict=True)
            ]
        else:
            shapes += _steps(series, number, across, upward)
    shapes += _legend(figure.series, LEFT + plot + RIGHT, is_scatter)
    return Drawing(width, HEIGHT, tuple(shapes))


def _axis(values: Sequence[float], begin: float, end: float, logarithmic: bool) -> _Axis:
    most = max([*values, 0.0])
    if not logarithmic:
        high = max(most, 1.0)
        step = ticks(high)[1] if len(ticks(high)) > 1 else high
        return _Axis(0.0, step * ceil(high / step - 1e-9), begin, end, False)
    positive = [value for value in values if value > 0]
    low = 10.0 ** floor(log10(min(positive, default=0.1)))
    high = 10.0 ** ceil(log10(max(positive, default=1.0)))
    return _Axis(low, high if high > low else low * 10, begin, end, True)


def _frame(figure: Figure, across: _Axis, upward: _Axis) -> list[Shape]:
    shapes: list[Shape] = []
    for value, text in across.ticks():
        x = across.at(value)
        shapes.append(Line(((x, TOP), (x, HEIGHT - BOTTOM)), GRID, 0.6))
        shapes.append(Label(x, HEIGHT - BOTTOM + 14, text, "middle"))
    for value, text in upward.ticks():
        y = upward.at(value)
        shapes.append(Line(((across.begin, y), (across.end, y)), GRID, 0.6))
        shapes.append(Label(across.begin - 6, y + 3.5, text, "end"))
    corner = (across.begin, TOP), (across.begin, upward.begin), (across.end, upward.begin)
    shapes.append(Line(corner, INK, 0.8))
    middle = (across.begin + across.end) / 2
    shapes.append(Label(middle, HEIGHT - 10, figure.x_title, "middle", NORMAL))
    shapes.append(Label(across.begin, 16, figure.title, "start", NORMAL))
    height = (TOP + HEIGHT - BOTTOM) / 2
    shapes.append(Label(13, height, figure.y_title, "middle", NORMAL, upright=False))
    return shapes


def _steps(series: Series, number: int, across: _Axis, upward: _Axis) -> list[Shape]:
    """A line that rises at each point; dashed behind the time at which the work was done."""
    if not series.x:
        return []
    color = COLORS[number % len(COLORS)]
    places: list[tuple[float, float]] = []
    for x, y in zip(series.x, series.y, strict=True):
        if places:
            places.append((across.at(x), places[-1][1]))
        places.append((across.at(x), upward.at(y)))
    border = across.end if series.solid_until is None else across.at(series.solid_until)
    solid = [place for place in places if place[0] <= border + 1e-6]
    height = solid[-1][1] if solid else upward.begin
    solid.append((border, height))
    rest = [place for place in places if place[0] > border + 1e-6]
    shapes: list[Shape] = [Line(tuple(solid), color, 1.6)]
    if border < across.end:
        shapes.append(Line(((border, height), *rest, (across.end, height)), color, 1.6, DONE))
    shapes.append(_mark(number, border, height, color, 3.2))
    return shapes


def _legend(series: Sequence[Series], x: float, is_scatter: bool) -> list[Shape]:
    shapes: list[Shape] = []
    for number, item in enumerate(series):
        y, color = TOP + 8 + 16 * number, COLORS[number % len(COLORS)]
        if not is_scatter:
            shapes.append(Line(((x, y), (x + 18, y)), color, 1.6))
        shapes.append(_mark(number, x + 9, y, color, 3.2))
        shapes.append(Label(x + 24, y + 3.5, item.label))
    return shapes


def _mark(number: int, x: float, y: float, color: str, size: float) -> Mark:
    """Lines and points differ by more than their color."""
    corners: tuple[tuple[float, float], ...] = (
        ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        ((0, -1.3), (1.2, 1), (-1.2, 1)),
        ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
        ((0, 1.3), (1.2, -1), (-1.2, -1)),
        ((-1.4, -0.5), (1.4, -0.5), (1.4, 0.5), (-1.4, 0.5)),
        ((-0.5, -1.4), (0.5, -1.4), (0.5, 1.4), (-0.5, 1.4)),
    )[number % 6]
    return Mark(tuple((x + size * dx, y + size * dy) for dx, dy in corners), color)
