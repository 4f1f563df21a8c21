"""Random tasks in which most facts have several achievers, small enough to look at every state.

The tasks of `random_tasks` are legal in every unusual way, but their relaxations are so thin that
ties, supporters and cuts hardly ever matter.
"""

from __future__ import annotations

import random

from engine.task.task import Fact, Operator, Task

from .random_tasks import make_task

SHAPES = (
    {"variables": 5, "values": 3, "operators": 30, "conditions": 2, "effects": 2, "goals": 3},
    {"variables": 7, "values": 2, "operators": 24, "conditions": 3, "effects": 2, "goals": 3},
    {"variables": 8, "values": 2, "operators": 18, "conditions": 2, "effects": 3, "goals": 4},
)


def dense_task(seed: int) -> Task:
    rng = random.Random(seed)
    shape = SHAPES[seed % len(SHAPES)]
    sizes = (shape["values"],) * shape["variables"]

    def facts(count: int) -> tuple[Fact, ...]:
        chosen = sorted(rng.sample(range(len(sizes)), count))
        return tuple((variable, rng.randrange(sizes[variable])) for variable in chosen)

    operators = tuple(
        Operator(
            f"op {number}",
            facts(rng.randint(1, shape["conditions"])),
            facts(rng.randint(1, shape["effects"])),
            rng.choice((0, 1, 1, 2, 3)),
        )
        for number in range(shape["operators"])
    )
    return make_task(sizes, operators, (0,) * len(sizes), facts(shape["goals"]))
