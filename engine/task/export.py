"""A state as a PDDL problem.

Static facts, objects, goal, metric and function values stay as the user wrote them; the facts
that change are those of the state. Translating the result gives exactly that state again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from engine.errors import UnsupportedError
from engine.pddl import format_problem, without_costs
from engine.pddl.model import Domain, Problem
from engine.task.atoms import fluent_atoms, ground_atom, model_atom, state_atoms
from engine.task.task import PddlSource, Task


def export_state(task: Task, values: Sequence[int], name: str) -> Problem:
    """The task's problem with this state as its initial state."""
    problem = _models(task)[1]
    true = state_atoms(task, values)
    kept = tuple(atom for atom in problem.init if ground_atom(atom) in true)
    known = {ground_atom(atom) for atom in kept}
    new = tuple(model_atom(atom) for atom in fluent_atoms(task, values) if atom not in known)
    return replace(problem, name=_valid_name(name), init=(*kept, *new), path="")


def export_state_text(task: Task, values: Sequence[int], name: str) -> str:
    return format_problem(export_state(task, values, name))


def export_domain(task: Task) -> Domain:
    """The domain that exported problems belong to: without costs if the task counts actions."""
    return _models(task)[0]


def _models(task: Task) -> tuple[Domain, Problem]:
    source = _source(task)
    if source.unit_costs:
        return without_costs(source.domain, source.problem)
    return source.domain, source.problem


def _source(task: Task) -> PddlSource:
    if task.source is None:
        raise UnsupportedError(
            "this task was read from a SAS file, which has no PDDL: its states cannot be exported",
            hint="load the domain and the problem it was made from",
        )
    return task.source


def _valid_name(name: str) -> str:
    """A PDDL name as close to `name` as possible."""
    safe = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
    return safe if re.match("[a-z]", safe) else f"problem-{safe}".rstrip("-")
