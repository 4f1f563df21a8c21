"""The mapping a reader would guess: by names and by how predicates occur in the operators.

It only chooses which mapping is tried first and which one a counterexample is shown for; no
verdict depends on it.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from engine.equivalence.budget import Budget
from engine.equivalence.schemas import LiftedAtom, LiftedModel, Schema
from engine.pddl.model import Domain

ROUNDS = 3
SAME_NAME = 4.0
MANY = 120
"""From this size on, only equal names and equal occurrences are compared."""

Features = Counter[Hashable]
Colors = list[int]


def guess_predicates(first: LiftedModel, second: LiftedModel, budget: Budget) -> dict[int, int]:
    """A bijection between predicates of equal arity; their numbers per arity must agree.

    Each round colors the predicates by the pairs of the round before, as long as that helps.
    """
    guess: dict[int, int] = {}
    colors: tuple[Colors, Colors] = list(first.arities), list(second.arities)
    best = -1.0
    for _ in range(ROUNDS):
        pairing = _Pairing((first, second), colors, budget)
        found = pairing.bijection()
        total = sum(pairing.score(p, q) for p, q in found.items())
        if total <= best:
            break
        guess, best = found, total
        colors = list(range(len(first.predicates))), [0] * len(second.predicates)
        for p, q in guess.items():
            colors[1][q] = p
    return guess


class _Pairing:
    """How well predicates of A and B go together under some colors."""

    def __init__(
        self,
        models: tuple[LiftedModel, LiftedModel],
        colors: tuple[Colors, Colors],
        budget: Budget,
    ) -> None:
        self._models = models
        self._budget = budget
        self._features = tuple(
            neighbors(model, own) for model, own in zip(models, colors, strict=True)
        )

    def score(self, p: int, q: int) -> float:
        self._budget.tick()
        names = self._models[0].predicates[p], self._models[1].predicates[q]
        return _name_similarity(*names) + 2 * _overlap(self._features[0][p], self._features[1][q])

    def bijection(self) -> dict[int, int]:
        guess: dict[int, int] = {}
        names = [model.predicates for model in self._models]
        open_pairs: list[tuple[int, int]] = []
        for arity in sorted(set(self._models[0].arities)):
            left, right = (
                [p for p, n in enumerate(model.arities) if n == arity] for model in self._models
            )
            if len(left) >= MANY:
                guess |= _pair_equal(left, right, names[0], names[1])
                left, right = _rest(left, guess), _rest(right, guess.values())
                mine, theirs = ([frozenset(f.items()) for f in own] for own in self._features)
                guess |= _pair_equal(left, right, mine, theirs)
                left, right = _rest(left, guess), _rest(right, guess.values())
            if len(left) >= MANY:
                guess |= dict(zip(left, right, strict=True))
            else:
                open_pairs += itertools.product(left, right)
        return guess | self._percolate(open_pairs)

    def _percolate(self, pairs: list[tuple[int, int]]) -> dict[int, int]:
        """Greedily the best pair; each one speaks for the pairs that are related the same way.

        So predicates of look-alike parts of a domain are matched part by part.
        """
        scores = {pair: self.score(*pair) for pair in pairs}
        relations = [_relations(model) for model in self._models]
        heap = [(-score, pair) for pair, score in scores.items()]
        heapq.heapify(heap)
        guess: dict[int, int] = {}
        taken: set[int] = set()
        while heap:
            self._budget.tick()
            priority, (p, q) = heapq.heappop(heap)
            if p in guess or q in taken or -priority < scores[p, q]:
                continue
            guess[p] = q
            taken.add(q)
            for key, mine in relations[0][p].items():
                theirs = relations[1][q].get(key, set())
                for pair in itertools.product(sorted(mine), sorted(theirs)):
                    if pair in scores and pair[0] not in guess and pair[1] not in taken:
                        scores[pair] += 1 / max(len(mine), len(theirs))
                        heapq.heappush(heap, (-scores[pair], pair))
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


def neighbors(lifted: LiftedModel, colors: Colors) -> list[Features]:
    """Per predicate: in which roles, with which colors it shares operators and arguments."""
    features: list[Features] = [Counter() for _ in colors]
    for schema in lifted.schemas:
        for role, atom, other_role, other in _literal_pairs(schema):
            color = colors[other[0]]
            features[atom[0]][role, other_role, _shared(atom, other), color] += 1
    return features


def _literal_pairs(schema: Schema) -> Iterator[tuple[int, LiftedAtom, int, LiftedAtom]]:
    roles = (schema.pre, schema.npre, schema.add, schema.delete)
    literals = [(role, atom) for role, atoms in enumerate(roles) for atom in sorted(atoms)]
    for (role, atom), (other_role, other) in itertools.product(literals, repeat=2):
        yield role, atom, other_role, other


def _shared(atom: LiftedAtom, other: LiftedAtom) -> tuple[tuple[int, int], ...]:
    """The places at which both have the same argument."""
    places = itertools.product(range(1, len(atom)), range(1, len(other)))
    return tuple((i, j) for i, j in places if atom[i] == other[j])


def _relations(lifted: LiftedModel) -> list[dict[Hashable, set[int]]]:
    """Per predicate: the others it shares operators with, by roles and shared arguments."""
    relations: list[dict[Hashable, set[int]]] = [defaultdict(set) for _ in lifted.predicates]
    for schema in lifted.schemas:
        for role, atom, other_role, other in _literal_pairs(schema):
            if atom[0] != other[0]:
                relations[atom[0]][role, other_role, _shared(atom, other)].add(other[0])
    return relations


def _overlap(one: Features, other: Features) -> float:
    if not one and not other:
        return 1.0
    return (one & other).total() / (one | other).total()


@functools.lru_cache(maxsize=1 << 16)
def _name_similarity(one: str, other: str) -> float:
    """Only names that share more than half count: the rest is chance."""
    if one == other:
        return SAME_NAME
    return max(0.0, 2 * SequenceMatcher(None, one, other).ratio() - 1)


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
