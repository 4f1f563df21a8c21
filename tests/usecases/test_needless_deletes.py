"""Policies, published and trained, on a STRIPS domain whose deletes need not hold, end to end.

The translator makes conditional effects of such deletes: to flush a berth washes a crate away if
it stands there, and does nothing to it otherwise.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from reference import fdr
from reference.bug_workspace import InThreads
from reference.policy_files import cpddl_rows, write_cpddl

from engine.campaign.config_reader import read_config
from engine.cli import main
from engine.errors import ExitCode
from engine.pddl import parse_domain
from engine.policies.asnets.relatedness import relate
from engine.records.finding import INFINITY, BugKind
from engine.task.load import load_task
from engine.usecases.campaign import run
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

DOMAIN = """(define (domain wharf) (:requirements :strips :typing)
  (:types berth crate)
  (:predicates (at ?b - berth) (way ?a ?b - berth) (on ?c - crate ?b - berth) (held ?c - crate)
               (free) (clean ?b - berth))
  (:action move :parameters (?a ?b - berth)
    :precondition (and (at ?a) (way ?a ?b)) :effect (and (at ?b) (not (at ?a))))
  (:action lift :parameters (?c - crate ?b - berth)
    :precondition (and (at ?b) (on ?c ?b) (free))
    :effect (and (held ?c) (not (on ?c ?b)) (not (free))))
  (:action drop :parameters (?c - crate ?b - berth)
    :precondition (and (at ?b) (held ?c)) :effect (and (on ?c ?b) (free) (not (held ?c))))
  (:action flush :parameters (?b - berth ?c - crate)
    :precondition (at ?b) :effect (and (clean ?b) (not (on ?c ?b)))))
"""
PROBLEM = """(define (problem small) (:domain wharf)
  (:objects b1 b2 b3 - berth c1 - crate)
  (:init (at b1) (way b1 b2) (way b2 b1) (way b2 b3) (way b3 b2) (on c1 b1) (free))
  (:goal (and (on c1 b3) (clean b1))))
"""
CONFIG = """
domain = "domain.pddl"
problems = ["p.pddl"]
policies = ["wharf.policy", "trained/policy.pt"]
fuzzing.size = 60
testing.oracles = ["lookahead:depth=1", "bmo", "smo", "astar"]
localization.enabled = true
"""
HIDDEN, LAYERS, SEED = 4, 2, 94
"""Random weights with which the policy solves some states, fails in some and pays too much."""
SIZE = 60
FILES = ("domain", "problem")


def policies_of(bugs: list[BugRow]) -> list[str]:
    return sorted({bug.policy for bug in bugs})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wharf")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p.pddl").write_text(PROBLEM)
    (folder / "campaign.toml").write_text(CONFIG)
    domain = parse_domain(DOMAIN)
    database = sqlite3.connect(folder / "wharf.policy")
    rows = cpddl_rows(relate(domain), HIDDEN, LAYERS, SEED)
    write_cpddl(database, domain, HIDDEN, LAYERS, rows)
    database.close()
    words = ["train", "domain.pddl", "p.pddl", "--out", "trained"]
    brief = ["--hidden", "4", "--layers", "1", "--epochs", "2", "--steps", "5"]
    with chdir(folder):
        assert main([*words, *brief]) == ExitCode.DONE
    with Workspace.create(folder / "w.plumb") as store:
        run(read_config(folder / "campaign.toml"), store, executor=InThreads(1))
    return folder


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == ExitCode.DONE
    return dict(json.loads(capsys.readouterr().out))


def test_the_translator_makes_conditional_effects_of_such_deletes(folder: Path) -> None:
    task = load_task(folder / "domain.pddl", folder / "p.pddl")
    assert ":conditional-effects" not in DOMAIN
    assert {op.name.split()[0].strip("(") for op in task.operators if op.conditional} == {"flush"}


def test_the_policy_runs_and_its_pool_is_tested(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, policy = (folder / "domain.pddl", folder / "p.pddl"), folder / "wharf.policy"
    main(["run", str(policy), *map(str, files), "--json"])
    (taken,) = json.loads(capsys.readouterr().out)["runs"]
    assert taken["outcome"] in ("solved", "failed")
    pool = folder / "pool"
    assert answer(capsys, "fuzz", *files, "--size", SIZE, "--out", pool)["states"] == SIZE
    tested = answer(capsys, "test", *files, "--policy", policy, "--pool", pool, "--oracle", "astar")
    task = load_task(*files)
    costs = fdr.optimal_costs(task, fdr.reachable_states(task))
    verdicts = [
        (tuple(entry["state"]), "astar" in entry["flags"], entry["policy_cost"])
        for entry in tested["pool"]
    ]
    flagged_costs = {cost for _, flagged, cost in verdicts if flagged}
    assert None in flagged_costs  # it fails in some states and pays too much in others
    assert len(flagged_costs) > 1
    assert not all(flagged for _, flagged, _ in verdicts)
    for state, flagged, cost in verdicts:
        best = costs[state]
        assert flagged == (best < INFINITY and (cost is None or cost > best))


def test_its_bugs_are_localized_verified_and_exported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = folder / "w.plumb"
    with Workspace.open(workspace) as store:
        bugs = store.bugs()
        assert [unit.status for unit in store.units()] == ["finished", "finished"]
        assert {Path(bug.policy).name for bug in bugs} == {"wharf.policy", "policy.pt"}
        assert all(store.localization(bug.id) is not None for bug in bugs)
        assert {bug.kind for bug in bugs} >= {BugKind.FAILS, BugKind.TOO_EXPENSIVE}
    localized = answer(capsys, "localize", workspace, "--bug", bugs[0].id)
    verified = answer(capsys, "verify", workspace)
    assert any(step["verdict"] == "not-optimal" for step in localized["steps"])
    assert verified["verified"] >= len(bugs)
    assert not verified["failed"]
    assert not verified["undecided"]
    out = folder / "bundle"
    first = [min(bug.id for bug in bugs if bug.policy == name) for name in policies_of(bugs)]
    exported = answer(capsys, "export", workspace, "--bug", *first, "--out", out)["bundles"]
    assert [bundle["reproduces"] for bundle in exported] == [True, True]
    for bundle in exported:
        assert load_task(*(Path(bundle["folder"]) / f"{name}.pddl" for name in FILES)).goal
