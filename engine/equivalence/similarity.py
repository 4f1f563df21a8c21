"""The mapping a reader would guess: by names and by how predicates occur in the operators.

It only chooses which mapping is tried first and which one a counterexample is shown for; no
verdict depends on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from engine.equivalence.budget import Budget
from engine.equivalence.schemas import LiftedModel, Schema
from engine.pddl.model import Domain

ROUNDS = 3
SAME_NAME = 4.0
MANY = 120
"""From this size on, only equal names and equal occurrences are compared."""

Features = Counter[Hashable]


def guess_predicates(first: LiftedModel, second: LiftedModel, budget: Budget) -> dict[int, int]:
    """A bijection between predicates of equal arity; their numbers per arity must agree."""
    mine, theirs = occurrences(first), occurrences(second)

    def score(p: int, q: int) -> float:
        budget.tick()
        shape = _overlap(mine[p], theirs[q])
        return _name_similarity(first.predicates[p], second.predicates[q]) + 2 * shape

    guess: dict[int, int] = {}
    for arity in sorted(set(first.arities)):
        left = [p for p, n in enumerate(first.arities) if n == arity]
        right = [q for q, n in enumerate(second.arities) if n == arity]
        if len(left) >= MANY:
            guess |= _pair_equal(left, right, first.predicates, second.predicates)
            shapes = [_frozen(mine[p]) for p in range(len(mine))]
            others = [_frozen(theirs[q]) for q in range(len(theirs))]
            guess |= _pair_equal(_rest(left, guess), _rest(right, guess.values()), shapes, others)
        left, right = _rest(left, guess), _rest(right, guess.values())
        if len(left) >= MANY:
            guess |= dict(zip(left, right, strict=True))
        else:
            guess |= _best_pairs(left, right, score)
    return guess


def guess_types(
    first: Domain,
    second: Domain,
    types: tuple[Sequence[str], Sequence[str]],
    predicates: Mapping[str, str],
) -> dict[str, str]:
    """Types correspond when they stand at the same places of corresponding predicates."""
    votes: Counter[tuple[str, str]] = Counter()
    for mine, theirs in predicates.items():
        left, right = first.predicate(mine), second.predicate(theirs)
        assert left is not None
        assert right is not None
        for one, other in zip(left.parameters, right.parameters, strict=True):
            votes.update((s, t) for s in one.types for t in other.types)

    def score(s: int, t: int) -> float:
        names = types[0][s], types[1][t]
        return votes[names] + _name_similarity(*names)

    pairs = _best_pairs(range(len(types[0])), range(len(types[1])), score)
    return {types[0][s]: types[1][t] for s, t in pairs.items()}


def occurrences(lifted: LiftedModel) -> list[Features]:
    """Per predicate: how it occurs in operators, refined by how its neighbours occur."""
    colours: list[int] = list(lifted.arities)
    features: list[Features] = [Counter() for _ in colours]
    for _ in range(ROUNDS):
        found: list[list[Hashable]] = [[] for _ in colours]
        for schema in lifted.schemas:
            for predicate, seen in _occurrences_in(schema, colours).items():
                found[predicate] += seen
        for predicate, seen in enumerate(found):
            features[predicate].update(seen)
        colours = [hash(tuple(sorted(map(hash, seen)))) for seen in found]
    return features


def _occurrences_in(schema: Schema, colours: Sequence[int]) -> dict[int, list[Hashable]]:
    roles = (schema.pre, schema.npre, schema.add, schema.delete)
    parameter_colours: dict[int, int] = defaultdict(int)
    for role, atoms in enumerate(roles):
        for atom in atoms:
            for position, term in enumerate(atom[1:]):
                parameter_colours[term] += hash((role, position, colours[atom[0]]))
    whole = hash(tuple(sorted(parameter_colours.values())))
    seen: dict[int, list[Hashable]] = defaultdict(list)
    for role, atoms in enumerate(roles):
        for atom in atoms:
            arguments = tuple(parameter_colours[term] for term in atom[1:])
            seen[atom[0]].append(hash((role, arguments, whole)))
    return seen


def _overlap(one: Features, other: Features) -> float:
    if not one and not other:
        return 1.0
    return (one & other).total() / (one | other).total()


def _frozen(features: Features) -> Hashable:
    return frozenset(features.items())


def _name_similarity(one: str, other: str) -> float:
    return SAME_NAME if one == other else SequenceMatcher(None, one, other).ratio()


def _rest(items: Sequence[int], taken: Iterable[int]) -> list[int]:
    used = set(taken)
    return [item for item in items if item not in used]


def _pair_equal(
    left: Sequence[int],
    right: Sequence[int],
    mine: Sequence[Hashable],
    theirs: Sequence[Hashable],
) -> dict[int, int]:
    waiting = defaultdict(list)
    for q in reversed(right):
        waiting[theirs[q]].append(q)
    return {p: waiting[mine[p]].pop() for p in left if waiting[mine[p]]}


def _best_pairs(
    left: Sequence[int], right: Sequence[int], score: Callable[[int, int], float]
) -> dict[int, int]:
    """Greedily the pairs with the highest score."""
    ranked = sorted((-score(p, q), p, q) for p in left for q in right)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, p, q in ranked:
        if p not in pairs and q not in taken:
            pairs[p] = q
            taken.add(q)
    return pairs
