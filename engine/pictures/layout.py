"""One layout for all states: who does not move keeps its corner in every step of both plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from engine.pictures import places
from engine.pictures.facts import has_word, words
from engine.pictures.heads import COMES, GOAL, GOES, Heads, Mark, counted
from engine.pictures.places import Arrangement, Cell, Ground, Rect, Size, in_columns, lined_up
from engine.pictures.views import View, Views
from engine.task.task import GroundAtom

PAD = 6.0
GAP = 5.0
MARGIN = 12.0
TOP = 40.0
PARTS_GAP = 26.0
FOLD = 8
"""Larger sections of things that hold nothing are folded."""
UP_WORDS = words("above up below")
FLOOR_WORDS = words("floor level storey")
LIFT_WORDS = words("up down lift elevator climb")
ROOT = ""


class Ghost(NamedTuple):
    """A goal that a place tells: who belongs where."""

    goal: GroundAtom
    node: str
    host: str


class Layout:
    """`runs` are the views of the shown states, one list per plan."""

    def __init__(self, views: Views, runs: Sequence[Sequence[View]], fold: bool = True) -> None:
        self.views, self.roles, self._fold = views, views.roles, fold
        ends = [[*run[1:], None] for run in runs]
        self._pairs = [
            pair for run, end in zip(runs, ends, strict=True) for pair in zip(run, end, strict=True)
        ]
        self.ghosts: list[Ghost] = []
        self.towers: dict[str, tuple[str, GroundAtom]] = {}  # by base: who belongs on it
        self.goal_marks: dict[str, list[GroundAtom]] = {}
        self._sort_goals()
        self.members = self._gather()
        self._holders = self.members.keys() - {ROOT}
        self.edges: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)  # by container
        self._directed: dict[str, list[tuple[str, str, Cell]]] = defaultdict(list)
        self._find_edges()
        nodes = set().union(*(view.drawn for view, _ in self._pairs))
        self.heads = Heads(views, nodes, *self._cells())
        self.head_sizes = self._largest_heads()
        self.piled = {n for v, _ in self._pairs for s in v.standing for n in (s, v.parent[s])}
        self._pile_widths: dict[str, float] = {}  # all things of a piled kind have one width
        for node in self.piled:
            kind = self.views.kind(node)
            wide = self.head_sizes[node][0]
            self._pile_widths[kind] = max(self._pile_widths.get(kind, 0.0), wide)
        self._inner: dict[str, Arrangement] = {}
        self._open: set[str] = set()
        self.forms: list[str] = []
        self.walls: list[tuple[str, str]] = []
        self.corners, self.size = self._place_parts()

    # What there is over all states.

    def _sort_goals(self) -> None:
        for goal in self.roles.facts.goals:
            how, who, where = self.views.told.get(goal, ("", "", ""))
            if goal in self.views.coarse:
                self.ghosts.append(Ghost(goal, goal[1], goal[2]))
            elif how in ("badge", "value", "tag", "copy"):
                self.goal_marks.setdefault(who, []).append(goal)
            elif how == "place" and goal[0] in self.roles.stacks:
                self.towers[where] = who, goal
            elif how == "place" and goal[0] not in {*self.roles.tokens, *self.roles.rides}:
                self.ghosts.append(Ghost(goal, who, where))

    def _gather(self) -> dict[str, dict[str, int]]:
        """Who is ever where, as bits of states; an arrival counts from the step before."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for number, pair in enumerate(self._pairs):
            for view in filter(None, pair):
                for node in view.drawn - view.standing:
                    row = found[view.parent.get(node, ROOT)]
                    row[node] = row.get(node, 0) | 1 << number
        for ghost in self.ghosts:
            if self.views.is_drawable(ghost.host):
                found[ghost.host][ghost.node] = (1 << len(self._pairs)) - 1
        return {
            host: {n: row[n] for n in sorted(row, key=self.views.order)}
            for host, row in found.items()
        }

    def _find_edges(self) -> None:
        """Map edges between the children of one container in which their ends lie."""
        for relation, start, end in self.roles.map:
            for atom in self.roles.facts.static[relation]:
                step = places.direction_of([relation, *atom[1:]])
                for ends in self._hops(atom, start, end):
                    one, other = map(self._ancestors, ends)
                    shared = next(n for n in one if n in other)
                    if shared in ends:
                        continue
                    a, b = (chain[chain.index(shared) - 1] for chain in (one, other))
                    if (b, a) not in self.edges[shared]:
                        self.edges[shared][a, b] = None
                    if step is not None and (a, b) == ends:
                        self._directed[shared].append((a, b, step))

    def _hops(self, atom: GroundAtom, start: int, end: int) -> list[tuple[str, str]]:
        """From one place to the other, by way of places that stand between them in the fact."""
        between = [atom[i + 1] for i in range(start, end, 1 if start < end else -1)]
        kinds = {self.roles.kind[atom[start + 1]], self.roles.kind[atom[end + 1]]}
        stops = [name for name in between if self.roles.kind[name] in kinds] + [atom[end + 1]]
        return [(a, b) for a, b in pairwise(stops) if a != b]

    def _ancestors(self, node: str) -> list[str]:
        chain = [node]
        while (parent := self.views.parent_of.get(chain[-1])) and parent not in chain:
            chain.append(parent)
        return [*chain, ROOT]

    def ground(self, container: str, names: Sequence[str]) -> Ground:
        known = set(names)
        edges = [edge for edge in self.edges.get(container, ()) if known.issuperset(edge)]
        directed = [d for d in self._directed.get(container, ()) if known.issuperset(d[:2])]
        return Ground(names, edges, directed, self.roles.facts.lengths)

    def _cells(self) -> tuple[set[str], set[str]]:
        """Cells of grids with more than a few nodes, and what is ever in them."""
        cells: set[str] = set()
        for container in (*self.edges, ROOT):
            names = [n for n in self.members.get(container, ()) if self._on_ground(container, n)]
            if len(names) > places.SNAKE and places.grid_cells(self.ground(container, names)):
                cells.update(names)
        small = {n for v, _ in self._pairs for n in v.drawn if not cells.isdisjoint(v.around(n))}
        return cells, small.union(*(self.members.get(c, ()) for c in cells)) - cells

    def _on_ground(self, container: str, node: str) -> bool:
        """Whether a node is a place of the map, or holds such places."""
        kind = self.roles.kind.get(node)
        joined = any(node in edge for edge in self.edges.get(container, ()))
        placed = kind in self.roles.places and kind not in self.roles.attached
        return kind not in self.roles.chains and (joined or placed)

    def _largest_heads(self) -> dict[str, Size]:
        found = {ghost.node: self.heads.head(ghost.node)[0] for ghost in self.ghosts}
        for view, after in self._pairs:
            for node in view.drawn:
                width, height = self.heads.head(node, self.marks(view, after, node))[0]
                old = found.get(node, (0.0, 0.0))
                found[node] = max(width, old[0]), max(height, old[1])
        return found

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
        width, height = self.head_sizes.get(node, (40.0, 20.0))
        if node in self.piled:
            width = max(width, self._pile_widths[self.views.kind(node)])
        if node in self._open or node not in self.members:
            return width, height
        inner = self.inner(node).size
        return max(width, inner[0]), max(height, inner[1])

    def inner(self, node: str) -> Arrangement:
        """Where the members of a container are, from its corner, and how large it gets.

        Each has a slot; of a pile, all of it. Folded ones share that of their kind and look.
        """
        if node not in self._inner:
            self._open.add(node)
            floor = node in self._floors
            self._inner[node] = self._floor(node) if floor else self._make_inner(node)
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
        width, height = self.reserve(node)
        if node in self._inner and node not in self.piled and container != ROOT:
            there = self.members[container][node]
            inside = [name for name, bits in self.members[node].items() if bits & there]
            slots = self._inner[node].at
            if slots.keys() >= set(inside):
                width, height = self.head_sizes.get(node, (40.0, 20.0))
                width = max([width, *(slots[name].right + PAD for name in inside)])
                height = max([height, *(slots[name].bottom + PAD for name in inside)])
        if node in self.piled:
            width = max(width, *self._pile_widths.values())
        return width, height + self.pile_heights.get(node, 0.0)

    def _make_inner(self, container: str) -> Arrangement:
        pad = 3.0 if container in self.heads.cells else PAD
        blocks = list(self._blocks(container))
        found = places.nearest(1.6, [lined_up(blocks, axis, GAP) for axis in (0, 1)])
        top = self.head_sizes.get(container, (40.0, 20.0))[1]
        size = found.size[0] + 2 * pad, top + found.size[1] + pad
        return Arrangement(found.moved(pad, top), size)

    def _blocks(self, container: str) -> Iterator[Arrangement]:
        """One block per kind of member, those that hold something last, then the map."""
        members = self.members[container]
        ground = [n for n in members if any(n in edge for edge in self.edges.get(container, ()))]
        by_kind: dict[str, list[str]] = {}
        for node in members:
            if node not in ground:
                by_kind.setdefault(self.roles.kind.get(node, node[:1]), []).append(node)
        holding = {k for k, nodes in by_kind.items() if not self._holders.isdisjoint(nodes)}
        for kind, nodes in sorted(by_kind.items(), key=lambda item: item[0] in holding):
            slots = _slots({node: members[node] for node in nodes})
            leaves = kind not in holding and self.piled.isdisjoint(nodes)
            if self._fold and leaves and max(slots.values()) >= FOLD and container != ROOT:
                sizes = [self.heads.head(nodes[0], (), counted(len(nodes), kind))[0]]
                sizes += [self.reserve(node) for node in nodes]
                size = max(w for w, _ in sizes), max(h for _, h in sizes[1:])
                looks = self._looks(container, set(nodes))
                yield _tabled({(kind, look): size for look in looks})
            else:
                yield self._slot_table(container, slots)
        if ground:
            yield places.arrange(
                self.ground(container, ground), {n: self.reserve(n) for n in ground}
            )

    def _slot_table(self, container: str, slots: Mapping[str, int]) -> Arrangement:
        sizes = dict.fromkeys(range(1 + max(slots.values())), (0.0, 0.0))
        for node, slot in slots.items():
            width, height = self._slot_size(node, container)
            sizes[slot] = max(sizes[slot][0], width), max(sizes[slot][1], height)
        found = _tabled(sizes)
        return Arrangement({node: found.at[slot] for node, slot in slots.items()}, found.size)

    def _looks(self, container: str, nodes: set[str]) -> dict[object, None]:
        """Everything that members of a folded section ever look like, in order of appearance."""
        found: dict[object, None] = {}
        for view, _ in self._pairs:
            here = (n for n in self.members[container] if view.parent.get(n) == container)
            found |= dict.fromkeys(self.look(view, node) for node in here if node in nodes)
        if any(ghost.host == container and ghost.node in nodes for ghost in self.ghosts):
            found["ghost"] = None
        return found

    def look(self, view: View, node: str) -> tuple[object, ...]:
        marks = [[part if part != node else "" for part in a] for a in view.marks.get(node, ())]
        goals = {ghost.host for ghost in self.ghosts if ghost.node == node}
        return str(marks), bool(goals), goals.issubset(view.around(node))

    # Floors: every container has its own column on all of them.

    @cached_property
    def _shafts(self) -> dict[str, None]:
        """Chains of places that are above each other."""
        roles = self.roles
        found: dict[str, None] = {}
        for kind in (kind for kind in roles.chains if kind in roles.places):
            over = {p for p in roles.chain_relations if kind in roles.static_kinds_at(p, 0)}
            along = [s for s in roles.facts.schemas if any(c[0] in over for c in s.conditions)]
            lifts = any(has_word(schema.name, LIFT_WORDS) for schema in along)
            if lifts or has_word(kind, FLOOR_WORDS) or any(has_word(p, UP_WORDS) for p in over):
                found[kind] = None
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
        found = places.table("", in_columns(list(sizes), len(sizes)), sizes, 2 * GAP)
        leaves = [self._leaves(floor, found.at.keys()) for floor in self._floors]
        left = max((part.size[0] + 2 * GAP for part in leaves if part.at), default=0.0)
        return Arrangement(found.moved(left, 0.0), (left + max(found.size[0], 0.0), found.size[1]))

    def _leaves(self, floor: str, columns: Iterable[str]) -> Arrangement:
        masks = {n: mask for n, mask in self.members[floor].items() if n not in set(columns)}
        return self._slot_table(floor, _slots(masks)) if masks else EMPTY

    def _floor(self, floor: str) -> Arrangement:
        head, columns = self.head_sizes.get(floor, (40.0, 20.0)), self._columns
        leaves = self._leaves(floor, columns.at.keys())
        own = {n: rect for n, rect in columns.at.items() if n in self.members[floor]}
        bottom = max([leaves.size[1], *(rect.h for rect in own.values())])
        at = Arrangement(leaves.at | own, leaves.size).moved(PAD, head[1])
        height = head[1] + bottom + PAD if at else head[1] + 2
        return Arrangement(at, (max(columns.size[0] + 2 * PAD, head[0]), height))

    # The whole.

    def _place_parts(self) -> tuple[dict[str, Rect], Size]:
        """Chains, the map, hosts, virtual places and cards."""
        roles = self.roles
        tops = list(self.members.get(ROOT, ()))
        sizes = {node: self._slot_size(node, ROOT) for node in tops}
        chains = {kind: [n for n in roles.chains[kind] if n in sizes] for kind in roles.chains}
        rows = [(kind, names) for kind, names in chains.items() if names and kind in roles.places]
        parts = [self._chain(kind, names, sizes) for kind, names in rows]
        on_map = [n for n in tops if self._on_ground(ROOT, n)]
        ground = self.ground(ROOT, on_map)
        if on_map and (self.edges.get(ROOT) or places.grid_cells(ground)):
            if not self.heads.cells.isdisjoint(on_map):
                width, height = (max(sizes[n][axis] for n in on_map) for axis in (0, 1))
                sizes |= dict.fromkeys(on_map, (max(34.0, width), max(30.0, height)))
            parts.append(places.arrange(ground, sizes))
            self.walls = _walls(parts[-1], ground)
        placed = set().union(*(part.at for part in parts))
        rest = [node for node in tops if node not in placed]
        virtual = [node for node in rest if node.startswith("!")]
        others = [node for node in rest if not node.startswith("!")]
        hosts = [n for n in others if n in self._holders or self.views.kind(n) in roles.places]
        cards = [node for node in others if node not in hosts]
        parts += [places.flow(names, sizes) for names in (hosts, virtual, cards) if names]
        self.forms = [part.form for part in parts]
        if cards:
            self.forms[-1] = "cards"
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
        self._layout, self._view, self._after = layout, view, after
        self.found: dict[str, Rect] = {}
        self._children: dict[tuple[str, bool], list[str]] = defaultdict(list)  # in it, or on it
        for node in sorted(view.drawn):
            key = view.parent.get(node, ROOT), node in view.standing
            self._children[key].append(node)
        for node in self._children[ROOT, False]:
            if node in layout.corners:
                self._put(node, layout.corners[node], fixed=True)

    def _put(self, node: str, slot: Rect, fixed: bool = False) -> None:
        layout = self._layout
        width, height = layout.reserve(node)
        if fixed and not node.startswith("!"):
            width, height = slot.w, max(height, slot.h - layout.pile_heights.get(node, 0.0))
        rect = slot._replace(w=width, h=height)
        if node in layout.piled:
            rect = rect.moved((slot.w - width) / 2, slot.h - height)
        self._fill(node, rect, fixed or node in layout.piled)

    def _fill(self, node: str, rect: Rect, fixed: bool) -> None:
        """A box that is not `fixed` is as large as what is in it."""
        layout, (x, y, w, h) = self._layout, rect
        if node in layout.members:
            slots = layout.inner(node).at
            needed = [Rect(x, y, *layout.head_sizes.get(node, (40.0, 20.0)))]
            for child in self._children[node, False]:
                if child in slots:
                    self._put(child, slots[child].moved(x, y))
                else:
                    slot = slots[layout.views.kind(child), layout.look(self._view, child)]
                    self.found[child] = _rounded(slot.moved(x, y))
            inside = [self.found[child] for child in self._children[node, False]]
            inside += [guest.moved(x, y) for guest in self._guests(node, slots)]
            needed += [box._replace(w=box.w + PAD, h=box.h + PAD) for box in inside]
            if not fixed:
                w, h = max(b.right for b in needed) - x, max(b.bottom for b in needed) - y
        self.found[node] = _rounded(Rect(x, y, w, h))
        for child in self._children[node, True]:
            width, height = layout.reserve(child)
            self._fill(child, Rect(x + (w - width) / 2, y - height, width, height), True)

    def _guests(self, node: str, slots: dict[Any, Rect]) -> Iterator[Rect]:
        """The room of who comes into a node in this step or belongs there."""
        layout, after = self._layout, self._after
        for child in after.drawn - after.standing if after else ():
            comes = after and after.parent.get(child) == node != self._view.parent.get(child)
            if comes and child in slots:
                w, h = layout.reserve(child)
                yield slots[child] if child in layout.piled else slots[child]._replace(w=w, h=h)
        for ghost in layout.ghosts:
            if ghost.host == node and ghost.node in slots:
                w, h = layout.heads.head(ghost.node)[0]
                yield slots[ghost.node]._replace(w=w, h=h)


