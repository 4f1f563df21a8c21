"""What a comparison of two domains found: verdict, mapping, macros, counterexample.

Everything here is plain names of the two domains, so that the checker (`verify`), the window and
the command line need nothing of the prover.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from engine.pddl.model import Atom
from engine.records.codec import Count, Record, Seconds


class EquivalenceVerdict(StrEnum):
    EQUIVALENT = "equivalent"
    NOT_EQUIVALENT = "not-equivalent"
    UNDECIDED = "undecided"


Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")


class Parameters(StrEnum):
    """May different parameters of an action stand for the same object?"""

    DISTINCT = "distinct"
    PDDL = "pddl"


class PredicatePair(Record):
    """`order[i]` is the argument of the predicate of A that stands at place i in B."""

    a: str
    b: str
    order: tuple[Count, ...]

    @property
    def permuted(self) -> bool:
        return list(self.order) != sorted(self.order)

    def __str__(self) -> str:
        text = f"{self.a} -> {self.b}"
        return f"{text} (arguments {self.places})" if self.permuted else text

    @property
    def places(self) -> str:
        return " ".join(str(position + 1) for position in self.order)


class ThingOfBoth(Record):
    """An object with the type it has in A and in B; None: any type."""

    name: str
    type_a: str | None
    type_b: str | None

    def type_in(self, side: int) -> str | None:
        """0: in A, 1: in B."""
        return self.type_b if side else self.type_a


class Pattern(Record):
    """Which parameters coincide: every parameter's object is called after its first parameter,
    or is a constant."""

    bindings: tuple[tuple[str, str], ...]
    objects: tuple[ThingOfBoth, ...]

    @property
    def coincidences(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, value) for name, value in self.bindings if name != value)

    def __str__(self) -> str:
        pairs = [f"{name} = {value}" for name, value in self.coincidences]
        return ", ".join(pairs) or "all different"


class MacroStep(Record):
    operator: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return "(" + " ".join((self.operator, *self.arguments)) + ")"


class MacroCase(Record):
    """The steps to take where the atoms (of the covering domain) are true and false."""

    true: tuple[Atom, ...]
    false: tuple[Atom, ...]
    steps: tuple[MacroStep, ...]

    @property
    def condition(self) -> str:
        parts = [*map(str, self.true), *(f"(not {atom})" for atom in self.false)]
        return " ".join(parts)

    def __str__(self) -> str:
        return " ".join(map(str, self.steps)) or "nothing"


class Macro(Record):
    """How the other domain does the operator under each of the patterns.

    The cases name the first pattern's objects; the other patterns bind them further.
    """

    patterns: Annotated[tuple[Pattern, ...], msgspec.Meta(min_length=1)]
    cases: Annotated[tuple[MacroCase, ...], msgspec.Meta(min_length=1)]


class OperatorCover(Record):
    """An operator of one domain ("A" or "B") and how the other one does it.

    `shortest`, if asked for: all shortest macros for its first pattern that need no cases.
    """

    domain: Side
    operator: str
    parameters: tuple[str, ...]
    covered: bool
    macros: tuple[Macro, ...] = ()
    shortest: tuple[MacroCase, ...] = ()
    all_listed: bool = True  # or there are more of the shortest than are kept

    def __str__(self) -> str:
        return "(" + " ".join((self.operator, *self.parameters)) + ")"


class Counterexample(Record):
    """One problem, as PDDL in the words of either domain: one step solves it here, nothing there.

    `states_explored` by the confirming search; None: it was too large to be confirmed so.
    """

    solved_by: Side
    step: MacroStep
    problem_a: str
    problem_b: str
    states_explored: Count | None


class Exclusion(Record):
    """Pairs that no equivalence can contain together, and the operator that shows it.

    From `state` (true atoms in the words of `domain`) the action cannot be done by the other
    domain. `projected`: this is so even if only the named predicates are looked at, so it holds
    whatever the other predicates are mapped to.
    """

    predicates: tuple[PredicatePair, ...]
    types: tuple[tuple[str, str], ...]
    domain: Side
    operator: str
    arguments: tuple[str, ...]
    objects: tuple[ThingOfBoth, ...]
    state: tuple[Atom, ...]
    projected: bool


class Obstacle(StrEnum):
    """Why domains are not equivalent."""

    NO_BIJECTION = "no bijection"  # of the predicates, by their numbers of arguments
    NO_MACRO = "no macro"  # does an operator, whatever its predicates are mapped to
    NO_MAPPING = "no mapping"  # fits all operators, though each has macros under some


class Effort(Record):
    candidates: Count = 0
    conflicts: Count = 0
    states: Count = 0
    seconds: Seconds = 0.0


class ReadingResult(Record):
    """The answer under one reading of the parameters.

    The mapping is the equivalence, or the closest mapping found; `a_within_b` says whether, under
    it, everything A can do B can do too. Both are None when no mapping could be looked at.
    """

    parameters: Parameters
    verdict: EquivalenceVerdict
    reason: str
    mapping: tuple[PredicatePair, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    operators: tuple[OperatorCover, ...] = ()
    counterexample: Counterexample | None = None
    exclusions: tuple[Exclusion, ...] = ()
    a_within_b: bool | None = None
    b_within_a: bool | None = None
    notes: tuple[str, ...] = ()
    effort: Effort = Effort()
    objections: tuple[str, ...] | None = None  # of the verifier to the evidence; None: not asked
    obstacle: Obstacle | None = None  # None: equivalent, or not known
    blocked: str = ""  # the operator that no macro implements, with its domain


class CompareOptions(Record):
    """`seconds` hold for all readings of the parameters together."""

    parameters: tuple[Parameters, ...] = tuple(Parameters)
    permute_arguments: bool = False
    seconds: Seconds = 300.0
    verify: bool = False  # check the evidence with separate code
    seed: int = 0  # of the states that this check tries
    all_macros: bool = False  # list all shortest macros of every operator


class Comparison(Record):
    """The readings that were asked for, in that order."""

    readings: Annotated[tuple[ReadingResult, ...], msgspec.Meta(min_length=1)]
    seconds: Seconds
    stopped: bool = False

    def reading(self, parameters: Parameters) -> ReadingResult | None:
        return next((item for item in self.readings if item.parameters is parameters), None)

    @property
    def first(self) -> ReadingResult:
        return self.readings[0]
