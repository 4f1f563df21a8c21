"""Whole comparisons; the fixture `compare` verifies the evidence of every one of them."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest
from msgspec import structs
from reference.equivalence import renamed

from engine.equivalence import (
    CompareOptions,
    Limits,
    Parameters,
    ReadingResult,
    compare_domains,
    verify_certificate,
)
from engine.pddl import parse_problem
from engine.pddl.model import Action, Add, And, Atom, Delete, Domain, EffectAnd, Predicate, Term
from engine.pddl.model import TypedName as Typed
from engine.records.comparison import Comparison, EquivalenceVerdict
from engine.records.events import (
    ComparisonEvent,
    ComparisonProgress,
    OperatorChecked,
    StageStarted,
)
from engine.report.comparison import comparison_json
from engine.report.comparison_text import cover_sentences

PICK_UP_STACK = (
    "take-stack", "?x ?y", "(clear ?x) (table ?x) (empty) (clear ?y)",
    "(on ?x ?y) (not (table ?x)) (not (clear ?y)) (not (held ?x))",
)  # fmt: skip


def with_action(made: Domain, domain, action: tuple[str, str, str, str], predicates: str) -> Domain:
    return replace(made, actions=(*made.actions, *domain(predicates, action).actions))


BLOCKS_PREDICATES = "(on ?x ?y) (table ?x) (clear ?x) (empty) (held ?x)"


def steps(reading, side: str, operator: str) -> list[list[str]]:
    found = next(o for o in reading.operators if (o.domain, o.operator) == (side, operator))
    return [[str(step) for step in case.steps] for case in found.macros[0].cases]


@pytest.mark.parametrize("parameters", Parameters)
def test_everything_renamed_and_shuffled(blocks, compare, parameters) -> None:
    reading = compare(blocks, renamed(blocks, random.Random(5)), parameters)
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert len(reading.mapping) == 5
    assert reading.a_within_b is reading.b_within_a is True
    assert all(operator.covered for operator in reading.operators)


def test_the_two_readings_differ_where_parameters_coincide(blocks, domain, compare) -> None:
    longer = with_action(blocks, domain, PICK_UP_STACK, BLOCKS_PREDICATES)
    distinct = compare(blocks, longer)
    assert distinct.verdict is EquivalenceVerdict.EQUIVALENT
    assert steps(distinct, "B", "take-stack") == [["(take ?x)", "(stack ?x ?y)"]]
    pddl = compare(blocks, longer, "pddl")
    assert pddl.verdict is EquivalenceVerdict.NOT_EQUIVALENT
    assert (pddl.a_within_b, pddl.b_within_a) == (True, False)
    found = pddl.counterexample
    assert found is not None
    assert (found.solved_by, str(found.step)) == ("B", "(take-stack x x)")
    problem = parse_problem(found.problem_a, blocks)
    assert Atom("on", (Term("x"), Term("x"))) in problem.goal.parts
    parse_problem(found.problem_b, longer)


def test_a_macro_of_three(domain, compare) -> None:
    room = ("go", "?a ?b", "(at ?a) (next ?a ?b)", "(at ?b) (not (at ?a))")
    three = (
        "go3", "?a ?b ?c ?d", "(at ?a) (next ?a ?b) (next ?b ?c) (next ?c ?d) "
        "(not (at ?b)) (not (at ?c)) (not (at ?d))", "(at ?d) (not (at ?a))",
    )  # fmt: skip
    predicates = "(at ?x) (next ?x ?y)"
    reading = compare(domain(predicates, room), domain(predicates, room, three))
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert steps(reading, "B", "go3") == [["(go ?a ?b)", "(go ?b ?c)", "(go ?c ?d)"]]


@pytest.mark.parametrize("parameters", Parameters)
def test_one_operator_done_case_by_case(domain, compare, parameters) -> None:
    predicates = "(tool ?t) (done ?j)"
    parts = [
        ("get", "?t", "(not (tool ?t))", "(tool ?t)"),
        ("put", "?t", "(tool ?t)", "(not (tool ?t))"),
        ("work", "?t ?j", "(tool ?t)", "(done ?j)"),
    ]
    anyway = ("just-work", "?t ?j", "", "(done ?j)")
    reading = compare(domain(predicates, *parts), domain(predicates, *parts, anyway), parameters)
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert steps(reading, "B", "just-work") == [
        ["(get ?t)", "(work ?t ?j)", "(put ?t)"],
        ["(work ?t ?j)"],
    ]
    text = "\n".join(line for operator in reading.operators for line in cover_sentences(operator))
    assert "(just-work ?t ?j) of B is done in A case by case:" in text
    assert "where (not (tool ?t)): (get ?t) (work ?t ?j) (put ?t)" in text


def test_permuted_arguments_only_on_request(domain, compare) -> None:
    first = domain("(on ?x ?y) (top ?x)", ("a", "?x ?y", "(on ?x ?y) (top ?x)", "(not (on ?x ?y))"))
    second = domain("(over ?x ?y) (top ?x)",
                    ("a", "?x ?y", "(over ?y ?x) (top ?x)", "(not (over ?y ?x))"))  # fmt: skip
    assert compare(first, second).verdict is EquivalenceVerdict.NOT_EQUIVALENT
    reading = compare(first, second, permute_arguments=True)
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert reading.reason == "equivalent if arguments are permuted: over (arguments 2 1)"
    assert comparison_json(Comparison((reading,), 0.0))["distinct"]["argument_permutations"] == {
        "on": [2, 1]
    }
    broken = domain("(over ?x ?y) (top ?x)", ("a", "?x ?y", "(over ?y ?x)", "(not (over ?y ?x))"))
    assert (
        compare(first, broken, permute_arguments=True).verdict is EquivalenceVerdict.NOT_EQUIVALENT
    )


def test_a_stop_among_permutations_keeps_what_was_proven(domain) -> None:
    first = domain("(on ?x ?y) (top ?x)", ("a", "?x ?y", "(on ?x ?y) (top ?x)", "(not (on ?x ?y))"))
    second = domain("(over ?x ?y) (top ?x)",
                    ("a", "?x ?y", "(over ?y ?x) (top ?x)", "(not (over ?y ?x))"))  # fmt: skip
    stages: list[str] = []

    def hear(event: ComparisonEvent) -> None:
        if isinstance(event, StageStarted):
            stages.append(event.stage)

    options = CompareOptions((Parameters.DISTINCT,), permute_arguments=True)
    found = compare_domains(
        first, second, options, hear, lambda: stages.count("first mapping") == 2
    )
    (reading,) = found.readings
    assert found.stopped
    assert reading.verdict is EquivalenceVerdict.NOT_EQUIVALENT
    assert reading.counterexample is not None
    assert reading.notes[-1].endswith("permuted arguments is not known: stopped on request")
    assert not verify_certificate(reading, first, second)


@pytest.mark.parametrize("parameters", list(Parameters))
def test_a_choice_of_types_and_an_action_for_each(domain, compare, parameters) -> None:
    types = "truck plane - object"
    one = domain("(used ?x)", ("use", "?x - (either truck plane)", "", "(used ?x)"), types=types)
    two = domain(
        "(used ?x)",
        ("drive", "?x - truck", "", "(used ?x)"),
        ("fly", "?x - plane", "", "(used ?x)"),
        types=types,
    )
    assert compare(one, two, parameters).verdict is EquivalenceVerdict.EQUIVALENT
    assert compare(two, one, parameters).verdict is EquivalenceVerdict.EQUIVALENT


def test_different_numbers_of_predicates(domain, compare) -> None:
    typed = domain("(at ?x - car)", ("a", "?x - car", "(at ?x)", "(not (at ?x))"), types="car")
    turned = domain("(at ?x) (car ?x)", ("a", "?x", "(at ?x) (car ?x)", "(not (at ?x))"))
    reading = compare(typed, turned)
    assert reading.verdict is EquivalenceVerdict.NOT_EQUIVALENT
    assert reading.counterexample is None
    assert "A has 1 and B has 2 predicates with 1 argument" in reading.reason
    assert "car: a type in A, a predicate in B" in reading.reason
    assert verify_certificate(structs.replace(reading), typed, typed) != []


def test_an_unused_parameter_needs_an_object(domain, compare) -> None:
    plain = domain("(p)", ("a", "", "", "(p)"))
    needy = domain("(p)", ("a", "?x", "", "(p)"))
    reading = compare(plain, needy)
    assert reading.verdict is EquivalenceVerdict.NOT_EQUIVALENT
    assert parse_problem(reading.counterexample.problem_a, plain).objects == ()
    assert reading.b_within_a is True


def test_declared_predicates_count_even_if_unused(domain, compare) -> None:
    first = domain("(p) (q)", ("a", "", "", "(p)"))
    assert (
        compare(first, domain("(q) (p)", ("a", "", "", "(p)"))).verdict
        is EquivalenceVerdict.EQUIVALENT
    )
    assert (
        compare(first, domain("(p)", ("a", "", "", "(p)"))).verdict
        is EquivalenceVerdict.NOT_EQUIVALENT
    )


def test_constants_go_by_name(domain, compare) -> None:
    everywhere = ("clean", "?x", "", "(clean ?x)")
    first = domain("(clean ?x)", everywhere)
    special = ("clean-kitchen", "", "", "(clean kitchen)")
    more = domain("(clean ?x)", everywhere, special, constants="kitchen")
    reading = compare(first, more)
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert reading.notes == ("constants go by name; only B has kitchen",)
    only = domain("(clean ?x)", special, constants="kitchen")
    assert compare(first, only).verdict is EquivalenceVerdict.NOT_EQUIVALENT
    other = domain("(clean ?x)", ("a", "", "", "(clean hall)"), constants="hall")
    assert compare(only, other).verdict is EquivalenceVerdict.NOT_EQUIVALENT


def test_types_by_name_and_renamed(domain, compare) -> None:
    def made(types: str, car: str, boat: str) -> Domain:
        return domain(
            f"(here ?x - {car}) (wet ?x - {boat})",
            ("drive", f"?x - {car}", "(here ?x)", "(not (here ?x))"),
            ("swim", f"?x - {boat}", "", "(wet ?x)"),
            types=types,
        )

    first = made("car boat", "car", "boat")
    assert (
        compare(first, made("boat car plane", "car", "boat")).verdict
        is EquivalenceVerdict.EQUIVALENT
    )
    assert (
        compare(first, made("car boat", "boat", "car")).verdict is EquivalenceVerdict.NOT_EQUIVALENT
    )
    reading = compare(first, made("wagen schiff", "wagen", "schiff"))
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert dict(reading.types) == {"car": "wagen", "boat": "schiff"}
    below = compare(first, made("boat - car car", "car", "boat"))
    assert below.verdict is EquivalenceVerdict.UNDECIDED
    assert "hierarchies of A and B do not correspond" in below.reason


def test_an_operator_for_each_subtype_does_not_serve_the_type(domain, compare) -> None:
    kinds = "car boat - vehicle"
    whole = domain("(gone ?x)", ("go", "?x - vehicle", "", "(gone ?x)"), types=kinds)
    parts = domain(
        "(gone ?x)",
        ("drive", "?x - car", "", "(gone ?x)"),
        ("sail", "?x - boat", "", "(gone ?x)"),
        types=kinds,
    )
    reading = compare(whole, parts)
    assert reading.verdict is EquivalenceVerdict.NOT_EQUIVALENT
    assert reading.b_within_a is True
    assert parse_problem(reading.counterexample.problem_a, whole).objects == (
        Typed("x", ("vehicle",)),
    )


def test_constants_that_change_their_type_are_not_decided(domain, compare) -> None:
    def made(kind: str) -> Domain:
        return domain("(p ?x)", ("a", "?x - car ?y - boat", "", "(p k)"),
                      types="car boat", constants=f"k - {kind}")  # fmt: skip

    reading = compare(made("car"), made("boat"))
    assert reading.verdict is EquivalenceVerdict.UNDECIDED
    assert "the constant k is a car in A but a boat in B" in reading.reason


def test_unsupported_constructs_are_not_decided(domain, compare) -> None:
    odd = domain("(p) (q)", ("a", "", "(or (p) (q))", "(not (p))"))
    reading = compare(odd, odd)
    assert reading.verdict is EquivalenceVerdict.UNDECIDED
    assert "made.pddl:" in reading.reason
    assert "'or' in a precondition of action 'a'" in reading.reason


def test_empty_domains(domain, compare) -> None:
    assert compare(domain(""), domain("")).verdict is EquivalenceVerdict.EQUIVALENT
    harmless = domain(
        "(p)", ("noop", "", "(p)", "(p)"), ("never", "", "(p) (not (p))", "(not (p))")
    )
    reading = compare(domain("(p)"), harmless)
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT
    assert steps(reading, "B", "noop") == steps(reading, "B", "never") == [[]]


def test_limits_leave_it_undecided() -> None:
    made = many_operators(40)
    fewer = renamed(replace(made, actions=made.actions[1:]), random.Random(4))

    def reading(**limits) -> ReadingResult:
        options = CompareOptions((Parameters.DISTINCT,), limits=Limits(**limits))
        return compare_domains(made, fewer, options).first

    assert reading(states=10).verdict is EquivalenceVerdict.UNDECIDED
    assert reading(states=10).reason == "the limit of 10 states was reached"
    assert "time limit of 0 s" in reading(seconds=0.0).reason
    partial = reading(states=100)
    assert partial.verdict is EquivalenceVerdict.UNDECIDED
    assert partial.reason.startswith("the limit of 100 states was reached; under the closest")
    assert partial.counterexample is not None
    assert partial.b_within_a is True


def test_a_stop_request_keeps_the_finished_reading(blocks, domain) -> None:
    longer = with_action(blocks, domain, PICK_UP_STACK, BLOCKS_PREDICATES)
    second_started = threading.Event()

    def emit(event) -> None:
        if event == StageStarted("pddl", "projections"):
            second_started.set()

    comparison = compare_domains(blocks, longer, emit=emit, cancelled=second_started.is_set)
    assert comparison.stopped
    assert [reading.verdict for reading in comparison.readings] == ["equivalent", "undecided"]
    assert comparison.readings[1].reason == "stopped on request"


def test_events_tell_the_stages_and_the_numbers(blocks, domain) -> None:
    longer = with_action(blocks, domain, PICK_UP_STACK, BLOCKS_PREDICATES)
    events = []
    compare_domains(blocks, longer, CompareOptions((Parameters.PDDL,)), events.append)
    stages = [event.stage for event in events if isinstance(event, StageStarted)]
    assert stages == ["operators", "first mapping", "projections", "mappings", "counterexample"]
    last = [event for event in events if isinstance(event, ComparisonProgress)][-1]
    assert last.candidates > 1
    assert last.conflicts > 0
    assert last.operators == 9
    failed = [e for e in events if isinstance(e, OperatorChecked) and not e.covered]
    assert ("B", "take-stack") in [(event.side, event.operator) for event in failed]


def test_the_same_answer_every_time(blocks) -> None:
    other = renamed(replace(blocks, actions=blocks.actions[:3]), random.Random(3))
    results = [
        structs.replace(reading, effort=structs.replace(reading.effort, seconds=0))
        for _ in range(2)
        for reading in [compare_domains(blocks, other, CompareOptions((Parameters.PDDL,))).first]
    ]
    assert results[0] == results[1]


def many_operators(number: int) -> Domain:
    """Random operators over shared predicates, hard to tell apart by counting."""
    chance = random.Random(11)
    predicates = [
        Predicate(f"p{i}", tuple(Typed(f"?a{j}") for j in range(chance.choice((1, 2, 2, 3)))))
        for i in range(30)
    ]
    actions = []
    for i in range(number):
        terms = [Term(f"?x{j}") for j in range(chance.choice((2, 3, 4)))]
        some = [p for p in chance.sample(predicates, 8) if p.arity <= len(terms)]
        atoms = [Atom(p.name, tuple(chance.sample(terms, p.arity))) for p in some]
        half = len(atoms) // 2
        effect = EffectAnd((*map(Add, atoms[half:]), Delete(atoms[0])))
        parameters = tuple(Typed(term.name) for term in terms)
        actions.append(Action(f"o{i}", parameters, And(tuple(atoms[:half])), effect))
    return Domain("many", predicates=tuple(predicates), actions=tuple(actions))


@pytest.mark.parametrize("parameters", Parameters)
def test_forty_operators_with_everything_renamed(parameters) -> None:
    made = many_operators(40)
    options = CompareOptions((parameters,))
    reading = compare_domains(made, renamed(made, random.Random(1)), options).first
    assert reading.verdict is EquivalenceVerdict.EQUIVALENT


@pytest.mark.parametrize("parameters", Parameters)
def test_forty_operators_in_parts_that_look_alike(domain, parameters) -> None:
    """Every part may go to every part, but only as a whole."""
    predicates, acts = [], []
    for i in range(20):
        predicates.append(f"(at{i} ?x ?y) (in{i} ?x) (free{i})")
        acts.append((f"get{i}", "?x ?y", f"(at{i} ?x ?y) (free{i})",
                     f"(in{i} ?x) (not (at{i} ?x ?y)) (not (free{i}))"))  # fmt: skip
        acts.append((f"put{i}", "?x ?y", f"(in{i} ?x)",
                     f"(at{i} ?x ?y) (free{i}) (not (in{i} ?x))"))  # fmt: skip
    made = domain(" ".join(predicates), *acts)
    options = CompareOptions((parameters,))
    other = renamed(made, random.Random(6))
    assert compare_domains(made, other, options).first.verdict is EquivalenceVerdict.EQUIVALENT
    fewer = replace(other, actions=other.actions[1:])
    assert compare_domains(made, fewer, options).first.verdict is EquivalenceVerdict.NOT_EQUIVALENT


def test_thousands_of_predicates(domain) -> None:
    names = [f"(p{i} ?x)" for i in range(3000)]
    acts = [(f"a{i}", "?x", f"(p{i} ?x)", f"(not (p{i} ?x))") for i in range(30)]
    first = domain(" ".join(names), *acts)
    assert compare_domains(first, renamed(first, random.Random(2))).first.verdict == "equivalent"
    fewer = replace(first, actions=first.actions[1:])
    assert compare_domains(first, fewer).first.verdict == "not-equivalent"


@pytest.mark.parametrize("looks", [1, 30, 300])
def test_a_stop_request_is_heard_at_once_wherever_it_comes(looks) -> None:
    """After the answer yes only the solver's watcher asks again."""
    made = many_operators(40)
    changed = replace(made.actions[0], effect=EffectAnd())
    broken = replace(made, actions=(*made.actions[1:], changed))
    answers: list[bool] = []

    def cancelled() -> bool:
        answers.append(len(answers) >= looks)
        return answers[-1]

    comparison = compare_domains(broken, renamed(made, random.Random(1)), cancelled=cancelled)
    assert comparison.stopped
    assert comparison.first.verdict is EquivalenceVerdict.UNDECIDED
    assert answers.count(True) <= 2


