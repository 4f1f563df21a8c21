"""Every answer about an action agrees with h* of all states, and a broken rule would be noticed."""

from __future__ import annotations

from random import Random

import pytest
from reference import fdr
from reference.action_optimality import AocaStar, admissible_values, question_task, questions
from reference.action_soundness import HEURISTICS, Report, examine
from reference.amount import amount

TASKS = amount(40, 10)


@pytest.mark.parametrize("algorithm", ["aoca", "sms", "sms-rev", "sms-bc", "pms-bc", "dominance"])
def test_all_answers_agree_with_the_true_costs(algorithm: str) -> None:
    report = Report()
    for seed in range(TASKS):
        examine(question_task(seed), seed, [algorithm], report)
    assert report.violations == []
    assert report.answers.total() > 25 * TASKS
    assert report.answers[f"{algorithm} unsolvable"] > TASKS


def test_aoca_star_agrees_with_every_heuristic() -> None:
    report = Report()
    for seed in range(TASKS, TASKS + 10):
        examine(question_task(seed), seed, ["aoca"], report, every=True)
    assert report.violations == []
    assert report.answers["aoca goal"] > 30 * len(HEURISTICS)
    assert report.answers["aoca open-list"] > 10 * len(HEURISTICS)


@pytest.mark.parametrize(
    "rule", [None, "reopens", "reopens_for_tags", "prefers_tags", "ignores_stale_entries"]
)
def test_a_broken_rule_is_noticed(rule: str | None) -> None:
    """The same questions and heuristics, asked to AOCA* without one of its rules."""
    wrong = 0
    for seed in range(150):
        task = question_task(seed)
        values = admissible_values(task, Random(seed))
        h = dict(zip(fdr.all_states(task), values.tolist(), strict=True))
        search = AocaStar(task, h, **({} if rule is None else {rule: False}))
        for question in questions(task):
            if question.optimal is not None:
                answer = search.decide(question.state, question.operator, solvable=True)
                wrong += answer is not question.optimal
    assert (wrong > 0) == (rule is not None)


def test_early_answers_about_states_without_a_plan_are_noticed() -> None:
    """P34: told that there is a plan, AOCA* believes it."""
    claims = 0
    for seed in range(30):
        task = question_task(seed)
        h = dict.fromkeys(fdr.all_states(task), 0)
        for question in questions(task):
            if question.optimal is None:
                search = AocaStar(task, h)
                assert search.decide(question.state, question.operator, solvable=False) is None
                claims += search.decide(question.state, question.operator, solvable=True) is True
    assert claims > 0
