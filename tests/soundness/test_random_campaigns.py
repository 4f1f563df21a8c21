"""Whole campaigns on random tasks with random settings: the verifier finds nothing false.

Where oracles are compared, their order changes nothing, whatever the limit of steps.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from reference.adl_tasks import axiom_task, conditional_task, eventful_task
from reference.amount import amount
from reference.bug_workspace import InThreads
from reference.soundness import random_task

from engine.campaign.config_reader import parse_config
from engine.policies.consent import NO_CONSENT
from engine.records.verification import Standing
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.usecases.campaign import run
from engine.usecases.verify import verify
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

ORACLES = (
    *("astar", "astar:expansions=3", "gbfs:expansions=6", "ehc", "aras", "aras-ehc"),
    *("bmo:lookahead=8", "bmo:lookahead=5,visited=all", "smo", "smo:morphs=random"),
    *("undo", "undo:dominance=true", "inverse", "lookahead:depth=1"),
    *("pco-p", "pco-e", "combined", "combined:factors=merged:1000", "composite"),
)
SETTINGS = {
    "policies": (["builtin:hadd"], ["builtin:gc"], ["builtin:random"], ["builtin:hff"]),
    "fuzzing.bias": ("none", "plan-length", "detour", "surface"),
    "fuzzing.horizon": (0, 2, 50),
    "fuzzing.novelty": (0, 0, 1, 2),
    "testing.mode": ("hunt", "compare"),
    "testing.objective": ("any", "any", "goal"),
    "testing.step_limit": (1, 2, 3, 5, 10_000),
    "localization.enabled": (True, False),
}
Answers = dict[str, list[tuple[object, ...]]]


def task_of(seed: int) -> Task:
    if seed % 3:
        return eventful_task(axiom_task if seed % 3 == 1 else conditional_task, seed)
    return random_task(Random(seed))


def results(text: str, folder: Path, name: str) -> Answers:
    """What each oracle says and proves by itself, after everything was verified."""
    path = folder / f"{name}.plumb"
    with Workspace.create(path) as store:
        assert run(parse_config(text, folder / "c.toml"), store, executor=InThreads(1)).finished
        (unit,) = store.units()
        found: Answers = {}
        for answer in store.answers(unit.id, 0, 2**62):
            row = answer.number, answer.verdict, answer.bound
            found.setdefault(answer.oracle, []).append(row)
        for flag in store.flags(unit.id):
            found.setdefault(flag.oracle, []).append((flag.number, flag.bound))
    problems = verify(NULL_LINK, path, NO_CONSENT).problems
    assert not [item for item in problems if item.verdict.standing is Standing.FALSE]
    return found


@pytest.mark.parametrize("seed", range(amount(300, 6)))
def test_no_false_claims(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    (tmp_path / "t.sas").write_text(write_sas(task_of(seed)))
    chosen = {key: random.choice(values) for key, values in SETTINGS.items()}
    oracles = random.sample(ORACLES, random.randint(2, 5))
    lines = [f"{key} = {json.dumps(value)}" for key, value in chosen.items()]
    lines += ['problems = ["t.sas"]', f"seeds = [{seed}]", "fuzzing.size = 25"]
    lines += ['portfolio = ["builtin:gc", "builtin:optimal", "builtin:hadd"]']

    def with_oracles(names: list[str]) -> str:
        return "\n".join([*lines, f"testing.oracles = {json.dumps(names)}"])

    first = results(with_oracles(oracles), tmp_path, "first")
    if chosen["testing.mode"] == "compare":
        shuffled = random.sample(oracles, len(oracles))
        assert results(with_oracles(shuffled), tmp_path, "second") == first
