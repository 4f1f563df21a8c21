"""Untrusted workspaces: a sound one, changed by another program."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from engine.campaign.config_reader import parse_config
from engine.campaign.inputs import read_file
from engine.equivalence import compare_domains
from engine.experiments.config_reader import preset_experiment
from engine.experiments.plan import experiment_key, plan_trials
from engine.pddl import parse_domain
from engine.policies.consent import NO_CONSENT
from engine.records.comparison import CompareOptions
from engine.records.events import TrialFinished
from engine.records.experiment import DomainPair, PairResult, PolicyRun, RunResult, Suite
from engine.records.finding import BugStatus, RunOutcome
from engine.records.inputs import File
from engine.records.project import Project
from engine.records.training import EpochRecord, Training, TrainingPlan, TrainingStatus
from engine.usecases.localize import localize
from engine.usecases.minimize import minimize
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace
from reference.bug_workspace import CONFIG, make_workspace
from reference.hostile_files import cells, other_documents
from reference.hostile_readers import FERRY, documents, workspace_columns

EPOCH = EpochRecord(1, 0.5, 0.5, 4.0, 8, "e1.pt")
STRANGE_SCHEMAS = (
    "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM findings; END",
    "CREATE TRIGGER t AFTER UPDATE ON units BEGIN UPDATE policies SET spec = 'x.py:f'; END",
    "CREATE VIEW v AS SELECT * FROM findings",
    "ALTER TABLE findings RENAME TO f2; CREATE VIEW findings AS SELECT * FROM f2",
    "DROP TABLE log; CREATE VIEW log AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
    "FROM c) SELECT x AS id, x AS time, 'info' AS level, NULL AS unit, 'x' AS text FROM c",
    "CREATE VIRTUAL TABLE v USING fts5(x)",
    "ALTER TABLE findings ADD COLUMN x TEXT DEFAULT 'x'",
    "ALTER TABLE findings ADD COLUMN y AS (upper(kind))",
    "CREATE TABLE extra (x)",
    "CREATE INDEX i ON findings (abs(bound))",
    *(f"PRAGMA foreign_keys = OFF; DROP TABLE {table}" for table in ("units", "runs", "project")),
    "PRAGMA user_version = 99",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = -1",
    "PRAGMA application_id = 0",
    "PRAGMA foreign_keys = OFF; DELETE FROM problems",
    "PRAGMA foreign_keys = OFF; DELETE FROM inputs",
    "PRAGMA foreign_keys = OFF; DELETE FROM evidence; DELETE FROM runs",
    "PRAGMA foreign_keys = OFF; DELETE FROM states",
)


def full_workspace(folder: Path) -> Path:
    """One with something in every table."""
    return filled(make_workspace(folder, CONFIG.replace("size = 30", "size = 4")))


def filled(path: Path) -> Path:
    """With a localization, a project, comparisons, a training and experiments beside it."""
    folder = path.parent
    domain, problem = folder / "domain.pddl", str(folder / "p2.pddl")
    with Workspace.open(path) as store:
        localize(NULL_LINK, path, [store.bugs()[0].id])
        minimize(NULL_LINK, path, [store.bugs()[0].id], NO_CONSENT)
        draft = parse_config((FERRY / "campaign.toml").read_text(), FERRY / "campaign.toml")
        store.set_project(Project(str(domain), (problem,), ("builtin:gc",), draft=draft))
        for spoiled in ("", "(not (free)) "):
            _add_comparison(store, domain, spoiled)
        plan = TrainingPlan(str(domain), (problem,), (problem,), str(folder / "training"))
        store.save_training(Training(plan, TrainingStatus.STOPPED, epochs=(EPOCH,)))
        _add_experiments(store, domain, problem)
        first, second, *_ = (row.id for row in store.bugs())
        store.set_status([second], BugStatus.DUPLICATE, duplicate_of=first)
    return path


def _add_experiments(store: Workspace, domain: Path, problem: str) -> None:
    """With answers to the questions of both, and the campaign as a part of the first."""
    suite = Suite("carter", str(domain), (problem,), ("builtin:gc",), ("builtin:hadd",))
    pair = DomainPair("carter", "same", str(domain), str(domain))
    run = PolicyRun("builtin:gc", RunOutcome.SOLVED, "goal", 5, ("(drive a b)",), 0.1)
    compared = store.comparisons()[0].comparison
    configs = preset_experiment("sievers-2026", [suite]), preset_experiment("d-val", pairs=[pair])
    results = RunResult((run,)), PairResult(compared, 5, (3, 3))
    for config, result in zip(configs, results, strict=True):
        trials = plan_trials(config)
        key = experiment_key(config, trials)
        number = store.experiments.begin(config, key, trials, resume=False)
        events = [TrialFinished(row.id, result, 0.1) for row in store.experiments.trials(number)]
        store.experiments.apply(events)
    store.experiments.add_part(1, 1, "carter", "")


def _add_comparison(store: Workspace, domain: Path, spoiled: str) -> None:
    """With a version of it that leaves something out."""
    a = read_file(str(domain))
    b = File("other.pddl", a.content.replace(spoiled.encode(), b"", 1), "other.pddl")
    comparison = compare_domains(*(parse_domain(file.content.decode()) for file in (a, b)))
    store.add_comparison(a, b, CompareOptions(), comparison)


def altered(sound: Path, path: Path, *statements: str) -> Path:
    shutil.copy(sound, path)
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.executescript(statement)
    connection.commit()
    connection.close()
    return path


@dataclass(frozen=True)
class Cell:
    """Some value in one row, or in all rows, of a column."""

    table: str
    column: str
    value: Any
    everywhere: bool

    def put(self, sound: Path, path: Path) -> bytes:
        shutil.copy(sound, path)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA foreign_keys = OFF")
        where = (
            ""
            if self.everywhere
            else f" WHERE {self.column} = (SELECT {self.column} FROM {self.table})"
        )
        with suppress(sqlite3.IntegrityError, OverflowError, UnicodeEncodeError):
            connection.execute(
                f"UPDATE OR IGNORE {self.table} SET {self.column} = ?{where}", (self.value,)
            )
        connection.commit()
        connection.close()
        return path.read_bytes()


def strange_cells(sound: Path) -> st.SearchStrategy[Cell]:
    """Wrong values in every column, and wrong documents where there are documents."""
    columns = st.sampled_from(workspace_columns(sound))
    plain = st.builds(
        lambda place, value, all_: Cell(*place, value, all_), columns, cells, st.booleans()
    )
    kinds = [
        other_documents(document).map(lambda value, t=table, c=column: Cell(t, c, value, True))
        for table, column, document in documents(sound)
    ]
    return plain | st.one_of(kinds)
