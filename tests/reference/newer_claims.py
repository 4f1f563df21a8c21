"""True workspaces for the claims of witnesses, compared oracles, experiments and derived facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.campaign.config_reader import parse_config
from engine.experiments.config_reader import preset_experiment
from engine.experiments.plan import experiment_key
from engine.fuzzing.pool_file import PoolEntry, write_pool
from engine.policies.consent import Consent
from engine.records.experiment import AS_SET, DomainPair, FuzzVariant, NamedOracle, Suite
from engine.task.load import load_task
from engine.usecases import experiment
from engine.usecases.campaign import run_campaign
from engine.usecases.experiment import run_experiment
from engine.workspace.workspace import Workspace
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.drawn_tasks import walk
from reference.forged_claims import Forger
from reference.recording_link import RecordingLink

WITNESSES = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
fuzzing.size = 5
testing.oracles = ["astar:expansions=2000"]
localization.enabled = true
minimization.enabled = true
"""
COMPARED = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:gc", "builtin:hadd"]
fuzzing.size = 6
testing.oracles = ["undo", "astar:expansions=2000", "lookahead:depth=2"]
testing.mode = "compare"
testing.skip_known_bugs = false
"""
DERIVED = """\
domain = "lamps.pddl"
problems = ["rooms.pddl"]
policies = ["builtin:gc", "builtin:hadd"]
fuzzing.size = 6
testing.oracles = ["astar:expansions=2000", "bmo"]
testing.skip_known_bugs = false
localization.enabled = true
"""
SEVERAL = """\
domain = "domain.pddl"
problems = ["p2.pddl", "p1.pddl"]
policies = ["builtin:gc", "builtin:hadd"]
seeds = [0, 1]
fuzzing.size = 3
testing.oracles = ["astar:expansions=2000"]
testing.skip_known_bugs = false
localization.enabled = true
"""
UNDECIDED = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:gc"]
fuzzing.size = 12
testing.oracles = ["lookahead:depth=2", "astar"]
localization = { enabled = true, search_expansions = 1, bug_expansions = 1 }
"""
"""So little effort that some bugs have no root cause."""
IMPORTED = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:gc"]
pool = "states.pool"
testing.oracles = ["astar:expansions=2000"]
testing.skip_known_bugs = false
"""
LAMPS = """\
(define (domain lamps)
  (:requirements :adl :derived-predicates :action-costs)
  (:types room)
  (:predicates (door ?a ?b - room) (at ?a - room) (lit ?a - room) (bright ?a - room) (done))
  (:functions (total-cost))
  (:derived (bright ?a - room)
    (or (lit ?a) (exists (?b - room) (and (door ?a ?b) (lit ?b)))))
  (:action walk
    :parameters (?a ?b - room) :precondition (and (at ?a) (door ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 2)
                 (when (bright ?b) (done))))
  (:action press
    :parameters (?a - room) :precondition (at ?a)
    :effect (and (when (lit ?a) (not (lit ?a))) (when (not (lit ?a)) (lit ?a))
                 (increase (total-cost) 1)))
  (:action climb
    :parameters (?a ?b - room) :precondition (and (at ?a) (door ?b ?a))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 5))))
"""
ROOMS = """\
(define (problem rooms) (:domain lamps)
  (:objects a b c d - room)
  (:init (at a) (lit c) (= (total-cost) 0)
         (door a b) (door b c) (door c d) (door d a) (door b a))
  (:goal (and (done) (at a) (bright d) (not (lit c)) (bright b)))
  (:metric minimize (total-cost)))
