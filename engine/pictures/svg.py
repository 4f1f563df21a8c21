"""A scene as SVG text: no script, no reference to anything outside, names escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from html import escape

from engine.pictures.scene import Box, Item, Line, Point, Scene, kind_colors
from engine.plain_text import printable

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
    size = f'width="{scene.width * scale:.0f}" height="{scene.height * scale:.0f}"'
    images = {name: f"image{number}" for number, (name, _) in enumerate(scene.images)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {scene.width:g} {scene.height:g}" role="img" font-family="{FONT}">',
        f"<title>{_text(scene.title)}</title><desc>{_text(scene.description)}</desc>",
        f'<rect width="100%" height="100%" fill="{_color(scene.paper)}"/>',
        *_definitions(scene),
        *(_element(item, images, brief) for item in scene.items),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(text: str) -> str:
    """The text as it can stand in XML, which has no control characters."""
    return escape(printable(text))


def _color(name: str) -> str:
    return COLORS.get(name, name) or "none"


def tag(name: str, inner: str, **attributes: str | float) -> str:
    """An element; attributes without a text are left out. `class_` is the attribute class."""
    texts = {key: f"{v:g}" if isinstance(v, float | int) else v for key, v in attributes.items()}
    head = [f'{key.rstrip("_").replace("_", "-")}="{text}"' for key, text in texts.items() if text]
    return f"<{' '.join([name, *head])}" + (f">{inner}</{name}>" if inner else "/>")


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


def _element(item: Item, images: dict[str, str], brief: bool) -> str:
    if isinstance(item, Box):
        return _box(item, images, item.object if brief else item.tip)
    if isinstance(item, Line):
        return _line(item)
    style = {
        "font_weight": "bold" if item.bold else "",
        "text_anchor": "middle" if item.middle else "",
        "text_decoration": "line-through" if item.struck else "",
    }
    place = {"x": item.x, "y": item.y, "font_size": item.size}
    return tag("text", _text(item.text), **place, fill=_color(item.color), **style)


def _box(box: Box, images: dict[str, str], tip: str) -> str:
    title = f"<title>{_text(tip)}</title>" if tip else ""
    paint: dict[str, str | float] = {"fill": _color(box.fill)}
    paint |= {"stroke": _color(box.edge), "stroke_width": box.stroke} if box.edge else {}
    if box.sign == "circle":
        half = box.w / 2
        return tag("circle", "", cx=box.x + half, cy=box.y + half, r=half, **paint)
    if box.sign:
        return tag(
            "polygon", "", points=points_text(box.outline()), **paint, stroke_linejoin="round"
        )
    if box.image in images:
        tint = "" if box.fill.lower() == WHITE else f"url(#tint{box.fill[1:]})"
        where = f"translate({box.x:g} {box.y:g}) scale({box.w:g} {box.h:g})"
        link = tag("use", title, href=f"#{images[box.image]}", transform=where)
        return tag("g", link, filter=tint)
    corner, size = {"x": box.x, "y": box.y}, {"width": box.w, "height": box.h, "rx": box.radius}
    dashes = "3 2" if box.dashed else ""
    return tag("rect", title, **corner, **size, **paint, stroke_dasharray=dashes)


def _line(line: Line) -> str:
    bent = "Q{:g},{:g} ".format(*line.middle) if line.bend else "L"
    way = f"M{line.x1:g},{line.y1:g} {bent}{line.x2:g},{line.y2:g}"
    color = _color(line.color)
    curve = tag("path", "", d=way, fill="none", stroke=color, stroke_width=line.width)
    head = tag("polygon", "", points=points_text(line.head()), fill=color) if line.arrow else ""
    return curve + head


def points_text(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
