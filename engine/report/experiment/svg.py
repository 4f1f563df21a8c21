"""A drawing as an SVG file of its own."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from engine.plain_text import printable
from engine.report.experiment.drawing import INK, Drawing, Label, Line, Mark, Shape

FONT = "Helvetica, Arial, sans-serif"


def svg(drawing: Drawing) -> str:
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    box = f'viewBox="0 0 {drawing.width:g} {drawing.height:g}"'
    paper = f'<rect {size} fill="#FFFFFF"/>'
    body = "\n".join([paper, *map(_shape, drawing.shapes)])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>\n{body}\n</svg>\n'


def _shape(shape: Shape) -> str:
    match shape:
        case Line():
            dashes = f' stroke-dasharray="{shape.dashes}"' if shape.dashes else ""
            return (
                f'<polyline fill="none" stroke="{shape.color}" stroke-width="{shape.width:g}"'
                f'{dashes} points="{_points(shape.points)}"/>'
            )
        case Mark():
            return f'<polygon fill="{shape.color}" points="{_points(shape.points)}"/>'
        case Label():
            return _text(shape)


def _text(label: Label) -> str:
    place = f'x="{label.x:.1f}" y="{label.y:.1f}"'
    if not label.upright:
        place = f'transform="translate({label.x:.1f} {label.y:.1f}) rotate(-90)"'
    return (
        f'<text {place} fill="{INK}" font-family="{FONT}" font-size="{label.size:g}" '
        f'text-anchor="{label.anchor}">{escape(printable(label.text))}</text>'
    )


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
