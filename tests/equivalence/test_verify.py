"""The independent checker has to notice every kind of wrong evidence."""

from __future__ import annotations

import random
import re

import pytest
from msgspec.structs import replace
from reference.equivalence import Maker

from engine.equivalence import (
    CompareOptions,
    MacroStep,
    Parameters,
    ReadingResult,
    compare_domains,
    verify_certificate,
)
from engine.equivalence.replay import Simulator, TooLargeError
from engine.pddl.model import Atom, Term
from engine.records.comparison import EquivalenceVerdict


@pytest.fixture
def tools(domain):
    parts = [
        ("get", "?t", "(not (tool ?t))", "(tool ?t)"),
        ("put", "?t", "(tool ?t)", "(not (tool ?t))"),
        ("work", "?t ?j", "(tool ?t)", "(done ?j)"),
    ]
    predicates = "(tool ?t) (done ?j)"
    anyway = ("just-work", "?t ?j", "", "(done ?j)")
    return domain(predicates, *parts), domain(predicates, *parts, anyway)


def result(first, second, parameters: str = "distinct") -> ReadingResult:
    reading = compare_domains(first, second, CompareOptions((Parameters(parameters),))).first
    assert verify_certificate(reading, first, second) == []
    return reading


def with_macro(reading: ReadingResult, operator: str, change) -> ReadingResult:
    operators = tuple(
        replace(o, macros=tuple(change(m) for m in o.macros)) if o.operator == operator else o
        for o in reading.operators
    )
    return replace(reading, operators=operators)


def test_a_step_too_few(tools) -> None:
    def shorter(macro):
        return replace(
            macro, cases=tuple(replace(case, steps=case.steps[:-1]) for case in macro.cases)
        )

    wrong = with_macro(result(*tools), "just-work", shorter)
    assert any("leads to another state" in p for p in verify_certificate(wrong, *tools))


def test_a_step_that_cannot_be_taken(tools) -> None:
    def reversed_steps(macro):
        return replace(
            macro, cases=tuple(replace(case, steps=case.steps[::-1]) for case in macro.cases)
        )

    wrong = with_macro(result(*tools), "just-work", reversed_steps)
    assert any("cannot be taken" in p for p in verify_certificate(wrong, *tools))


def test_unknown_and_swapped_arguments(tools) -> None:
    def strange(macro):
        steps = (MacroStep("work", ("?j", "?t")),)
        return replace(macro, cases=tuple(replace(case, steps=steps) for case in macro.cases))

    assert verify_certificate(with_macro(result(*tools), "work", strange), *tools)


def test_a_missing_case(tools) -> None:
    wrong = with_macro(result(*tools), "just-work", lambda m: replace(m, cases=m.cases[:1]))
    assert any("no case" in p for p in verify_certificate(wrong, *tools))


def test_a_missing_pattern(tools) -> None:
    reading = result(*tools, "pddl")
    wrong = with_macro(reading, "work", lambda m: replace(m, patterns=m.patterns[:1]))
    assert any("no macro for (work" in p for p in verify_certificate(wrong, *tools))


def test_a_missing_operator(tools) -> None:
    reading = result(*tools)
    fewer = replace(reading, operators=reading.operators[1:])
    assert verify_certificate(fewer, *tools) == ["the evidence says nothing about get of A"]
    stranger = replace(reading.operators[0], operator="other")
    more = replace(reading, operators=(*reading.operators, stranger))
    assert verify_certificate(more, *tools) == ["A has no action other"]


def test_a_mapping_that_is_no_bijection(tools) -> None:
    reading = result(*tools)
    first, second = reading.mapping
    twice = replace(reading, mapping=(first, replace(second, b=first.b)))
    assert "not a bijection of the predicates of B" in verify_certificate(twice, *tools)[0]
    order = replace(reading, mapping=(first, replace(second, order=(1,))))
    assert "does not keep the arguments" in verify_certificate(order, *tools)[0]


