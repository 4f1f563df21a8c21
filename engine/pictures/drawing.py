"""From boxes and a step to a scene: names, marks, goals, and what the action changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.pictures.heads import EM, Item, counted, shortened, text_width, wrapped
from engine.pictures.layout import MARGIN, PARTS_GAP, ROOT, TOP, Layout
from engine.pictures.places import Rect, Size, flow
from engine.pictures.scene import SHAPES, Box, Glyph, Line, Scene, Text
from engine.pictures.scene import Item as SceneItem
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
        nodes = sorted(set().union(*(view.drawn for view in views)), key=self.views.order)
        kinds = dict.fromkeys(
            self.views.kind(node) for node in nodes if not self.heads.is_frame(node)
        )
        kinds = dict.fromkeys(sorted(kinds, key=lambda kind: kind.startswith("@")))
        self.looks = {kind: i % len(SHAPES) for i, kind in enumerate(kinds)}
        self.goals_of = _by_object(self.facts.goals, 1)
        self.static_of = _by_object(atom for rows in self.facts.static.values() for atom in rows)
        self.static_signs = self._static_signs()
        self.towers, towers_size = self._goal_towers()
        body = layout.size
        width = body[0] + (PARTS_GAP + towers_size[0] if self.towers else 0.0)
        self.width = round(max(width, 300.0) + 2 * MARGIN, 1)
        self.lamps, self.header = self._header_places(views)
        self.body_bottom = TOP + self.header + max(body[1], towers_size[1])
        lines = max((len(self.also(view)) for view in views), default=0)
        self.legend = list(self._legend(self.body_bottom + 14.0 + 12.0 * lines))
        last = self.legend[-1]
        assert isinstance(last, Text)
        self.height = round(last.y + 13.0, 1)

    def boxes(self, step: Step) -> dict[str, Rect]:
        return self.below_header(self.layout.boxes(step.view, step.after))

    def below_header(self, boxes: dict[str, Rect]) -> dict[str, Rect]:
        return {n: r._replace(y=round(r.y + self.header, 1)) for n, r in boxes.items()}

    def scene(self, step: Step) -> Scene:
        return _Painter(self, step).scene()

    # What all steps share.

    def _static_signs(self) -> dict[str, Glyph]:
        """Static unary predicates that make a difference within a kind, with a sign for each."""
        found = []
        for predicate, atoms in self.facts.static_relations(1):
            kinds = {self.roles.kind[atom[1]] for atom in atoms}
            differs = sum(len(self.roles.members[kind]) for kind in kinds) > 2 * len(atoms)
            drawn = any(self.views.is_drawable(atom[1]) for atom in atoms)
            if predicate not in self.roles.members and differs and drawn:
                found.append(predicate)
        signs = enumerate(zip(found, STATIC_SHAPES, strict=False), 4)
        return {p: Glyph("", s, 1, 1, 8, f"fill{i}", f"edge{i}") for i, (p, s) in signs}

    def _goal_towers(self) -> tuple[list[tuple[str, Rect, GroundAtom | None]], Size]:
        """Goals of stacks as towers at the right of the picture."""
        upper = self.layout.towers
        columns: dict[str, list[tuple[str, GroundAtom | None]]] = {}
        for base in upper.keys() - {name for name, _ in upper.values()}:
            columns[base] = [(base, None)]
            while (top := upper.get(columns[base][-1][0])) and top not in columns[base]:
                columns[base].append(top)
        if not columns:
            return [], (0.0, 0.0)
        names = [shortened(name) for column in columns.values() for name, _ in column]
        width = max(text_width(name, 11.0) for name in names) + 18
        order = [base for base in upper if base in columns]
        found = flow(order, {base: (width, 20.0 * len(columns[base])) for base in order}, 1.2)
        left = MARGIN + self.layout.size[0] + PARTS_GAP
        rows = []
        for base, rect in found.at.items():
            bottom = max(other.bottom for other in found.at.values() if other.y == rect.y)
            for i, (name, goal) in enumerate(columns[base], 1):
                place = Rect(left + rect.x, TOP + 20 + bottom - 20.0 * i, width, 20.0)
                rows.append((name, place, goal))
        return rows, (found.size[0], found.size[1] + 24.0)

    def _header_places(self, views: Sequence[View]) -> tuple[dict[str, Rect], float]:
        """Fixed places for global gauges and lamps, below the title."""
        lamps = {atom for view in views for atom in view.header if len(atom) == 1}
        told = self.views.told
        goals = {goal for goal in self.facts.goals if len(goal) == 1}
        lamps |= {goal for goal in goals if goal in told and told[goal].how == "header"}
        extra = dict.fromkeys(self.roles.global_gauges, 60.0)
        extra |= {atom[0]: 24.0 if atom in goals else 10.0 for atom in self.facts.in_order(lamps)}
        widths = [text_width(name, 9.0) + more for name, more in extra.items()]
        places = list(wrapped(widths, MARGIN, self.width - MARGIN, 6.0))
        rows = zip(extra, places, widths, strict=True)
        found = {name: Rect(x, 30.0 + 17.0 * line, wide, 14.0) for name, (x, line), wide in rows}
        return found, (20.0 + 17.0 * places[-1][1] if places else 0.0)

    def also(self, view: View) -> list[str]:
        """The facts that words have to tell, in lines; the last says how many are left out."""
        words = [format_atom(atom) for atom in view.listed]
        words += [f"not {format_atom(atom)}" for atom in view.denied]
        room = int((self.width - 2 * MARGIN) / (9.0 * EM))
        lines = ["Also:"] if words else []
        for i, word in enumerate(words):
            if len(lines[-1]) + 1 + len(word) <= room or lines[-1] == "Also:":
                lines[-1] += f" {word}"
            elif len(lines) < MAX_ALSO:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1][: max(10, room - 12)]} and {len(words) - i} more"
                break
        return lines

    def _legend(self, top: float) -> Iterator[SceneItem]:
        right = self.width - MARGIN
        signs: dict[str, Glyph | Box] = {
            kind: Glyph("", SHAPES[look], 0, 0, 10, f"fill{look}", f"edge{look}")
            for kind, look in self.looks.items()
            if not kind.startswith("@")
        }
        fill = Box("", 0, 0, 10, 10, "fill2", "border", radius=2)
        dot = Glyph("", "circle", 1, 1, 8, "edge0", "edge0")
        signs |= dict(zip(self.heads.cell_predicates, (fill, dot), strict=False))
        signs |= self.static_signs
        if self.facts.goals:
            signs["goal"] = Box("", 0, 0, 10, 10, "", "better", dashed=True, radius=2)
        signs["in the action"] = Box("", 0, 0, 10, 10, "", "accent", 2.0, radius=2)
        yield Line("legend", MARGIN, top, right, top, "grid", 1.0)
        places = wrapped((16 + text_width(text, 9.5) for text in signs), MARGIN, right, 11)
        for (text, sign), (x, line) in zip(signs.items(), places, strict=True):
            y = top + 8.0 + 16.0 * line
            yield replace(sign, key=f"legend sign {text}", x=sign.x + x, y=sign.y + y)
            yield Text(f"legend {text}", x + 15, y + 9, text, 9.5, "muted")


class _Painter:
    """One step."""

    def __init__(self, drawing: Drawing, step: Step) -> None:
        self._d, self._heads, self._step = drawing, drawing.heads, step
        self._view, self._after = step.view, step.after
        self._items: list[SceneItem] = []
        self._boxes = drawing.boxes(step)
        self._facts_of = _by_object(sorted(step.state, key=drawing.views.number.__getitem__))
        self._actors = frozenset(self._find_actors())
        self._sharing: dict[Rect, list[str]] = {}  # folded objects have one box
        for node in sorted(self._boxes, key=drawing.views.order):
            self._sharing.setdefault(self._boxes[node], []).append(node)

    def scene(self) -> Scene:
        d = self._d
        self._header()
        self._roads()
        for nodes in sorted(self._sharing.values(), key=self._depth):
            self._node(nodes)
        self._ghosts()
        self._towers()
        self._arrows()
        for i, line in enumerate(d.also(self._view)):
            self._add(Text(f"also {i}", MARGIN, d.body_bottom + 18 + 12 * i, line, 9.0, "muted"))
        items = (*self._items, *d.legend)
        return Scene(d.width, d.height, items, self._step.title, self._in_words())

    def _add(self, *items: SceneItem) -> None:
        self._items += items

    def _depth(self, nodes: Sequence[str]) -> tuple[int, str]:
        return sum(1 for _ in self._view.around(nodes[0])), nodes[0]

    def _find_actors(self) -> Iterator[str]:
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

    def _node(self, nodes: Sequence[str]) -> None:
        """One box, of one object or of equal ones that are folded."""
        d, heads, node = self._d, self._heads, nodes[0]
        box, kind = self._boxes[node], d.views.kind(node)
        cell, frame, look = node in heads.cells, heads.is_frame(node), d.looks.get(kind, 0)
        label = heads.label(node) if len(nodes) == 1 else counted(len(nodes), kind)
        marks = d.layout.marks(self._view, self._after, node)
        items = heads.head(node, marks, label)[1]
        fill, edge = ("window", "border") if frame else (f"fill{look}", f"edge{look}")
        for item in items:
            if item.form == "fill" and item.atom in self._view.marks.get(node, ()):
                fill = item.atom[-1] if len(item.atom) > 2 else "fill2"
        acting = not self._actors.isdisjoint(nodes)
        edge, stroke = ("accent", 2.6) if acting else (edge, 1.0)
        dashed, radius = node.startswith("!") and not acting, 3.0 if cell else 6.0 if frame else 4.0
        tip = self._tip(nodes)
        self._add(Box(f"{node}/box", *box, fill, edge, stroke, radius, dashed, tip, node))
        font, key = heads.font(node), f"{node}/name"
        if cell:
            text = ",".join(re.findall(r"\d+", node)) or node
            self._add(Text(key, box.x + 3, box.y + 9, text, 7.5, "muted"))
        elif frame:
            text, y = shortened(label, 22), box.y + 14 * font / 11
            self._add(Text(key, box.x + 6, y, text, font, "muted", bold=True))
        else:
            shape = "person" if node.startswith("@") else SHAPES[look]
            sign = Glyph(f"{node}/sign", shape, 0, 0, 0, "surface", f"edge{look}")
            self._chip(node, box, sign, Text(key, 0, 0, shortened(label)))
        signs = [p for p in d.static_signs if cell and (p, node) in d.static_of.get(node, ())]
        for i, predicate in enumerate(signs):
            sign, x = d.static_signs[predicate], box.right - 13 - 11 * i
            key = f"static {predicate} {x} {box.y + 2}"
            self._add(replace(sign, key=key, x=x + 1, y=box.y + 3))
        self._goal_sign(node, box)
        for item in items:
            self._mark(node, item, box)

    def _chip(self, node: str, box: Rect, sign: Glyph, name: Text) -> None:
        """A sign and a name, in the first line of a box."""
        font, middle = self._heads.font(node), box.y + self._heads.line(node) / 2
        size = 8.0 if node in self._heads.small else 11.0
        self._add(
            replace(sign, x=box.x + 4, y=middle - size / 2, size=size),
            replace(name, x=box.x + size + 8, y=middle + font * 0.36, size=font),
        )

    def _goal_sign(self, node: str, box: Rect) -> None:
        """A tick if all goals about an object hold, else a ring."""
        goals = self._d.goals_of.get(node)
        if goals and node not in self._heads.cells:
            told, state = self._d.views.told, self._step.state
            done = all(goal in state or goal not in told for goal in goals)
            size, right = (8.0 if node in self._heads.small else 9.0), box.right - 1
            if node in self._d.layout.members:
                right = min(box.right, box.x + self._heads.head(node)[0][0])
            x, y = right - size - 4, box.y + (self._heads.line(node) - size) / 2
            fill = "better" if done else ""
            self._add(Glyph(f"{node}/goal", "circle", x, y, size, fill, "better"))
            if done:
                tick = Glyph(f"{node}/tick", "tick", x + 1, y + 1, size - 2, "surface", "surface")
                self._add(tick)

    def _mark(self, node: str, item: Item, box: Rect) -> None:
        atom, key = item.atom, f"{node}/{' '.join(item.atom)}"
        is_true = atom in self._view.marks.get(node, ())
        then = is_true if self._after is None else atom in self._after.marks.get(node, ())
        goes, comes = is_true and not then, then and not is_true
        edge = "bad" if goes else "border" if is_true else "better"
        note = "becomes false" if goes else "becomes true" if comes else "" if is_true else "goal"
        tip = f"{format_atom(atom)} ({note})" if note else format_atom(atom)
        x, y, color = box.x + item.x, box.y + item.y, "text" if is_true else "better"
        match item.form:
            case "fill" if goes or not is_true:
                inset = Rect(box.x + 4, box.y + 4, box.w - 8, box.h - 8)
                self._add(Box(key, *inset, "", edge, 1.4, 2.0, not goes, tip))
                if not is_true and len(atom) > 2:
                    place = Rect(inset.x + 3, inset.bottom - 11, 8, 8)
                    self._add(Box(f"{key}/color", *place, atom[-1], "better", 1.0, 2.0))
            case "dot":
                fill, edge = "edge0" if is_true else "", "edge0" if edge == "border" else edge
                self._add(Glyph(key, "circle", box.right - 12, box.bottom - 12, 8, fill, edge))
            case "gauge":
                self._gauge(key, replace(item, x=x, y=y), goes or comes, is_true)
            case "aim":
                self._add(Text(key, x, y + 9, item.text, 8.0, "better"))
            case "pill" | "copy":
                copy, fill = item.form == "copy", "surface" if is_true else ""
                dashed = copy or not is_true
                self._add(Box(key, x, y, item.w, item.h, fill, edge, 1.0, 3.0, dashed, tip))
                if copy:  # of an object that may never be drawn itself
                    roles = self._d.roles
                    kind = roles.kind[next(name for name in atom[1:] if name != node)]
                    look = self._d.looks.get(kind, sorted(roles.members).index(kind) % len(SHAPES))
                    sign = SHAPES[look], x + 4, y + 3.5, 8, "", f"edge{look}"
                    self._add(Glyph(f"{key}/sign", *sign))
                x, y = x + (16.0 if copy else 4.0), y + item.h - 3.2
                self._add(Text(f"{key}/text", x, y, item.text, 9.0, color, struck=goes))

    def _gauge(self, key: str, item: Item, changes: bool, is_true: bool) -> None:
        """A bar as full as its value; a goal or coming value is written only."""
        x, y, value, roles = item.x, item.y, item.atom[2], self._d.roles
        chain = roles.chains.get(roles.kind[value], [value])
        share = chain.index(value) / max(1, len(chain) - 1) if value in chain else 0.0
        edge = "accent" if changes else "border" if is_true else "better"
        tip, stroke = format_atom(item.atom), 1.6 if changes else 1.0
        self._add(Box(key, x, y + 2, 24, 8, "surface", edge, stroke, 3.0, not is_true, tip))
        if is_true and share > 0:
            wide = round(22 * share, 1)
            self._add(Box(f"{key}/bar", x + 1, y + 3, wide, 6, "accent", "", 0.0, 2.0))
        color = "muted" if is_true else "better"
        self._add(Text(f"{key}/text", x + 27, y + 9, item.text, 8.0, color))

    # Goals.

    def _ghosts(self) -> None:
        """Draw the places of objects that are not there."""
        d = self._d
        together: dict[tuple[float, float, str], list[str]] = {}
        for goal, node, host in d.layout.ghosts:
            if goal not in self._step.state and host in self._boxes:
                at, box = d.layout.inner(host).at, self._boxes[host]
                slot = at.get(node, at.get((d.views.kind(node), "ghost")))
                if slot is not None and self._view.parent.get(node) != host:
                    y = slot.bottom - 20 if node in d.layout.piled else slot.y
                    key = box.x + slot.x, box.y + y, d.views.kind(node)
                    together.setdefault(key, []).append(node)
        for (x, y, kind), nodes in together.items():
            label = nodes[0] if len(nodes) == 1 else counted(len(nodes), kind)
            width, height = self._heads.head(nodes[0], (), label)[0]
            height = min(height, self._heads.line(nodes[0]))
            name, tip = f"ghost {nodes[0]} {x} {y}", f"goal: {_some(nodes)}"
            place = round(x, 1), round(y, 1), width, height
            self._add(Box(name, *place, "", "better", 1.2, 4.0, True, tip))
            shape = SHAPES[d.looks.get(kind, 0)]
            sign = Glyph(f"{name}/sign", shape, 0, 0, 0, "", "better")
            text = Text(f"{name}/name", 0, 0, shortened(label), color="better")
            self._chip(nodes[0], Rect(x, y, width, height), sign, text)

    def _towers(self) -> None:
        rows = self._d.towers
        if rows:
            left, top = min(rect.x for _, rect, _ in rows), TOP + self._d.header + 12
            self._add(Text("towers", left, top, "goal", 11.0, "better", bold=True))
        for name, rect, goal in rows:
            box = rect.moved(0.0, self._d.header)
            reached = goal in self._step.state
            tip = f"goal: {format_atom(goal)}, {'reached' if reached else 'open'}" if goal else name
            key, stroke, color = (
                f"tower {name} {rect.x}",
                1.6 if reached else 1.0,
                "better" if goal else "muted",
            )
            middle = rect.x + rect.w / 2
            self._add(
                Box(key, *box, "", "better", stroke, 4.0, not reached, tip),
                Text(f"{key}/name", middle, box.y + 14, shortened(name), 11.0, color, middle=True),
            )

    # The step.

    def _roads(self) -> None:
        d, boxes, cells = self._d, self._boxes, self._heads.cells
        chained = {name for chain in d.roles.chains.values() for name in chain}
        for container in sorted(d.layout.edges):
            for a, b in sorted(d.layout.edges[container]):
                if boxes.keys() >= {a, b} and not cells >= {a, b} and not chained >= {a, b}:
                    line = Line(f"road {a} {b}", *_middle(boxes[a]), *_middle(boxes[b]), "scroll")
                    self._add(line)
                    length = d.facts.lengths.get((a, b))
                    if length is not None and container == ROOT:
                        self._length(line.key, boxes[a], boxes[b], f"{length:g}")
        for a, b in d.layout.walls:
            one, other, key = boxes[a], boxes[b], f"wall {a} {b}"
            x, y = (one.right + other.x) / 2, (one.bottom + other.y) / 2
            beside = one.y == other.y
            ends = (x, one.y, x, one.bottom) if beside else (one.x, y, one.right, y)
            self._add(Line(key, *ends, "text", 2.4))

    def _length(self, key: str, one: Rect, other: Rect, text: str) -> None:
        """The number of a road, in the middle of the part that is seen."""
        ends = _border(one, _middle(other)), _border(other, _middle(one))
        x, y = (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2
        wide = text_width(text, 8.0) + 4
        place = round(x - wide / 2, 1), round(y - 6, 1), wide, 12
        self._add(
            Box(f"{key}/paper", *place, "surface", "", 0.0, 2.0),
            Text(f"{key}/length", round(x, 1), round(y + 3, 1), text, 8.0, "muted", middle=True),
        )

    def _arrows(self) -> None:
        """An arrow from who moves to where it will be."""
        d, now, after = self._d, self._view, self._after
        then = d.below_header(d.layout.boxes(after)) if after else {}
        for node in sorted(then.keys() & self._boxes):
            if after and after.parent.get(node) != now.parent.get(node):
                target, source = then[node], self._boxes[node]
                start, end = _border(source, _middle(target)), _border(target, _middle(source))
                apart = ((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2) ** 0.5
                bend, tip = round(min(apart * 0.12, 26.0), 1), f"{d.heads.label(node)} moves here"
                self._add(
                    Box(f"{node}/target", *target, "", "accent", 1.6, 4.0, True, tip),
                    Line(f"{node}/arrow", *start, *end, "accent", 2.0, bend, True),
                )

    def _header(self) -> None:
        d, title = self._d, self._step.title
        size = min(13.0, max(7.0, round((d.width - 2 * MARGIN) / (len(title) * EM * 1.1 + 0.1), 1)))
        self._add(Text("title", MARGIN, 20, title, size, "text", bold=True))
        true = {atom[0]: atom for atom in self._view.header}
        then = {atom[0]: atom for atom in self._after.header} if self._after else true
        for name, rect in d.lamps.items():
            now, soon, goal = true.get(name), then.get(name), (name,) in d.facts.goals
            if now or soon or goal:
                edge = "border" if now == soon else "accent" if soon else "bad"
                fill, edge, color = ("grid", edge, "text") if now else ("", "better", "better")
                atom, key = now or soon or (name,), f"lamp {name}"
                tick = " \N{CHECK MARK}" if goal and now else ""
                text = f"{name}: {atom[1]}" if len(atom) > 1 else name + tick
                gone = now is not None and soon is None
                self._add(
                    Box(key, *rect, fill, edge, 1.0, 7.0, now is None, format_atom(atom)),
                    Text(f"{key}/text", rect.x + 5, rect.y + 10.5, text, 9.0, color, struck=gone),
                )

    # Words.

    def _tip(self, nodes: Sequence[str]) -> str:
        node = nodes[0]
        if len(nodes) > 1:
            return _some(nodes)
        if node.startswith(("@", "!")):
            return self._heads.label(node)
        facts = [*self._facts_of.get(node, ()), *self._d.static_of.get(node, ())]
        more = [f"and {len(facts) - MAX_TIP} more"] if len(facts) > MAX_TIP else []
        return "\n".join(
            [f"{node} ({self._d.views.kind(node)})", *map(format_atom, facts[:MAX_TIP]), *more]
        )

    def _in_words(self) -> str:
        """The text alternative: one sentence per top container, then the step and the goals."""
        d, view = self._d, self._view
        inside: dict[str, list[str]] = {}
        for node in sorted(view.drawn, key=d.views.order):
            inside.setdefault(view.parent.get(node, ROOT), []).append(node)

        def words(node: str) -> str:
            notes = [d.heads.text_of(atom, node) for atom in view.marks.get(node, ())]
            held = ", ".join(map(words, inside.get(node, ())))
            notes += [f"with {held}"] if held else []
            return d.heads.label(node) + (f" ({'; '.join(notes)})" if notes else "")

        parts = []
        for top in inside.get(ROOT, ()):
            if held := ", ".join(map(words, inside.get(top, ()))):
                parts.append(f"{d.heads.label(top)} holds {held}.")
            elif view.marks.get(top):
                parts.append(f"{words(top)}.")
        if self._step.action:
            parts.append(f"Next: {' '.join(self._step.action)}.")
        told = [goal for goal in d.facts.goals if goal in d.views.told]
        rows = {
            "Open goals": [format_atom(goal) for goal in told if goal not in self._step.state],
            "Also": [
                *map(format_atom, view.listed),
                *(f"not {format_atom(a)}" for a in view.denied),
            ],
        }
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


def _middle(rect: Rect) -> tuple[float, float]:
    return round(rect.x + rect.w / 2, 1), round(rect.y + rect.h / 2, 1)


def _border(rect: Rect, outside: tuple[float, float]) -> tuple[float, float]:
    """Where the line from the middle of a box to a point outside leaves the box."""
    x, y = _middle(rect)
    dx, dy = outside[0] - x, outside[1] - y
    factors = [half / abs(d) for half, d in ((rect.w / 2, dx), (rect.h / 2, dy)) if d]
    share = min([*factors, 1.0])
    return round(x + dx * share, 1), round(y + dy * share, 1)
