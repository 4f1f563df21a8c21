"""The charts of a report as SVG text that takes its colors from the page around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from engine.pictures.svg import tag

WIDTH, HEIGHT = 560, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
DASHES = ("", "6 3", "2 3", "9 3 2 3", "12 4")
"""Lines differ by more than their color."""

ABOVE = 1.1
"""Where the line of points without a value is, in parts of the largest value."""

Point = tuple[float, float]
Spot = tuple[int, int | None, str, str]
"""Both values, a text, and a link."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """Turns values into places on the paper."""

    right: float
    top: float

    def x(self, value: float) -> float:
        return round(LEFT + value / self.right * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM), 1)


def step_chart(series: Mapping[str, Sequence[float]], end: float, x_title: str) -> str:
    """How many events each of several series has seen; a series is its sorted times."""
    top = max((len(times) for times in series.values()), default=0)
    axes = _Axes(_round_up(end), _round_up(top))
    lines = []
    for number, (name, times) in enumerate(series.items()):
        points = [*_steps(axes, times), (end, float(len(times)))]
        lines.append(_line(axes, points, number, f"{name}: {len(times)}"))
    return _svg([*_grid(axes, x_title, "bugs"), *lines, *_legend(list(series))])


def _steps(axes: _Axes, times: Sequence[float]) -> list[Point]:
    """Steps at the same place on the paper are one, so that a million of them stay a small line."""
    points = [(0.0, 0.0)]
    place: float | None = None
    for count, seconds in enumerate(times, 1):
        if axes.x(seconds) != place:
            place = axes.x(seconds)
            points += [(seconds, count - 1.0), (seconds, float(count))]
        else:
            points[-1] = points[-1][0], float(count)
    return points


def scatter_chart(points: Sequence[Spot], x_title: str, y_title: str, missing: str) -> str:
    """Points over the diagonal on which both values are equal.

    Those without a second value are crosses on a line above the others, which says what is missing.
    """
    right = _round_up(max((max(x, y or 0) for x, y, _, _ in points), default=0))
    line = right * ABOVE
    is_missing = any(y is None for _, y, _, _ in points)
    axes = _Axes(right, _round_up(line) if is_missing else right)
    shapes = [_straight(axes, "diagonal", (0, 0), (right, right))]
    if is_missing:
        shapes.append(_straight(axes, "above", (0, line), (right, line)))
        shapes.append(_text(axes.x(right) - 4, axes.y(line) - 4, missing, "end"))
    for x, y, text, link in points:
        title = f"<title>{escape(text)}</title>"
        left, top = axes.x(x), axes.y(line if y is None else y)
        cross = f"M{left - 3.5} {top - 3.5}l7 7m0-7l-7 7"
        if y is None:
            shape = tag("path", "", class_="cross", d=cross)
        else:
            shape = tag("circle", "", class_="point", cx=left, cy=top, r=3.5)
        shapes.append(f'<a href="{escape(link)}">{title}{shape}</a>')
    return _svg([*_grid(axes, x_title, y_title), *shapes])


def _straight(axes: _Axes, kind: str, start: Point, end: Point) -> str:
    (x1, y1), (x2, y2) = ((axes.x(x), axes.y(y)) for x, y in (start, end))
    return tag("line", "", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def ticks(most: float) -> list[float]:
    """About five round numbers from 0 to `most`."""
    step = _round_step(most / 5)
    return [step * number for number in range(floor(most / step + 1e-9) + 1)]


def _round_up(most: float) -> float:
    step = _round_step(max(most, 1) / 5)
    return step * ceil(max(most, 1) / step - 1e-9)


def _round_step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _grid(axes: _Axes, x_title: str, y_title: str) -> list[str]:
    shapes = []
    for value in ticks(axes.right):
        x = axes.x(value)
        shapes.append(f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}"/>')
        shapes.append(_text(x, HEIGHT - BOTTOM + 14, f"{value:g}", "middle"))
    for value in ticks(axes.top):
        y = axes.y(value)
        shapes.append(f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>')
        shapes.append(_text(LEFT - 6, y + 4, f"{value:g}", "end"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    shapes.append(_text(middle, HEIGHT - 6, x_title, "middle"))
    height = (TOP + HEIGHT - BOTTOM) / 2
    turned = f"translate(12 {height}) rotate(-90)"
    label = {"class_": "label", "text_anchor": "middle", "transform": turned}
    return [*shapes, tag("text", escape(y_title), **label)]


def _line(axes: _Axes, points: Sequence[Point], number: int, title: str) -> str:
    places = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in points)
    return tag("polyline", f"<title>{escape(title)}</title>", **_series(number), points=places)


def _series(number: int) -> dict[str, str]:
    return {"class_": f"line series{number % 6}", "stroke_dasharray": DASHES[number % 5]}


def _legend(names: Sequence[str]) -> list[str]:
    shapes = []
    for number, name in enumerate(names):
        y = TOP + 14 + 16 * number
        ends = {"x1": LEFT + 10, "y1": y - 4, "x2": LEFT + 38, "y2": y - 4}
        shapes.append(tag("line", "", **_series(number), **ends))
        shapes.append(_text(LEFT + 44, y, name, "start"))
    return shapes


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return tag("text", escape(text), class_="label", x=x, y=y, text_anchor=anchor)


def _svg(shapes: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg">'
        + "".join(shapes)
        + "</svg>"
    )
