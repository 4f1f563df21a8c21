"""Where places go, judged by what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import networkx as nx
import pytest
from reference.drawn_tasks import Made

from engine.pictures.picture import Picture
from engine.pictures.places import arrange, grid_cells

NAMES = "kite lamp moth nail oven pear quay rope seal tent urn vase".split()  # noqa: SIM905
Told = Sequence[tuple[str, str, complex]]
COLUMNS = 4
AT = {name: complex(i % COLUMNS, i // COLUMNS) for i, name in enumerate(NAMES)}


def ground(edges: Sequence[tuple[str, str]], told: Told = ()) -> nx.Graph:
    graph = nx.Graph(directed=told)
    graph.add_nodes_from(dict.fromkeys(name for edge in edges for name in edge))
    graph.add_edges_from(edges, length=None)
    return graph


def beside(step: complex) -> list[tuple[str, str]]:
    by_cell = {cell: name for name, cell in AT.items()}
    return [(name, by_cell[cell + step]) for name, cell in AT.items() if cell + step in by_cell]


def test_distances_tell_a_grid_whose_names_tell_nothing() -> None:
    edges = [*beside(1), *beside(1j)]
    cells = grid_cells(ground(edges))
    assert len(set(cells.values())) == len(NAMES)
    assert all(abs(cells[a] - cells[b]) == 1 for a, b in edges)


def test_directions_turn_a_grid_so_that_up_is_up() -> None:
    told = [(a, b, 1) for a, b in beside(1)] + [(a, b, 1j) for a, b in beside(1j)]
    edges = [(a, b) for a, b, _ in told]
    assert grid_cells(ground(edges, told)) == AT
    hole = [row for row in told if "pear" not in row]  # distances are no help then
    left = ground([(a, b) for a, b, _ in hole], hole)
    assert grid_cells(left) == {name: AT[name] for name in left}


@pytest.mark.parametrize(
    ("edges", "form"),
    [
        ([*pairwise(NAMES[:5])], "path"),
        ([*pairwise(NAMES[:5]), (NAMES[4], NAMES[0])], "ring"),
        ([("kite", name) for name in NAMES[1:]], "tree"),
        ([(a, b) for i, a in enumerate(NAMES[:5]) for b in NAMES[i + 1 : 5]], "net"),
    ],
)
def test_the_form_is_that_of_the_graph_and_no_boxes_overlap(
    edges: list[tuple[str, str]], form: str
) -> None:
    graph = ground(edges)
    found = arrange(graph, dict.fromkeys(graph, (50.0, 30.0)))
    assert found.form == form
    boxes = list(found.at.values())
    assert all(box.x >= 0 and box.right <= found.size[0] + 0.1 for box in boxes)
    assert all(box.y >= 0 and box.bottom <= found.size[1] + 0.1 for box in boxes)
    for a, b in combinations(boxes, 2):
        assert a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y


def test_the_children_of_a_tree_are_below_their_parent() -> None:
    graph = ground([("kite", "lamp"), ("kite", "moth"), ("kite", "nail"), ("lamp", "oven")])
    at = arrange(graph, dict.fromkeys(graph, (50.0, 30.0))).at
    assert at["kite"].bottom < at["lamp"].y == at["moth"].y == at["nail"].y
    assert at["lamp"].bottom < at["oven"].y


def test_neighbors_that_nothing_joins_have_a_wall_between_them(make_task: Made) -> None:
    domain = """(:types man cell) (:predicates (at ?m - man ?c - cell) (door ?a ?b - cell))
      (:action go :parameters (?m - man ?a ?b - cell) :precondition (and (at ?m ?a) (door ?a ?b))
        :effect (and (at ?m ?b) (not (at ?m ?a))))"""
    cells = {complex(x, y): f"c-{y}-{x}" for x in range(4) for y in range(3)}
    pairs = [(c, c + s) for c in cells for s in (1, 1j) if c + s in cells and c != 1 + 1j]
    doors = " ".join(f"(door {cells[a]} {cells[b]}) (door {cells[b]} {cells[a]})" for a, b in pairs)
    names = " ".join(cells.values())
    init = f"{doors} (at bob c-0-0)"
    task = make_task(domain, f"{names} - cell bob - man", init, "(at bob c-2-2)")
    scene = Picture(task, [[task.init]]).scene("", task.init)
    walls = {item.key for item in scene.items if item.key.startswith("wall")}
    assert walls == {"wall c-1-1 c-1-2", "wall c-1-1 c-2-1"}
