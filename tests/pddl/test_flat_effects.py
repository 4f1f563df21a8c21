"""Effects inside 'when': taken apart for the translator, refused where names would be confused."""

from __future__ import annotations

import pytest

from engine.pddl import format_effect, parse_domain
from engine.pddl.flat_effects import find_hiding, flatten_effects
from engine.pddl.model import Action, Domain

START = "(define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x) (r)) "


def domain_with(effect: str) -> Domain:
    return parse_domain(f"{START} (:action go :parameters (?x) :effect {effect}))")


def action_with(effect: str) -> Action:
    return domain_with(effect).actions[0]


@pytest.mark.parametrize(
    ("effect", "flat"),
    [
        ("(when (r) (forall (?y) (p ?y)))", "(and (forall (?y) (when (r) (p ?y))))"),
        ("(when (r) (when (p ?x) (q ?x)))", "(and (when (and (r) (p ?x)) (q ?x)))"),
        (
            "(forall (?y) (when (p ?y) (and (q ?y) (forall (?z) (when (q ?z) (not (p ?z)))))))",
            "(and (forall (?y) (when (p ?y) (q ?y)))"
            " (forall (?y) (forall (?z) (when (and (p ?y) (q ?z)) (not (p ?z))))))",
        ),
        (
            "(and (r) (when (r) (and (forall (?y) (p ?y)) (q ?x))))",
            "(and (r) (forall (?y) (when (r) (p ?y))) (when (r) (q ?x)))",
        ),
    ],
)
def test_conditions_move_inside(effect: str, flat: str) -> None:
    (action,) = flatten_effects(domain_with(effect)).actions
    assert format_effect(action.effect) == flat


@pytest.mark.parametrize(
    "effect", ["(p ?x)", "(when (r) (and (p ?x) (not (q ?x))))", "(forall (?y) (when (r) (p ?y)))"]
)
def test_what_the_translator_reads_stays_as_it_is(effect: str) -> None:
    domain = domain_with(effect)
    assert flatten_effects(domain) is domain


@pytest.mark.parametrize(
    ("effect", "hidden"),
    [
        ("(when (p ?x) (forall (?x) (q ?x)))", ["?x"]),
        ("(forall (?y) (when (p ?y) (and (r) (forall (?y) (q ?y)))))", ["?y"]),
        ("(forall (?x) (when (p ?x) (q ?x)))", []),  # here nothing moves across the name
        ("(when (p ?x) (forall (?y) (q ?y)))", []),
    ],
)
def test_names_that_hide_others_inside_when(effect: str, hidden: list[str]) -> None:
    assert [item.name for item in find_hiding(action_with(effect))] == hidden
