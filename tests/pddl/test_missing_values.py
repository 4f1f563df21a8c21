"""Ground actions that the translator drops because their cost has no value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pddl import check_texts

DOMAIN = """(define (domain roads) (:requirements :typing :action-costs)
  (:types place lift car)
  (:predicates (at ?c - car ?p - place) (road ?a ?b - place)
    (lift-at ?l - lift ?p - place) (serves ?l - lift ?p - place))
  (:functions (length ?a ?b - place) - number (toll ?a - place) - number (total-cost) - number)
  (:action drive :parameters (?c - car ?a ?b - place)
    :precondition (and (at ?c ?a) (road ?a ?b))
    :effect (and (at ?c ?b) (not (at ?c ?a)) (increase (total-cost) (length ?a ?b))))
  (:action rise :parameters (?l - lift ?a ?b - place)
    :precondition (and (lift-at ?l ?a) (serves ?l ?b))
    :effect (and (lift-at ?l ?b) (not (lift-at ?l ?a)) (increase (total-cost) (length ?a ?b)))))
"""
ROADS = "(road p1 p2) (road p2 p1) (at c p1)"


def problem(init: str) -> str:
    return f"""(define (problem p) (:domain roads)
  (:objects p1 p2 p3 - place c - car l - lift)
  .(:init {init})
  (:goal (at c p2))
  (:metric minimize (total-cost)))"""


def warnings(init: str) -> list[str]:
    report = check_texts(DOMAIN, problem(init).replace(".", ""))
    assert report.ok
    return [item.message for item in report.warnings]


def test_no_value_at_all(assert_problem_says: Callable[..., None]) -> None:
    assert_problem_says(
        problem(ROADS),
        "'length' has no value in :init: the actions 'drive' that need it can never be applied",
        "'--unit-costs'",
        severity="warning",
        domain=DOMAIN,
    )


def test_some_values_are_missing() -> None:
    assert warnings(f"{ROADS} (= (length p1 p2) 3)") == [
        "(length p2 p1) has no value in :init: "
        "the actions 'drive' that need it can never be applied"
    ]


def test_values_that_no_action_can_need_are_not_missed() -> None:
    assert warnings(f"{ROADS} (= (length p1 p2) 3) (= (length p2 p1) 3)") == []
    assert warnings("(at c p1)") == []


def test_what_actions_can_add_counts() -> None:
    values = " ".join(f"(= (length {a} {b}) 1)" for a in ("p1", "p2") for b in ("p1", "p2"))
    assert warnings(f"(lift-at l p1) (serves l p1) (serves l p2) {values}") == []
    assert warnings("(lift-at l p1) (serves l p2)") == [
        "'length' has no value in :init: the actions 'rise' that need it can never be applied"
    ]


def test_huge_joins_are_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.pddl.costs.MAX_STEPS", 4)
    assert warnings(ROADS) == [
        "'length' has no value in :init: the actions 'drive' that need it can never be applied"
    ]


@pytest.mark.parametrize(("cost", "expected"), [("", 1), ("(:metric minimize (total-cost))", 0)])
def test_costs_without_a_metric_are_a_warning(cost: str, expected: int) -> None:
    domain = """(define (domain d) (:requirements :action-costs) (:predicates (p))
      (:functions (total-cost)) (:action a :effect (and (p) (increase (total-cost) 2))))"""
    report = check_texts(domain, f"(define (problem x) (:domain d) (:init) (:goal (p)) {cost})")
    assert len(report.warnings) == expected
    assert all("every action costs 1" in item.message for item in report.warnings)


def test_a_metric_without_costs_is_a_warning(assert_problem_says: Callable[..., None]) -> None:
    domain = """(define (domain d) (:requirements :action-costs) (:predicates (p))
      (:action a :effect (p)))"""
    text = "(define (problem x) (:domain d) (:init) (:goal (p)) .(:metric minimize (total-cost)))"
    assert_problem_says(
        text, "every plan costs 0", "count actions", severity="warning", domain=domain
    )
