"""Relatedness: what is related to what, in which order, from the domain alone."""

import hashlib

import pytest

from engine.errors import UnsupportedError
from engine.pddl import parse_domain
from engine.pddl.model import Domain
from engine.policies.asnets.relatedness import RelatedAtom, Slot, domain_hash, relate


def test_preconditions_then_effects_each_atom_once(domain: Domain) -> None:
    go = relate(domain).schemas[0]
    assert go.related == (
        RelatedAtom("at", (0, 1)),
        RelatedAtom("link", (1, 2)),
        RelatedAtom("at", (0, 2)),
    )
    assert (go.positive, go.negative) == ((0, 1), ())
    assert (go.add, go.delete) == ((2,), (0,))
    assert len(go.equalities) == 1
    assert not go.equalities[0].equal


def test_constants_are_arguments_by_name(domain: Domain) -> None:
    hand_over = relate(domain).schemas[3]
    assert hand_over.related[:2] == (RelatedAtom("at", (0, "hub")), RelatedAtom("at", (1, "hub")))


def test_slots_run_over_schemas_and_positions(domain: Domain) -> None:
    relatedness = relate(domain)
    slots = dict(zip(relatedness.predicates, relatedness.slots, strict=True))
    assert relatedness.predicates[0] == "="
    assert slots["="] == ()
    assert slots["noted"] == ()
    assert slots["link"] == (Slot(0, 1),)
    assert slots["at"] == (Slot(0, 0), Slot(0, 2), Slot(1, 0), Slot(2, 0), Slot(3, 0), Slot(3, 1))
    assert relatedness.static == {"=", "link", "noted"}


def test_a_nested_conjunction_comes_last_and_an_added_atom_is_not_deleted() -> None:
    domain = parse_domain(
        """(define (domain d) (:predicates (a) (b) (c) (e))
           (:action act :parameters ()
             :precondition (and (and (c) (b)) (a))
             :effect (and (not (e)) (not (a)) (e))))"""
    )
    schema = relate(domain).schemas[0]
    assert [atom.predicate for atom in schema.related] == ["a", "c", "b", "e"]
    assert (schema.add, schema.delete) == ((3,), (0,))


def test_the_hash_is_over_types_predicates_and_actions() -> None:
    domain = parse_domain(
        """(define (domain d) (:requirements :typing)
           (:types b c - a  d)
           (:predicates (p ?x - (either d b)) (q))
           (:action go :parameters (?x - c) :precondition (q) :effect (not (q))))"""
    )
    text = "objectabcd(either b d)" + "=pq" + "go"
    assert domain_hash(domain) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (":precondition (or (p) (q)) :effect (p)", "or"),
        (":precondition (exists (?x - object) (r ?x)) :effect (p)", "exists"),
        (":precondition (q) :effect (when (p) (q))", "conditional effect"),
        (":precondition (q) :effect (forall (?x - object) (r ?x))", "quantified effect"),
    ],
)
def test_other_constructs_are_refused_by_name_and_place(part: str, named: str) -> None:
    text = f"(define (domain d)\n(:predicates (p) (q) (r ?x))\n(:action act :parameters () {part}))"
    with pytest.raises(UnsupportedError, match=named) as caught:
        relate(parse_domain(text, "d.pddl"))
    assert caught.value.location.line == 3
    assert "'act'" in caught.value.message
