"""A picture of a state: objects as nodes, facts about two objects as edges.

Places are computed once for all states of a plan, so that only edges change from step to step. A
fact about more than two objects joins its first object with each of the others; facts about one
object are written at its node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.records.evidence import State
from engine.report.state_facts import Change, StateFacts
from engine.task.atoms import fluent_atoms
from engine.task.task import GroundAtom, Task

MAX_OBJECTS = 150
"""More nodes than this are a tangle, not a picture."""
SEED = 7


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    label: str
    change: Change
    static: bool


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    x: float  # 0..1
    y: float
    labels: tuple[str, ...]  # what is true of this object alone
    involved: bool  # in the action of the step


@dataclass(frozen=True, slots=True)
class Picture:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class GraphLayout:
    """The places of all objects that the given states speak of."""

    def __init__(self, task: Task, states: Iterable[State]) -> None:
        fluents: set[GroundAtom] = set()
        for state in states:
            fluents.update(fluent_atoms(task, state))
        self._static: set[GroundAtom] = {a for a in task.static_atoms if len(a) == 3}
        linked = {name for atom in fluents for name in atom[1:]}
        self.objects = sorted(linked | {name for atom in self._static for name in atom[1:]})
        self.too_many = len(self.objects) > MAX_OBJECTS
        self._places = {} if self.too_many else self._lay_out(fluents)

    def picture(self, facts: StateFacts, action: str = "", static: bool = True) -> Picture:
        involved = set(action.split()[1:])
        labels: dict[str, list[str]] = {}
        edges = []
        for atom, change in facts.atoms.items():
            if len(atom) == 2:
                sign = {Change.ADDED: "+", Change.REMOVED: "\N{MINUS SIGN}"}.get(change, "")
                labels.setdefault(atom[1], []).append(sign + atom[0])
            edges += [Edge(*pair, atom[0], change, False) for pair in _pairs(atom)]
        if static:
            edges += [
                Edge(*pair, atom[0], Change.NONE, True)
                for atom in sorted(self._static)
                for pair in _pairs(atom)
            ]
        nodes = tuple(
            Node(name, *place, tuple(labels.get(name, ())), name in involved)
            for name, place in self._places.items()
        )
        known = self._places.keys()
        return Picture(nodes, tuple(edge for edge in edges if {edge.source, edge.target} <= known))

    def _lay_out(self, fluents: set[GroundAtom]) -> dict[str, tuple[float, float]]:
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.objects)
        for atom in sorted(self._static):
            graph.add_edges_from(_pairs(atom), weight=2.0)
        for atom in sorted(fluents):
            graph.add_edges_from(
                (pair for pair in _pairs(atom) if not graph.has_edge(*pair)), weight=0.6
            )
        if not graph:
            return {}
        distance = 1.8 / max(1, len(graph)) ** 0.5
        places = nx.spring_layout(graph, k=distance, iterations=120, seed=SEED)
        return _scaled({name: (float(x), float(y)) for name, (x, y) in places.items()})


def _pairs(atom: Sequence[str]) -> list[tuple[str, str]]:
    if len(atom) < 3:
        return []
    first, *others = atom[1:]
    return [(first, other) for other in others if other != first]


def _scaled(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Into the square from 0 to 1."""
    xs, ys = [x for x, _ in places.values()], [y for _, y in places.values()]
    width, height = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    return {
        name: ((x - min(xs)) / width, (y - min(ys)) / height) for name, (x, y) in places.items()
    }
