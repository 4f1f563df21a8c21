from __future__ import annotations

import pytest

from engine.equivalence.instances import ground_change
from engine.equivalence.schemas import lift
from engine.errors import UnsupportedError
from engine.pddl import parse_domain
from engine.pddl.model import Domain, TypedName


def schema(domain: Domain):
    return lift(domain, tuple(c.name for c in domain.constants)).schemas[0]


def test_literals_equalities_and_constants(domain) -> None:
    made = domain(
        "(p ?x) (q ?x ?y)",
        ("a", "?x ?y", "(p ?x) (not (q ?x k)) (= ?x ?y) (not (= ?y k))", "(p k) (not (p ?y))"),
        constants="k",
    )
    found = schema(made)
    assert found.pre == {(0, 0)}
    assert found.npre == {(1, 0, -1)}
    assert found.same == ((0, 1),)
    assert found.different == ((1, -1),)
    assert (found.add, found.delete) == ({(0, -1)}, {(0, 1)})


def test_negations_are_pushed_inwards(domain) -> None:
    made = domain("(p) (q) (r)", ("a", "", "(not (or (p) (not (q)))) (not (imply (r) (p)))", "(p)"))
    found = schema(made)
    assert found.pre == {(1,), (2,)}
    assert found.npre == {(0,)}


def test_add_wins_and_effects_that_hold_are_dropped(domain) -> None:
    made = domain("(at ?x ?y)", ("move", "?a ?b ?c", "(at ?a ?b)", "(at ?a ?c) (not (at ?a ?b))"))
    found = schema(made)
    assert ground_change(found, (0, 1, 2)).delete == {(0, 0, 1)}
    there_already = ground_change(found, (0, 1, 1))
    assert there_already.idle
    assert there_already.add == there_already.delete == frozenset()


def test_costs_are_dropped_with_a_note() -> None:
    text = """(define (domain d) (:requirements :action-costs) (:predicates (p))
      (:functions (total-cost) - number)
      (:action a :parameters () :precondition (p) :effect (and (increase (total-cost) 2))))"""
    assert lift(parse_domain(text), ()).notes == ("action costs are ignored",)


@pytest.mark.parametrize(
    ("condition", "effect", "named"),
    [
        ("(or (p ?x) (q))", "(q)", "'or' in a precondition"),
        ("(not (and (p ?x) (q)))", "(q)", "'or' in a precondition"),
        ("(imply (p ?x) (q))", "(q)", "'imply' in a precondition"),
        ("(forall (?y) (p ?y))", "(q)", "'forall' in a precondition"),
        ("(not (exists (?y) (p ?y)))", "(q)", "'exists' in a precondition"),
        ("(q)", "(when (q) (p ?x))", "'when' in an effect"),
        ("(q)", "(forall (?y) (p ?y))", "'forall' in an effect"),
    ],
)
def test_what_cannot_be_compared_is_named_with_its_place(domain, condition, effect, named) -> None:
    made = domain("(p ?x) (q)", ("act", "?x", condition, effect))
    with pytest.raises(UnsupportedError) as caught:
        lift(made, ())
    assert named in str(caught.value)
    assert "act" in str(caught.value)
    assert str(caught.value).startswith("made.pddl:")
    assert caught.value.location.line in (4, 5)


def test_derived_predicates_and_constants_of_several_types_are_refused() -> None:
    text = """(define (domain d) (:requirements :adl :derived-predicates) (:predicates (p) (q))
      (:derived (p) (q)))"""
    with pytest.raises(UnsupportedError, match="derived predicate 'p'"):
        lift(parse_domain(text), ())
    either = Domain("d", constants=(TypedName("k", ("a", "b")),))
    with pytest.raises(UnsupportedError, match="'either' as the type of constant 'k'"):
        lift(either, ("k",))
