"""Costs taken away."""

from __future__ import annotations

from engine.pddl import check_texts, format_domain, format_problem, without_costs
from engine.pddl.model import EffectAnd

DOMAIN = """(define (domain d) (:requirements :strips :action-costs)
  (:predicates (p) (q))
  (:functions (total-cost) - number (c) - number)
  (:action a :effect (and (p) (and (increase (total-cost) (c)))))
  (:action b :effect (increase (total-cost) 3)))"""
PROBLEM = """(define (problem x) (:domain d) (:requirements :action-costs)
  (:init (q) (= (c) 4)) (:goal (p)) (:metric minimize (total-cost)))"""


def test_nothing_of_the_costs_is_left() -> None:
    report = check_texts(DOMAIN, PROBLEM)
    assert report.domain is not None
    assert report.problem is not None
    domain, problem = without_costs(report.domain, report.problem)
    text = format_domain(domain) + format_problem(problem)
    for word in ("cost", "increase", "number", "metric", "(c)"):
        assert word not in text
    assert domain.actions[1].effect == EffectAnd()
    assert [str(atom) for atom in problem.init] == ["(q)"]
    assert problem.goal == report.problem.goal
    assert domain.predicates == report.domain.predicates
