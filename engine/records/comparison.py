"""What a comparison found: verdict, mapping, macros, counterexample; as data, JSON and sentences.

Everything here is plain names of the two domains, so that the checker (`verify`), the window and
the command line need nothing of the prover.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.pddl.model import Atom, Problem
from engine.pddl.printer import format_problem


class Verdict(StrEnum):
    EQUIVALENT = "equivalent"
    NOT_EQUIVALENT = "not-equivalent"
    UNDECIDED = "undecided"


class Parameters(StrEnum):
    """May different parameters of an action stand for the same object?"""

    DISTINCT = "distinct"
    PDDL = "pddl"


@dataclass(frozen=True, slots=True)
class PredicatePair:
    """`order[i]` is the argument of the predicate of A that stands at place i in B."""

    a: str
    b: str
    order: tuple[int, ...]

    @property
    def permuted(self) -> bool:
        return list(self.order) != sorted(self.order)

    def __str__(self) -> str:
        text = f"{self.a} -> {self.b}"
        return f"{text} ({self.places})" if self.permuted else text

    @property
    def places(self) -> str:
        return "arguments " + " ".join(str(position + 1) for position in self.order)


@dataclass(frozen=True, slots=True)
class ThingOfBoth:
    """An object with the type it has in A and in B; None: any type."""

    name: str
    type_a: str | None
    type_b: str | None

    def type_in(self, side: int) -> str | None:
        """0: in A, 1: in B."""
        return self.type_b if side else self.type_a


@dataclass(frozen=True, slots=True)
class Pattern:
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


@dataclass(frozen=True, slots=True)
class MacroStep:
    operator: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return "(" + " ".join((self.operator, *self.arguments)) + ")"


@dataclass(frozen=True, slots=True)
class MacroCase:
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

    def to_json(self) -> dict[str, Any]:
        return {
            "true": [str(atom) for atom in self.true],
            "false": [str(atom) for atom in self.false],
            "steps": [str(step) for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class Macro:
    """How the other domain does the operator under each of the patterns.

    The cases speak of the first pattern's objects; the other patterns bind them further.
    """

    patterns: tuple[Pattern, ...]
    cases: tuple[MacroCase, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "patterns": [dict(pattern.bindings) for pattern in self.patterns],
            "cases": [case.to_json() for case in self.cases],
        }


@dataclass(frozen=True, slots=True)
class OperatorCover:
    """An operator of one domain ("A" or "B") and how the other one does it."""

    domain: str
    operator: str
    parameters: tuple[str, ...]
    covered: bool
    macros: tuple[Macro, ...] = ()

    def __str__(self) -> str:
        return "(" + " ".join((self.operator, *self.parameters)) + ")"

    def sentences(self) -> list[str]:
        other = "B" if self.domain == "A" else "A"
        if not self.covered:
            return [f"{self} of {self.domain} cannot always be done in {other}"]
        lines = []
        for number, macro in enumerate(self.macros):
            where = f"if {macro.patterns[0]}, " if number else ""
            if len(macro.cases) == 1 and not macro.cases[0].condition:
                lines.append(
                    f"{self} of {self.domain} is {where}done in {other} by {macro.cases[0]}"
                )
                continue
            lines.append(f"{self} of {self.domain} is {where}done in {other} case by case:")
            lines += [
                f"  where {case.condition or 'anything holds'}: {case}" for case in macro.cases
            ]
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "operator": self.operator,
            "parameters": list(self.parameters),
            "covered": self.covered,
            "macros": [macro.to_json() for macro in self.macros],
        }


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One problem in the words of either domain: one step solves it here, nothing there.

    `states_explored` by the confirming search; None: it was too large to be confirmed so.
    """

    solved_by: str
    step: MacroStep
    problem_a: Problem
    problem_b: Problem
    states_explored: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "solved_by": self.solved_by,
            "operator": self.step.operator,
            "plan": [str(self.step)],
            "problem_a": format_problem(self.problem_a),
            "problem_b": format_problem(self.problem_b),
            "states_explored": self.states_explored,
        }


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Pairs that no equivalence can contain together, and the operator that shows it.

    From `state` (true atoms in the words of `domain`) the action cannot be done by the other
    domain. `projected`: this is so even if only the named predicates are looked at, so it holds
    whatever the other predicates are mapped to.
    """

    predicates: tuple[PredicatePair, ...]
    types: tuple[tuple[str, str], ...]
    domain: str
    operator: str
    arguments: tuple[str, ...]
    objects: tuple[ThingOfBoth, ...]
    state: tuple[Atom, ...]
    projected: bool

    def __str__(self) -> str:
        other = "B" if self.domain == "A" else "A"
        pairs = [*map(str, self.predicates), *(f"type {s} -> {t}" for s, t in self.types)]
        action = " ".join((self.operator, *self.arguments))
        state = " ".join(map(str, self.state)) or "nothing"
        looked_at = " (looking at these predicates only)" if self.projected else ""
        return (
            f"not {' and '.join(pairs)}: where {state} holds, ({action}) of {self.domain} "
            f"cannot be done in {other}{looked_at}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "predicates": {pair.a: pair.b for pair in self.predicates},
            "types": dict(self.types),
            "domain": self.domain,
            "operator": self.operator,
            "sentence": str(self),
        }


@dataclass(frozen=True, slots=True)
class Effort:
    candidates: int = 0
    conflicts: int = 0
    states: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "candidates": self.candidates,
            "conflicts": self.conflicts,
            "states": self.states,
            "seconds": round(self.seconds, 4),
        }


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """The answer under one reading of the parameters.

    The mapping is the equivalence, or the closest mapping found; `a_within_b` says whether, under
    it, everything A can do B can do too. Both are None when no mapping could be looked at.
    """

    parameters: Parameters
    verdict: Verdict
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

    def to_json(self) -> dict[str, Any]:
        permuted = {p.a: [i + 1 for i in p.order] for p in self.mapping if p.permuted}
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            "mapping": {pair.a: pair.b for pair in self.mapping} if self.mapping else None,
            "types": dict(self.types),
            "argument_permutations": permuted,
            "operators": [operator.to_json() for operator in self.operators],
            "counterexample": self.counterexample.to_json() if self.counterexample else None,
            "conflicts": [exclusion.to_json() for exclusion in self.exclusions],
            "a_within_b": self.a_within_b,
            "b_within_a": self.b_within_a,
            "notes": list(self.notes),
            "effort": self.effort.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The readings that were asked for, in that order."""

    readings: tuple[ReadingResult, ...]
    seconds: float
    stopped: bool = False

    def reading(self, parameters: Parameters) -> ReadingResult | None:
        return next((item for item in self.readings if item.parameters is parameters), None)

    @property
    def first(self) -> ReadingResult:
        return self.readings[0]

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {r.parameters.value: r.to_json() for r in self.readings}
        document["seconds"] = round(self.seconds, 4)
        return document
