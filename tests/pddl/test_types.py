"""Subtype questions and the objects of each type."""

from __future__ import annotations

from engine.pddl import Domain, Problem, Types, objects_of_type, parse_domain
from engine.pddl.model import TypedName
from engine.pddl.types import Fit

TEXT = """(define (domain d)
  (:types place locatable - object  truck parcel - locatable  van - truck)
  (:constants depot - place))"""


def domain() -> Domain:
    return parse_domain(TEXT)


def test_subtypes_are_transitive_and_reflexive() -> None:
    types = Types.of(domain())
    assert types.is_subtype("van", "van")
    assert types.is_subtype("van", "locatable")
    assert types.is_subtype("van", "object")
    assert not types.is_subtype("locatable", "van")
    assert not types.is_subtype("place", "locatable")


def test_supertypes_end_with_object() -> None:
    types = Types.of(domain())
    assert types.supertypes("van") == ("van", "truck", "locatable", "object")
    assert types.supertypes("object") == ("object",)
    assert types.parents("van") == ("truck",)
    assert "van" in types
    assert "bus" not in types


def test_a_type_declared_twice_is_below_both_parents() -> None:
    types = Types([TypedName("a"), TypedName("b"), TypedName("c", ("a",)), TypedName("c", ("b",))])
    assert types.is_subtype("c", "a")
    assert types.is_subtype("c", "b")


def test_cycles_end() -> None:
    types = Types([TypedName("a", ("b",)), TypedName("b", ("a",))])
    assert types.supertypes("a") == ("a", "b", "object")


def test_how_arguments_fit() -> None:
    types = Types.of(domain())
    assert types.fit(("van",), ("locatable",)) is Fit.ALWAYS
    assert types.fit(("van", "parcel"), ("truck", "parcel")) is Fit.ALWAYS
    assert types.fit(("locatable",), ("truck",)) is Fit.SOMETIMES
    assert types.fit(("place", "van"), ("truck",)) is Fit.SOMETIMES
    assert types.fit(("place",), ("truck",)) is Fit.NEVER


def test_objects_are_counted_for_every_supertype() -> None:
    objects = (
        TypedName("v", ("van",)),
        TypedName("p", ("parcel",)),
        TypedName("x", ("van", "place")),
    )
    by_type = objects_of_type(domain(), Problem("p", "d", objects=objects))
    assert by_type["object"] == ("depot", "v", "p", "x")
    assert by_type["locatable"] == ("v", "p", "x")
    assert by_type["place"] == ("depot", "x")
    assert by_type["van"] == ("v", "x")
    assert by_type["parcel"] == ("p",)
    assert objects_of_type(domain())["place"] == ("depot",)
