"""The upper part of a box: its name, its gauges, and the marks that are written at it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from engine.pictures.facts import WORDS
from engine.pictures.places import Rect, Size
from engine.pictures.scene import SHAPES, Box, Text
from engine.pictures.views import Views
from engine.task.atoms import format_atom
from engine.task.task import GroundAtom

EM = 0.63
"""Width of a character in units of its size, on every screen and in every file."""
Mark = tuple[GroundAtom, str]
"""A fact and, unless it is true and stays so, what it does in this step."""
GOES, COMES, GOAL = "becomes false", "becomes true", "goal"


def text_width(text: str, size: float) -> float:
    return round(len(text) * size * EM, 1)


def shortened(name: str, most: int = 14) -> str:
    """Long names keep their end, where the number is."""
    return name if len(name) <= most else f"{name[: most - 5]}\N{HORIZONTAL ELLIPSIS}{name[-4:]}"


def title_text(title: str, width: float, color: str = "text") -> Text:
    """The title of a picture of some width, as small as it must be."""
    size = min(13.0, max(7.0, round((width - 24.0) / (len(title) * EM * 1.1 + 0.1), 1)))
    return Text("title", 12, 20, title, size, color, bold=True)


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


def mark_style(mark: Mark) -> tuple[str, str, str]:
    """The edge of a mark, the color of its text, and its tooltip."""
    atom, note = mark
    edge, color = {"": ("border", "text"), GOES: ("bad", "text")}.get(note, ("better", "better"))
    return edge, color, f"{format_atom(atom)} ({note})" if note else format_atom(atom)


class Heads:
    """Makes heads; `cells` are places of a grid, `small` what is ever in one."""

    def __init__(self, views: Views, nodes: set[str], cells: set[str], small: set[str]) -> None:
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
        kinds = [views.kind(n) for n in sorted(nodes, key=views.order) if not self.is_frame(n)]
        self.kinds = [kind for kind in dict.fromkeys(kinds) if not kind.startswith("@")]
        every = dict.fromkeys([*self.kinds, *kinds, *roles.members])
        self._looks = {kind: number for number, kind in enumerate(every)}

    def label(self, node: str) -> str:
        """The name of a node; what is drawn beside the map has that of its token before it."""
        token = self._roles.tokens.get(node[1:]) if node.startswith("@") else None
        name = node.removeprefix("!")
        beside = self.views.beside.get(self._roles.kind.get(node, name))
        return token or (f"{self._roles.tokens[beside]}: {name}" if beside else name)

    def look(self, node: str) -> int:
        """The number of the colors and of the sign of its kind."""
        return self._looks[self.views.kind(node)] % len(SHAPES)

    def is_frame(self, node: str) -> bool:
        """Places and virtual places: they have no sign, and the color of the window."""
        return node.startswith("!") or self._roles.kind.get(node) in self._frames

    def text_of(self, atom: GroundAtom, node: str) -> str:
        others = list(atom[1:])
        others.remove(node)
        form = self.form(atom, node)
        if form in ("copy", "gauge"):
            return shortened(others[0], 12)
        if self.views.told[atom].how == "value":
            return f"{shortened(atom[0], 16)}: {shortened(others[0], 12)}"
        return " ".join([shortened(atom[0], 16), *(shortened(name, 8) for name in others)])

    def form(self, atom: GroundAtom, node: str) -> str:
        """How a mark is drawn: gauge, copy, pill, or in cells as fill or dot."""
        how = self.views.told[atom].how
        if how == "value" and (atom[0], 0) in self._roles.gauges:
            return "gauge"
        if node in self.cells and how == "value" and atom[2] in WORDS["color"]:
            return "fill"
        if node in self.cells and how != "tag" and atom[0] in self.cell_predicates:
            return ("fill", "dot")[self.cell_predicates.index(atom[0])]
        return "copy" if how == "copy" else "pill"

    def _head(
        self, node: str, marks: tuple[Mark, ...] = (), label: str = "", sort: str = ""
    ) -> tuple[Size, tuple[Box | Text, ...]]:
        """How large it is at least, and what is in it, from its corner.

        It is that of a `ghost`, or of an object whose goals are `reached`, or of any other.
        """
        items: list[Box | Text] = []
        width, line = self._name(items, node, label or self.label(node), sort)
        pills, gauges = [], set()
        for mark in marks:
            form, text = self.form(mark[0], node), self.text_of(mark[0], node)
            if form == "gauge" and mark[0][:2] in gauges:
                text = f"goal {text}"
                items.append(Text(" ".join(mark[0]), width, 13, text, 8.0, "better"))
                width += text_width(text, 8.0) + 4
            elif form == "gauge":
                gauges.add(mark[0][:2])
                items += self._gauge(mark, text, width)
                width += text_width(text, 8.0) + 34
            elif form in ("pill", "copy"):
                pills.append((mark, text, text_width(text, 9.0) + (22 if form == "copy" else 8)))
        high = 15.0 if any(self.form(mark[0], node) == "copy" for mark, _, _ in pills) else 12.0
        places = wrapped((wide for _, _, wide in pills), 5.0, max(width - 10.0, 104.0), 3.0)
        bottom = line
        for (mark, text, wide), (x, row) in zip(pills, places, strict=True):
            place = Rect(x, line + (high + 2.0) * row, wide, high)
            items += self._pill(node, mark, text, place)
            width, bottom = max(width, place.right + 5.0), place.bottom + 3.0
        return (round(width, 1), bottom), tuple(items)

    def _name(
        self, items: list[Box | Text], node: str, label: str, sort: str
    ) -> tuple[float, float]:
        """Add a name, with the sign of its kind and one of its goals; return width and height."""
        line, font, size = (15.0, 9.0, 8.0) if node in self.small else (20.0, 11.0, 11.0)
        if node in self.cells:
            numbers = ",".join(re.findall(r"\d+", node)) or node
            items.append(Text("name", 3, 9, numbers, 7.5, "muted"))
            return 34.0, 12.0
        if self.is_frame(node):
            text, x = shortened(label, 22), 6.0
            items.append(Text("name", x, 14 * font / 11, text, font, "muted", bold=True))
            width = text_width(text, font * 1.1) + 12.0
        else:
            text, look, y = shortened(label), self.look(node), (line - size) / 2
            fill, edge, color = "surface", f"edge{look}", "text"
            if sort == "ghost":
                fill, edge, color = "", "better", "better"
            shape = "person" if node.startswith("@") else SHAPES[look]
            items.append(Box("sign", 4, y, size, size, fill, edge, 1.3, sign=shape))
            items.append(Text("name", size + 8, line / 2 + font * 0.36, text, font, color))
            width = text_width(text, font) + line + 7.0
        if node not in self._with_goal:
            return width, line
        if sort != "ghost":
            size = 8.0 if node in self.small else 9.0
            x, y, fill = width + 10 - size, (line - size) / 2, "better" if sort else ""
            items.append(Box("goal", x, y, size, size, fill, "better", 1.3, sign="circle"))
            tick = x + 1, y + 1, size - 2, size - 2, "surface", "surface", 1.3
            items += [Box("tick", *tick, sign="tick")] if sort else []
        return width + 15.0, line

    def _pill(self, node: str, mark: Mark, text: str, place: Rect) -> Iterator[Box | Text]:
        (atom, note), (x, y, _, h), key = mark, place, " ".join(mark[0])
        edge, color, tip = mark_style(mark)
        is_true, copy = color == "text", self.form(atom, node) == "copy"
        fill, dashed = "surface" if is_true else "", copy or not is_true
        yield Box(key, *place, fill, edge, 1.0, 3.0, dashed, tip)
        if copy:  # of an object that may never be drawn itself
            look = self.look(next(name for name in atom[1:] if name != node))
            sign = SHAPES[look]
            yield Box(f"{key}/sign", x + 4, y + 3.5, 8, 8, "", f"edge{look}", 1.3, sign=sign)
            x += 12
        yield Text(f"{key}/text", x + 4, y + h - 3.2, text, 9.0, color, struck=note == GOES)

    def _gauge(self, mark: Mark, text: str, x: float) -> Iterator[Box | Text]:
        """A bar as full as its value; a goal or coming value is written only."""
        atom, note = mark
        key, tip, value = " ".join(atom), format_atom(atom), atom[2]
        edge, color, _ = mark_style(mark)
        is_true, changes = color == "text", note in (GOES, COMES)
        edge, stroke = ("accent", 1.6) if changes else (edge, 1.0)
        yield Box(key, x, 6, 24, 8, "surface", edge, stroke, 3.0, not is_true, tip)
        chain = self._roles.chains[self._roles.kind[value]]
        share = chain.index(value) / max(1, len(chain) - 1) if value in chain else 0.0
        if is_true and share > 0:
            yield Box(f"{key}/bar", x + 1, 7, round(22 * share, 1), 6, "accent", "", 0.0, 2.0)
        yield Text(f"{key}/text", x + 27, 13, text, 8.0, "muted" if is_true else "better")
