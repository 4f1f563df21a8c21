"""Derived predicates, straight from the rules of the domain.

In every stratum all instances of the rules are tried until nothing more becomes true. What never
changes is joined first, once per problem, so that few instances are left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from engine.errors import Location, UnsupportedError
from engine.pddl.model import And, Atom, Condition, Derived, Domain, Exists, TypedName
from engine.pddl.strata import find_unstratified, strata
from engine.pddl.traversal import static_predicates
from engine.task.task import GroundAtom

Binding = Mapping[str, str]
AtomSet = frozenset[GroundAtom]


class Holds(Protocol):
    def __call__(self, condition: Condition, binding: Binding, state: AtomSet) -> bool: ...


@dataclass(frozen=True)
class Instance:
    """A ground atom that is true where the rest of its rule's condition holds."""

    head: GroundAtom
    conditions: tuple[Condition, ...]
    binding: dict[str, str]


class DerivedRules:
    """The rules of a domain over the objects of a problem."""

    def __init__(
        self, domain: Domain, objects: Mapping[str, tuple[str, ...]], init: AtomSet, holds: Holds
    ) -> None:
        if (rule := find_unstratified(domain)) is not None:
            raise UnsupportedError(
                f"the derived predicate '{rule.predicate.name}' depends on its own negation",
                Location(domain.path, rule.position.line, rule.position.column),
                "only plans of domains with stratified rules can be validated",
            )
        self.names = frozenset(rule.predicate.name for rule in domain.derived)
        self._holds, self._objects = holds, objects
        self._static = static_predicates(domain)
        self._facts: dict[str, list[GroundAtom]] = defaultdict(list)
        for atom in sorted(init):
            self._facts[atom[0]].append(atom)
        self._strata = [
            [instance for rule in rules for instance in self._instances(rule)]
            for rules in strata(domain)
        ]

    def close(self, state: AtomSet) -> AtomSet:
        """The state with every derived atom that is true in it, and no other."""
        if not self.names:
            return state
        closed = frozenset(atom for atom in state if atom[0] not in self.names)
        for stratum in self._strata:
            waiting, found = stratum, True
            while found:
                new = {
                    instance.head
                    for instance in waiting
                    if all(self._holds(c, instance.binding, closed) for c in instance.conditions)
                }
                found = not new <= closed
                closed |= new
                waiting = [instance for instance in waiting if instance.head not in closed]
        return closed

    def _instances(self, rule: Derived) -> Iterator[Instance]:
        variables = list(rule.predicate.parameters)
        parts = list(_flat(rule.condition, variables))
        if len({variable.name for variable in variables}) < len(variables):  # names hide others
            variables, parts = list(rule.predicate.parameters), [rule.condition]
        static = [p for p in parts if isinstance(p, Atom) and p.predicate in self._static]
        rest = tuple(sorted((p for p in parts if p not in static), key=_effort))
        allowed = {variable.name: self._of_types(variable) for variable in variables}
        for binding in self._join(static, allowed, {}):
            free = [name for name in allowed if name not in binding]
            for chosen in product(*(sorted(allowed[name]) for name in free)):
                whole = {**binding, **dict(zip(free, chosen, strict=True))}
                names = (parameter.name for parameter in rule.predicate.parameters)
                yield Instance((rule.predicate.name, *(whole[n] for n in names)), rest, whole)

    def _of_types(self, variable: TypedName) -> frozenset[str]:
        return frozenset(name for kind in variable.types for name in self._objects[kind])

    def _join(
        self, atoms: list[Atom], allowed: Mapping[str, frozenset[str]], binding: dict[str, str]
    ) -> Iterator[dict[str, str]]:
        """All ways to make static atoms true."""
        if not atoms:
            yield binding
            return
        for fact in self._facts.get(atoms[0].predicate, ()):
            extended = dict(binding)
            for term, name in zip(atoms[0].arguments, fact[1:], strict=True):
                if term.name not in allowed:
                    fits = term.name == name
                else:
                    fits = extended.setdefault(term.name, name) == name
                    fits = fits and name in allowed[term.name]
                if not fits:
                    break
            else:
                yield from self._join(atoms[1:], allowed, extended)


def _flat(condition: Condition, variables: list[TypedName]) -> Iterator[Condition]:
    """The conjuncts of a condition; variables of an outer `exists` are added to the list."""
    match condition:
        case And(parts):
            for part in parts:
                yield from _flat(part, variables)
        case Exists(parameters, part):
            variables += parameters
            yield from _flat(part, variables)
        case _:
            yield condition


def _effort(condition: Condition) -> bool:
    """Single facts are looked at first."""
    return not isinstance(condition, Atom)
