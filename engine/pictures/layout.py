"""One layout for all states: who does not move keeps its corner in every step of both plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import networkx as nx

from engine.pictures import places
from engine.pictures.facts import has_word
from engine.pictures.heads import COMES, GOAL, GOES, Heads, Mark, counted
from engine.pictures.places import Arrangement, Rect, Size, in_columns, larger, lined_up
from engine.pictures.views import View, Views
from engine.task.task import GroundAtom

PAD = 6.0
GAP = 5.0
MARGIN = 12.0
TOP = 40.0
PARTS_GAP = 26.0
FOLD = 8
"""Larger sections of things that hold nothing are folded."""
ROOT = ""


class Layout:
    """`runs` are the views of the shown states, one list per plan."""

    def __init__(self, views: Views, runs: Sequence[Sequence[View]], fold: bool = True) -> None:
        self.views, self.roles, self._fold = views, views.roles, fold
        self._pairs = [pair for run in runs for pair in zip(run, [*run[1:], None], strict=True)]
        self.ghosts: list[tuple[GroundAtom, str, str]] = []  # a goal, who, and where
        self.towers: dict[str, tuple[str, GroundAtom]] = {}  # by base: who belongs on it
        self.goal_marks: dict[str, list[GroundAtom]] = {}
        self._sort_goals()
        self.members = self._gather()
        self._holders = self.members.keys() - {ROOT}
        self.edges: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)  # by container
        self._directed: dict[str, list[tuple[str, str, complex]]] = defaultdict(list)
        self._find_edges()
        nodes = set().union(*(view.drawn for view, _ in self._pairs))
        self.heads = Heads(views, nodes, *self._cells())
        self.head_sizes: dict[str, Size] = defaultdict(lambda: (40.0, 20.0))  # the largest
        self.head_sizes |= {node: self.heads.head(node)[0] for _, node, _ in self.ghosts}
        for view, after in self._pairs:
            for node in view.drawn:
                size = self.heads.head(node, self.marks(view, after, node))[0]
                self.head_sizes[node] = larger(size, self.head_sizes.get(node, size))
        self.piled = {n for v, _ in self._pairs for s in v.standing for n in (s, v.parent[s])}
        self._pile_widths: dict[str, float] = defaultdict(float)  # all of a piled kind have one
        for node in self.piled:
            kind, width = views.kind(node), self.head_sizes[node][0]
            self._pile_widths[kind] = max(self._pile_widths[kind], width)
        self._inner: dict[str, Arrangement] = {}
        self._open: set[str] = set()
        self.forms: list[str] = []
        self.walls: list[tuple[str, str]] = []
        self.corners, self.size = self._place_parts()

    # What there is over all states.

    def _sort_goals(self) -> None:
        moving = self.roles.tokens.keys() | self.roles.rides.keys()
        for goal in self.roles.facts.goals:
            how, who, where = self.views.told.get(goal, ("", "", ""))
            if goal in self.views.coarse:
                self.ghosts.append((goal, goal[1], goal[2]))
            elif how in ("badge", "value", "tag", "copy"):
                self.goal_marks.setdefault(who, []).append(goal)
            elif how == "place" and goal[0] in self.roles.stacks:
                self.towers[where] = who, goal
            elif how == "place" and goal[0] not in moving:
                self.ghosts.append((goal, who, where))

    def _gather(self) -> dict[str, dict[str, int]]:
        """Who is ever where, as bits of states; an arrival counts from the step before."""
        found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for number, pair in enumerate(self._pairs):
            for view in filter(None, pair):
                for node in view.drawn - view.standing:
                    found[view.parent.get(node, ROOT)][node] |= 1 << number
        for _, node, host in self.ghosts:
            if self.views.is_drawable(host):
                found[host][node] = (1 << len(self._pairs)) - 1
        order = self.views.order
        return {host: {n: row[n] for n in sorted(row, key=order)} for host, row in found.items()}

    def _find_edges(self) -> None:
        """Map edges between the children of one container in which their ends lie."""
        fixed = View(self.views.parent_of)
        for relation, start, end in self.roles.map:
            for atom in self.roles.facts.static[relation]:
                step = places.direction_of([relation, *atom[1:]])
                for ends in self._hops(atom, start + 1, end + 1):
                    one, other = ([node, *fixed.around(node), ROOT] for node in ends)
                    shared = next(node for node in one if node in other)
                    if shared not in ends:
                        a, b = (chain[chain.index(shared) - 1] for chain in (one, other))
                        if (b, a) not in self.edges[shared]:
                            self.edges[shared][a, b] = None
                        if step is not None and (a, b) == ends:
                            self._directed[shared].append((a, b, step))

    def _hops(self, atom: GroundAtom, start: int, end: int) -> list[tuple[str, str]]:
        """From one place to the other, by way of places that stand between them in the fact."""
        kinds = {self.roles.kind[atom[start]], self.roles.kind[atom[end]]}
        way = atom[start : end + 1] if start < end else atom[end : start + 1][::-1]
        stops = [name for name in way if self.roles.kind[name] in kinds]
        return [(a, b) for a, b in pairwise(stops) if a != b]

    def _ground(self, container: str, names: Sequence[str]) -> nx.Graph:
        """Places with what joins them, how long that is, and in which direction it goes."""
        told = self._directed.get(container, ())
        graph = nx.Graph(directed=[d for d in told if d[0] in names and d[1] in names])
        graph.add_nodes_from(names)
        lengths = self.roles.facts.lengths
        for a, b in self.edges.get(container, ()):
            if a in names and b in names:
                graph.add_edge(a, b, length=lengths.get((a, b), lengths.get((b, a))))
        return graph

    def _cells(self) -> tuple[set[str], set[str]]:
        """Cells of grids with more than a few nodes, and what is ever in them."""
        cells: set[str] = set()
        for container in (*self.edges, ROOT):
            names = [n for n in self.members.get(container, ()) if self._on_ground(container, n)]
            if len(names) > places.SNAKE and places.grid_cells(self._ground(container, names)):
                cells.update(names)
        small = {n for v, _ in self._pairs for n in v.drawn if not cells.isdisjoint(v.around(n))}
        return cells, small.union(*(self.members.get(c, ()) for c in cells)) - cells

    def _on_ground(self, container: str, node: str) -> bool:
        """Whether a node is a place of the map, or holds such places."""
        kind = self.roles.kind.get(node)
        joined = any(node in edge for edge in self.edges.get(container, ()))
        placed = kind in self.roles.places and kind not in self.roles.attached
        return kind not in self.roles.chains and (joined or placed)

    def marks(self, view: View, after: View | None, node: str) -> tuple[Mark, ...]:
        """What is written at a node: what is true, what comes in this step, what is to come."""
        now = view.marks.get(node, ())
        then = after.marks.get(node, ()) if after else now
        found = {atom: "" if atom in then else GOES for atom in now}
        gauges = {atom[0] for atom in now if (atom[0], 0) in self.roles.gauges}
        found |= {a: COMES for a in then if a not in found and a[0] not in gauges}
        found |= {a: GOAL for a in self.goal_marks.get(node, ()) if a not in found}
        return tuple(found.items())

    # Sizes, from the inside out.

    def reserve(self, node: str) -> Size:
        """The largest size of a node; one that is open already counts with its head only."""
        head = self.head_sizes[node]
        if node in self.piled:
            head = larger(head, (self._pile_widths[self.views.kind(node)], 0.0))
        is_leaf = node in self._open or node not in self.members
        return head if is_leaf else larger(head, self.inner(node).size)

    def inner(self, node: str) -> Arrangement:
        """Where the members of a container are, from its corner, and how large it gets.

        Each has a slot; of a pile, all of it. Folded ones share that of their kind and look.
        """
        if node not in self._inner:
            self._open.add(node)
            floor = node in self._floors
            self._inner[node] = self._floor(node) if floor else self._sections(node)
            self._open.remove(node)
        return self._inner[node]

    @cached_property
    def pile_heights(self) -> dict[str, float]:
        """The highest pile that ever stood on a node."""
        found: dict[str, float] = defaultdict(float)
        for view, _ in self._pairs:
            heights: dict[str, float] = defaultdict(float)
            for node in view.standing:
                heights[view.bottom(node)] += self.reserve(node)[1]
            found |= {node: max(found[node], height) for node, height in heights.items()}
        return found

    def _slot_size(self, node: str, container: str) -> Size:
        """The room for a node in a container, with what is in it whenever it is there."""
        size = self.reserve(node)
        if node in self.piled:
            size = larger(size, (max(self._pile_widths.values()), 0.0))
        elif node in self._inner and container != ROOT:
            there, slots = self.members[container][node], self._inner[node].at
            inside = [name for name, bits in self.members[node].items() if bits & there]
            if slots.keys() >= set(inside):
                ends = [(slots[name].right + PAD, slots[name].bottom + PAD) for name in inside]
                size = larger(self.head_sizes[node], *ends)
        return size[0], size[1] + self.pile_heights.get(node, 0.0)

    def _sections(self, container: str) -> Arrangement:
        pad = 3.0 if container in self.heads.cells else PAD
        blocks = list(self._blocks(container))
        found = places.nearest(1.6, [lined_up(blocks, axis, GAP) for axis in (0, 1)])
        top = self.head_sizes[container][1]
        size = found.size[0] + 2 * pad, top + found.size[1] + pad
        return Arrangement(found.moved(pad, top), size)

    def _blocks(self, container: str) -> Iterator[Arrangement]:
        """One block per kind of member, those that hold something last, then the map."""
        members = self.members[container]
        joined = {name for edge in self.edges.get(container, ()) for name in edge}
        by_kind: dict[str, list[str]] = {}
        for node in members:
            if node not in joined:
                by_kind.setdefault(self.roles.kind.get(node, node[:1]), []).append(node)
        holding = {k for k, nodes in by_kind.items() if not self._holders.isdisjoint(nodes)}
        for kind, nodes in sorted(by_kind.items(), key=lambda item: item[0] in holding):
            slots = _slots({node: members[node] for node in nodes})
            leaves = kind not in holding and self.piled.isdisjoint(nodes)
            if self._fold and leaves and max(slots.values()) >= FOLD and container != ROOT:
                size = larger(*map(self.reserve, nodes))
                wide = self.heads.head(nodes[0], (), counted(len(nodes), kind))[0][0]
                looks = self._looks(container, set(nodes))
                yield _tabled({(kind, look): larger(size, (wide, 0.0)) for look in looks})
            else:
                yield self._slot_table(container, slots)
        if ground := [node for node in members if node in joined]:
            sizes = {node: self.reserve(node) for node in ground}
            yield places.arrange(self._ground(container, ground), sizes)

    def _slot_table(self, container: str, slots: Mapping[str, int]) -> Arrangement:
        sizes = dict.fromkeys(range(1 + max(slots.values(), default=-1)), (0.0, 0.0))
        for node, slot in slots.items():
            sizes[slot] = larger(sizes[slot], self._slot_size(node, container))
        found = _tabled(sizes)
        return Arrangement({node: found.at[slot] for node, slot in slots.items()}, found.size)

    def _looks(self, container: str, nodes: set[str]) -> dict[object, None]:
        """Everything that members of a folded section ever look like, in order of appearance."""
        found: dict[object, None] = {}
        for view, _ in self._pairs:
            here = (n for n in self.members[container] if view.parent.get(n) == container)
            found |= dict.fromkeys(self.look(view, node) for node in here if node in nodes)
        if any(host == container and node in nodes for _, node, host in self.ghosts):
            found["ghost"] = None
        return found

    def look(self, view: View, node: str) -> tuple[object, ...]:
        marks = [[part if part != node else "" for part in a] for a in view.marks.get(node, ())]
        goals = {host for _, who, host in self.ghosts if who == node}
        return str(marks), bool(goals), goals.issubset(view.around(node))

    # Floors: every container has its own column on all of them.

    @cached_property
    def _shafts(self) -> list[str]:
        """Chains of places that are above each other."""
        roles, found = self.roles, []
        for kind in (kind for kind in roles.chains if kind in roles.places):
            over = {p for p in roles.chain_relations if kind in roles.kinds_at((p, 0))}
            along = [s for s in roles.facts.schemas if any(c[0] in over for c in s.conditions)]
            lifts = any(has_word(schema.name, "lift") for schema in along)
            if lifts or has_word(kind, "floor") or any(has_word(p, "upward") for p in over):
                found.append(kind)
        return found

    @cached_property
    def _floors(self) -> list[str]:
        return [n for kind in self._shafts for n in self.roles.chains[kind] if n in self.members]

    @cached_property
    def _columns(self) -> Arrangement:
        """Of all containers on floors; right of the leaves, who have no column of their own."""
        ever = {node for floor in self._floors for node in self.members[floor]}
        holders = [n for n in ever if n in self._holders or n.startswith("@")]
        sizes = {n: self.reserve(n) for n in sorted(holders, key=self.views.order)}
        found = places.table("", in_columns(sizes, len(sizes)), sizes, 2 * GAP)
        leaves = [self._leaves(floor, set(sizes)) for floor in self._floors]
        left = max((part.size[0] + 2 * GAP for part in leaves if part.at), default=0.0)
        return Arrangement(found.moved(left, 0.0), (left + max(found.size[0], 0.0), 0.0))

    def _leaves(self, floor: str, columns: set[str]) -> Arrangement:
        leaves = {n: mask for n, mask in self.members[floor].items() if n not in columns}
        return self._slot_table(floor, _slots(leaves))

    def _floor(self, floor: str) -> Arrangement:
        head, columns = self.head_sizes[floor], self._columns
        leaves = self._leaves(floor, set(columns.at))
        own = {n: rect for n, rect in columns.at.items() if n in self.members[floor]}
        at = Arrangement(leaves.at | own, leaves.size).moved(PAD, head[1])
        bottom = max([*(rect.bottom + PAD for rect in at.values()), head[1] + 2])
        return Arrangement(at, larger(head, (columns.size[0] + 2 * PAD, bottom)))

    # The whole.

    def _place_parts(self) -> tuple[dict[str, Rect], Size]:
        """Chains, the map, hosts, virtual places and cards."""
        roles, tops = self.roles, self.members.get(ROOT, {})
        sizes = {node: self._slot_size(node, ROOT) for node in tops}
        chains = {kind: [n for n in roles.chains[kind] if n in tops] for kind in roles.chains}
        rows = [(kind, names) for kind, names in chains.items() if names and kind in roles.places]
        parts = [self._chain(kind, names, sizes) for kind, names in rows]
        on_map = [n for n in tops if self._on_ground(ROOT, n)]
        ground = self._ground(ROOT, on_map)
        if on_map and (self.edges.get(ROOT) or places.grid_cells(ground)):
            if not self.heads.cells.isdisjoint(on_map):
                size = larger((34.0, 30.0), *(sizes[node] for node in on_map))
                sizes |= dict.fromkeys(on_map, size)
            parts.append(places.arrange(ground, sizes))
            self.walls = _walls(parts[-1], ground)
        placed = set().union(*(part.at for part in parts))
        rest = [node for node in tops if node not in placed]
        virtual = [node for node in rest if node.startswith("!")]
        hosts = [n for n in rest if n in self._holders or self.views.kind(n) in roles.places]
        hosts = [node for node in hosts if node not in virtual]
        cards = [node for node in rest if node not in virtual and node not in hosts]
        parts += [places.flow(names, sizes) for names in (hosts, virtual, cards) if names]
        self.forms = [part.form for part in parts]
        self.forms[-1:] = ["cards"] if cards else self.forms[-1:]
        choices = [lined_up(parts, 1, PARTS_GAP)]
        if len(parts) > 1:
            right = lined_up(parts[1:], 1, PARTS_GAP)
            choices.append(lined_up([parts[0], right], 0, PARTS_GAP))
        whole = places.nearest(1.5, choices)
        return whole.moved(MARGIN, TOP), whole.size

    def _chain(self, kind: str, names: Sequence[str], sizes: dict[str, Size]) -> Arrangement:
        if kind not in self._shafts:
            return places.table("row", in_columns(names, places.SNAKE), sizes)
        width = max(sizes[n][0] for n in names)
        sizes |= {name: (width, sizes[name][1]) for name in names}
        return places.table("shaft", in_columns(names[::-1], 1), sizes, GAP)

    def boxes(self, view: View, after: View | None = None) -> dict[str, Rect]:
        """The box of every drawn node; with room for who comes in this step."""
        return _Boxes(self, view, after).found


class _Boxes:
    """The boxes of one state, from the outside in."""

    def __init__(self, layout: Layout, view: View, after: View | None) -> None:
        self._layout, self._view = layout, view
        self.found: dict[str, Rect] = {}
        self._inside: dict[str, list[str]] = defaultdict(list)
        self._on: dict[str, list[str]] = defaultdict(list)
        for node in sorted(view.drawn):
            children = self._on if node in view.standing else self._inside
            children[view.parent.get(node, ROOT)].append(node)
        self._guests: dict[str, list[tuple[str, Size]]] = defaultdict(list)  # who comes, or belongs
        for child in after.drawn - after.standing if after else ():
            host = after.parent.get(child) if after else None
            if host and host != view.parent.get(child):
                self._guests[host].append((child, layout.reserve(child)))
        for _, node, host in layout.ghosts:
            self._guests[host].append((node, layout.heads.head(node)[0]))
        for node in self._inside[ROOT]:
            if node in layout.corners:
                slot = layout.corners[node]
                height = max(layout.reserve(node)[1], slot.h - layout.pile_heights.get(node, 0.0))
                self._put(node, slot, (slot.w, height), True)

    def _put(self, node: str, slot: Rect, size: Size, fixed: bool = False) -> None:
        rect, piled = Rect(*slot[:2], *size), node in self._layout.piled
        if piled:
            rect = rect.moved((slot.w - rect.w) / 2, slot.h - rect.h)
        self._fill(node, rect, fixed or piled)

    def _fill(self, node: str, rect: Rect, fixed: bool) -> None:
        """A box that is not `fixed` is as large as what is in it."""
        layout, (x, y, _, _) = self._layout, rect
        if node in layout.members:
            slots = {name: slot.moved(x, y) for name, slot in layout.inner(node).at.items()}
            for child in self._inside[node]:
                if child in slots:
                    self._put(child, slots[child], layout.reserve(child))
                else:
                    look = layout.views.kind(child), layout.look(self._view, child)
                    self.found[child] = _rounded(slots[look])
            inside = [self.found[child] for child in self._inside[node]]
            for guest, (w, h) in self._guests[node]:
                if guest in slots:
                    slot = slots[guest]
                    smaller = slot._replace(w=min(w, slot.w), h=min(h, slot.h))
                    inside.append(slot if guest in layout.piled else smaller)
            if not fixed:
                ends = [(box.right + PAD - x, box.bottom + PAD - y) for box in inside]
                rect = Rect(x, y, *larger(layout.head_sizes[node], *ends))
        self.found[node] = _rounded(rect)
        for child in self._on[node]:
            w, h = layout.reserve(child)
            self._fill(child, Rect(x + (rect.w - w) / 2, y - h, w, h), True)


def _slots(masks: dict[str, int]) -> dict[str, int]:
    """The smallest slot for each that no object has at the same time."""
    used: list[int] = []
    found = {}
    for node, mask in masks.items():
        found[node] = next((i for i, bits in enumerate(used) if not bits & mask), len(used))
        used += [0] * (found[node] == len(used))
        used[found[node]] |= mask
    return found


def _tabled(sizes: Mapping[Any, Size]) -> Arrangement:
    """Slots in rows and columns, about one and a half times as wide as high."""
    width, height = larger(*sizes.values(), (0.1, 0.0))
    columns = min(max(1, round((1.5 * len(sizes) * height / width) ** 0.5)), max(1, len(sizes)))
    return places.table("", in_columns(sizes, columns), sizes, GAP, align="cell")


def _rounded(rect: Rect) -> Rect:
    return Rect(*(round(part, 1) for part in rect))


def _walls(found: Arrangement, ground: nx.Graph) -> list[tuple[str, str]]:
    """Neighbors in a grid that nothing joins."""
    by_cell = {cell: name for name, cell in found.cells.items()} if found.form == "grid" else {}
    pairs = [(name, by_cell.get(cell + s, "")) for cell, name in by_cell.items() for s in (1, 1j)]
    return [(a, b) for a, b in pairs if b and ground.edges and not ground.has_edge(a, b)]
