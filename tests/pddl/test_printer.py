"""What is printed reads back as the same model, for files and for generated models."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.pddl import (
    Domain,
    Problem,
    format_condition,
    format_domain,
    format_problem,
    format_typed_list,
    parse_domain,
    parse_problem,
)
from engine.pddl import model as m
from engine.pddl.printer import WIDTH, format_number

TYPES = ("object", "place", "thing", "box")
DECLARED = (
    m.TypedName("place"),
    m.TypedName("thing"),
    m.TypedName("box", ("thing",)),
)
names = st.sampled_from(["a", "b2", "c-d", "e_f", "on-top-of-everything-there-is", "1", "at"])
variables = names.map(lambda name: f"?{name}")
type_choices = st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True).map(tuple)


def typed(
    of: st.SearchStrategy[str], least: int = 0, most: int = 3
) -> st.SearchStrategy[tuple[m.TypedName, ...]]:
    items = st.builds(m.TypedName, of, type_choices)
    lists = st.lists(items, min_size=least, max_size=most, unique_by=lambda item: item.name)
    return lists.map(tuple)


@st.composite
def conditions(draw: st.DrawFn, domain: Domain, scope: tuple[str, ...], depth: int) -> m.Condition:
    kinds = ["and", "atom", "or", "not", "imply", "forall", "exists"] if depth else ["atom"]
    kind = draw(st.sampled_from([*kinds, "equality"] if scope else kinds))
    if kind == "atom":
        return draw(atoms(domain, scope))
    if kind == "equality":
        return m.Equality(m.Term(draw(st.sampled_from(scope))), m.Term(scope[0]))
    if kind in ("forall", "exists"):
        parameters = draw(typed(variables, 1, 2))
        inner = (*scope, *(item.name for item in parameters))
        make = m.Forall if kind == "forall" else m.Exists
        return make(parameters, draw(conditions(domain, inner, depth - 1)))
    parts = st.lists(conditions(domain, scope, depth - 1), max_size=3).map(tuple)
    if kind in ("and", "or"):
        return (m.And if kind == "and" else m.Or)(draw(parts))
    first, second = draw(st.tuples(*[conditions(domain, scope, depth - 1)] * 2))
    return m.Not(first) if kind == "not" else m.Imply(first, second)


@st.composite
def atoms(draw: st.DrawFn, domain: Domain, scope: tuple[str, ...]) -> m.Atom:
    usable = [p for p in domain.predicates if scope or not p.parameters]
    predicate = draw(st.sampled_from(usable))
    arguments = (m.Term(draw(st.sampled_from(scope))) for _ in predicate.parameters)
    return m.Atom(predicate.name, tuple(arguments))


@st.composite
def effects(draw: st.DrawFn, domain: Domain, scope: tuple[str, ...], depth: int) -> m.Effect:
    kind = draw(st.sampled_from(["add", "delete", "and", "forall", "when"] if depth else ["add"]))
    if kind in ("add", "delete"):
        return (m.Add if kind == "add" else m.Delete)(draw(atoms(domain, scope)))
    if kind == "and":
        return m.EffectAnd(draw(st.lists(effects(domain, scope, depth - 1), max_size=3).map(tuple)))
    if kind == "forall":
        parameters = draw(typed(variables, 1, 2))
        inner = (*scope, *(item.name for item in parameters))
        return m.EffectForall(parameters, draw(effects(domain, inner, depth - 1)))
    condition = draw(conditions(domain, scope, depth - 1))
    return m.When(condition, draw(effects(domain, scope, depth - 1)))


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    """Everything is of type object where it is used, so that types always fit."""
    predicates = [m.Predicate("nothing")]
    for name in draw(st.lists(names, max_size=3, unique=True)):
        parameters = draw(st.lists(variables, max_size=3))
        predicates.append(m.Predicate(name, tuple(m.TypedName(v) for v in parameters)))
    costs = draw(st.booleans())
    functions = (m.Function("length", (m.TypedName("?x"),)), m.Function("total-cost"))
    domain = Domain(
        draw(names),
        ("adl", "action-costs", "derived-predicates"),
        DECLARED,
        draw(typed(names)),
        tuple(predicates),
        functions if costs else (),
    )
    objects = tuple(item.name for item in domain.constants)
    actions = []
    for name in draw(st.lists(names, max_size=2, unique=True)):
        parameters = draw(typed(variables))
        scope = (*objects, *(item.name for item in parameters))
        effect = draw(effects(domain, scope, 2))
        if costs:
            effect = m.EffectAnd((effect, draw(increases(scope))))
        precondition = draw(conditions(domain, scope, 3))
        actions.append(m.Action(name, parameters, precondition, effect))
    head = m.Predicate("nothing")
    derived = () if actions else (m.Derived(head, draw(conditions(domain, objects, 2))),)
    return Domain(
        domain.name,
        domain.requirements,
        domain.types,
        domain.constants,
        domain.predicates,
        domain.functions,
        derived,
        tuple(actions),
    )


@st.composite
def increases(draw: st.DrawFn, scope: tuple[str, ...]) -> m.Increase:
    target = m.FunctionTerm("total-cost")
    if scope and draw(st.booleans()):
        term = m.Term(draw(st.sampled_from(scope)))
        return m.Increase(target, m.FunctionTerm("length", (term,)))
    return m.Increase(target, m.Number(draw(numbers)))


numbers = st.decimals(0, 10**6, places=3).map(Fraction)


@st.composite
def problems(draw: st.DrawFn, domain: Domain) -> Problem:
    taken = {item.name for item in domain.constants}
    objects = tuple(item for item in draw(typed(names, 0, 6)) if item.name not in taken)
    scope = (*taken, *(item.name for item in objects))
    derived = {rule.predicate.name for rule in domain.derived}
    facts = draw(st.lists(atoms(domain, scope), max_size=6, unique=True))
    values = []
    if domain.functions:
        values.append(m.FunctionValue(m.FunctionTerm("total-cost"), draw(numbers)))
        for name in scope:
            term = m.FunctionTerm("length", (m.Term(name),))
            values.append(m.FunctionValue(term, draw(numbers)))
    return Problem(
        draw(names),
        domain.name,
        draw(st.sampled_from([(), ("typing",)])),
        objects,
        tuple(fact for fact in facts if fact.predicate not in derived),
        tuple(values),
        draw(conditions(domain, scope, 3)),
        m.Metric(m.FunctionTerm("total-cost")) if domain.functions else None,
    )


@settings(deadline=None, max_examples=amount(60, 20), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_generated_models_read_back_equal(data: st.DataObject) -> None:
    domain = data.draw(domains())
    text = format_domain(domain)
    assert parse_domain(text) == domain
    problem = data.draw(problems(domain))
    assert parse_problem(format_problem(problem), domain) == problem


def test_a_file_reads_back_equal(gripper: Domain, gripper_problem: Problem) -> None:
    text = format_domain(gripper)
    assert parse_domain(text) == gripper
    assert format_domain(parse_domain(text)) == text
    assert parse_problem(format_problem(gripper_problem), gripper) == gripper_problem


def test_the_layout(gripper: Domain, gripper_problem: Problem) -> None:
    lines = format_domain(gripper).splitlines()
    assert lines[:4] == [
        "(define (domain gripper)",
        "  (:requirements :strips :typing)",
        "  (:types",
        "    room ball hand - object)",
    ]
    assert "    (carry ?b - ball ?h - hand))" in lines
    assert "    :precondition (and (at ?b ?r) (at-robot ?r) (free ?h))" in lines
    assert format_problem(gripper_problem).splitlines()[-6:] == [
        "  (:init",
        "    (at-robot rooma)",
        "    (at b1 rooma)",
        "    (at b2 rooma)",
        "    (free left))",
        "  (:goal (and (carry b1 left) (at-robot roomb))))",
    ]


def test_long_conditions_and_lists_are_broken_into_lines() -> None:
    objects = tuple(m.TypedName(f"object-{n}", ("thing",)) for n in range(50))
    goal = m.And(tuple(m.Atom("p", (m.Term(item.name),)) for item in objects))
    problem = Problem("p", "d", objects=objects, goal=goal)
    assert max(map(len, format_problem(problem).splitlines())) <= WIDTH + 2


def test_typed_lists() -> None:
    items = (m.TypedName("a"), m.TypedName("b", ("t",)), m.TypedName("c", ("t", "u")))
    assert format_typed_list(items) == "a - object b - t c - (either t u)"
    assert format_typed_list(items[:1]) == "a"
    assert format_typed_list(()) == ""


def test_a_condition_on_one_line() -> None:
    condition = m.Not(m.Equality(m.Term("?x"), m.Term("?y")))
    assert format_condition(condition) == "(not (= ?x ?y))"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(5, 2), "2.5"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(-7, 4), "-1.75"),
        (Fraction(0), "0"),
    ],
)
def test_numbers_are_exact(value: Fraction, text: str) -> None:
    assert format_number(value) == text
    assert Fraction(text) == value
