"""Action schema networks one operator, one fact and one number at a time.

Grounding by trying every binding, h2 on sets of pairs, the network as nested loops over plain
floats. Written from the formulas, with no code of the engine but the lifted model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.pddl.model import Add, And, Atom, Delete, Domain, EffectAnd, Equality, Not, Problem

GroundAtom = tuple[str, ...]
Vector = list[float]
Matrix = Sequence[Sequence[float]]
Weights = Mapping[tuple[str, int, str], tuple[Matrix, Sequence[float]]]
"""(matrix, bias) by ("action" or "predicate", layer, name)."""


@dataclass(frozen=True)
class GroundOperator:
    schema: str
    name: str
    related: tuple[GroundAtom, ...]
    positive: frozenset[GroundAtom]
    negative: frozenset[GroundAtom]
    add: frozenset[GroundAtom]
    delete: frozenset[GroundAtom]

    def is_applicable(self, state: frozenset[GroundAtom]) -> bool:
        return self.positive <= state and not self.negative & state


@dataclass(frozen=True)
class GroundTask:
    operators: list[GroundOperator]
    facts: frozenset[GroundAtom]
    goal: frozenset[GroundAtom]


def parts_of(whole: object) -> list:
    """Conjuncts in order, those of nested conjunctions behind the others."""
    found, waiting = [], [whole]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, (And, EffectAnd)):
            waiting += part.parts
        else:
            found.append(part)
    return found


def related_atoms(action) -> list[Atom]:
    atoms: list[Atom] = []
    for part in [*parts_of(action.precondition), *parts_of(action.effect)]:
        inner = part.part if isinstance(part, Not) else part
        atom = inner.atom if isinstance(inner, (Add, Delete)) else inner
        if isinstance(atom, Atom) and atom not in atoms:
            atoms.append(atom)
    return atoms


def pooling_slots(domain: Domain, predicate: str) -> list[tuple[str, int]]:
    return [
        (action.name, position)
        for action in domain.actions
        for position, atom in enumerate(related_atoms(action))
        if atom.predicate == predicate
    ]


def is_of_type(domain: Domain, types: Iterable[str], wanted: Iterable[str]) -> bool:
    above = set(types) | {"object"}
    while True:
        more = {t for item in domain.types if item.name in above for t in item.types} - above
        if not more:
            return bool(above & set(wanted))
        above |= more


def bindings(domain: Domain, problem: Problem, action) -> Iterable[dict[str, str]]:
    things = {item.name: item.types for item in (*domain.constants, *problem.objects)}
    choices = [
        [name for name, types in things.items() if is_of_type(domain, types, parameter.types)]
        for parameter in action.parameters
    ]
    for values in itertools.product(*choices):
        yield dict(zip((p.name for p in action.parameters), values, strict=True))


def instantiate(action, binding: dict[str, str]) -> GroundOperator | None:
    """None when an equality forbids the binding."""

    def value(term) -> str:
        return binding.get(term.name, term.name)

    def ground(atom: Atom) -> GroundAtom:
        return (atom.predicate, *map(value, atom.arguments))

    positive, negative = set(), set()
    for part in parts_of(action.precondition):
        inner = part.part if isinstance(part, Not) else part
        if isinstance(inner, Equality):
            if (value(inner.left) == value(inner.right)) == isinstance(part, Not):
                return None
        else:
            (negative if isinstance(part, Not) else positive).add(ground(inner))
    effects = parts_of(action.effect)
    add = {ground(part.atom) for part in effects if isinstance(part, Add)}
    delete = {ground(part.atom) for part in effects if isinstance(part, Delete)}
    return GroundOperator(
        action.name,
        " ".join([action.name, *binding.values()]),
        tuple(map(ground, related_atoms(action))),
        frozenset(positive),
        frozenset(negative),
        frozenset(add),
        frozenset(delete),
    )


def ground(domain: Domain, problem: Problem) -> GroundTask:
    changing = {
        part.atom.predicate
        for action in domain.actions
        for part in parts_of(action.effect)
        if isinstance(part, (Add, Delete))
    }
    init = frozenset((a.predicate, *(t.name for t in a.arguments)) for a in problem.init)
    instances = [
        operator
        for action in domain.actions
        for binding in bindings(domain, problem, action)
        if (operator := instantiate(action, binding)) is not None
        and not any(atom in init for atom in operator.negative if atom[0] not in changing)
    ]
    facts, reached = relaxed_reachable(instances, init)
    operators = []
    for operator in sorted(reached, key=lambda o: o.name):
        delete = (operator.delete & facts) - operator.add
        operators.append(replace(operator, add=operator.add - operator.positive, delete=delete))
    operators = [o for o in operators if o.add or o.delete]
    first = {}
    for operator in operators:
        first.setdefault((operator.positive, operator.add), operator)
    kept, facts = forward_h2(list(first.values()), facts, init)
    kept = [replace(operator, delete=operator.delete & facts) for operator in kept]
    goal = frozenset(
        (part.predicate, *(t.name for t in part.arguments))
        for part in parts_of(problem.goal)
        if part.predicate in changing
    )
    return GroundTask([o for o in kept if o.add or o.delete], facts, goal & facts)


def relaxed_reachable(instances, init):
    facts = set(init)
    while True:
        reached = [operator for operator in instances if operator.positive <= facts]
        larger = facts.union(*(operator.add for operator in reached))
        if larger == facts:
            return frozenset(facts), reached
        facts = larger


def forward_h2(operators, facts, init):
    pairs = {frozenset((p, q)) for p in init for q in init}
    while True:
        before = len(pairs)
        reached = []
        for operator in operators:
            if any(
                frozenset((p, q)) not in pairs for p in operator.positive for q in operator.positive
            ):
                continue
            reached.append(operator)
            pairs |= {frozenset((p, q)) for p in operator.add for q in operator.add}
            for fact in facts - operator.add - operator.delete:
                with_it = [frozenset((fact, p)) for p in operator.positive]
                if frozenset((fact,)) in pairs and all(pair in pairs for pair in with_it):
                    pairs |= {frozenset((fact, a)) for a in operator.add}
        if len(pairs) == before:
            return reached, frozenset(fact for fact in facts if frozenset((fact,)) in pairs)


def elu(x: float) -> float:
    return x if x > 0 else math.expm1(x)


def affine(module: tuple[Matrix, Sequence[float]], inputs: Vector) -> Vector:
    matrix, bias = module
    assert all(len(row) == len(inputs) for row in matrix)
    return [
        sum(w * x for w, x in zip(row, inputs, strict=True)) + b
        for row, b in zip(matrix, bias, strict=True)
    ]


def logits(
    domain: Domain,
    task: GroundTask,
    weights: Weights,
    state: frozenset[GroundAtom],
    *,
    layers: int,
    hidden: int,
) -> dict[str, float]:
    """The output of every operator by name."""
    missing = [-1.0] * hidden
    actions: dict[str, Vector] = {}
    for o in task.operators:
        held = [float(f in state) if f in task.facts else -1.0 for f in o.related]
        wanted = [float(f in task.goal) if f in task.facts else -1.0 for f in o.related]
        inputs = [*held, *wanted, float(o.is_applicable(state))]
        actions[o.name] = [elu(x) for x in affine(weights["action", 0, o.schema], inputs)]
    facts: dict[GroundAtom, Vector] = {}
    for layer in range(layers):
        new_facts = {}
        for fact in task.facts:
            slots = pooling_slots(domain, fact[0])
            inputs = [x for slot in slots for x in pool(task, fact, slot, actions) or missing]
            inputs += facts.get(fact, [])
            if slots:
                values = affine(weights["predicate", layer, fact[0]], inputs)
                new_facts[fact] = [elu(x) for x in values]
        facts = new_facts
        outputs = {}
        for o in task.operators:
            inputs = [x for fact in o.related for x in facts.get(fact, missing)] + actions[o.name]
            values = affine(weights["action", layer + 1, o.schema], inputs)
            outputs[o.name] = [elu(x) for x in values] if layer + 1 < layers else values
        actions = outputs
    return {name: vector[0] for name, vector in actions.items()}


def pool(task: GroundTask, fact: GroundAtom, slot: tuple[str, int], actions) -> Vector:
    """The maximum over the operators of the slot; empty if there are none."""
    schema, position = slot
    members = [
        actions[o.name]
        for o in task.operators
        if o.schema == schema and o.related[position] == fact
    ]
    return [max(column) for column in zip(*members, strict=True)]
