"""A drawing as an SVG file of its own."""

from __future__ import annotations

from html import escape

from engine.pictures.svg import points_text, tag
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
        case Line(points, color, width, dashes):
            way = {"fill": "none", "stroke": color, "points": points_text(points)}
            return tag("polyline", "", **way, stroke_width=width, stroke_dasharray=dashes)
        case Mark(points, color):
            return tag("polygon", "", fill=color, points=points_text(points))
        case Label():
            return _text(shape)


def _text(label: Label) -> str:
    x, y = f"{label.x:.1f}", f"{label.y:.1f}"
    place = {"x": x, "y": y} if label.upright else {"transform": f"translate({x} {y}) rotate(-90)"}
    look = {"fill": INK, "font_family": FONT, "text_anchor": label.anchor}
    text = escape(printable(label.text))
    return tag("text", text, **place, **look, font_size=label.size)
