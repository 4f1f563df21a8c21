"""Holds every answer about an action against the truth, on all states of a small task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy.typing as npt

from engine.dominance.compute import compute
from engine.localize.action_optimality import ActionVerdict, StepVerdict, check_action
from engine.records.config import Factorization
from engine.search.exhaustive import hstar_all
from engine.search.heuristics import ADMISSIBLE
from engine.task.task import Task

from . import fdr
from .action_optimality import Question, admissible_values, questions
from .fdr import INFINITY

HEURISTICS = tuple(h for h in ("blind", "hmax", "lmcut", "cartesian", "ms") if h in ADMISSIBLE)
"""Of the kernels; the harness adds the true costs and an inconsistent heuristic."""

ABSTRACTIONS = ("cartesian", "ms")
"""They decline axioms by name."""

EXPECTED = {None: StepVerdict.UNDECIDED, True: StepVerdict.OPTIMAL, False: StepVerdict.NOT_OPTIMAL}


@dataclass
class Report:
    answers: Counter[str] = field(default_factory=Counter)  # by algorithm and grounds
    violations: list[str] = field(default_factory=list)


def examine(
    task: Task,
    seed: int,
    algorithms: Sequence[str],
    report: Report,
    *,
    every: bool = False,
    most: int | None = None,
) -> None:
    """Ask all questions of a task: with one heuristic each, by lot, or with every one.

    With `most`, only that many questions, by lot.
    """
    random = Random(seed)
    truth = dict(zip(fdr.all_states(task), hstar_all(task, "product")[1].tolist(), strict=True))
    tables: dict[str, Any] = {
        "truth": hstar_all(task, "product")[1],
        "inconsistent": admissible_values(task, random),
    }
    dominance = compute(task, Factorization.parse(random.choice(("atomic", "merged:60"))))
    names = [*HEURISTICS, *tables]
    if task.derived_variables:
        names = [name for name in names if name not in ABSTRACTIONS]
    asked = list(questions(task))
    if most is not None and len(asked) > most:
        asked = random.sample(asked, most)
    for question in asked:
        for algorithm in algorithms:
            for name in names if every else [random.choice(names)]:
                options = _what_is_known(question, random)
                if algorithm == "dominance" or random.random() < 0.2:
                    options["dominance"] = dominance
                heuristic: str | npt.NDArray[Any] = tables.get(name, name)
                answer = check_action(
                    task, question.state, question.operator, algorithm, heuristic, **options
                )
                grounds = answer.decided_by or answer.reason
                report.answers[f"{algorithm} {grounds.value if grounds else None}"] += 1
                for fault in faults(task, truth, question, answer, algorithm):
                    report.violations.append(
                        f"task {seed}, {question}, {algorithm}, {name}, {sorted(options)}: {fault}"
                    )


def _what_is_known(question: Question, random: Random) -> dict[str, Any]:
    if question.optimal is None:
        return {}
    plan_cost = question.cost + random.choice((0, 0, 1, 3))
    return random.choice(({}, {"solvable": True}, {"plan_cost": plan_cost}))


def faults(
    task: Task,
    truth: dict[fdr.State, int],
    question: Question,
    answer: ActionVerdict,
    algorithm: str,
) -> Iterable[str]:
    """What is wrong with an answer that no limit ended."""
    action = task.operators[question.operator]
    after = truth[fdr.apply(task, action, question.state)]
    after = INFINITY if after == INFINITY else after + action.cost
    may_be_undecided = algorithm == "dominance" and answer.verdict is StepVerdict.UNDECIDED
    if answer.verdict is not EXPECTED[question.optimal] and not may_be_undecided:
        yield f"the verdict is {answer.verdict}"
    if not answer.optimal_low <= question.cost <= answer.optimal_high:
        yield f"h* is {question.cost}, not {answer.optimal_low}..{answer.optimal_high}"
    if not answer.after_low <= after <= answer.after_high:
        yield f"with the action {after}, not {answer.after_low}..{answer.after_high}"
    if (answer.verdict is StepVerdict.UNDECIDED) != (answer.reason is not None):
        yield f"{answer.verdict} for the reason {answer.reason}"
    if (answer.verdict is StepVerdict.UNDECIDED) != (answer.decided_by is None):
        yield f"{answer.verdict} decided by {answer.decided_by}"
    if answer.plan is not None:
        cost = fdr.plan_cost(task, answer.plan, question.state, task.goal)
        if cost != question.cost:
            yield f"the plan costs {cost}, not {question.cost}"
