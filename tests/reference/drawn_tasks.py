"""Tasks to draw: a problem of every example, with walks through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from engine.files import resource
from engine.task.load import load_task
from engine.task.successors import State, applicable_operators, successor
from engine.task.task import Task

EXAMPLES = ("container-yard", "crumbling-temple", "ferry", "parcel-delivery", "workshop")
Made = Callable[..., Task]


@cache
def example_task(name: str) -> Task:
    folder = resource("examples", name)
    return load_task(folder / "domain.pddl", folder / "problems" / "p05.pddl")


def walk(task: Task, steps: int, seed: int = 0) -> tuple[list[State], list[str]]:
    """States and actions of a random walk: stranger states than those of a plan."""
    random = Random(seed)
    states: list[State] = [task.init]
    actions: list[str] = []
    for _ in range(steps):
        choices = list(applicable_operators(task, states[-1]))
        if not choices:
            break
        operator = task.operators[random.choice(choices)]
        actions.append(operator.name)
        states.append(successor(task, operator, states[-1]))
    return states, actions
