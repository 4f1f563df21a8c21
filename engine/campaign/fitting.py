"""Whether a stored bug speaks of its task at all: of states and operators that the task has.

Bugs and tasks are stored apart, and the file may come from a stranger. This says nothing about
whether the bug holds, which `verify` finds out.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.campaign.events import State
from engine.campaign.rows import Bug
from engine.errors import WorkspaceError
from engine.localize.localisation import Localisation
from engine.oracles.evidence import Walk
from engine.task.successors import is_applicable, successor
from engine.task.task import Task


def refuse_misfit(bug: Bug, task: Task, localisation: Localisation | None = None) -> None:
    """Before anybody looks up the names of its facts and actions."""
    sizes = task.domain_sizes
    for state in _states(bug, localisation):
        if len(state) != len(sizes) or any(
            not 0 <= value < size for value, size in zip(state, sizes, strict=True)
        ):
            raise _damaged(bug, "a state of it is none of the task")
    count = len(task.operators)
    if any(not 0 <= operator < count for operator in _operators(bug, localisation)):
        raise _damaged(bug, "an action of it is none of the task")
    if not _can_be_walked(bug, task):
        raise _damaged(bug, "the policy's run cannot be walked")
    if localisation is not None and len(localisation.steps) > len(bug.run.operators) + 1:
        raise _damaged(bug, "its run is shorter than what is known of its steps")


def _can_be_walked(bug: Bug, task: Task) -> bool:
    state = bug.state
    for number in bug.run.operators:
        operator = task.operators[number]
        if not is_applicable(operator, state):
            return False
        state = successor(operator, state)
    return True


def _damaged(bug: Bug, reason: str) -> WorkspaceError:
    return WorkspaceError(f"bug {bug.row.id} is damaged: {reason}", hint="take a copy from before")


def _states(bug: Bug, localisation: Localisation | None) -> Iterator[State]:
    yield bug.state
    yield bug.evidence.state
    for step in bug.evidence.steps:
        if not isinstance(step, Walk):
            yield step.state
    if localisation is not None and localisation.cause is not None:
        yield localisation.cause.state


def _operators(bug: Bug, localisation: Localisation | None) -> Iterator[int]:
    yield from bug.run.operators
    yield max(bug.run.last_decision, 0)  # less than 0: none
    for part in bug.evidence.steps:
        if isinstance(part, Walk):
            yield from part.operators
    if localisation is not None:
        for step in localisation.steps:
            yield step.operator
            yield from step.better_plan or ()
        if localisation.failure is not None:
            yield from localisation.failure.plan or ()
