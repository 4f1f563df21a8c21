"""Claims about patterns: a certificate is its witness without names, and no two are the same.

The stored order of the objects turns a witness into its certificate without any search. That
different certificates are not isomorphic is checked by matching objects one by one.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.pddl import format_condition, format_domain
from engine.pddl.model import TOTAL_COST, Atom, Condition, Not, conjuncts
from engine.pddl.printer import format_number
from engine.records.pattern import SCHEME, Certificate, CertificateTuple, Witness
from engine.records.verification import HOLDS, Verdict, false, undecided
from engine.task.lifted import substitute
from engine.task.task import PddlSource
from engine.verify.witness import names_of
from engine.workspace.rows import PatternRow

MAX_STEPS = 200_000
"""Objects that may be tried when two patterns are compared."""


def check_membership(row: PatternRow, witness: Witness, source: PddlSource | None) -> Verdict:
    """Check that a witness has the claimed pattern."""
    if source is None:
        return false("its witness has no PDDL")
    problem = next(_misfits(row, witness, source), "")
    return false(problem) if problem else HOLDS


def _misfits(row: PatternRow, witness: Witness, source: PddlSource) -> Iterator[str]:
    found = row.certificate
    if found.key != row.key:
        yield "its key does not match its certificate"
    if row.family != witness.family:
        yield f"its family is '{witness.family}', not '{row.family}'"
    if (found.unit_costs, found.kind, found.version) != (source.unit_costs, witness.kind, SCHEME):
        yield "its certificate is for another kind of mistake"
    domain = format_domain(replace(source.domain, requirements=()))
    if found.domain != hashlib.sha256(domain.encode()).hexdigest()[:16]:
        yield "its certificate is for another domain"
    try:
        colors, tuples = _relabeled(source, witness)
    except (LookupError, ValueError):
        yield "the order of its objects does not match its witness"
        return
    if colors != found.colors or tuples != found.tuples:
        yield "its certificate does not follow from its witness"


def _relabeled(
    source: PddlSource, witness: Witness
) -> tuple[tuple[str, ...], tuple[CertificateTuple, ...]]:
    problem, number = source.problem, {name: n for n, name in enumerate(witness.order)}
    types = {item.name: " ".join(sorted(item.types)) for item in problem.objects}
    types |= {item.name: f"={item.name}" for item in source.domain.constants}
    if len(number) != len(witness.order) or not {i.name for i in problem.objects} <= number.keys():
        raise ValueError
    tuples: list[CertificateTuple] = []
    for atom in dict.fromkeys(problem.init):
        names = (term.name for term in atom.arguments)
        tuples.append(("fact", atom.predicate, tuple(number[name] for name in names)))
    for item in problem.values:
        if item.function.name != TOTAL_COST:
            label = f"{item.function.name} {format_number(item.value)}"
            names = (term.name for term in item.function.arguments)
            tuples.append(("value", label, tuple(number[name] for name in names)))
    tuples += (_goal(goal, number) for goal in dict.fromkeys(conjuncts(problem.goal)))
    schema, *objects = witness.action.split(" ")
    bad = f"{witness.kind} {schema}".rstrip()
    tuples.append(("bad", bad, tuple(number[name] for name in objects)))
    return tuple(types[name] for name in witness.order), tuple(sorted(tuples))


def _goal(goal: Condition, number: dict[str, int]) -> CertificateTuple:
    match goal:
        case Atom():
            return "goal", goal.predicate, tuple(number[term.name] for term in goal.arguments)
        case Not(Atom() as atom):
            return "not", atom.predicate, tuple(number[term.name] for term in atom.arguments)
    names = names_of(goal)
    label = format_condition(substitute(goal, {name: f"%{n}" for n, name in enumerate(names)}))
    return "goal", label, tuple(number[name] for name in names)


def check_distinct(row: PatternRow, others: Sequence[PatternRow]) -> Verdict:
    """Whether no other pattern is the same up to renaming."""
    doubt = HOLDS
    for other in others:
        if other.id == row.id or not (row.certificate.exact and other.certificate.exact):
            continue
        same = is_isomorphic(row.certificate, other.certificate)
        if same:
            return false(f"pattern {other.id} is the same up to renaming")
        if same is None:
            doubt = undecided(f"it is too symmetric to compare with pattern {other.id}")
    return doubt


def is_isomorphic(a: Certificate, b: Certificate) -> bool | None:
    """Whether two certificates are the same up to renaming; None if that takes too long."""
    if (a.domain, a.unit_costs, a.kind) != (b.domain, b.unit_costs, b.kind):
        return False
    if _shape(a) != _shape(b):
        return False
    return _Matching(a, b).found()


def _shape(one: Certificate) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    return Counter(one.colors), Counter((mark, label) for mark, label, _ in one.tuples)


class _Matching:
    """Gives the objects of one certificate those of another, one after the other."""

    def __init__(self, a: Certificate, b: Certificate) -> None:
        self._a, self._steps = a, MAX_STEPS
        self._tuples = set(b.tuples)
        traits_a, traits_b = _traits(a), _traits(b)
        self._choices = [
            [other for other, trait in enumerate(traits_b) if trait == own] for own in traits_a
        ]
        # Those with the fewest choices first: their tuples rule out most of the rest.
        self._order = sorted(range(len(a.colors)), key=lambda name: len(self._choices[name]))
        place = {name: number for number, name in enumerate(self._order)}
        self._due: defaultdict[int, list[CertificateTuple]] = defaultdict(list)
        for item in a.tuples:
            if item[2]:
                self._due[max(item[2], key=place.__getitem__)].append(item)

    def found(self) -> bool | None:
        if {item for item in self._a.tuples if not item[2]} - self._tuples:
            return False
        chosen: list[int] = []  # the number of the choice per object, in order
        given: dict[int, int] = {}
        number = 0
        while True:
            if len(chosen) == len(self._order):
                return True
            self._steps -= 1
            if self._steps < 0:
                return None
            name = self._order[len(chosen)]
            following = self._next(name, number, given)
            if following is not None:
                given[name] = self._choices[name][following]
                chosen.append(following)
                number = 0
                continue
            if not chosen:
                return False
            number = chosen.pop() + 1
            del given[self._order[len(chosen)]]

    def _next(self, name: int, begin: int, given: dict[int, int]) -> int | None:
        used = set(given.values())
        for number, choice in enumerate(self._choices[name][begin:], begin):
            if choice not in used and self._fits({**given, name: choice}, name):
                return number
        return None

    def _fits(self, given: dict[int, int], name: int) -> bool:
        return all(
            (mark, label, tuple(given[n] for n in names)) in self._tuples
            for mark, label, names in self._due[name]
        )


def _traits(one: Certificate) -> list[tuple[str, tuple[tuple[str, str, int], ...]]]:
    """The color of each object and where it stands in tuples."""
    places: list[list[tuple[str, str, int]]] = [[] for _ in one.colors]
    for mark, label, names in one.tuples:
        for position, name in enumerate(names):
            places[name].append((mark, label, position))
    return [(color, tuple(sorted(found))) for color, found in zip(one.colors, places, strict=True)]
