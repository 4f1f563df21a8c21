"""Small domains to compare, and the comparison with every piece of evidence verified."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.equivalence import (
    CompareOptions,
    Parameters,
    ReadingResult,
    compare_domains,
    verify_certificate,
)
from engine.pddl import Domain, parse_domain

Compare = Callable[..., ReadingResult]


@pytest.fixture
def domain() -> Callable[..., Domain]:
    """A domain from its predicates and actions; an action is (name, parameters, pre, effect)."""

    def make(
        predicates: str,
        *actions: tuple[str, str, str, str],
        types: str = "",
        constants: str = "",
    ) -> Domain:
        parts = ["(define (domain made) (:requirements :adl :typing)"]
        parts += [f"(:types {types})"] if types else []
        parts += [f"(:constants {constants})"] if constants else []
        parts.append(f"(:predicates {predicates})")
        for name, parameters, condition, effect in actions:
            parts.append(
                f"(:action {name} :parameters ({parameters})\n"
                f" :precondition (and {condition})\n :effect (and {effect}))"
            )
        return parse_domain("\n".join([*parts, ")"]), "made.pddl")

    return make


@pytest.fixture
def compare() -> Compare:
    """One reading; whatever it claims has to convince the independent checker."""

    def run(
        first: Domain, second: Domain, parameters: str = "distinct", **options
    ) -> ReadingResult:
        asked = CompareOptions((Parameters(parameters),), **options)
        reading = compare_domains(first, second, asked).first
        assert verify_certificate(reading, first, second, seed=7) == []
        return reading

    return run


@pytest.fixture
def blocks(domain) -> Domain:
    return domain(
        "(on ?x ?y) (table ?x) (clear ?x) (empty) (held ?x)",
        ("take", "?x", "(clear ?x) (table ?x) (empty)",
         "(held ?x) (not (clear ?x)) (not (table ?x)) (not (empty))"),
        ("drop", "?x", "(held ?x)", "(clear ?x) (table ?x) (empty) (not (held ?x))"),
        ("stack", "?x ?y", "(held ?x) (clear ?y)",
         "(on ?x ?y) (clear ?x) (empty) (not (held ?x)) (not (clear ?y))"),
        ("unstack", "?x ?y", "(on ?x ?y) (clear ?x) (empty)",
         "(held ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (empty))"),
    )  # fmt: skip