EMPTY = Arrangement({}, (0.0, 0.0))


def _slots(masks: dict[str, int]) -> dict[str, int]:
    """The smallest slot for each that nobody has who is there at the same time."""
    used: list[int] = []
    found = {}
    for node, mask in masks.items():
        found[node] = next((i for i, bits in enumerate(used) if not bits & mask), len(used))
        used += [0] * (found[node] == len(used))
        used[found[node]] |= mask
    return found


def _tabled(sizes: Mapping[Any, Size]) -> Arrangement:
    """Slots in rows and columns, about one and a half times as wide as high."""
    width, height = (max(size[axis] for size in sizes.values()) for axis in (0, 1))
    columns = max(1, round((1.5 * len(sizes) * height / width) ** 0.5))
    return places.table(
        "", in_columns(list(sizes), min(columns, len(sizes))), sizes, GAP, align="cell"
    )


def _rounded(rect: Rect) -> Rect:
    return Rect(*(round(part, 1) for part in rect))


def _walls(found: Arrangement, ground: Ground) -> list[tuple[str, str]]:
    """Neighbors in a grid that nothing joins."""
    joined = {frozenset(edge) for edge in ground.edges}
    by_cell = {cell: name for name, cell in found.cells.items()}
    pairs = [
        (name, by_cell.get(other))
        for (column, line), name in by_cell.items()
        for other in ((column + 1, line), (column, line + 1))
        if found.form == "grid" and joined
    ]
    return [(a, b) for a, b in pairs if b is not None and frozenset((a, b)) not in joined]
