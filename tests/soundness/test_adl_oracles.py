"""Every oracle on random tasks with conditional effects and axioms: no false claims.

`make soundness` takes all of the tasks, `make test` a few of them.
"""

from __future__ import annotations

from random import Random

import pytest
from reference.adl_tasks import axiom_task, conditional_task, eventful_task
from reference.amount import amount
from reference.soundness import Truth, check, comparing, imperfect, policies

from engine.dominance.checker import DominanceChecker
from engine.records.config import Factorization
from engine.task.task import Task

ORACLES = (
    *("astar", "gbfs", "gbfs:expansions=3", "ehc", "aras", "aras-ehc", "lookahead", "undo"),
    *("inverse", "smo", "smo:factors=merged:40", "bmo", "bmo:factors=merged:40,lookahead=5"),
    *("combined:lookahead=3", "pco-p", "pco-e", "composite:lookahead=2,expansions=3"),
)
FACTORIZATIONS = (Factorization(), Factorization(40))


def problems(task: Task, number: int) -> list[str]:
    """What is false in the words of a few oracles about policies of all qualities."""
    random = Random(number)
    truth = Truth.of(task, everything=True)
    dominance = DominanceChecker(task, FACTORIZATIONS)
    make = comparing(imperfect(truth, random))
    found = []
    for position, (name, policy) in enumerate(policies(truth, random)):
        oracle = ORACLES[(number + position) % len(ORACLES)]
        limit = random.choice((None, None, 1, 3))
        checked = check(
            truth, policy, oracle, step_limit=limit, seed=number, make=make, dominance=dominance
        )
        found += [f"task {number}, {name}, {oracle}: {text}" for text in checked.violations]
        if name == "optimal" and checked.flagged:
            found.append(f"task {number}, {oracle} flagged an optimal policy")
    return found


@pytest.mark.parametrize("part", range(4))
def test_conditional_effects(part: int) -> None:
    for number in range(part, amount(3000, 12), 4):
        assert problems(eventful_task(conditional_task, number), number) == []


@pytest.mark.parametrize("part", range(4))
def test_axioms(part: int) -> None:
    """P61: also where the identity takes the place of a dominance function."""
    for number in range(part, amount(1000, 12), 4):
        assert problems(eventful_task(axiom_task, number), number) == []
