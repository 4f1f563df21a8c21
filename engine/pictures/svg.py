"""A scene as SVG text: no script, no reference to anything outside, names escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from engine.pictures.scene import OUTLINES, Box, Glyph, Item, Line, Scene, Text, kind_colors

LIGHT = {
    "window": "#F5F6F8", "surface": "#FFFFFF", "text": "#1B1F24", "muted": "#57606A",
    "border": "#D8DEE4", "scroll": "#C4CCD4", "grid": "#EAEEF2", "accent": "#2E6CD9",
    "better": "#1A7F4B", "bad": "#C62F2B",
}  # fmt: skip
"""The light colors of the window; a test compares them."""
WHITE = "#ffffff"
FONT = "'Inter','Segoe UI','DejaVu Sans',sans-serif"
COLORS = LIGHT | kind_colors(False)


def svg(scene: Scene, width: float | None = None, brief: bool = False) -> str:
    """The picture; `width` scales it, else it is as large as it is laid out.

    With `brief`, for a page with many of them, only objects have tooltips.
    """
    scale = 1.0 if width is None else width / scene.width
    if brief:
        few = (replace(i, tip=i.object) if isinstance(i, Box) else i for i in scene.items)
        scene = replace(scene, items=tuple(few))
    size = f'width="{scene.width * scale:.0f}" height="{scene.height * scale:.0f}"'
    images = {name: f"image{number}" for number, (name, _) in enumerate(scene.images)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {scene.width:g} {scene.height:g}" role="img" font-family="{FONT}">',
        f"<title>{escape(scene.title)}</title><desc>{escape(scene.description)}</desc>",
        f'<rect width="100%" height="100%" fill="{_color(scene.paper)}"/>',
        *_definitions(scene),
        *(_element(item, images) for item in scene.items),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _color(name: str) -> str:
    return COLORS.get(name, name) or "none"


def _definitions(scene: Scene) -> Iterator[str]:
    """Every image once, and a filter for every color that an image is multiplied by."""
    if not scene.images:
        return
    yield "<defs>"
    for number, (_, data) in enumerate(scene.images):
        kind = "png" if data.startswith(b"\x89PNG") else "jpeg" if data[:1] == b"\xff" else "webp"
        link = f'href="data:image/{kind};base64,{base64.b64encode(data).decode()}"'
        size = 'width="1" height="1" preserveAspectRatio="none"'
        yield f'<image id="image{number}" {size} {link}/>'
    for color in sorted({i.fill for i in scene.items if isinstance(i, Box) and i.image}):
        red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
        matrix = f"{red:.3f} 0 0 0 0 0 {green:.3f} 0 0 0 0 0 {blue:.3f} 0 0 0 0 0 1 0"
        head = f'<filter id="tint{color[1:]}" color-interpolation-filters="sRGB">'
        yield f'{head}<feColorMatrix values="{matrix}"/></filter>'
    yield "</defs>"


def _element(item: Item, images: dict[str, str]) -> str:
    match item:
        case Box():
            return _box(item, images)
        case Text():
            return _text(item)
        case Glyph():
            return _glyph(item)
        case Line():
            return _line(item)


def _box(box: Box, images: dict[str, str]) -> str:
    tip = f"<title>{escape(box.tip)}</title>" if box.tip else ""
    if box.image in images:
        tint = "" if box.fill.lower() == WHITE else f' filter="url(#tint{box.fill[1:]})"'
        where = f'transform="translate({box.x:g} {box.y:g}) scale({box.w:g} {box.h:g})"'
        return f'<g{tint}><use href="#{images[box.image]}" {where}>{tip}</use></g>'
    edge = f' stroke="{_color(box.edge)}" stroke-width="{box.stroke:g}"' if box.edge else ""
    dash = ' stroke-dasharray="3 2"' if box.dashed else ""
    place = f'x="{box.x:g}" y="{box.y:g}" width="{box.w:g}" height="{box.h:g}"'
    head = f'<rect {place} rx="{box.radius:g}" fill="{_color(box.fill)}"{edge}{dash}'
    return f"{head}>{tip}</rect>" if tip else f"{head}/>"


def _text(text: Text) -> str:
    extra = ' font-weight="bold"' if text.bold else ""
    extra += ' text-anchor="middle"' if text.middle else ""
    extra += ' text-decoration="line-through"' if text.struck else ""
    place = f'x="{text.x:g}" y="{text.y:g}" font-size="{text.size:g}"'
    return f'<text {place} fill="{_color(text.color)}"{extra}>{escape(text.text)}</text>'


def _points(points: Iterator[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _glyph(glyph: Glyph) -> str:
    paint = f'fill="{_color(glyph.fill)}" stroke="{_color(glyph.edge)}" stroke-width="1.3"'
    x, y, size = glyph.x, glyph.y, glyph.size
    if glyph.shape == "circle":
        return f'<circle cx="{x + size / 2:g}" cy="{y + size / 2:g}" r="{size / 2:g}" {paint}/>'
    points = _points((x + dx * size, y + dy * size) for dx, dy in OUTLINES[glyph.shape])
    return f'<polygon points="{points}" {paint} stroke-linejoin="round"/>'


def _line(line: Line) -> str:
    paint = f'fill="none" stroke="{_color(line.color)}" stroke-width="{line.width:g}"'
    mx, my = line.middle
    bent = f"Q{mx:g},{my:g} " if line.bend else "L"
    curve = f'<path d="M{line.x1:g},{line.y1:g} {bent}{line.x2:g},{line.y2:g}" {paint}/>'
    if not line.arrow:
        return curve
    return f'{curve}<polygon points="{_points(arrow_head(line))}" fill="{_color(line.color)}"/>'


def arrow_head(line: Line, length: float = 8.0) -> Iterator[tuple[float, float]]:
    """The tip of an arrow and its two barbs."""
    mx, my = line.middle
    dx, dy = line.x2 - mx, line.y2 - my
    far = max((dx * dx + dy * dy) ** 0.5, 0.1)
    dx, dy = dx / far * length, dy / far * length
    yield line.x2, line.y2
    for side in (0.45, -0.45):
        yield line.x2 - dx - dy * side, line.y2 - dy + dx * side
