"""A GNN value function as a policy: go to the successor that looks nearest to the goal.

A state is a graph: one node per object, one relation per predicate. All true atoms take part,
static ones too, and every atom of the goal as an atom of the predicate's goal version, whether it
is true or not. Atoms without arguments carry no message.

Candidates are ordered by their text `name(arg1, arg2)` as in the published server, and the first
of the best wins. The reference draws new noise for every state; here each object has one fixed
row from a seeded generator, which makes the policy a function of the state. A checkpoint without
a solvability head gives no penalty (the reference then uses a random one).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Location, PolicyError, UnsupportedError
from engine.native.library import Int32Array, Int64Array
from engine.pddl.model import Atom, Domain, Problem, conjuncts
from engine.policies.gnn.checkpoint import (
    GOAL_SUFFIX,
    GnnCheckpoint,
    domain_predicates,
    read_gnn_checkpoint,
)
from engine.policies.gnn.network import GnnNetwork, GraphBatch
from engine.policies.gnn.noise import torch_normal
from engine.policies.policy import NO_ACTION, PolicyInfo, pddl_source, require_domain
from engine.task.atoms import ground_atom
from engine.task.states import StateTable
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
        atoms: list[tuple[int, Ints]] = []
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
                atoms.append((relation, arguments))
        return GraphBatch(self.objects, group_of_state, groups, atoms)

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


TIE_TOLERANCE = 1e-5
"""Scores this close count as equal, and the first candidate wins."""

BATCH_MARGIN = 5e-5
RELATIVE_BATCH_MARGIN = 1e-6
"""More than a score, small or large, changes when its state is evaluated among others."""

ENGINE = f"numpy {np.__version__}, ties alone"
"""What decides, for descriptions: another engine may break near ties in another way."""

CHUNK_MESSAGES = 2**13


class GnnPolicy:
    def __init__(self, checkpoint: GnnCheckpoint, seed: int = 0) -> None:
        self._checkpoint = checkpoint
        self._seed = seed

    @classmethod
    def from_checkpoint(cls, path: Path, contents: Mapping[str, Any], seed: int = 0) -> GnnPolicy:
        return cls(read_gnn_checkpoint(path, contents), seed)

    def describe(self) -> PolicyInfo:
        return PolicyInfo("gnn", None, {**self._checkpoint.details, "engine": ENGINE})

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        known = dict(domain_predicates(self._checkpoint.predicates))
        present = {predicate.name: predicate.arity for predicate in domain.predicates}
        reasons = []
        if unknown := [name for name in present if name not in known]:
            reasons.append(f"the policy does not know the predicates {', '.join(unknown)}")
        if missing := [name for name in known if name not in present]:
            reasons.append(f"the domain lacks the predicates {', '.join(missing)}")
        reasons += [
            f"predicate '{name}' has {present[name]} arguments, the policy expects {arity}"
            for name, arity in known.items()
            if present.get(name, arity) != arity
        ]
        return tuple(reasons)

    def bind(self, task: Task) -> BoundGnn:
        source = pddl_source(task, self._checkpoint.path)
        for rule in source.domain.derived:
            raise UnsupportedError(
                f"this network reads states without derived predicates such as "
                f"'{rule.predicate.name}'",
                Location.of(source.domain.path, rule.position.line, rule.position.column),
                "use another policy for this domain",
            )
        require_domain(self, source.domain, str(self._checkpoint.path))
        return BoundGnn(self._checkpoint, task, source, self._seed)


@dataclass(frozen=True)
class _Candidates:
    """The successors of some states, those of a state together and ordered by their text."""

    row_begin: Int64Array
    operators: Int32Array
    states: Int32Array  # values


class BoundGnn:
    def __init__(
        self, checkpoint: GnnCheckpoint, task: Task, source: PddlSource, seed: int = 0
    ) -> None:
        self._task = task
        relations = {name: index for index, (name, _) in enumerate(checkpoint.predicates)}
        self.encoding = GraphEncoding(task, source, relations)
        self.noise = torch_normal(self.encoding.objects, checkpoint.hidden // 2, seed)
        self._network = GnnNetwork(checkpoint, self.noise)
        texts = [_text(operator.name) for operator in task.operators]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        self._rank = np.empty(len(texts), dtype=np.int64)
        self._rank[order] = np.arange(len(texts))
        self._states_per_pass = max(1, CHUNK_MESSAGES // max(1, self.encoding.messages_per_state()))

    def decide(self, states: Int32Array) -> Int32Array:
        """The first of the best successors; near ties are decided for one state alone.

        So a decision does not depend on the states that are asked about with it.
        """
        decisions = np.full(len(states), NO_ACTION, dtype=np.int32)
        for state, operators, scores in self.scored(states):
            threshold = scores.min() + TIE_TOLERANCE
            if np.isnan(threshold):
                raise PolicyError("the scores of the network are too large to be numbers")
            margin = max(BATCH_MARGIN, RELATIVE_BATCH_MARGIN * float(threshold))
            if len(states) > 1 and (scores <= threshold + margin).sum() > 1:
                decisions[state] = self.decide(states[state : state + 1])[0]
            else:
                decisions[state] = operators[np.flatnonzero(scores <= threshold)[0]]
        return decisions

    def distribution(self, states: Int32Array) -> NDArray[np.float64]:
        """Shares of the sum of the others' scores, as the published server computes them."""
        result = np.zeros((len(states), len(self._task.operators)))
        for state, operators, scores in self.scored(states):
            others = scores.sum(dtype=np.float64) - scores
            if others.sum() > 0:
                result[state, operators] = others / others.sum()
        return result

    def scored(self, states: Int32Array) -> Iterator[tuple[int, Int32Array, NDArray[np.float32]]]:
        """Per state that has successors: its operators in order and their scores."""
        candidates = self._candidates(states)
        counts = np.diff(candidates.row_begin)
        for part in self._passes(counts):
            rows = slice(candidates.row_begin[part.start], candidates.row_begin[part.stop])
            groups = np.repeat(np.arange(part.stop - part.start), counts[part])
            if not len(groups):
                continue
            batch = self.encoding.batch(candidates.states[rows], groups, part.stop - part.start)
            scores = self._network.evaluate(batch)
            for state in range(part.start, part.stop):
                own = slice(candidates.row_begin[state], candidates.row_begin[state + 1])
                if own.stop > own.start:
                    first = own.start - rows.start
                    yield state, candidates.operators[own], scores[first : own.stop - rows.start]

    def _candidates(self, states: Int32Array) -> _Candidates:
        table = StateTable(self._task)
        row_begin, operators, successors = table.successors_of(table.add(states))
        rows = np.repeat(np.arange(len(states)), np.diff(row_begin))
        order = np.lexsort((self._rank[operators], rows))
        return _Candidates(row_begin, operators[order], table.values(successors[order]))

    def _passes(self, counts: Int64Array) -> Iterator[slice]:
        """Runs of whole decisions that together have few enough successors for one pass."""
        start, total = 0, 0
        for state, count in enumerate(counts.tolist()):
            if total and total + count > self._states_per_pass:
                yield slice(start, state)
                start, total = state, 0
            total += count
        if len(counts):
            yield slice(start, len(counts))


def _text(name: str) -> str:
    action, *arguments = name.split(" ")
    return f"{action}({', '.join(arguments)})"
