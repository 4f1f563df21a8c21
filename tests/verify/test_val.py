"""VAL is a second opinion: it is heard where it has one, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import DOMAIN, InThreads, problem_text

from engine.policies.consent import NO_CONSENT
from engine.records.config import CampaignConfig
from engine.task.load import load_task
from engine.usecases.campaign import run
from engine.usecases.verify import verify
from engine.verify import val
from engine.verify.val import Opinion, Plan, SecondOpinions, val_opinions, val_program
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

VAL = val_program()
pytestmark = pytest.mark.skipif(VAL is None, reason="VAL is not installed")
PLAN = """\
(drive a b)
(take load0 b)
(drive b c)
(drive c d)
(leave load0 d)
(drive d b)
(drive b a)
"""


UNREADABLE = DOMAIN.replace("?b", "?after")
"""VAL stumbles over the name of this parameter, which data-network has as well."""


def val_opinion(program: Path, domain: str, problem: str, plan: str) -> Opinion | None:
    (opinion,) = val_opinions(program, domain, [(problem, plan)])
    return opinion


def test_a_plan_is_accepted_or_refused() -> None:
    assert VAL is not None
    problem = problem_text(1)
    accepted = val_opinion(VAL, DOMAIN, problem, PLAN)
    assert accepted is not None
    assert accepted.valid
    refused = val_opinion(VAL, DOMAIN, problem, PLAN.replace("(take load0 b)\n", ""))
    assert refused is not None
    assert not refused.valid
    assert "Plan failed" in refused.words
    early = val_opinion(VAL, DOMAIN, problem, "(drive a b)\n")
    assert early is not None
    assert not early.valid


def test_what_cannot_be_read_is_no_opinion() -> None:
    assert VAL is not None
    assert val_opinion(VAL, UNREADABLE, problem_text(1), PLAN) is None


def test_bugs_of_a_domain_that_val_cannot_read_hold(
    configure: Callable[..., CampaignConfig], folder: Path
) -> None:
    (folder / "domain.pddl").write_text(UNREADABLE)
    more = 'fuzzing.size = 4\ntesting.oracles = ["astar"]\n'
    path = folder / "w.plumb"
    with Workspace.create(path) as store:
        run(configure('"p1.pddl"', more=more), store, executor=InThreads(1))
    found = verify(NULL_LINK, path, NO_CONSENT)
    assert found.bugs
    assert found.problems == ()
    assert {plans for _, plans in found.plans} == {0}


def test_many_plans_get_the_opinions_that_each_gets_alone() -> None:
    assert VAL is not None
    problem = problem_text(1)
    plans = [PLAN, "(drive a b)\n", PLAN, "", "(fly a b)\n", PLAN.replace("(take load0 b)\n", "")]
    alone = [val_opinion(VAL, DOMAIN, problem, plan) for plan in plans]
    assert val_opinions(VAL, DOMAIN, [(problem, plan) for plan in plans]) == alone
    assert [opinion is not None and opinion.valid for opinion in alone].count(True) == 2


def test_one_plan_on_which_val_hangs_or_dies_costs_no_other_its_opinion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert VAL is not None
    monkeypatch.setattr(val, "SECONDS", 2)
    program = tmp_path / "val"
    program.write_text(
        f'#!/bin/sh\ngrep -q hang "$3" && sleep 1000\ngrep -q die "$3" && kill -9 $$\n{VAL} "$@"\n'
    )
    program.chmod(0o755)
    plans = [PLAN, "(hang)\n", PLAN, "(die)\n", PLAN]
    opinions = val_opinions(program, DOMAIN, [(problem_text(1), plan) for plan in plans])
    good = Opinion(True, 19.0, "")
    assert opinions == [good, None, good, None, good]


def test_val_is_asked_once_about_a_plan_and_never_about_nonsense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("d.pddl", DOMAIN), ("p.pddl", problem_text(1))):
        (tmp_path / name).write_text(text)
    task = load_task(tmp_path / "d.pddl", tmp_path / "p.pddl")
    asked: list[int] = []
    answers = val_opinions

    def counting(
        program: Path, domain: str, plans: list[tuple[str, str]], *more: Any
    ) -> list[Opinion | None]:
        asked.append(len(plans))
        return answers(program, domain, plans, *more)

    monkeypatch.setattr(val, "val_opinions", counting)
    assert VAL is not None
    opinions = SecondOpinions(task, VAL)
    strange = (10**6, *task.init[1:])
    plans: list[Plan] = [(task.init, (0,)), (task.init, (0,)), (task.init, (10**6,)), (strange, ())]
    opinions.ask(plans)
    opinions.ask([*plans, (task.init, ())])
    assert asked == [1, 1]
    short = opinions.of(task.init, (0,))
    assert short is not None
    assert not short.valid
    assert opinions.of(strange, ()) is None
    assert opinions.of(task.init, (10**6,)) is None


LOOSE = """
(define (domain loose)
  (:requirements :adl)
  (:types box cup)
  (:predicates (clean ?x) (closed ?b - box))
  (:action rinse :parameters (?x)
    :precondition (not (clean ?x))
    :effect (and (clean ?x) (forall (?b - box) (when (closed ?b) (not (closed ?b)))))))
"""


def test_names_without_a_type_beside_others_are_no_reason_to_have_no_opinion(
    tmp_path: Path,
) -> None:
    """As in the domain 'assembly': VAL wants their type, 'object', to be written."""
    assert VAL is not None
    (tmp_path / "domain.pddl").write_text(LOOSE)
    (tmp_path / "problem.pddl").write_text(
        "(define (problem p) (:domain loose) (:objects b - box c - cup) (:init (closed b))"
        "(:goal (forall (?x) (clean ?x))))"
    )
    task = load_task(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    plan = tuple(task.operator_index[name] for name in ("rinse b", "rinse c"))
    opinions = SecondOpinions(task, VAL)
    opinions.ask([(task.init, plan)])
    opinion = opinions.of(task.init, plan)
    assert opinion is not None
    assert opinion.valid
