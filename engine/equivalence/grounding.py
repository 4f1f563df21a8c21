"""Ground actions over the few objects of one instance, by joins; pruned toward a goal state.

`relevant_actions` keeps what relaxed reachability allows, what does not ruin the goal for good,
and what can influence the atoms in which state and goal differ. None of this loses a plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.equivalence.budget import Budget
from engine.equivalence.instances import Change, GroundAtom, equalities_hold, ground_change
from engine.equivalence.schemas import LiftedAtom, Schema

Step = tuple[int, tuple[int, ...]]
"""The number of the covering operator and its objects."""

State = frozenset[GroundAtom]
Action = tuple[Step, Change]
_UNBOUND = -1


@dataclass(frozen=True, slots=True)
class Rule:
    """A covering operator with the objects that each parameter may take."""

    index: int
    schema: Schema
    allowed: tuple[frozenset[int], ...]
    distinct: bool
    atoms: tuple[LiftedAtom, ...]
    pre: tuple[LiftedAtom, ...]

    @classmethod
    def of(
        cls, index: int, schema: Schema, allowed: tuple[frozenset[int], ...], distinct: bool
    ) -> Rule:
        """Atoms with many arguments come first: they bind most."""

        def ordered(atoms: Collection[LiftedAtom]) -> tuple[LiftedAtom, ...]:
            return tuple(sorted(atoms, key=lambda atom: (-len(atom), atom)))

        return cls(index, schema, allowed, distinct, ordered(schema.atoms), ordered(schema.pre))

    def admits(self, arguments: Sequence[int]) -> bool:
        fits = all(value in some for value, some in zip(arguments, self.allowed, strict=True))
        apart = not self.distinct or len(set(arguments)) == len(arguments)
        return fits and apart and equalities_hold(self.schema, arguments)


class _Join:
    """Binds a rule's parameters fact by fact; what no pattern binds runs over all its objects."""

    def __init__(
        self,
        rule: Rule,
        patterns: Sequence[LiftedAtom],
        facts: Mapping[int, Collection[GroundAtom]],
    ) -> None:
        self._rule = rule
        self._patterns = patterns
        self._facts = facts
        self._arguments = [_UNBOUND] * len(rule.allowed)

    def match(self, position: int = 0) -> Iterator[tuple[int, ...]]:
        if position == len(self._patterns):
            yield from self._fill(0)
            return
        pattern = self._patterns[position]
        for fact in self._facts.get(pattern[0], ()):
            bound: list[int] = []
            if self._bind(pattern, fact, bound):
                yield from self.match(position + 1)
            for term in bound:
                self._arguments[term] = _UNBOUND

    def _bind(self, pattern: LiftedAtom, fact: GroundAtom, bound: list[int]) -> bool:
        for term, value in zip(pattern[1:], fact[1:], strict=True):
            current = -1 - term if term < 0 else self._arguments[term]
            if current == _UNBOUND:
                if not self._free(term, value):
                    return False
                self._arguments[term] = value
                bound.append(term)
            elif current != value:
                return False
        return True

    def _free(self, term: int, value: int) -> bool:
        if value not in self._rule.allowed[term]:
            return False
        return not (self._rule.distinct and value in self._arguments)

    def _fill(self, position: int) -> Iterator[tuple[int, ...]]:
        if position == len(self._arguments):
            if equalities_hold(self._rule.schema, self._arguments):
                yield tuple(self._arguments)
        elif self._arguments[position] != _UNBOUND:
            yield from self._fill(position + 1)
        else:
            for value in sorted(self._rule.allowed[position]):
                if self._free(position, value):
                    self._arguments[position] = value
                    yield from self._fill(position + 1)
                    self._arguments[position] = _UNBOUND


def bindings(
    rule: Rule, patterns: Sequence[LiftedAtom], facts: Mapping[int, Collection[GroundAtom]]
) -> Iterator[tuple[int, ...]]:
    """All arguments under which every pattern is one of the facts."""
    return _Join(rule, patterns, facts).match()


def by_predicate(atoms: Collection[GroundAtom]) -> dict[int, list[GroundAtom]]:
    table = defaultdict(list)
    for atom in sorted(atoms):
        table[atom[0]].append(atom)
    return dict(table)


