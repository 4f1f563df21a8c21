"""Small domains to draw."""

from __future__ import annotations

from pathlib import Path

import pytest
from reference.drawn_tasks import Made

from engine.task.load import load_task
from engine.task.task import Task


@pytest.fixture
def make_task(tmp_path: Path) -> Made:
    """A task of a domain without header: predicates and actions, objects, init and goal."""

    def make(domain: str, objects: str, init: str, goal: str) -> Task:
        (tmp_path / "domain.pddl").write_text(
            f"(define (domain d) (:requirements :strips :typing :negative-preconditions) {domain})"
        )
        (tmp_path / "problem.pddl").write_text(
            f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))"
        )
        return load_task(tmp_path / "domain.pddl", tmp_path / "problem.pddl")

    return make
