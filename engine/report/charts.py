"""The charts of a report as SVG text that takes its colours from the page around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 560, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
DASHES = ("", "6 3", "2 3", "9 3 2 3", "12 4")
"""Lines differ by more than their colour."""

Point = tuple[float, float]


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
        points = [(0.0, 0.0)]
        for count, seconds in enumerate(times, 1):
            points += [(seconds, count - 1.0), (seconds, float(count))]
        points.append((end, float(len(times))))
        lines.append(_line(axes, points, number, f"{name}: {len(times)}"))
    return _svg([*_grid(axes, x_title, "bugs"), *lines, *_legend(list(series))])


def scatter_chart(points: Sequence[tuple[int, int, str, str]], x_title: str, y_title: str) -> str:
    """Points (x, y, text, link) over the diagonal on which both are equal."""
    most = max((max(x, y) for x, y, _, _ in points), default=0)
    axes = _Axes(_round_up(most), _round_up(most))
    ends = f'x1="{axes.x(0)}" y1="{axes.y(0)}" x2="{axes.x(axes.right)}" y2="{axes.y(axes.top)}"'
    shapes = [f'<line class="diagonal" {ends}/>']
    for x, y, text, link in points:
        circle = f'<circle class="point" cx="{axes.x(x)}" cy="{axes.y(y)}" r="3.5"/>'
        title = f"<title>{escape(text)}</title>"
        shapes.append(f'<a href="{escape(link)}">{title}{circle}</a>')
    return _svg([*_grid(axes, x_title, y_title), *shapes])


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
    shapes.append(
        f'<text class="label" text-anchor="middle" transform="translate(12 {height}) rotate(-90)">'
        f"{escape(y_title)}</text>"
    )
    return shapes


def _line(axes: _Axes, points: Sequence[Point], number: int, title: str) -> str:
    places = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in points)
    return (
        f'<polyline class="line series{number % 6}" stroke-dasharray="{DASHES[number % 5]}" '
        f'points="{places}"><title>{escape(title)}</title></polyline>'
    )


def _legend(names: Sequence[str]) -> list[str]:
    shapes = []
    for number, name in enumerate(names):
        y = TOP + 14 + 16 * number
        shapes.append(
            f'<line class="line series{number % 6}" stroke-dasharray="{DASHES[number % 5]}" '
            f'x1="{LEFT + 10}" y1="{y - 4}" x2="{LEFT + 38}" y2="{y - 4}"/>'
        )
        shapes.append(_text(LEFT + 44, y, name, "start"))
    return shapes


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="label" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(shapes: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg">'
        + "".join(shapes)
        + "</svg>"
    )