"""


class NewerForger(Forger):
    """One that knows no letters of bugs."""

    bugs: dict[str, int] = {}  # type: ignore[assignment]  # noqa: RUF012

    def change(self, table: str, column: str, change: Callable[[Any], None], where: str) -> None:
        """Edit a record in JSON in one row."""
        number = self.one(f"SELECT id FROM {table} WHERE {where}")
        document = json.loads(self.one(f"SELECT {column} FROM {table} WHERE id = ?", number))
        change(document)
        self.do(f"UPDATE {table} SET {column} = ? WHERE id = ?", json.dumps(document), number)

    def rekey_experiments(self) -> None:
        """Let the keys of experiments be those of what is there now."""
        self.sqlite.commit()
        with Workspace.open(self.path) as store:
            found = store.experiments
            for row in found.rows():
                trials = [found.trial_inputs(trial.id) for trial in found.trials(row.id)]
                key = experiment_key(row.config, trials)
                self.do("UPDATE experiments SET key = ? WHERE id = ?", key, row.id)


def make_witnesses(folder: Path) -> Path:
    return _campaign(folder, WITNESSES)


def make_compared(folder: Path) -> Path:
    return _campaign(folder, COMPARED)


def make_derived(folder: Path) -> Path:
    return _campaign(folder, DERIVED)


def make_undecided(folder: Path) -> Path:
    return _campaign(folder, UNDECIDED)


def make_several(folder: Path) -> Path:
    """Two problems, two policies and two seeds."""
    return _campaign(folder, SEVERAL)


def make_imported(folder: Path) -> Path:
    """A campaign on the states of a file."""
    _write(folder)
    task = load_task(folder / "domain.pddl", folder / "p2.pddl")
    states = dict.fromkeys(map(tuple, walk(task, 6)[0]))
    entries = [PoolEntry(state) for state in states]
    (folder / "states.pool").write_text(write_pool(task, entries))
    return _campaign(folder, IMPORTED)


def _campaign(folder: Path, text: str) -> Path:
    _write(folder)
    path = folder / "true.plumb"
    with Workspace.create(path):
        pass
    config = parse_config(text, folder / "campaign.toml")
    run_campaign(RecordingLink(), path, config, "local:1", Consent())
    return path


def _write(folder: Path) -> None:
    (folder / "domain.pddl").write_text(DOMAIN)
    for number in (1, 2):
        (folder / f"p{number}.pddl").write_text(problem_text(number))
    (folder / "renamed.pddl").write_text(DOMAIN.replace("carries", "holds"))
    (folder / "lamps.pddl").write_text(LAMPS)
    (folder / "rooms.pddl").write_text(ROOMS)


def make_experiments(folder: Path) -> Path:
    """Trials of all kinds: actions, plans of policies, and a pair of domains."""
    _write(folder)
    domain, problem = str(folder / "domain.pddl"), str(folder / "p2.pddl")
    suite = Suite("carter", domain, (problem,), ("builtin:optimal",), ("builtin:gc",))
    pair = DomainPair("carter", "renamed", domain, str(folder / "renamed.pddl"))
    path = folder / "true.plumb"
    with Workspace.create(path), pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "make_executor", lambda _: InThreads(1))
        for preset in ("eisenhut-2025", "sievers-2026"):
            config = replace(preset_experiment(preset, [suite], scale=200), oracles=())
            config = replace(config, testing=replace(config.testing, oracles=()))
            run_experiment(RecordingLink(), path, config, "local:1", Consent(to_all=True))
        config = preset_experiment("d-val", pairs=[pair], scale=60)
        run_experiment(RecordingLink(), path, config, "local:1", Consent(to_all=True))
    return path


def make_parts(folder: Path) -> Path:
    """An experiment with two campaigns, which differ in how states are found."""
    _write(folder)
    domain, problem = str(folder / "domain.pddl"), str(folder / "p2.pddl")
    suite = Suite("carter", domain, (problem,), ("builtin:hadd",))
    oracles = {"undo": "undo", "look": "lookahead:depth=2"}
    path = folder / "true.plumb"
    with Workspace.create(path), pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "make_executor", lambda _: InThreads(1))
        config = preset_experiment("steinmetz-2022", [suite], scale=200)
        config = replace(
            config,
            oracles=tuple(NamedOracle(*item) for item in oracles.items()),
            qualitative=(),
            quantitative=(),
            only_solved=False,
            fuzzing=replace(config.fuzzing, size=5),
            testing=replace(config.testing, oracles=tuple(oracles.values())),
            variants=(AS_SET, FuzzVariant("novelty off", novelty=0)),
        )
        run_experiment(RecordingLink(), path, config, "local:1", Consent(to_all=True))
    return path
