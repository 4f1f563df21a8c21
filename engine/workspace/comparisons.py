"""Comparisons of two domain models that a workspace keeps: both texts, the question, the answer.

The answer is the JSON document of `plumbline compare`, written down here as types: a workspace may
come from a stranger, and what is not of these types is not shown (`typed.checked`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from engine.campaign.inputs import File
from engine.records.codec import NOT_EMPTY, checked

Side = Literal["A", "B"]


class CaseDocument(TypedDict):
    """Where the atoms are true and false, these steps do it."""

    true: list[str]
    false: list[str]
    steps: list[str]


class MacroDocument(TypedDict):
    patterns: Annotated[list[dict[str, str]], NOT_EMPTY]
    cases: Annotated[list[CaseDocument], NOT_EMPTY]


class OperatorDocument(TypedDict):
    domain: Side
    operator: str
    parameters: list[str]
    covered: bool
    macros: list[MacroDocument]


class CounterexampleDocument(TypedDict):
    solved_by: Side
    operator: str
    plan: list[str]
    problem_a: str
    problem_b: str
    states_explored: int | None


class ConflictDocument(TypedDict):
    predicates: dict[str, str]
    types: dict[str, str]
    domain: Side
    operator: str
    sentence: str


class ReadingDocument(TypedDict):
    verdict: Literal["equivalent", "not-equivalent", "undecided"]
    reason: str
    mapping: dict[str, str] | None
    types: dict[str, str]
    argument_permutations: dict[str, list[int]]
    operators: list[OperatorDocument]
    counterexample: CounterexampleDocument | None
    conflicts: list[ConflictDocument]
    a_within_b: bool | None
    b_within_a: bool | None
    notes: list[str]
    effort: dict[str, float]


class VerificationDocument(TypedDict, total=False):
    """By reading, what is wrong with the evidence."""

    distinct: list[str]
    pddl: list[str]


class AnswerDocument(TypedDict, total=False):
    distinct: ReadingDocument
    pddl: ReadingDocument
    verification: VerificationDocument
    seconds: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A comparison without the texts: what a list shows."""

    id: int
    created: float
    name_a: str
    name_b: str
    question: Mapping[str, Any]
    answer: AnswerDocument

    @classmethod
    def of(cls, columns: Sequence[Any]) -> ComparisonRow:
        """ValueError if this is none."""
        *rest, question, answer = columns
        row = checked(cls(*[*rest, json.loads(question), json.loads(answer)]))
        if not {"distinct", "pddl"} & row.answer.keys():
            raise ValueError("a comparison without a verdict")
        return row


@dataclass(frozen=True, slots=True)
class StoredComparison:
    row: ComparisonRow
    a: File
    b: File
