"""The upper part of a box: its name, its gauges, and the marks that are written at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from engine.pictures.facts import words
from engine.pictures.places import Size
from engine.pictures.views import Views
from engine.task.task import GroundAtom

EM = 0.63
"""Width of a character in units of its size, on every screen and in every file."""
COLORS = words(
    "black blue brown cyan gold gray green grey lime magenta maroon navy olive orange pink purple "
    "red silver teal violet white yellow"
)


def text_width(text: str, size: float) -> float:
    return round(len(text) * size * EM, 1)


def shortened(name: str, most: int = 14) -> str:
    """Long names keep their end, where the number is."""
    return name if len(name) <= most else f"{name[: most - 5]}\N{HORIZONTAL ELLIPSIS}{name[-4:]}"


def counted(number: int, kind: str) -> str:
    """The name of a folded chip."""
    return f"{number} \N{MULTIPLICATION SIGN} {kind}"


def wrapped(
    widths: Iterable[float], left: float, right: float, gap: float
) -> Iterator[tuple[float, int]]:
    """Where things beside each other begin, and in which line."""
    x, line = left, 0
    for width in widths:
        if x > left and x + width > right:
            x, line = left, line + 1
        yield x, line
        x += width + gap


@dataclass(frozen=True, slots=True)
class Item:
    """A mark with its place in the head; `form` is gauge, aim, pill, copy, fill or dot."""

    atom: GroundAtom
    form: str
    text: str
    x: float = 0.0
    y: float = 4.0
    w: float = 0.0
    h: float = 12.0


class Heads:
    """Makes heads; `cells` are places of a grid, `small` what is ever in one."""

    def __init__(self, views: Views, cells: set[str], small: set[str]) -> None:
        self.views, self.cells, self.small = views, cells, small
        roles = self._roles = views.roles
        self.head = cache(self._head)
        self._with_goal = {name for goal in roles.facts.goals for name in goal[1:2]}
        parents = {roles.kind[name] for name in views.parent_of.values()}
        self._frames = roles.places | (parents - roles.location.keys())
        told = views.told.items()
        found = {atom[0] for atom, t in told if t.who in cells and t.how == "badge"}
        self.cell_predicates = sorted(found, key=roles.facts.rank.__getitem__)[:2]
        """Unary predicates of cells: the first fills them, the second is a dot."""

    def label(self, node: str) -> str:
        """The name of a node; what is drawn beside the map has that of its token before it."""
        token = self._roles.tokens.get(node[1:]) if node.startswith("@") else None
        name = node.removeprefix("!")
        beside = self.views.beside.get(self._roles.kind.get(node, name))
        return token or (f"{self._roles.tokens[beside]}: {name}" if beside else name)

    def font(self, node: str) -> float:
        return 9.0 if node in self.small else 11.0

    def line(self, node: str) -> float:
        """The height of the line with a node's name."""
        return 15.0 if node in self.small else 20.0

    def is_frame(self, node: str) -> bool:
        """Places and virtual places: they have no glyph, and the color of the window."""
        return node.startswith("!") or self._roles.kind.get(node) in self._frames

    def text_of(self, atom: GroundAtom, node: str) -> str:
        how, gauge = self.views.told[atom].how, (atom[0], 0) in self._roles.gauges
        others = list(atom[1:])
        others.remove(node)
        if how == "copy" or (how == "value" and gauge):
            return shortened(others[0], 12)
        if how == "value":
            return f"{shortened(atom[0], 16)}: {shortened(others[0], 12)}"
        return " ".join([shortened(atom[0], 16), *(shortened(name, 8) for name in others)])

    def _form(self, atom: GroundAtom, node: str) -> str:
        how = self.views.told[atom].how
        if how == "value" and (atom[0], 0) in self._roles.gauges:
            return "gauge"
        if node in self.cells:
            if how == "value" and atom[2] in COLORS:
                return "fill"
            if how != "tag" and atom[0] in self.cell_predicates:
                return ("fill", "dot")[self.cell_predicates.index(atom[0])]
        return "copy" if how == "copy" else "pill"

    def _head(
        self, node: str, marks: tuple[GroundAtom, ...] = (), label: str = ""
    ) -> tuple[Size, tuple[Item, ...]]:
        label = label or self.label(node)
        font, line, frame = self.font(node), self.line(node), self.is_frame(node)
        if node in self.cells:
            width, line = 34.0, 12.0
        else:
            text = shortened(label, 22 if frame else 14)
            width = text_width(text, font * 1.1 if frame else font)
            width += 12.0 if frame else line + 7.0
            width += 15.0 * (node in self._with_goal and not node.startswith("!"))
        items: list[Item] = []
        pills: list[Item] = []
        for atom in marks:
            form, text = self._form(atom, node), self.text_of(atom, node)
            if form == "gauge":
                if any(i.form == form and i.atom[:2] == atom[:2] for i in items):
                    form, text = "aim", f"goal {text}"
                wide = text_width(text, 8.0) + (30.0 if form == "gauge" else 0.0)
                items.append(Item(atom, form, text, width, w=wide))
                width += wide + 4.0
            elif form in ("fill", "dot"):
                items.append(Item(atom, form, text))
            else:
                copy = form == "copy"
                wide = text_width(text, 9.0) + (22.0 if copy else 8.0)
                pills.append(Item(atom, form, text, w=wide, h=15.0 if copy else 12.0))
        limit = max(width - 10.0, 104.0)
        pitch = max((pill.h for pill in pills), default=0.0) + 2.0
        places = wrapped((pill.w for pill in pills), 5.0, limit, 3.0)
        for pill, (x, row) in zip(pills, places, strict=True):
            items.append(replace(pill, x=x, y=line + pitch * row))
            width = max(width, x + pill.w + 5.0)
        bottom = max((item.y + item.h for item in items[-len(pills) :]), default=line) + 3.0
        return (round(width, 1), bottom if pills else line), tuple(items)
