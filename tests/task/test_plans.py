from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PlanError, PlumblineError, UnreadableFileError
from engine.task.load import load_task
from engine.task.plans import (
    Plan,
    PlanStep,
    format_operator_plan,
    format_plan,
    operators_of_plan,
    parse_plan,
    read_plan,
)
from engine.task.validate import validate_operators


def test_reads_steps_and_cost() -> None:
    plan = parse_plan(
        "; made by hand\n\n  ( Grab  L1 home LEFT ) ; first\n(rest)\n; cost = 2 (unit cost)"
    )
    assert plan == Plan((PlanStep("grab", ("l1", "home", "left")), PlanStep("rest")), 2)
    assert [step.line for step in plan.steps] == [3, 4]
    assert str(plan.steps[0]) == "(grab l1 home left)"


def test_no_steps_is_a_plan(tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("")
    assert read_plan(tmp_path / "plan") == Plan(())


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("(a b)\nwalk a b", "2:1", r"must start with '\('"),
        ("  (walk a b", "1:12", "closing"),
        ("(walk (a) b)", "1:7", "inside"),
        ("(a) (b)", "1:5", "after the action"),
        ("()", "1:1", "without a name"),
        ("0: (a)", "1:1", "must start"),
    ],
)
def test_errors_name_the_place(text: str, place: str, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        parse_plan(text, "p.plan")
    assert str(caught.value.location) == f"p.plan:{place}"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00(", None])
def test_unreadable_files(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "plan").write_bytes(content)
    with pytest.raises(UnreadableFileError):
        read_plan(tmp_path / "plan")
    with pytest.raises(UnreadableFileError, match="folder"):
        read_plan(tmp_path)


words = st.text("abcxyz-_0", min_size=1, max_size=5)


@given(st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join)), st.integers(0, 10**9))
def test_what_is_written_reads_back(actions: list[str], cost: int) -> None:
    plan = parse_plan(format_plan(actions, cost, has_costs=True))
    assert [step.action for step in plan.steps] == actions
    assert plan.stated_cost == cost


@given(st.text("(); \nab=cost1\x00é", max_size=60))
def test_any_text_reads_or_gives_our_error(text: str) -> None:
    try:
        plan = parse_plan(text)
    except PlumblineError:
        return
    assert all(step.name for step in plan.steps)


def test_operators_of_a_plan_and_back(courier) -> None:
    task = load_task(courier.domain, courier.problem)
    operators = operators_of_plan(task, parse_plan(courier.plan))
    assert validate_operators(task, operators).valid
    assert format_operator_plan(task, operators) == courier.plan


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("(wlak home office)", "unknown action 'wlak'; did you mean 'walk'"),
        ("(walk home mars)", r"no operator \(walk home mars\)"),
        ("(zzz)", "known actions: grab, put"),
    ],
)
def test_steps_without_an_operator(courier, step: str, message: str) -> None:
    task = load_task(courier.domain, courier.problem)
    with pytest.raises(PlanError, match=message) as caught:
        operators_of_plan(task, parse_plan(f"(rest)\n{step}", "my.plan"))
    assert str(caught.value.location) == "my.plan:2"


OR_DOMAIN = """
(define (domain lock) (:requirements :adl)
  (:predicates (key) (code) (open))
  (:action learn :parameters () :precondition () :effect (and (code) (not (key))))
  (:action unlock :parameters () :precondition (or (key) (code)) :effect (open)))
"""
OR_PROBLEM = "(define (problem p) (:domain lock) (:init (key)) (:goal (open)))"


def test_an_action_with_several_operators(write) -> None:
    example = write(OR_DOMAIN, OR_PROBLEM)
    task = load_task(example.domain, example.problem)
    assert len(task.operators_of_action["unlock"]) == 2
    for text in ("(unlock)", "(learn)\n(unlock)"):
        assert validate_operators(task, operators_of_plan(task, parse_plan(text))).valid
    shuffled = list(task.operators_of_action["unlock"])
    random.Random(0).shuffle(shuffled)
    assert {validate_operators(task, (number,)).valid for number in shuffled} == {True, False}