def actions_within(
    rules: Sequence[Rule], atoms: frozenset[GroundAtom], budget: Budget
) -> list[Action]:
    """The ground actions all of whose atoms are among `atoms`, each change once."""
    found: dict[Change, Step] = {}
    for step, change in all_actions_within(rules, atoms, budget):
        found.setdefault(change, step)
    return [(step, change) for change, step in found.items()]


def all_actions_within(
    rules: Sequence[Rule], atoms: frozenset[GroundAtom], budget: Budget
) -> Iterator[Action]:
    """Those of different names with the same change as well."""
    facts = by_predicate(atoms)
    for rule in rules:
        patterns = rule.atoms
        if any(pattern[0] not in facts for pattern in patterns):
            continue
        for arguments in bindings(rule, patterns, facts):
            budget.tick()
            change = ground_change(rule.schema, arguments)
            if not change.idle:
                yield (rule.index, arguments), change


class TooManyStatesError(Exception):
    """Internal: a search passed the bound it was given."""


def relevant_actions(
    rules: Sequence[Rule], state: State, goal: State, budget: Budget, bound: int | None = None
) -> list[Action]:
    """`bound` limits the ground actions that are looked at."""
    actions = _relaxed_reachable(rules, state, budget, bound)
    while True:
        kept = _influential(_harmless(actions, goal), state ^ goal)
        kept = _applicable_at_last(kept, state)
        if len(kept) == len(actions):
            return kept
        actions = kept


def _relaxed_reachable(
    rules: Sequence[Rule], state: State, budget: Budget, bound: int | None
) -> list[Action]:
    """Ground by ignoring conflicts: an atom that was ever true (false) stays available so."""
    facts: dict[int, set[GroundAtom]] = defaultdict(set)
    for atom in state:
        facts[atom[0]].add(atom)
    deleted: set[GroundAtom] = set()
    found: dict[Change, Step] = {}
    looked_at = 0
    growing = True
    while growing:
        growing = False
        frozen = {predicate: sorted(atoms) for predicate, atoms in facts.items()}
        for rule in rules:
            for arguments in bindings(rule, rule.pre, frozen):
                budget.tick()
                looked_at += 1
                if bound is not None and looked_at > bound:
                    raise TooManyStatesError
                change = ground_change(rule.schema, arguments)
                if change.idle or change in found or change.npre & state - deleted:
                    continue
                found[change] = (rule.index, arguments)
                deleted |= change.delete
                for atom in change.add:
                    facts[atom[0]].add(atom)
                growing = True
    return [(step, change) for change, step in found.items()]


def _applicable_at_last(actions: list[Action], state: State) -> list[Action]:
    """Relaxed reachability again, with the actions that are left."""
    true, deleted = set(state), set[GroundAtom]()
    waiting, kept = actions, list[Action]()
    while True:
        ready = [a for a in waiting if a[1].pre <= true and not a[1].npre & state - deleted]
        if not ready:
            return kept
        chosen = {id(action) for action in ready}
        waiting = [action for action in waiting if id(action) not in chosen]
        kept += ready
        for _, change in ready:
            true |= change.add
            deleted |= change.delete


def _harmless(actions: list[Action], goal: State) -> list[Action]:
    """Drop actions with an effect that the goal forbids and no action can undo."""
    while True:
        added = {atom for _, change in actions for atom in change.add}
        deleted = {atom for _, change in actions for atom in change.delete}
        kept = [
            action
            for action in actions
            if action[1].add - goal <= deleted and action[1].delete & goal <= added
        ]
        if len(kept) == len(actions):
            return kept
        actions = kept


def _influential(actions: list[Action], differences: frozenset[GroundAtom]) -> list[Action]:
    """Keep what touches the differing atoms, and what touches the atoms of those actions."""
    cone, kept, waiting = set(differences), list[Action](), actions
    while True:
        touching = [a for a in waiting if a[1].add & cone or a[1].delete & cone]
        if not touching:
            return kept
        chosen = {id(action) for action in touching}
        waiting = [action for action in waiting if id(action) not in chosen]
        kept += touching
        for _, change in touching:
            cone |= change.atoms
