"""Texts with a mark where an error is expected, and two small files to start from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pddl import Domain, Problem, check_texts, parse_domain, parse_problem

MARK = "."

GRIPPER = """\
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball hand)
  (:constants left - hand)
  (:predicates
    (at-robot ?r - room)
    (at ?b - ball ?r - room)
    (free ?h - hand)
    (carry ?b - ball ?h - hand))
  (:action move
    :parameters (?from ?to - room)
    :precondition (at-robot ?from)
    :effect (and (at-robot ?to) (not (at-robot ?from))))
  (:action pick
    :parameters (?b - ball ?r - room ?h - hand)
    :precondition (and (at ?b ?r) (at-robot ?r) (free ?h))
    :effect (and (carry ?b ?h) (not (at ?b ?r)) (not (free ?h)))))
"""

GRIPPER_PROBLEM = """\
(define (problem two-balls)
  (:domain gripper)
  (:objects rooma roomb - room b1 b2 - ball)
  (:init (at-robot rooma) (at b1 rooma) (at b2 rooma) (free left))
  (:goal (and (carry b1 left) (at-robot roomb))))
"""

Found = tuple[str, int | None, int | None, str, str]


def split_mark(text: str) -> tuple[str, int, int]:
    """The text without the mark, and the line and column where it stood."""
    before, after = text.split(MARK)
    line = before.count("\n") + 1
    return before + after, line, len(before) - before.rfind("\n")


@pytest.fixture
def gripper() -> Domain:
    return parse_domain(GRIPPER, "gripper.pddl")


@pytest.fixture
def gripper_problem(gripper: Domain) -> Problem:
    return parse_problem(GRIPPER_PROBLEM, gripper, "two-balls.pddl")


def findings(domain: str, problem: str | None, severity: str) -> list[Found]:
    report = check_texts(domain, problem, "domain.pddl", "problem.pddl")
    return [
        (
            item.location.file or "",
            item.location.line,
            item.location.column,
            item.message,
            item.hint,
        )
        for item in report.diagnostics
        if item.severity == severity
    ]


@pytest.fixture
def assert_domain_says() -> Callable[..., None]:
    """Asserts that a domain's first finding is at the mark, with these words in it."""

    def check(marked: str, message: str, hint: str, severity: str = "error") -> None:
        text, line, column = split_mark(marked)
        found = findings(text, None, severity)
        assert found, f"no {severity} found"
        assert found[0][:3] == ("domain.pddl", line, column), found
        assert message in found[0][3]
        assert hint in found[0][4]

    return check


@pytest.fixture
def assert_problem_says() -> Callable[..., None]:
    """As `assert_domain_says` for a problem of a domain that is in order."""

    def check(
        marked: str, message: str, hint: str, severity: str = "error", domain: str = GRIPPER
    ) -> None:
        text, line, column = split_mark(marked)
        found = [item for item in findings(domain, text, severity) if item[0] == "problem.pddl"]
        assert found, f"no {severity} found"
        assert found[0][:3] == ("problem.pddl", line, column), found
        assert message in found[0][3]
        assert hint in found[0][4]

    return check
