"""A picture as a list of shapes and texts, with names of colors; a `Scene` knows no planning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, or a `sign` in it; `edge` and `fill` are names of colors, `#rrggbb` or empty."""

    key: str
    x: float
    y: float
    w: float
    h: float
    fill: str = ""
    edge: str = ""
    stroke: float = 1.0
    radius: float = 4.0
    dashed: bool = False
    tip: str = ""
    object: str = ""  # whom a click on it selects
    image: str = ""  # a name in the scene's images, stretched and tinted by the fill
    sign: str = ""  # `circle`, or one of the outlines

    def outline(self) -> Iterator[Point]:
        for x, y in OUTLINES[self.sign]:
            yield self.x + x * self.w, self.y + y * self.h


@dataclass(frozen=True, slots=True)
class Text:
    """One line; `y` is its base line."""

    key: str
    x: float
    y: float
    text: str
    size: float = 11.0
    color: str = "text"
    bold: bool = False
    middle: bool = False
    struck: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """From one point to another; `bend` is how far its middle is pulled aside."""

    key: str
    x1: float
    y1: float
    x2: float
    y2: float
    color: str = "border"
    width: float = 1.4
    bend: float = 0.0
    arrow: bool = False

    @property
    def middle(self) -> Point:
        """The control point of the curve."""
        dx, dy = self.x2 - self.x1, self.y2 - self.y1
        share = self.bend / max((dx**2 + dy**2) ** 0.5, 1.0)
        x, y = (self.x1 + self.x2) / 2 - dy * share, (self.y1 + self.y2) / 2 + dx * share
        return round(x, 1), round(y, 1)

    def head(self, length: float = 8.0) -> Iterator[Point]:
        """The tip of an arrow and its two barbs."""
        dx, dy = self.x2 - self.middle[0], self.y2 - self.middle[1]
        far = max((dx * dx + dy * dy) ** 0.5, 0.1)
        dx, dy = dx / far * length, dy / far * length
        yield self.x2, self.y2
        for side in (0.45, -0.45):
            yield self.x2 - dx - dy * side, self.y2 - dy + dx * side


Item = Box | Text | Line


def placed(item: Box | Text, key: str, x: float, y: float) -> Box | Text:
    """A part of something, where that is drawn."""
    return replace(item, key=f"{key}/{item.key}", x=item.x + x, y=item.y + y)


@dataclass(frozen=True)
class Scene:
    width: float
    height: float
    items: tuple[Item, ...]
    title: str
    description: str  # the picture in words
    paper: str = "surface"
    images: tuple[tuple[str, bytes], ...] = ()

    def boxes(self) -> dict[str, Box]:
        """The box of every object."""
        return {i.object: i for i in self.items if isinstance(i, Box) and i.object}


SHAPES = (
    *("circle", "square", "diamond", "triangle", "hexagon"),
    *("house", "star", "cross", "drop", "bar"),
)
OUTLINES: dict[str, list[Point]] = {
    name: [(int(x) / 20, int(y) / 20) for x, y in (p.split(",") for p in points.split())]
    for name, points in {
        "square": "2,2 18,2 18,18 2,18",
        "diamond": "10,0 20,10 10,20 0,10",
        "triangle": "10,1 20,19 0,19",
        "hexagon": "5,1 15,1 20,10 15,19 5,19 0,10",
        "house": "10,0 20,9 17,9 17,20 3,20 3,9 0,9",
        "star": "10,0 12,7 20,8 14,12 16,19 10,15 4,19 6,12 0,8 8,7",
        "cross": "7,0 13,0 13,7 20,7 20,13 13,13 13,20 7,20 7,13 0,13 0,7 7,7",
        "drop": "10,0 16,9 17,14 14,19 10,20 6,19 3,14 4,9",
        "bar": "0,6 20,6 20,14 0,14",
        "person": "10,0 14,2 14,8 12,10 18,12 20,20 0,20 2,12 8,10 6,8 6,2",
        "tick": "2,11 5,8 8,11 15,4 18,7 8,17",
    }.items()
}
"""Signs as polygons in the unit square; `circle` is one itself."""
LIGHT_KINDS = """#DCEEFA #0072B2 #FBE6C8 #B36B00 #D5F0E6 #00734F #F6DCE9 #A8527F #FBF7C4 #8A7F00
    #FADACB #B04A00 #E3E3E3 #4A4A4A #DDF1FB #2F86B5 #E8E0F5 #6B4FA0 #E6EFD6 #5C7A1E"""
DARK_KINDS = """#273B4A #529FCB #40372A #C48C38 #283C3C #57A38B #403642 #C286A5 #383A29 #A19933
    #423631 #CB8857 #36393F #969696 #293B49 #599EC4 #383748 #A08EC2 #333B32 #8A9F5D"""


def kind_colors(dark: bool) -> dict[str, str]:
    """Colors of kinds by name; text on a fill, and an edge on the surface, can be read."""
    names = (f"{part}{number}" for number in range(len(SHAPES)) for part in ("fill", "edge"))
    return dict(zip(names, (DARK_KINDS if dark else LIGHT_KINDS).split(), strict=True))
