"""What localization found, in words."""

from __future__ import annotations

from pathlib import Path

from engine.records.localization import LocalizedStep, StepVerdict
from engine.report.localization_text import why_bad
from engine.task.load import load_task

DOMAIN = """(define (domain lamp) (:requirements :conditional-effects)
  (:predicates (plugged) (lit) (broken))
  (:action unplug :parameters () :effect (not (plugged)))
  (:action kick :parameters () :effect (when (plugged) (broken)))
  (:action press :parameters () :effect (when (plugged) (lit))))
"""
PROBLEM = """(define (problem dark) (:domain lamp) (:init (plugged))
  (:goal (and (lit) (not (broken)))))
"""


def test_conditional_effects_are_named(tmp_path: Path) -> None:
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM)):
        (tmp_path / name).write_text(text)
    task = load_task(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    number = {operator.name: place for place, operator in enumerate(task.operators)}
    step = LocalizedStep(
        *(0, number["kick"], StepVerdict.NOT_OPTIMAL, None),
        *(1, 1, 3, 3, 2, 2),
        better_operator=number["press"],
    )
    *_, facts = why_bad(step, task.init, task)
    assert facts == "The policy makes (broken) true; the better action makes (lit) true."
