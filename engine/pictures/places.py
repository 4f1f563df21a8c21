"""Where places go: grid, path, ring, tree, net or rows of them; from names, edges and sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt

from engine.pictures.facts import has_word, words

Size = tuple[float, float]
Matrix = npt.NDArray[np.float64]
Cell = tuple[int, int]
"""Column and row."""
GAP = 14.0
ROAD = 34.0
"""Room between places that a line joins."""
SNAKE = 8
MAX_NET = 300
QUANTILE = 0.6
DIRECTIONS = {
    words("up north n"): (0, -1),
    words("down south s"): (0, 1),
    words("left west w"): (-1, 0),
    words("right east e"): (1, 0),
}
TURNS = [turn for a, b in product((1, -1), repeat=2) for turn in ((a, 0, 0, b), (0, a, b, 0))]


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float

    def moved(self, dx: float, dy: float) -> Rect:
        return self._replace(x=self.x + dx, y=self.y + dy)

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
    cells: Mapping[str, Cell] = field(default_factory=dict)  # of a grid

    def moved(self, dx: float, dy: float) -> dict[str, Rect]:
        return {name: rect.moved(dx, dy) for name, rect in self.at.items()}


@dataclass(frozen=True)
class Ground:
    """Places with what joins them."""

    names: Sequence[str]
    edges: Sequence[tuple[str, str]] = ()
    directed: Sequence[tuple[str, str, Cell]] = ()  # the second lies in a direction of the first
    lengths: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    def graph(self) -> nx.Graph:
        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph


def direction_of(names: Iterable[str]) -> Cell | None:
    """The direction that one of some names tells."""
    told = (step for name in names for part, step in DIRECTIONS.items() if has_word(name, part))
    return next(told, None)


def arrange(ground: Ground, sizes: Mapping[str, Size]) -> Arrangement:
    """The first form that fits."""
    if cells := grid_cells(ground):
        gap = 5.0 if len(cells) > SNAKE else ROAD
        return table("grid", cells, sizes, gap, equal=True)
    graph = ground.graph()
    if not ground.edges or len(graph) > MAX_NET:
        return flow(ground.names, sizes)
    degrees = {degree for _, degree in graph.degree()}
    if nx.is_connected(graph):
        if nx.is_tree(graph) and max(degrees) > 2:
            return _tree(graph, sizes)
        if nx.is_tree(graph):
            ends = [name for name in graph if graph.degree(name) == 1]
            path = enumerate(nx.shortest_path(graph, ends[0], ends[-1]))
            rows = {name: divmod(i, SNAKE) for i, name in path}
            cells = {n: (SNAKE - 1 - c if r % 2 else c, r) for n, (r, c) in rows.items()}
            return table("path", cells, sizes, ROAD, align="middle")
        if degrees == {2}:  # half of them above, the others below, backwards
            ring = list(nx.dfs_preorder_nodes(graph, ground.names[0]))
            half = -(-len(ring) // 2)
            cells = {n: (i, 0) if i < half else (2 * half - 1 - i, 1) for i, n in enumerate(ring)}
            return table("ring", cells, sizes, ROAD, align="middle")
    return _net(graph, ground, sizes)


def table(
    form: str,
    cells: Mapping[Any, Cell],
    sizes: Mapping[Any, Size],
    gap: float = GAP,
    *,
    align: str = "corner",
    equal: bool = False,
) -> Arrangement:
    """Boxes in rows and columns: in the `corner` or `middle` of a cell, or as large as it."""
    tracks = [
        [0.0] * (1 + max((cell[axis] for cell in cells.values()), default=-1)) for axis in (0, 1)
    ]
    for name, cell in cells.items():
        for axis, track in enumerate(tracks):
            for i in range(len(track)) if equal else cell[axis : axis + 1]:
                track[i] = max(track[i], sizes[name][axis])
    starts = [[sum(track[:i]) + gap * i for i in range(len(track) + 1)] for track in tracks]
    at = {}
    for name, (column, line) in cells.items():
        room = Rect(starts[0][column], starts[1][line], tracks[0][column], tracks[1][line])
        w, h = sizes[name]
        own = Rect(room.x, room.y, w, h)
        middle = own.moved((room.w - w) / 2, (room.h - h) / 2)
        at[name] = {"corner": own, "middle": middle, "cell": room}[align]
    return Arrangement(at, (starts[0][-1] - gap, starts[1][-1] - gap), form, cells)


def in_columns(names: Sequence[Any], columns: int) -> dict[Any, Cell]:
    return {name: (i % columns, i // columns) for i, name in enumerate(names)}


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
    at: dict[str, Rect] = {}
    size = [0.0, 0.0]
    for part in parts:
        offset = size[axis] + gap * bool(at)
        at |= part.moved(*((offset, 0.0) if axis == 0 else (0.0, offset)))
        size[axis], size[1 - axis] = (
            offset + part.size[axis],
            max(size[1 - axis], part.size[1 - axis]),
        )
    return Arrangement(at, (size[0], size[1]))


# Grids.


def grid_cells(ground: Ground) -> dict[str, Cell]:
    """Columns and rows of places, if names, directions or distances tell them."""
    found = _cells_by_name(ground) or _cells_by_direction(ground) or _cells_by_distance(ground)
    if not found:
        return {}
    left, top = (min(cell[axis] for cell in found.values()) for axis in (0, 1))
    placed = {name: (c - left, r - top) for name, (c, r) in found.items()}
    below = 1 + max(line for _, line in placed.values())
    strangers = [name for name in ground.names if name not in placed]
    return placed | {name: (i, below) for i, name in enumerate(strangers)}


def _cells_by_name(ground: Ground) -> dict[str, Cell]:
    parts = {name: re.split(r"(\d+)", name) for name in ground.names}
    pattern, count = Counter(tuple(row[::2]) for row in parts.values()).most_common(1)[0]
    alike = {
        n: [int(d[:6]) for d in row[1::2]] for n, row in parts.items() if (*row[::2],) == pattern
    }
    varying = [i for i in range(len(pattern) - 1) if len({row[i] for row in alike.values()}) > 1]
    if count < 4 or len(parts) - count > len(parts) / 20 or len(varying) != 2:
        return {}
    across, down = varying[::-1]
    before = [re.sub(r"[^a-z]", "", pattern[i]) for i in varying]  # what says which is which
    if re.search("(x|c|col)$", before[0]) or re.search("(y|r|row)$", before[1]):
        across, down = varying
    upward = before[0].endswith("x") and before[1].endswith("y")
    cells = {
        name: (row[across], -row[down] if upward else row[down]) for name, row in alike.items()
    }
    steps = [_between(cells[a], cells[b]) for a, b in ground.edges if a in cells and b in cells]
    near = sum(max(abs(dx), abs(dy)) == 1 for dx, dy in steps)
    columns, lines = (len({cell[axis] for cell in cells.values()}) for axis in (0, 1))
    full = near >= 0.8 * len(steps) if steps else 2 * len(cells) >= columns * lines
    return _turned(cells, ground) if full and len(set(cells.values())) == len(cells) else {}


def _between(a: Cell, b: Cell) -> Cell:
    return b[0] - a[0], b[1] - a[1]


def _turned(cells: dict[str, Cell], ground: Ground) -> dict[str, Cell]:
    """Turn or flip a grid so that up is up."""

    def turn(cell: Cell, t: Sequence[int]) -> Cell:
        return cell[0] * t[0] + cell[1] * t[1], cell[0] * t[2] + cell[1] * t[3]

    known = [row for row in ground.directed if row[0] in cells and row[1] in cells]
    steps = [(_between(cells[a], cells[b]), step) for a, b, step in known]
    best = max(TURNS, key=lambda t: sum(turn(drawn, t) == step for drawn, step in steps))
    return {name: turn(cell, best) for name, cell in cells.items()}


def _cells_by_direction(ground: Ground) -> dict[str, Cell]:
    graph = nx.Graph()
    graph.add_nodes_from(ground.names)
    steps: dict[tuple[str, str], Cell] = {}
    for a, b, (dx, dy) in ground.directed:
        graph.add_edge(a, b)
        steps |= {(a, b): (dx, dy), (b, a): (-dx, -dy)}
    cells: dict[str, Cell] = {ground.names[0]: (0, 0)}
    for a, b in nx.bfs_edges(graph, ground.names[0]):
        cells[b] = cells[a][0] + steps[a, b][0], cells[a][1] + steps[a, b][1]
    if len(set(cells.values())) < len(ground.names):
        return {}
    fitting = sum(_between(cells[a], cells[b]) == step for a, b, step in ground.directed)
    return cells if fitting >= 0.95 * len(ground.directed) else {}


def _cells_by_distance(ground: Ground) -> dict[str, Cell]:
    """Two corners tell the cells of all others, if every edge joins neighbors then."""
    graph = ground.graph()
    if len(graph) < 6 or len(graph) > 2000 or not nx.is_connected(graph):
        return {}
    if max(degree for _, degree in graph.degree()) > 4:
        return {}
    corners = [name for name in ground.names if graph.degree(name) <= 2][:10]
    far = {name: nx.single_source_shortest_path_length(graph, name) for name in corners}
    for a, b in combinations(corners, 2):
        apart = far[a][b]
        sums = {n: (far[a][n] - far[b][n] + apart, far[a][n] + far[b][n] - apart) for n in graph}
        cells = {name: (x // 2, y // 2) for name, (x, y) in sums.items()}
        wide = min(len({cell[axis] for cell in cells.values()}) for axis in (0, 1)) > 1
        steps = (_between(cells[u], cells[v]) for u, v in graph.edges)
        straight = all(abs(dx) + abs(dy) == 1 for dx, dy in steps)
        even = not any(x % 2 or y % 2 for x, y in sums.values())
        if even and wide and straight and len(set(cells.values())) == len(cells):
            return _turned(cells, ground)
    return {}


# Graphs.


def _tree(graph: nx.Graph, sizes: Mapping[str, Size]) -> Arrangement:
    """The center on top, children below their parent."""
    names = list(graph)
    root = min(nx.center(graph), key=names.index)
    children = {n: sorted(rows, key=names.index) for n, rows in nx.bfs_successors(graph, root)}
    depth = nx.single_source_shortest_path_length(graph, root)
    heights = [
        max(sizes[n][1] for n in names if depth[n] == d) for d in range(max(depth.values()) + 1)
    ]
    at: dict[str, Rect] = {}

    def width(name: str) -> float:
        return max(sizes[name][0], row(name))

    def row(name: str) -> float:
        return sum(width(child) + GAP for child in children.get(name, ())) - GAP

    def put(name: str, left: float) -> None:
        y = sum(height + ROAD for height in heights[: depth[name]])
        at[name] = Rect(left + (width(name) - sizes[name][0]) / 2, y, *sizes[name])
        left += (width(name) - row(name)) / 2
        for child in children.get(name, ()):
            put(child, left)
            left += width(child) + GAP

    put(root, 0.0)
    return Arrangement(at, (width(root), sum(heights) + ROAD * (len(heights) - 1)), "tree")


def _net(graph: nx.Graph, ground: Ground, sizes: Mapping[str, Size]) -> Arrangement:
    """Distances on the screen as along the roads; then boxes are pushed apart."""
    known = {edge: ground.lengths.get(edge, ground.lengths.get(edge[::-1])) for edge in graph.edges}
    given = [length for length in known.values() if length is not None]
    middle = float(np.median(given)) if given else 0.0
    for edge, length in known.items():
        share = (middle if length is None else length) / middle if middle > 0 else 1.0
        graph.edges[edge]["length"] = min(max(share, 0.7), 2.2)
    far = dict(nx.all_pairs_dijkstra_path_length(graph, weight="length"))
    longest = max(max(row.values()) for row in far.values())
    wanted = np.array([[far[a].get(b, longest + 1.0) for b in graph] for a in graph])
    boxes = np.array([sizes[name] for name in graph])
    corners = _spread(_stress(wanted), boxes + ROAD * 0.8) - boxes / 2
    corners -= corners.min(axis=0)
    width, height = (round(float(end), 1) for end in (corners + boxes).max(axis=0))
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
    for start in (ring, vectors * signs):
        places = start
        for _ in range(120):
            pull = -weights * wanted / np.maximum(apart(places), 1e-6)
            places = inverse @ ((pull - np.diag(pull.sum(axis=1))) @ places)
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
