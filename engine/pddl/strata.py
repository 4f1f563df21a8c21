"""Strata of derived predicates: a predicate is above all predicates whose negation it needs.

The rules of a domain have a meaning only then, because the lower strata are complete before their
negation is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from engine.pddl.model import And, Atom, Condition, Derived, Domain, Exists, Forall, Imply, Not, Or


def strata(domain: Domain) -> list[list[Derived]]:
    """The rules by stratum, the lowest first; they have strata (`find_unstratified`)."""
    level, _ = _levels(domain)
    found: dict[int, list[Derived]] = defaultdict(list)
    for rule in domain.derived:
        found[level[rule.predicate.name]].append(rule)
    return [found[number] for number in sorted(found)]


def find_unstratified(domain: Domain) -> Derived | None:
    """A rule of a predicate that depends on its own negation."""
    return _levels(domain)[1]


def _levels(domain: Domain) -> tuple[dict[str, int], Derived | None]:
    """The level of each derived predicate; a rule that would need one above all."""
    level = {rule.predicate.name: 0 for rule in domain.derived}
    most = len(level)
    changed = True
    while changed:
        changed = False
        for rule in domain.derived:
            name = rule.predicate.name
            for needed, positive in _mentioned(rule.condition):
                lowest = level.get(needed, 0) + (needed in level and not positive)
                if lowest > most:
                    return level, rule
                if lowest > level[name]:
                    level[name], changed = lowest, True
    return level, None


def _mentioned(condition: Condition, positive: bool = True) -> Iterator[tuple[str, bool]]:
    """Predicates in a condition, and whether they are asked to be true."""
    match condition:
        case Atom():
            yield condition.predicate, positive
        case Not(part):
            yield from _mentioned(part, not positive)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _mentioned(part, positive)
        case Imply(premise, conclusion):
            yield from _mentioned(premise, not positive)
            yield from _mentioned(conclusion, positive)
        case Forall(_, part) | Exists(_, part):
            yield from _mentioned(part, positive)