def test_a_mapping_of_types_that_breaks_the_hierarchy(domain) -> None:
    def made(kinds: str, above: str, below: str):
        acts = [("a", f"?x - {above}", "", "(p ?x)"), ("b", f"?x - {below}", "", "(q ?x)")]
        return domain(f"(p ?x - {above}) (q ?x - {above})", *acts, types=kinds)

    pair = made("low - high", "high", "low"), made("klein - gross", "gross", "klein")
    reading = result(*pair)
    assert dict(reading.types) == {"high": "gross", "low": "klein"}
    wrong = replace(reading, types=(("high", "klein"), ("low", "gross")))
    assert any("do not keep subtypes" in p for p in verify_certificate(wrong, *pair))


@pytest.fixture
def broken(domain):
    predicates = "(p ?x) (q ?x)"
    move = ("move", "?x", "(p ?x)", "(q ?x) (not (p ?x))")
    back = ("back", "?x", "(q ?x)", "(p ?x) (not (q ?x))")
    return domain(predicates, move, back), domain(predicates, move)


def test_counterexamples(broken) -> None:
    reading = result(*broken)
    found = reading.counterexample
    assert found is not None

    def claim(**changes) -> list[str]:
        wrong = replace(reading, counterexample=replace(found, **changes))
        return verify_certificate(wrong, *broken)

    assert "does not solve" in claim(step=MacroStep("move", ("x",)))[0]
    other = re.sub(r"\(:init[^:]*\(:goal", "(:init) (:goal", found.problem_b)
    assert other != found.problem_b
    assert "not valid PDDL" in claim(problem_b="(define")[0]
    assert "do not say the same" in claim(problem_b=other)[0]
    assert "does not solve" in claim(solved_by="B")[0]
    none = replace(reading, counterexample=None)
    assert verify_certificate(none, *broken)[0] == "the counterexample is missing"
    solvable = broken[0], broken[0]
    assert "has a plan" in verify_certificate(reading, *solvable)[0]


def test_exclusions(broken) -> None:
    reading = result(*broken)
    assert reading.exclusions
    none = replace(reading, exclusions=())
    assert verify_certificate(none, *broken) == ["the exclusions leave a mapping of the predicates"]
    state = (Atom("p", (Term("?x"),)), Atom("q", (Term("?x"),)))
    odd = replace(reading.exclusions[0], state=(), operator="move", arguments=("?x",), domain="A")
    wrong = replace(reading, exclusions=(odd, *reading.exclusions[1:]))
    assert verify_certificate(wrong, *broken)
    possible = replace(reading.exclusions[0], operator="move", state=state[:1])
    wrong = replace(reading, exclusions=(possible, *reading.exclusions[1:]))
    assert verify_certificate(wrong, *broken)


def test_undecided_claims_nothing(tools) -> None:
    assert (
        verify_certificate(ReadingResult(Parameters.PDDL, EquivalenceVerdict.UNDECIDED, ""), *tools)
        == []
    )


def test_the_simulator_gives_up_beyond_its_bound(domain) -> None:
    acts = [(f"a{i}", "", "", f"(b{i})") for i in range(6)]
    acts += [(f"z{i}", "", "", f"(not (b{i}))") for i in range(6)]
    made = domain(" ".join(f"(b{i})" for i in range(6)), *acts)
    simulator = Simulator(made, {}, distinct=True)
    goal = frozenset({(f"b{i}",) for i in range(6)})
    plan, seen = simulator.search(frozenset(), goal, 100, lambda: None)
    assert plan is not None
    assert (len(plan), seen) == (6, 64)
    with pytest.raises(TooLargeError):
        simulator.search(frozenset(), goal, 20, lambda: None)


@pytest.mark.parametrize("seed", range(12))
def test_evidence_for_random_pairs(seed: int) -> None:
    first, second = Maker(random.Random(f"evidence {seed}"), atoms=8).pair()
    for reading in compare_domains(first, second).readings:
        assert verify_certificate(reading, first, second, seed) == []