def test_no_macro_is_distinguished_from_no_mapping(domain, compare) -> None:
    turn = ("turn", "?x", "(on ?x)", "(not (on ?x)) (off ?x)")
    back = ("back", "?x", "(off ?x)", "(not (off ?x)) (on ?x)")
    broken = ("break", "?x", "(on ?x)", "(not (on ?x)) (not (off ?x))")
    both = domain("(on ?x) (off ?x)", turn, back)
    alone = compare(both, domain("(on ?x) (off ?x)", turn))
    assert alone.verdict.value == "not-equivalent"
    # Either operator alone can be done: on and off change places.
    assert alone.obstacle.value == "no mapping"
    assert alone.blocked == ""
    other = compare(both, domain("(on ?x) (off ?x)", turn, back, broken))
    assert (other.obstacle.value, other.blocked) == ("no macro", "break of B")
    fewer = compare(both, domain("(on ?x)", ("dim", "?x", "(on ?x)", "(not (on ?x))")))
    assert fewer.obstacle.value == "no bijection"


def test_all_shortest_macros_are_listed(domain, compare) -> None:
    steps = [(f"go{n}", "?x", "(a ?x)", "(not (a ?x)) (b ?x)") for n in (1, 2)]
    last = ("end", "?x", "(b ?x)", "(not (b ?x)) (c ?x)")
    predicates = "(a ?x) (b ?x) (c ?x)"
    whole = ("whole", "?x", "(a ?x) (not (b ?x))", "(not (a ?x)) (c ?x)")
    first = domain(predicates, *steps, last)
    found = compare(first, domain(predicates, *steps, last, whole), all_macros=True)
    assert found.verdict.value == "equivalent"
    (cover,) = (item for item in found.operators if item.operator == "whole")
    assert sorted(map(str, cover.shortest)) == ["(go1 ?x) (end ?x)", "(go2 ?x) (end ?x)"]
    assert cover.all_listed
