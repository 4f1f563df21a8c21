"""From boxes and a step to a scene: names, marks, goals, and what the action changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.pictures.heads import (
    EM,
    counted,
    mark_style,
    shortened,
    text_width,
    title_text,
    wrapped,
)
from engine.pictures.layout import MARGIN, PARTS_GAP, ROOT, TOP, Layout
from engine.pictures.places import Rect, Size, flow
from engine.pictures.scene import SHAPES, Box, Item, Line, Point, Scene, Text, placed
from engine.pictures.views import View
from engine.task.atoms import format_atom
from engine.task.task import GroundAtom

MAX_TIP = 12
MAX_ALSO = 3
STATIC_SHAPES = ("diamond", "triangle", "star", "cross")


@dataclass(frozen=True)
class Step:
    """A state with its view, and what comes next; no `after` at the end of a plan."""

    title: str
    state: frozenset[GroundAtom]
    view: View
    action: tuple[str, ...] = ()
    after: View | None = None


class Drawing:
    """Draws steps on one layout; what is the same in all of them is worked out once."""

    def __init__(self, layout: Layout, views: Sequence[View]) -> None:
        self.layout, self.views, self.heads = layout, layout.views, layout.heads
        self.roles, self.facts = layout.views.roles, layout.views.roles.facts
        self.goals_of = _by_object(self.facts.goals, 1)
        self.static_of = _by_object(atom for rows in self.facts.static.values() for atom in rows)
        self.static_signs = dict(self._static_signs())
        self.towers, towers_size = self._goal_towers()
        width = layout.size[0] + (PARTS_GAP + towers_size[0] if self.towers else 0.0)
        self.width = round(max(width, 300.0) + 2 * MARGIN, 1)
        self.lamps = self._lamps(views)
        self.top = max((rect.bottom - 4 for rect in self.lamps.values()), default=TOP - 20) + 20
        layout.corners = {n: r.moved(0.0, self.top - TOP) for n, r in layout.corners.items()}
        self.bottom = self.top + max(layout.size[1], towers_size[1])
        lines = max((len(self.also(view)) for view in views), default=0)
        self.legend = list(self._legend(self.bottom + 14.0 + 12.0 * lines))
        self.height = round(max(i.y for i in self.legend if isinstance(i, Text)) + 13.0, 1)

    def scene(self, step: Step) -> Scene:
        painter = _Painter(self, step)
        items = *painter.items(), *self.legend
        return Scene(self.width, self.height, items, step.title, painter.in_words())

    def _static_signs(self) -> Iterator[tuple[str, Box]]:
        """Static unary predicates that make a difference within a kind, with a sign for each."""
        found = []
        for predicate, atoms in self.facts.static_relations(1):
            kinds = {self.roles.kind[atom[1]] for atom in atoms}
            differs = sum(len(self.roles.members[kind]) for kind in kinds) > 2 * len(atoms)
            drawn = any(self.views.is_drawable(atom[1]) for atom in atoms)
            if predicate not in self.roles.members and differs and drawn:
                found.append(predicate)
        for i, (predicate, sign) in enumerate(zip(found, STATIC_SHAPES, strict=False), 4):
            yield predicate, Box("", 1, 1, 8, 8, f"fill{i}", f"edge{i}", 1.3, sign=sign)

    def _goal_towers(self) -> tuple[list[tuple[str, Rect, GroundAtom | None]], Size]:
        """Goals of stacks as towers at the right of the picture."""
        upper = self.layout.towers
        lower = {name for name, _ in upper.values()}
        columns: dict[str, list[tuple[str, GroundAtom | None]]] = {}
        for base in (base for base in upper if base not in lower):
            columns[base] = [(base, None)]
            while (top := upper.get(columns[base][-1][0])) and top not in columns[base]:
                columns[base].append(top)
        if not columns:
            return [], (0.0, 0.0)
        names = [shortened(name) for column in columns.values() for name, _ in column]
        width = max(text_width(name, 11.0) for name in names) + 18
        sizes = {base: (width, 20.0 * len(column)) for base, column in columns.items()}
        found = flow(list(columns), sizes, 1.2)
        left, rows = MARGIN + self.layout.size[0] + PARTS_GAP, []
        for base, rect in found.at.items():
            bottom = max(other.bottom for other in found.at.values() if other.y == rect.y) + 20
            for i, (name, goal) in enumerate(columns[base], 1):
                rows.append((name, Rect(left + rect.x, bottom - 20.0 * i, width, 20.0), goal))
        return rows, (found.size[0], found.size[1] + 24.0)

    def _lamps(self, views: Sequence[View]) -> dict[str, Rect]:
        """Fixed places for global gauges and lamps, below the title."""
        told = self.views.told
        atoms = {atom for view in views for atom in view.header}
        atoms |= {g for g in self.facts.goals if g in told and told[g].how == "header"}
        names = dict.fromkeys(self.roles.global_gauges, 60.0)
        for atom in self.facts.in_order(atoms):
            names.setdefault(atom[0], 24.0 if atom in self.facts.goals else 10.0)
        widths = [text_width(name, 9.0) + more for name, more in names.items()]
        places = wrapped(widths, MARGIN, self.width - MARGIN, 6.0)
        rows = zip(names, places, widths, strict=True)
        return {name: Rect(x, 30.0 + 17.0 * line, wide, 14.0) for name, (x, line), wide in rows}

    def also(self, view: View) -> list[str]:
        """The facts that words have to tell, in lines; the last says how many are left out."""
        facts = view.in_words()
        words = ["Also:", *facts] if facts else []
        room = int((self.width - 2 * MARGIN) / (9.0 * EM))
        lines: list[list[str]] = [[] for _ in words]
        for word, (_, line) in zip(words, wrapped(map(len, words), 0, room, 1), strict=True):
            lines[line].append(word)
        found = [" ".join(line) for line in lines[:MAX_ALSO] if line]
        if hidden := sum(map(len, lines[MAX_ALSO:])):
            found[-1] = f"{found[-1][: max(10, room - 12)]} and {hidden} more"
        return found

    def _legend(self, top: float) -> Iterator[Box | Text | Line]:
        right = self.width - MARGIN
        signs = {}
        for kind in self.heads.kinds:
            look = self.heads.look(self.roles.members[kind][0])
            sign = SHAPES[look]
            signs[kind] = Box("", 0, 0, 10, 10, f"fill{look}", f"edge{look}", 1.3, sign=sign)
        fill = Box("", 0, 0, 10, 10, "fill2", "border", radius=2)
        dot = Box("", 1, 1, 8, 8, "edge0", "edge0", 1.3, sign="circle")
        signs |= dict(zip(self.heads.cell_predicates, (fill, dot), strict=False))
        signs |= self.static_signs
        if self.facts.goals:
            signs["goal"] = Box("", 0, 0, 10, 10, "", "better", dashed=True, radius=2)
        signs["in the action"] = Box("", 0, 0, 10, 10, "", "accent", 2.0, radius=2)
        yield Line("legend", MARGIN, top, right, top, "grid", 1.0)
        places = wrapped((16 + text_width(text, 9.5) for text in signs), MARGIN, right, 11)
        for (text, box), (x, line) in zip(signs.items(), places, strict=True):
            y = top + 8.0 + 16.0 * line
            yield placed(box, f"legend {text}", x, y)
            yield Text(f"legend {text}", x + 15, y + 9, text, 9.5, "muted")


class _Painter:
    """One step."""

    def __init__(self, drawing: Drawing, step: Step) -> None:
        self._d, self._heads, self._layout = drawing, drawing.heads, drawing.layout
        self._step, self._view, self._after = step, step.view, step.after
        self._boxes = drawing.layout.boxes(step.view, step.after)

    def items(self) -> Iterator[Item]:
        d = self._d
        shared: dict[Rect, list[str]] = {}  # folded objects have one box
        yield from self._header()
        yield from self._roads()
        for node in sorted(self._boxes, key=d.views.order):
            shared.setdefault(self._boxes[node], []).append(node)
        actors = frozenset(self._actors())
        facts = _by_object(sorted(self._step.state, key=d.views.number.__getitem__))
        for nodes in sorted(shared.values(), key=lambda n: (len([*self._view.around(n[0])]), n[0])):
            yield from self._node(nodes, not actors.isdisjoint(nodes), facts)
        yield from self._ghosts()
        yield from self._towers()
        yield from self._arrows()
        for i, line in enumerate(d.also(self._view)):
            yield Text(f"also {i}", MARGIN, d.bottom + 18 + 12 * i, line, 9.0, "muted")

    def _actors(self) -> Iterator[str]:
        """Objects of the action that a changing literal mentions which is no gauge."""
        roles, action = self._d.roles, self._step.action
        for schema in roles.facts.schemas:
            if (schema.name, len(schema.parameters)) == (*action[:1], len(action) - 1):
                given = dict(zip(schema.parameters, action[1:], strict=True))
                for atom in (*schema.conditions, *schema.adds, *schema.deletes):
                    if atom[0] in roles.facts.changing and (atom[0], 0) not in roles.gauges:
                        yield from (given.get(term, term) for term in atom[1:])
                        if atom[0] in roles.tokens and atom in schema.deletes:
                            yield f"@{atom[0]}"

    # Objects.

    def _node(
        self, nodes: Sequence[str], acting: bool, facts: dict[str, list[GroundAtom]]
    ) -> Iterator[Item]:
        """One box, of one object or of equal ones that are folded."""
        d, heads, node = self._d, self._heads, nodes[0]
        box, cell, frame = self._boxes[node], node in heads.cells, heads.is_frame(node)
        marks = self._layout.marks(self._view, self._after, node)
        fill, edge = "window", "border"
        if not frame:
            fill, edge = f"fill{heads.look(node)}", f"edge{heads.look(node)}"
        inner: list[Box] = []
        for atom, note in marks if cell else ():
            key, form = f"{node}/{' '.join(atom)}", heads.form(atom, node)
            side, color, tip = mark_style((atom, note))
            if form == "dot":
                dot = "edge0" if color == "text" else "", side if note else "edge0"
                at = box.right - 12, box.bottom - 12, 8, 8
                inner.append(Box(key, *at, *dot, 1.3, sign="circle"))
            elif form == "fill":
                fill = fill if color == "better" else atom[-1] if len(atom) > 2 else "fill2"
                if note:
                    place = box.x + 4, box.y + 4, box.w - 8, box.h - 8
                    inner.append(Box(key, *place, "", side, 1.4, 2.0, side != "bad", tip))
                if color == "better" and len(atom) > 2:
                    place = box.x + 7, box.bottom - 15, 8.0, 8.0
                    inner.append(Box(f"{key}/color", *place, atom[-1], "better", 1.0, 2.0))
        edge, stroke = ("accent", 2.6) if acting else (edge, 1.0)
        dashed, radius = node.startswith("!") and not acting, 3.0 if cell else 6.0 if frame else 4.0
        tip = _some(nodes) if len(nodes) > 1 else self._tip(node, facts)
        yield Box(f"{node}/box", *box, fill, edge, stroke, radius, dashed, tip, node)
        signs = [p for p in d.static_signs if cell and (p, node) in d.static_of.get(node, ())]
        for i, predicate in enumerate(signs):
            x, y = box.right - 13 - 11 * i, box.y + 2
            yield placed(d.static_signs[predicate], f"{node}/{predicate}", x, y)
        yield from inner
        goals = d.goals_of.get(node, ())
        done = all(goal in self._step.state or goal not in d.views.told for goal in goals)
        label = counted(len(nodes), d.views.kind(node)) if len(nodes) > 1 else ""
        for item in heads.head(node, marks, label, "reached" if done else "")[1]:
            yield placed(item, node, box.x, box.y)

    def _tip(self, node: str, facts: dict[str, list[GroundAtom]]) -> str:
        if node.startswith(("@", "!")):
            return self._heads.label(node)
        told = [*facts.get(node, ()), *self._d.static_of.get(node, ())]
        more = [f"and {len(told) - MAX_TIP} more"] if len(told) > MAX_TIP else []
        kind = f"{node} ({self._d.views.kind(node)})"
        return "\n".join([kind, *map(format_atom, told[:MAX_TIP]), *more])

    # Goals.

    def _ghosts(self) -> Iterator[Item]:
        """Places of objects that are not there."""
        d = self._d
        together: dict[tuple[float, float, str], list[str]] = {}
        for goal, node, host in self._layout.ghosts:
            away = goal not in self._step.state and self._view.parent.get(node) != host
            if away and host in self._boxes:
                at, kind = self._layout.inner(host).at, d.views.kind(node)
                if slot := at.get(node, at.get((kind, "ghost"))):
                    y = slot.bottom - 20 if node in self._layout.piled else slot.y
                    corner = slot._replace(y=y).moved(*self._boxes[host][:2])[:2]
                    together.setdefault((*corner, kind), []).append(node)
        for (x, y, kind), nodes in together.items():
            label = nodes[0] if len(nodes) == 1 else counted(len(nodes), kind)
            (width, height), items = self._heads.head(nodes[0], (), label, "ghost")
            key, tip = f"ghost {nodes[0]} {x} {y}", f"goal: {_some(nodes)}"
            place = round(x, 1), round(y, 1), width, height
            yield Box(key, *place, "", "better", 1.2, 4.0, True, tip)
            for item in items:
                yield placed(item, key, x, y)

    def _towers(self) -> Iterator[Item]:
        rows, top = self._d.towers, self._d.top
        if rows:
            left = min(rect.x for _, rect, _ in rows)
            yield Text("towers", left, top + 12, "goal", 11.0, "better", bold=True)
        for name, rect, goal in rows:
            box, key = rect.moved(0.0, top), f"tower {name} {rect.x}"
            done = goal in self._step.state
            tip = f"goal: {format_atom(goal)}, {'reached' if done else 'open'}" if goal else name
            yield Box(key, *box, "", "better", 1.6 if done else 1.0, 4.0, not done, tip)
            x, color = box.x + box.w / 2, "better" if goal else "muted"
            yield Text(f"{key}/name", x, box.y + 14, shortened(name), 11.0, color, middle=True)

    # The step.

    def _roads(self) -> Iterator[Item]:
        d, boxes, cells = self._d, self._boxes, self._heads.cells
        chained = {name for chain in d.roles.chains.values() for name in chain}
        for container in sorted(self._layout.edges):
            for a, b in sorted(self._layout.edges[container]):
                if boxes.keys() >= {a, b} and not cells >= {a, b} and not chained >= {a, b}:
                    one, other, key = boxes[a], boxes[b], f"road {a} {b}"
                    yield Line(key, *one.middle, *other.middle, "scroll")
                    length = d.facts.lengths.get((a, b))
                    if length is not None and container == ROOT:  # in the middle of what is seen
                        text = f"{length:g}"
                        ends = _border(one, other), _border(other, one)
                        x, y = ((u + v) / 2 for u, v in zip(*ends, strict=True))
                        wide = text_width(text, 8.0) + 4
                        place = round(x - wide / 2, 1), round(y - 6, 1), wide, 12
                        yield Box(f"{key}/paper", *place, "surface", "", 0.0, 2.0)
                        at = round(x, 1), round(y + 3, 1)
                        yield Text(f"{key}/length", *at, text, 8.0, "muted", middle=True)
        for a, b in self._layout.walls:
            one, other = boxes[a], boxes[b]
            x, y = (one.right + other.x) / 2, (one.bottom + other.y) / 2
            beside = one.y == other.y
            wall = (x, one.y, x, one.bottom) if beside else (one.x, y, one.right, y)
            yield Line(f"wall {a} {b}", *wall, "text", 2.4)

    def _arrows(self) -> Iterator[Item]:
        """An arrow from who moves to where it will be."""
        now, after = self._view, self._after
        then = self._layout.boxes(after) if after else {}
        for node in sorted(then.keys() & self._boxes):
            if after and after.parent.get(node) != now.parent.get(node):
                target, source = then[node], self._boxes[node]
                start, end = _border(source, target), _border(target, source)
                apart = ((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2) ** 0.5
                bend = round(min(apart * 0.12, 26.0), 1)
                tip = f"{self._heads.label(node)} moves here"
                yield Box(f"{node}/target", *target, "", "accent", 1.6, 4.0, True, tip)
                yield Line(f"{node}/arrow", *start, *end, "accent", 2.0, bend, True)

    def _header(self) -> Iterator[Item]:
        d = self._d
        yield title_text(self._step.title, d.width)
        true = {atom[0]: atom for atom in self._view.header}
        then = {atom[0]: atom for atom in self._after.header} if self._after else true
        for name, rect in d.lamps.items():
            now, soon, goal = true.get(name), then.get(name), (name,) in d.facts.goals
            if now or soon or goal:
                edge = "border" if now == soon else "accent" if soon else "bad"
                fill, edge, color = ("grid", edge, "text") if now else ("", "better", "better")
                atom, key = now or soon or (name,), f"lamp {name}"
                text = f"{name}: {atom[1]}" if len(atom) > 1 else name
                text += " \N{CHECK MARK}" if goal and now else ""
                yield Box(key, *rect, fill, edge, 1.0, 7.0, now is None, format_atom(atom))
                gone = now is not None and soon is None
                yield Text(f"{key}/text", rect.x + 5, rect.y + 10.5, text, 9.0, color, struck=gone)

    def in_words(self) -> str:
        """The text alternative: one sentence per top container, then the step and the goals."""
        d, view = self._d, self._view
        inside: dict[str, list[str]] = {}
        for node in sorted(view.drawn, key=d.views.order):
            inside.setdefault(view.parent.get(node, ROOT), []).append(node)

        def words(node: str, verb: str = "with") -> str:
            notes = [self._heads.text_of(atom, node) for atom in view.marks.get(node, ())]
            held = ", ".join(map(words, inside.get(node, ())))
            if held and verb == "holds":
                return f"{self._heads.label(node)} holds {held}"
            notes += [f"with {held}"] if held else []
            return self._heads.label(node) + (f" ({'; '.join(notes)})" if notes else "")

        tops = [top for top in inside.get(ROOT, ()) if top in inside or view.marks.get(top)]
        parts = [f"{words(top, 'holds')}." for top in tops]
        if self._step.action:
            parts.append(f"Next: {' '.join(self._step.action)}.")
        told = [goal for goal in d.facts.goals if goal in d.views.told]
        goals = [format_atom(goal) for goal in told if goal not in self._step.state]
        rows = {"Open goals": goals, "Also": view.in_words()}
        parts += [f"{title}: {' '.join(row)}." for title, row in rows.items() if row]
        return " ".join(parts)


def _by_object(atoms: Iterable[GroundAtom], most: int | None = None) -> dict[str, list[GroundAtom]]:
    """Atoms by the objects that stand in them, or by the first ones only."""
    found: dict[str, list[GroundAtom]] = {}
    for atom in atoms:
        for name in dict.fromkeys(atom[1:][:most]):
            found.setdefault(name, []).append(atom)
    return found


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_TIP} more" if len(names) > MAX_TIP else ""
    return ", ".join(names[:MAX_TIP]) + more


def _border(rect: Rect, other: Rect) -> Point:
    """Where the line from the middle of a box to that of another leaves the box."""
    (x, y), (to_x, to_y) = rect.middle, other.middle
    factors = [half / abs(d) for half, d in ((rect.w / 2, to_x - x), (rect.h / 2, to_y - y)) if d]
    share = min([*factors, 1.0])
    return round(x + (to_x - x) * share, 1), round(y + (to_y - y) * share, 1)
