"""States of a task as graphs: one node per object, one relation per predicate.

All true atoms take part, static ones too, and every atom of the goal as an atom of the
predicate's goal version, whether it is true or not. Atoms without arguments carry no message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import Location, UnsupportedError
from engine.native.library import Int32Array
from engine.pddl.model import Atom, Problem, conjuncts
from engine.policies.gnn.checkpoint import GOAL_SUFFIX
from engine.policies.gnn.network import GraphBatch
from engine.task.atoms import ground_atom
from engine.task.task import GroundAtom, PddlSource, Task

Ints = NDArray[np.int64]

NO_RELATION = -1


class GraphEncoding:
    def __init__(self, task: Task, source: PddlSource, relations: Mapping[str, int]) -> None:
        constants, objects = source.domain.constants, source.problem.objects
        distinct = dict.fromkeys(item.name for item in (*constants, *objects))
        self.nodes = {name: number for number, name in enumerate(distinct)}
        self._relations = relations
        wanted = map(ground_atom, goal_atoms(source.problem))
        goal = [(predicate + GOAL_SUFFIX, *names) for predicate, *names in wanted]
        self._fixed = self._by_relation([*task.static_atoms, *goal])
        self._wire_facts(task)

    @property
    def objects(self) -> int:
        return len(self.nodes)

    def _by_relation(self, atoms: Iterable[GroundAtom]) -> dict[int, Ints]:
        """Per relation the nodes of its atoms; sorted, so that sums are always in one order."""
        rows: dict[int, list[list[int]]] = {}
        for atom in sorted(set(atoms)):
            if len(atom) > 1:
                nodes = [self.nodes[name] for name in atom[1:]]
                rows.setdefault(self._relations[atom[0]], []).append(nodes)
        return {relation: np.array(lines, dtype=np.int64) for relation, lines in rows.items()}

    def _wire_facts(self, task: Task) -> None:
        """Number all facts in one row; each has a relation and a row among its relation's."""
        self._first_fact = np.cumsum([0, *task.domain_sizes[:-1]], dtype=np.int64)
        atoms = [atom for values in task.fact_atoms for atom in values]
        self._relation_of_fact = np.full(len(atoms), NO_RELATION, dtype=np.int64)
        widest = max([1, *(len(atom) - 1 for atom in atoms if atom is not None)])
        self._nodes_of_fact = np.zeros((len(atoms), widest), dtype=np.int64)
        for fact, atom in enumerate(atoms):
            if atom is not None and len(atom) > 1:
                self._relation_of_fact[fact] = self._relations[atom[0]]
                nodes = [self.nodes[name] for name in atom[1:]]
                self._nodes_of_fact[fact, : len(nodes)] = nodes
        self._arity = {
            relation: len(atom) - 1
            for atom in atoms
            if atom is not None and (relation := self._relations[atom[0]]) >= 0
        }

    def batch(self, states: Int32Array, group_of_state: Ints, groups: int) -> GraphBatch:
        facts = self._first_fact + states
        relations = self._relation_of_fact[facts]
        offsets = np.arange(len(states), dtype=np.int64) * self.objects
        atoms: list[tuple[int, torch.Tensor]] = []
        for relation in sorted({*self._fixed, *self._arity}):
            parts: list[Ints] = []
            if relation in self._fixed:
                fixed = self._fixed[relation]
                parts.append((offsets[:, None, None] + fixed).reshape(-1, fixed.shape[1]))
            if relation in self._arity:
                rows, columns = np.nonzero(relations == relation)
                nodes = self._nodes_of_fact[facts[rows, columns], : self._arity[relation]]
                parts.append(nodes + offsets[rows, None])
            arguments = np.concatenate(parts)
            if arguments.size:
                atoms.append((relation, torch.from_numpy(arguments)))
        return GraphBatch(self.objects, torch.from_numpy(group_of_state), groups, atoms)

    def messages_per_state(self) -> int:
        """An upper bound, for deciding how many states fit in one pass."""
        fixed = sum(rows.size for rows in self._fixed.values())
        return fixed + len(self._first_fact) * self._nodes_of_fact.shape[1]


def goal_atoms(problem: Problem) -> list[Atom]:
    atoms = []
    for part in conjuncts(problem.goal):
        if not isinstance(part, Atom):
            raise UnsupportedError(
                "this network needs a goal that is a conjunction of atoms",
                Location.of(problem.path, part.position.line, part.position.column),
                "rewrite the goal or use another policy",
            )
        atoms.append(part)
    return atoms
