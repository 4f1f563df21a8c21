"""Where places go: grid, path, ring, tree, net or rows of them; from names, edges and sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt

from engine.pictures.facts import has_word

Size = tuple[float, float]
Matrix = npt.NDArray[np.float64]
Cells = dict[Any, complex]
"""Columns and rows."""
GAP = 14.0
ROAD = 34.0
"""Room between places that a line joins."""
SNAKE = 8
MAX_NET = 300
QUANTILE = 0.6
DIRECTIONS = {"north": -1j, "south": 1j, "west": -1, "east": 1}


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float

    def moved(self, dx: float, dy: float) -> Rect:
        return self._replace(x=self.x + dx, y=self.y + dy)

    @property
    def middle(self) -> Size:
        return round(self.x + self.w / 2, 1), round(self.y + self.h / 2, 1)

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h


@dataclass(frozen=True)
class Arrangement:
    """Boxes from the corner of what they are in, and how much room they take."""

    at: dict[Any, Rect]  # by name, or by what stands for some of them
    size: Size
    form: str = ""
    cells: Cells = field(default_factory=dict)

    def moved(self, dx: float, dy: float) -> dict[Any, Rect]:
        return {name: rect.moved(dx, dy) for name, rect in self.at.items()}


def larger(*sizes: Size) -> Size:
    return max(size[0] for size in sizes), max(size[1] for size in sizes)


def direction_of(names: Iterable[str]) -> complex | None:
    """The direction that one of some names tells."""
    told = (step for n in names for group, step in DIRECTIONS.items() if has_word(n, group))
    return next(told, None)


def arrange(ground: nx.Graph, sizes: Mapping[str, Size]) -> Arrangement:
    """The first form that fits; the ground may know directions, and lengths of its edges."""
    names = list(ground)
    if cells := grid_cells(ground):
        gap = 5.0 if len(cells) > SNAKE else ROAD
        return table("grid", cells, sizes, gap, equal=True)
    if not ground.edges or len(names) > MAX_NET:
        return flow(names, sizes)
    degrees = dict(ground.degree())
    connected = nx.is_connected(ground)
    if connected and nx.is_tree(ground):
        ends = [name for name in names if degrees[name] == 1]
        if max(degrees.values()) > 2:
            return _tree(ground, sizes)
        cells = in_columns(nx.shortest_path(ground, ends[0], ends[-1]), SNAKE)
        cells |= {n: SNAKE - 1 - c.conjugate() for n, c in cells.items() if c.imag % 2}
        return table("path", cells, sizes, ROAD, align="middle")
    if connected and set(degrees.values()) == {2}:  # half above, the others below, backward
        ring = list(nx.dfs_preorder_nodes(ground, names[0]))
        half = -(-len(ring) // 2)
        cells = in_columns(ring[:half], half)
        cells |= {name: half - 1 - i + 1j for i, name in enumerate(ring[half:])}
        return table("ring", cells, sizes, ROAD, align="middle")
    return _net(ground, sizes)


def table(
    form: str,
    cells: Cells,
    sizes: Mapping[Any, Size],
    gap: float = GAP,
    *,
    align: str = "corner",
    equal: bool = False,
) -> Arrangement:
    """Boxes in rows and columns: in the `corner` or `middle` of a cell, or as large as it."""
    places = {name: (int(cell.real), int(cell.imag)) for name, cell in cells.items()}
    tracks = [[0.0] * (1 + max((p[axis] for p in places.values()), default=-1)) for axis in (0, 1)]
    for name, place in places.items():
        for axis, track in enumerate(tracks):
            for i in range(len(track)) if equal else place[axis : axis + 1]:
                track[i] = max(track[i], sizes[name][axis])
    starts = [list(accumulate((size + gap for size in t), initial=0.0)) for t in tracks]
    at = {}
    for name, (i, j) in places.items():
        own = Rect(starts[0][i], starts[1][j], *sizes[name])
        room = own._replace(w=tracks[0][i], h=tracks[1][j])
        middle = own.moved((room.w - own.w) / 2, (room.h - own.h) / 2)
        at[name] = {"corner": own, "middle": middle, "cell": room}[align]
    return Arrangement(at, (starts[0][-1] - gap, starts[1][-1] - gap), form, cells)


def in_columns(names: Iterable[Any], columns: int) -> Cells:
    return {name: complex(i % columns, i // columns) for i, name in enumerate(names)}


def flow(names: Sequence[str], sizes: Mapping[str, Size], ratio: float = 1.6) -> Arrangement:
    """Rows of as many columns as come nearest to a ratio of width and height."""
    columns = range(1, len(names) + 1)
    return nearest(ratio, [table("flow", in_columns(names, n), sizes) for n in columns], GAP)


def nearest(wanted: float, choices: Iterable[Arrangement], gap: float = 0.0) -> Arrangement:
    """What comes nearest to a ratio of width and height."""

    def badness(found: Arrangement) -> float:
        ratio = (found.size[0] + gap) / max(found.size[1] + gap, 1.0) / wanted
        return max(ratio, 1 / max(ratio, 0.01))

    return min(choices, key=badness)


def lined_up(parts: Iterable[Arrangement], axis: int, gap: float) -> Arrangement:
    """Beside (0) or below (1) each other."""
    at: dict[Any, Rect] = {}
    size = (0.0, 0.0)
    for part in parts:
        offset = size[axis] + gap if at else 0.0
        dx, dy = (offset, 0.0) if axis == 0 else (0.0, offset)
        at |= part.moved(dx, dy)
        size = larger(size, (part.size[0] + dx, part.size[1] + dy))
    return Arrangement(at, size)


# Grids.


def grid_cells(ground: nx.Graph) -> Cells:
    """Columns and rows of places, if names, directions or distances tell them."""
    found = _cells_by_name(ground) or _cells_by_direction(ground) or _cells_by_distance(ground)
    if not found:
        return {}
    corner = complex(min(c.real for c in found.values()), min(c.imag for c in found.values()))
    placed = {name: cell - corner for name, cell in found.items()}
    below = 1j * (1 + max(cell.imag for cell in placed.values()))
    unplaced = [name for name in ground if name not in placed]
    return placed | {name: below + i for i, name in enumerate(unplaced)}


def _cells_by_name(ground: nx.Graph) -> Cells:
    """Names with two numbers that vary, if most edges join neighbors then."""
    parts = {name: re.split(r"(\d+)", name) for name in ground}
    pattern, count = Counter(tuple(row[::2]) for row in parts.values()).most_common(1)[0]
    same = {name: row[1::2] for name, row in parts.items() if (*row[::2],) == pattern}
    alike = {name: [int(digits[:6]) for digits in row] for name, row in same.items()}
    varying = [i for i in range(len(pattern) - 1) if len({row[i] for row in alike.values()}) > 1]
    if count < 4 or len(parts) - count > len(parts) / 20 or len(varying) != 2:
        return {}
    down, across = varying
    before = [re.sub(r"[^a-z]", "", pattern[i]) for i in varying]  # what says which is which
    if re.search("(x|c|col)$", before[0]) or re.search("(y|r|row)$", before[1]):
        across, down = varying
    up = -1j if before[0].endswith("x") and before[1].endswith("y") else 1j
    cells = {name: row[across] + up * row[down] for name, row in alike.items()}
    steps = [cells[a] - cells[b] for a, b in ground.edges if a in cells and b in cells]
    near = sum(abs(step) < 2 for step in steps)
    room = len({c.real for c in cells.values()}) * len({c.imag for c in cells.values()})
    full = near >= 0.8 * len(steps) if steps else 2 * len(cells) >= room
    return _turned(cells, ground) if full and len(set(cells.values())) == len(cells) else {}


def _turned(cells: Cells, ground: nx.Graph) -> Cells:
    """Turn or flip a grid so that up is up."""
    told = [(a, b, step) for a, b, step in ground.graph["directed"] if a in cells and b in cells]

    def fitting(choice: Cells) -> int:
        return sum(choice[b] - choice[a] == step for a, b, step in told)

    flipped = {name: cell.conjugate() for name, cell in cells.items()}
    choices = [(row, 1j**turn) for row in (cells, flipped) for turn in range(4)]
    return max(({n: c * turn for n, c in row.items()} for row, turn in choices), key=fitting)


def _cells_by_direction(ground: nx.Graph) -> Cells:
    told, first = ground.graph["directed"], next(iter(ground))
    steps = {(a, b): step for a, b, step in told} | {(b, a): -step for a, b, step in told}
    graph = nx.Graph(list(steps))
    graph.add_node(first)
    cells: Cells = {first: 0j}
    for a, b in nx.bfs_edges(graph, first):
        cells[b] = cells[a] + steps[a, b]
    if len(set(cells.values())) < len(ground):
        return {}
    return cells if sum(cells[b] - cells[a] == s for a, b, s in told) >= 0.95 * len(told) else {}


def _cells_by_distance(ground: nx.Graph) -> Cells:
    """Two corners tell the cells of all others, if every edge joins neighbors then."""
    if not 6 <= len(ground) <= 2000 or not nx.is_connected(ground):
        return {}
    if max(degree for _, degree in ground.degree()) > 4:
        return {}
    corners = [name for name in ground if ground.degree(name) <= 2][:10]
    far = {name: nx.single_source_shortest_path_length(ground, name) for name in corners}
    for a, b in combinations(corners, 2):
        apart, one, two = far[a][b], far[a], far[b]
        cells = {n: complex(one[n] - two[n] + apart, one[n] + two[n] - apart) / 2 for n in ground}
        straight = all(abs(cells[u] - cells[v]) == 1 for u, v in ground.edges)
        even = all(c.real.is_integer() and c.imag.is_integer() for c in cells.values())
        wide = len({c.real for c in cells.values()}) > 1 < len({c.imag for c in cells.values()})
        if even and wide and straight and len(set(cells.values())) == len(cells):
            return _turned(cells, ground)
    return {}


# Graphs.


def _tree(graph: nx.Graph, sizes: Mapping[str, Size]) -> Arrangement:
    """The center on top, children below their parent."""
    names = list(graph)
    root = min(nx.center(graph), key=names.index)
    children = dict(nx.bfs_successors(graph, root))
    levels = [max(sizes[name][1] for name in layer) for layer in nx.bfs_layers(graph, root)]

    def part(name: str, depth: int = 0) -> Arrangement:
        below = sorted(children.get(name, ()), key=names.index)
        row = lined_up([part(child, depth + 1) for child in below], 0, GAP)
        width, top = max(sizes[name][0], row.size[0]), levels[depth] + ROAD
        at = {name: Rect((width - sizes[name][0]) / 2, 0.0, *sizes[name])}
        at |= row.moved((width - row.size[0]) / 2, top)
        return Arrangement(at, (width, top + row.size[1] if below else levels[depth]), "tree")

    return part(root)


def _net(graph: nx.Graph, sizes: Mapping[str, Size]) -> Arrangement:
    """Distances on the screen as along the roads; then boxes are pushed apart."""
    given = [length for _, _, length in graph.edges(data="length") if length is not None]
    middle = float(np.median(given)) if given else 0.0

    def length(_a: str, _b: str, edge: dict[str, float | None]) -> float:
        known = edge["length"]
        share = (middle if known is None else known) / middle if middle > 0 else 1.0
        return min(max(share, 0.7), 2.2)

    far = dict(nx.all_pairs_dijkstra_path_length(graph, weight=length))
    longest = max(max(row.values()) for row in far.values())
    wanted = np.array([[far[a].get(b, longest + 1.0) for b in graph] for a in graph])
    boxes = np.array([sizes[name] for name in graph])
    corners = _spread(_stress(wanted), boxes + ROAD * 0.8) - boxes / 2
    corners -= corners.min(axis=0)
    width, height = (corners + boxes).max(axis=0).round(1).tolist()
    rows = zip(graph, corners.round(1).tolist(), strict=True)
    return Arrangement({n: Rect(x, y, *sizes[n]) for n, (x, y) in rows}, (width, height), "net")


def _stress(wanted: Matrix) -> Matrix:
    """Stress majorization from a ring and from classical scaling; the better one counts."""
    size = len(wanted)
    weights = (wanted + np.eye(size)) ** -2 - np.eye(size)
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1.0 / size) - 1.0 / size
    angles = 2 * np.pi * np.arange(size) / size
    ring = np.column_stack((np.cos(angles), np.sin(angles))) * size / 6
    center = np.eye(size) - 1.0 / size
    values, vectors = np.linalg.eigh(-0.5 * center @ wanted**2 @ center)
    vectors = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    signs = np.where(vectors[np.abs(vectors).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)

    def apart(places: Matrix) -> Matrix:
        return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))

    found = []
    for places in (ring, vectors * signs):
        for _ in range(120):
            pull = -weights * wanted / np.maximum(apart(places), 1e-6)
            places = inverse @ ((pull - np.diag(pull.sum(axis=1))) @ places)  # noqa: PLW2901
        found.append((round(float((weights * (apart(places) - wanted) ** 2).sum()), 6), places))
    best = min(found, key=lambda row: row[0])[1]
    best = best - best.mean(axis=0)
    best = best @ np.linalg.svd(best, full_matrices=False)[2].T  # the longest axis across
    return np.asarray(best * np.where(best[0] > 0, -1.0, 1.0))


def _spread(places: Matrix, boxes: Matrix) -> Matrix:
    """Scale until most boxes have room, then push the others apart."""
    rows, columns = np.triu_indices(len(places), 1)
    apart = np.abs(places[rows] - places[columns])
    needed = (boxes[rows] + boxes[columns]) / 2
    scales = (needed / np.maximum(apart, 1e-6)).min(axis=1)
    places = places * float(np.quantile(scales, QUANTILE))
    for number in range(400):
        delta = places[rows] - places[columns]
        overlap = needed - np.abs(delta)
        hit = np.flatnonzero((overlap > 0.05).all(axis=1))
        if not len(hit):
            break
        if number % 80 == 79:
            places *= 1.15  # they push each other in circles
        for k in hit:
            axis = int(overlap[k].argmin())
            push = overlap[k, axis] / 2 * (1.0 if delta[k, axis] >= 0 else -1.0)
            places[rows[k], axis] += push
            places[columns[k], axis] -= push
    return places
