"""Functional equivalence by brute force, and pairs of small domains to try it on.

`brute_force` follows the definition word for word: every bijection of predicates (and of types
whose names differ), every set of up to `objects` objects, all states, the full reach relation.
It shares nothing with `engine.equivalence`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.pddl.model import (
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    Equality,
    Not,
    Predicate,
    Term,
    TypedName,
    conjuncts,
    effects,
)

Ground = tuple[int, int, int, int]
"""Masks: needed true, needed false, set true, set false."""


# Brute force


def brute_force(first: Domain, second: Domain, distinct: bool, objects: int) -> bool:
    """Is there a mapping under which the reach relations agree for every set of objects?"""
    types = list(type_maps(first, second))
    mappings = [
        (dict(zip((p.name for p in first.predicates), chosen, strict=True)), renamed)
        for chosen in itertools.permutations(second.predicates)
        if all(p.arity == q.arity for p, q in zip(first.predicates, chosen, strict=True))
        for renamed in types
    ]
    if len(first.predicates) != len(second.predicates):
        return False
    for things in object_sets(first, second, objects):
        if not mappings:
            return False
        spaces: dict[tuple[str, ...], Space] = {}
        space = Space(first, things, distinct)
        left = []
        for mapping, renamed in mappings:
            theirs = {name: renamed.get(own, own) for name, own in things.items()}
            key = tuple(theirs.values())
            other = spaces.get(key) or spaces.setdefault(key, Space(second, theirs, distinct))
            if space.same_reach(other, {p: q.name for p, q in mapping.items()}):
                left.append((mapping, renamed))
        mappings = left
    return bool(mappings)


def most_parameters(first: Domain, second: Domain) -> int:
    """This many objects decide (besides the constants): no action mentions more."""
    return max((len(a.parameters) for d in (first, second) for a in d.actions), default=0)


def type_maps(first: Domain, second: Domain) -> Iterator[dict[str, str]]:
    mine, theirs = ([entry.name for entry in d.types] for d in (first, second))
    if set(mine) == set(theirs):
        yield {}
        return
    for chosen in itertools.permutations(theirs):
        renamed = dict(zip(mine, chosen, strict=True))
        if all(
            (t in above(first, s)) == (renamed[t] in above(second, renamed[s]))
            for s in mine
            for t in mine
        ):
            yield renamed


def above(domain: Domain, name: str) -> set[str]:
    parents = {entry.name: entry.types[0] for entry in domain.types}
    found = {name, "object"}
    while name in parents:
        name = parents[name]
        found.add(name)
    return found


def object_sets(first: Domain, second: Domain, most: int) -> Iterator[dict[str, str]]:
    """Typed objects, the constants of both domains always among them; small sets first."""
    declared = {c.name: c.types[0] for domain in (second, first) for c in domain.constants}
    kinds = [entry.name for entry in first.types] or ["object"]
    for size in range(most + 1):
        for types in itertools.combinations_with_replacement(kinds, size):
            yield {**declared, **{f"o{i}": name for i, name in enumerate(types)}}


class Space:
    """All states over some objects and which of them reach which."""

    def __init__(self, domain: Domain, things: dict[str, str], distinct: bool) -> None:
        self.bits = {
            (p.name, *arguments): i
            for i, (p, arguments) in enumerate(
                (p, arguments)
                for p in domain.predicates
                for arguments in itertools.product(things, repeat=p.arity)
            )
        }
        self.actions = list(self._ground(domain, things, distinct))
        self.reach = closure(self.actions, 1 << len(self.bits))

    def _ground(self, domain: Domain, things: dict[str, str], distinct: bool) -> Iterator[Ground]:
        for action in domain.actions:
            fitting = [
                [o for o, own in things.items() if above(domain, own) & set(p.types)]
                for p in action.parameters
            ]
            for arguments in itertools.product(*fitting):
                if distinct and len(set(arguments)) < len(arguments):
                    continue
                ground = self._action(action, arguments)
                if ground is not None:
                    yield ground

    def _action(self, action: Action, arguments: tuple[str, ...]) -> Ground | None:
        names = {p.name: o for p, o in zip(action.parameters, arguments, strict=True)}

        def value(term: Term) -> str:
            return names.get(term.name, term.name)

        def bit(atom: Atom) -> int:
            return 1 << self.bits[atom.predicate, *(value(term) for term in atom.arguments)]

        need = need_not = plus = minus = 0
        for part in conjuncts(action.precondition):
            inner = part.part if isinstance(part, Not) else part
            if isinstance(inner, Equality):
                if (value(inner.left) == value(inner.right)) == isinstance(part, Not):
                    return None
            elif isinstance(inner, Atom) and isinstance(part, Not):
                need_not |= bit(inner)
            elif isinstance(inner, Atom):
                need |= bit(inner)
        for effect in effects(action.effect):
            if isinstance(effect, Add):
                plus |= bit(effect.atom)
            elif isinstance(effect, Delete):
                minus |= bit(effect.atom)
        return None if need & need_not else (need, need_not, plus, minus & ~plus)

    def same_reach(self, other: Space, names: dict[str, str]) -> bool:
        to_other = {i: other.bits[names[atom[0]], *atom[1:]] for atom, i in self.bits.items()}
        back = {theirs: mine for mine, theirs in to_other.items()}
        return within(self.actions, to_other, other.reach) and within(
            other.actions, back, self.reach
        )


def within(actions: Sequence[Ground], places: dict[int, int], reach: Sequence[int]) -> bool:
    """Is every step of the actions, with their bits moved, a pair of the reach relation?"""
    for action in actions:
        need, need_not, plus, minus = (
            sum(1 << places[i] for i in range(len(places)) if mask >> i & 1) for mask in action
        )
        for state, reached in enumerate(reach):
            applies = state & need == need and not state & need_not
            if applies and not reached >> (state & ~minus | plus) & 1:
                return False
    return True


def closure(actions: Sequence[Ground], states: int) -> list[int]:
    following = [
        {
            state & ~minus | plus
            for need, need_not, plus, minus in actions
            if state & need == need and not state & need_not
        }
        - {state}
        for state in range(states)
    ]
    before: list[list[int]] = [[] for _ in range(states)]
    for state, successors in enumerate(following):
        for successor in successors:
            before[successor].append(state)
    reach = [1 << state for state in range(states)]
    waiting = set(range(states))
    while waiting:
        state = waiting.pop()
        union = reach[state]
        for successor in following[state]:
            union |= reach[successor]
        if union != reach[state]:
            reach[state] = union
            waiting.update(before[state])
    return reach


# Domains to compare


def literal(atom: Atom, true: bool) -> Condition:
    return atom if true else Not(atom)


class Maker:
    """Small random domains; `atoms` bounds the number of ground atoms of the largest space."""

    def __init__(self, chance: random.Random, atoms: int = 9) -> None:
        self.chance = chance
        self.atoms = atoms

    def pair(self) -> tuple[Domain, Domain]:
        """A domain and a changed, renamed, shuffled copy of it (or just another domain)."""
        first = self.domain()
        second = first
        for _ in range(self.chance.choice((0, 1, 2, 3))):
            second = self.changed(second)
        if self.chance.random() < 0.05:
            second = replace(first, actions=tuple(self.action(first, i) for i in range(2)))
        if self.chance.random() < 0.5:
            first, second = second, first
        return first, renamed(second, self.chance, types=self.chance.random() < 0.3)

    def domain(self) -> Domain:
        kinds = self.chance.choice(
            (
                (),
                (),
                (TypedName("t0"),),
                (TypedName("t0"), TypedName("t1")),
                (TypedName("t0"), TypedName("t1", ("t0",))),
            )
        )
        names = [kind.name for kind in kinds] or ["object"]
        constants = ()
        if self.chance.random() < 0.25:
            constants = (TypedName("c0", (self.chance.choice(names),)),)
        arities: list[int] = []
        while True:
            arity = self.chance.choice((0, 0, 1, 1, 1, 2))
            size = sum((2 + len(constants)) ** a for a in (*arities, arity))
            if size > self.atoms or len(arities) == 3:
                break
            arities.append(arity)
        predicates = tuple(
            Predicate(f"p{i}", tuple(TypedName(f"?a{j}") for j in range(arity)))
            for i, arity in enumerate(arities or [0])
        )
        empty = Domain("made", types=kinds, constants=constants, predicates=predicates)
        number = self.chance.choice((1, 2, 2, 3))
        return replace(empty, actions=tuple(self.action(empty, i) for i in range(number)))

    def action(self, domain: Domain, number: int) -> Action:
        kinds = [kind.name for kind in domain.types] or ["object"]
        parameters = tuple(
            TypedName(f"?x{i}", (self.chance.choice(kinds),))
            for i in range(self.chance.choice((0, 1, 1, 2, 2)))
        )
        atoms = self.lifted_atoms(domain, parameters)
        tests: list[Condition] = [
            literal(atom, self.chance.random() < 0.7) for atom in self.some(atoms, 3)
        ]
        if len(parameters) == 2 and self.chance.random() < 0.2:
            same = Equality(Term("?x0"), Term("?x1"))
            tests.append(same if self.chance.random() < 0.3 else Not(same))
        changes: list[Effect] = [
            Add(atom) if self.chance.random() < 0.5 else Delete(atom)
            for atom in self.some(atoms, 3)
        ]
        return Action(f"a{number}", parameters, And(tuple(tests)), EffectAnd(tuple(changes)))

    def lifted_atoms(self, domain: Domain, parameters: Sequence[TypedName]) -> list[Atom]:
        terms = [Term(item.name) for item in (*parameters, *domain.constants)]
        return [
            Atom(p.name, arguments)
            for p in domain.predicates
            for arguments in itertools.product(terms, repeat=p.arity)
        ]

    def some(self, atoms: list[Atom], most: int) -> list[Atom]:
        number = min(len(atoms), self.chance.randint(0, most) or self.chance.randint(0, 2))
        return self.chance.sample(atoms, number)

    def changed(self, domain: Domain) -> Domain:
        change = self.chance.choice(
            (
                self.with_macro,
                self.with_macro,
                self.split,
                self.half_split,
                self.without_one,
                self.with_another_literal,
                self.with_another_literal,
                self.with_constant,
                self.kept_apart,
            )
        )
        return change(domain)

    def with_macro(self, domain: Domain) -> Domain:
        first, second = self.chance.choices(domain.actions, k=2)
        macro = self.compose(first, second, f"m{len(domain.actions)}")
        return domain if macro is None else replace(domain, actions=(*domain.actions, macro))

    def compose(self, first: Action, second: Action, name: str) -> Action | None:
        """First, then second with its parameters among those of the first or new."""
        parameters = list(first.parameters)
        names: dict[str, str] = {}
        for parameter in second.parameters:
            fitting = [p.name for p in first.parameters if p.types == parameter.types]
            free = [n for n in fitting if n not in names.values()]
            if free and (len(parameters) >= 2 or self.chance.random() < 0.8):
                names[parameter.name] = self.chance.choice(free)
            elif len(parameters) < 2:
                names[parameter.name] = f"?y{len(parameters)}"
                parameters.append(TypedName(f"?y{len(parameters)}", parameter.types))
            else:
                return None
        tests = dict.fromkeys(conjuncts(first.precondition))
        value: dict[Atom, bool] = {}
        for part in _effects(first):
            value.setdefault(part.atom, isinstance(part, Add))
            value[part.atom] = value[part.atom] or isinstance(part, Add)
        for part in conjuncts(_bind_condition(second.precondition, names)):
            inner = part.part if isinstance(part, Not) else part
            if isinstance(inner, Atom) and inner in value:
                if value[inner] == isinstance(part, Not):
                    return None
            else:
                tests[part] = None
        later: dict[Atom, bool] = {}
        for part in _effects(second):
            atom = _bind_atom(part.atom, names)
            later[atom] = later.get(atom, False) or isinstance(part, Add)
        changes = {**value, **later}
        effect = EffectAnd(tuple(Add(a) if v else Delete(a) for a, v in changes.items()))
        return Action(name, tuple(parameters), And(tuple(tests)), effect)

    def split(self, domain: Domain, keep: int = 2) -> Domain:
        """One action becomes two that differ in an atom it did not test."""
        action = self.chance.choice(domain.actions)
        atoms = self.lifted_atoms(domain, action.parameters)
        if not atoms:
            return domain
        atom = self.chance.choice(atoms)
        parts = tuple(conjuncts(action.precondition))
        halves = [
            replace(
                action,
                name=f"{action.name}-{true}".lower(),
                precondition=And((*parts, literal(atom, true))),
            )
            for true in (True, False)
        ]
        others = tuple(a for a in domain.actions if a is not action)
        return replace(domain, actions=(*others, *self.chance.sample(halves, keep)))

    def with_constant(self, domain: Domain) -> Domain:
        """One action once more, with a new constant in the place of its first parameter."""
        able = [a for a in domain.actions if a.parameters and a.parameters[0].types != ("object",)]
        if not able or len(domain.constants) > 1 or any(p.arity > 1 for p in domain.predicates):
            return domain
        old = self.chance.choice(able)
        name = f"k{len(domain.constants)}"
        names = {old.parameters[0].name: name}
        special = Action(
            f"{old.name}-{name}",
            old.parameters[1:],
            _bind_condition(old.precondition, names),
            EffectAnd(tuple(type(e)(_bind_atom(e.atom, names)) for e in _effects(old))),
        )
        constant = TypedName(name, old.parameters[0].types)
        actions = (*domain.actions, special)
        if self.chance.random() < 0.3:
            actions = tuple(a for a in actions if a is not old)
        return replace(domain, constants=(*domain.constants, constant), actions=actions)

    def kept_apart(self, domain: Domain) -> Domain:
        """One action may no longer be used with the same object twice."""
        able = [a for a in domain.actions if len(a.parameters) == 2]
        if not able:
            return domain
        old = self.chance.choice(able)
        test = Not(Equality(*(Term(p.name) for p in old.parameters)))
        new = replace(old, precondition=And((*conjuncts(old.precondition), test)))
        actions = tuple(new if action is old else action for action in domain.actions)
        return replace(domain, actions=actions)

    def half_split(self, domain: Domain) -> Domain:
        return self.split(domain, keep=1)

    def without_one(self, domain: Domain) -> Domain:
        gone = self.chance.choice(domain.actions)
        rest = tuple(action for action in domain.actions if action is not gone)
        return replace(domain, actions=rest) if rest else domain

    def with_another_literal(self, domain: Domain) -> Domain:
        old = self.chance.choice(domain.actions)
        fresh = self.action(domain, 9)
        parts = tuple(conjuncts(old.precondition))
        known = {p.name for p in old.parameters}
        extra = tuple(
            part
            for part in _effects(fresh)
            if all(not t.is_variable or t.name in known for t in part.atom.arguments)
        )
        if self.chance.random() < 0.5 and parts:
            changed = replace(old, precondition=And(parts[1:]))
        else:
            changed = replace(old, effect=EffectAnd((*_effects(old), *extra)))
        actions = tuple(changed if action is old else action for action in domain.actions)
        return replace(domain, actions=actions)


def _effects(action: Action) -> list[Add | Delete]:
    return [part for part in effects(action.effect) if isinstance(part, Add | Delete)]


def _bind_atom(atom: Atom, names: dict[str, str]) -> Atom:
    arguments = tuple(Term(names.get(term.name, term.name)) for term in atom.arguments)
    return Atom(atom.predicate, arguments)


def _bind_condition(condition: Condition, names: dict[str, str]) -> Condition:
    if isinstance(condition, Atom):
        return _bind_atom(condition, names)
    if isinstance(condition, Equality):
        left, right = (Term(names.get(t.name, t.name)) for t in (condition.left, condition.right))
        return Equality(left, right)
    if isinstance(condition, Not):
        return Not(_bind_condition(condition.part, names))
    assert isinstance(condition, And)
    return And(tuple(_bind_condition(part, names) for part in condition.parts))


# Renaming


def renamed(domain: Domain, chance: random.Random, types: bool = True) -> Domain:
    """The same domain with new names for predicates, actions, parameters and types, shuffled."""

    def fresh(names: Sequence[str], letter: str) -> dict[str, str]:
        numbers = chance.sample(range(len(names)), len(names))
        return {name: f"{letter}{number}" for name, number in zip(names, numbers, strict=True)}

    predicates = fresh([p.name for p in domain.predicates], "q")
    actions = fresh([a.name for a in domain.actions], "b")
    kinds = fresh([t.name for t in domain.types if t.name != "object"], "s") if types else {}

    def typed(item: TypedName, name: str) -> TypedName:
        return TypedName(name, tuple(kinds.get(kind, kind) for kind in item.types))

    def condition(part: Condition, names: dict[str, str]) -> Condition:
        bound = _bind_condition(part, names)
        return _map_atoms(bound, predicates)

    def action(old: Action) -> Action:
        order = chance.sample(old.parameters, len(old.parameters))
        names = {p.name: f"?z{i}" for i, p in enumerate(order)}
        parts = [
            type(part)(_map_predicate(_bind_atom(part.atom, names), predicates))
            for part in _effects(old)
        ]
        return Action(
            actions[old.name],
            tuple(typed(p, names[p.name]) for p in order),
            condition(old.precondition, names),
            EffectAnd(tuple(chance.sample(parts, len(parts)))),
        )

    return replace(
        domain,
        types=tuple(typed(t, kinds.get(t.name, t.name)) for t in domain.types),
        constants=tuple(typed(c, c.name) for c in domain.constants),
        predicates=tuple(
            Predicate(predicates[p.name], tuple(typed(a, a.name) for a in p.parameters))
            for p in chance.sample(domain.predicates, len(domain.predicates))
        ),
        actions=tuple(action(a) for a in chance.sample(domain.actions, len(domain.actions))),
    )


def _map_predicate(atom: Atom, names: dict[str, str]) -> Atom:
    return Atom(names[atom.predicate], atom.arguments)


def _map_atoms(condition: Condition, names: dict[str, str]) -> Condition:
    if isinstance(condition, Atom):
        return _map_predicate(condition, names)
    if isinstance(condition, Not):
        return Not(_map_atoms(condition.part, names))
    if isinstance(condition, And):
        return And(tuple(_map_atoms(part, names) for part in condition.parts))
    return condition
