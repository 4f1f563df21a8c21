"""Answers about actions of tasks with conditional effects and axioms agree with h* of all states.

`make soundness` takes all of the tasks, `make test` a few of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reference.action_soundness import Report, examine
from reference.adl_tasks import axiom_task, conditional_task
from reference.amount import amount

from engine.task.task import Task

ALGORITHMS = ("aoca", "sms", "sms-rev", "sms-bc", "pms-bc", "dominance")
QUESTIONS = 6  # per task and algorithm


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("make", "count"),
    [(conditional_task, amount(3000, 24)), (axiom_task, amount(1000, 16))],
    ids=["conditional effects", "axioms"],
)
def test_all_answers_agree_with_the_true_costs(
    make: Callable[[int], Task], count: int, algorithm: str
) -> None:
    report = Report()
    for seed in range(count):
        examine(make(seed), seed, [algorithm], report, most=QUESTIONS)
    assert report.violations == []
    assert report.answers.total() > 2 * count
