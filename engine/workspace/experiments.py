"""Experiments in a workspace: their settings, their trials, and the campaigns they are made of."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from engine.errors import Location, UsageError, WorkspaceError
from engine.records.codec import decode, encode
from engine.records.config import UnitLimits
from engine.records.events import (
    TrialEvent,
    TrialFinished,
    UnitFailed,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.records.experiment import ExperimentConfig, Trial, TrialPlan, TrialResult
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.workspace.connection import Connection
from engine.workspace.event_writer import add_file, add_policy, add_problem
from engine.workspace.guard import damaged, stored_records
from engine.workspace.rows import decoding
from engine.workspace.taken_rows import TakenRow, put_back, take


class Inputs(Protocol):
    """Stores the files that trials work on."""

    path: Path

    def problem(self, number: int) -> ProblemInput: ...
    def policy(self, number: int) -> PolicyInput: ...


Transaction = Callable[[], AbstractContextManager[sqlite3.Connection]]


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    id: int
    config: ExperimentConfig
    created: float
    seconds: float
    status: str


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial and its result, without the files it works on."""

    id: int
    domain: str
    label: str
    plan: TrialPlan
    problem: str  # empty: none
    status: str
    error: str
    seconds: float
    result: TrialResult | None


@dataclass(frozen=True, slots=True)
class PartRow:
    """A campaign of an experiment."""

    campaign: int
    domain: str
    variant: str


@dataclass(frozen=True, slots=True)
class RemovedExperiment:
    """Rows that were taken out, as they were: what they refer to comes first."""

    id: int
    rows: tuple[TakenRow, ...]


class ExperimentReader:
    """Queries; any thread that may use the store may run them."""

    def __init__(
        self, store: Inputs, connection: Connection, file: Callable[[str, str | None], File]
    ) -> None:
        self._store, self._connection, self._file = store, connection, file

    def rows(self) -> list[ExperimentRow]:
        return [
            ExperimentRow(number, self._decode(config, ExperimentConfig), *rest)
            for number, config, *rest in self._select(
                "SELECT id, config, created, seconds, status FROM experiments ORDER BY id"
            )
        ]

    def row(self, number: int) -> ExperimentRow:
        for row in self.rows():
            if row.id == number:
                return row
        known = ", ".join(str(row.id) for row in self.rows()) or "none"
        raise UsageError(
            f"unknown experiment {number} in {self._store.path}", hint=f"known: {known}"
        )

    def with_key(self, key: str) -> int | None:
        rows = self._select("SELECT id FROM experiments WHERE key = ?", key)
        return next((int(number) for (number,) in rows), None)

    def trials(self, experiment: int) -> list[TrialRow]:
        """The trials in the order in which they were planned."""
        return [
            TrialRow(
                number,
                domain,
                label,
                self._decode(plan, TrialPlan),
                problem or "",
                status,
                error,
                seconds,
                None if result is None else self._decode(result, TrialResult),
            )
            for number, domain, label, plan, problem, status, error, seconds, result in (
                self._select(
                    "SELECT t.id, t.domain, t.label, t.plan, p.name, t.status, t.error, t.seconds, "
                    "t.result FROM trials t LEFT JOIN problems p ON p.id = t.problem "
                    "WHERE t.experiment = ? ORDER BY t.id",
                    experiment,
                )
            )
        ]

    def trial_inputs(self, number: int) -> Trial:
        """A trial with the files it works on."""
        for domain, label, plan, limits, problem in self._select(
            "SELECT domain, label, plan, limits, problem FROM trials WHERE id = ?", number
        ):
            policies = self._select(
                "SELECT policy FROM trial_policies WHERE trial = ? ORDER BY position", number
            )
            files = self._select(
                "SELECT file, path FROM trial_files WHERE trial = ? ORDER BY position", number
            )
            return Trial(
                number,
                domain,
                label,
                self._decode(plan, TrialPlan),
                self._decode(limits, UnitLimits),
                None if problem is None else self._store.problem(problem),
                tuple(self._store.policy(policy) for (policy,) in policies),
                tuple(self._file(file, path) for file, path in files),
            )
        raise damaged(self._store.path, f"it has no trial {number}")

    def pending(self, experiment: int) -> list[Trial]:
        """The trials that are not finished."""
        rows = self._select(
            "SELECT id FROM trials WHERE experiment = ? AND status != 'finished' ORDER BY id",
            experiment,
        )
        return [self.trial_inputs(number) for (number,) in rows]

    def external_policies(self, experiment: int) -> list[str]:
        """The policies of an experiment that are used where they are, by their specs."""
        rows = self._select(
            "SELECT DISTINCT p.policy FROM trial_policies p JOIN trials t ON t.id = p.trial "
            "WHERE t.experiment = ?",
            experiment,
        )
        policies = (self._store.policy(number) for (number,) in rows)
        return [policy.spec for policy in policies if policy.is_external]

    def parts(self, experiment: int) -> list[PartRow]:
        return [
            PartRow(*row)
            for row in self._select(
                "SELECT campaign, domain, variant FROM parts WHERE experiment = ? "
                "ORDER BY campaign",
                experiment,
            )
        ]

    def by_campaign(self) -> dict[int, tuple[int, ...]]:
        """The experiments that each campaign is a part of; none: it is not listed."""
        found: dict[int, tuple[int, ...]] = {}
        for campaign, experiment in self._select(
            "SELECT campaign, experiment FROM parts ORDER BY campaign, experiment"
        ):
            found[campaign] = (*found.get(campaign, ()), experiment)
        return found

    def _select(self, query: str, *parameters: object) -> list[Any]:
        return self._connection.rows(query, parameters)

    def _decode(self, text: str, kind: Any) -> Any:
        with stored_records(self._store.path), decoding():
            return decode(text, kind)


class ExperimentWriter(ExperimentReader):
    """Adds the writing; every call is a transaction."""

    def __init__(
        self,
        store: Inputs,
        connection: Connection,
        file: Callable[[str, str | None], File],
        transaction: Transaction,
    ) -> None:
        super().__init__(store, connection, file)
        self._transaction = transaction

    def begin(
        self, config: ExperimentConfig, key: str, trials: Sequence[Trial], *, resume: bool
    ) -> int:
        """The number of the experiment: a new one, or with `resume` the one that is there."""
        known = self.with_key(key)
        if known is not None:
            if resume:
                return known
            raise WorkspaceError(
                "this experiment already exists in the workspace",
                Location.of(self._store.path),
                "continue it with --resume, or choose another file, scale or seed",
            )
        if resume and self.rows():
            raise UsageError(
                f"{self._store.path} holds no experiment with these settings and inputs",
                hint="undo the changes since then, or run it without --resume as a new one",
            )
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO experiments (key, config, created) VALUES (?, ?, ?)",
                (key, encode(config).decode(), time.time()),
            )
            assert cursor.lastrowid is not None
            add = partial(_add_trial, connection, cursor.lastrowid)
            for trial in trials:
                add(trial)
        return cursor.lastrowid

    def add_part(self, experiment: int, campaign: int, domain: str, variant: str) -> None:
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO parts (experiment, campaign, domain, variant) "
                "VALUES (?, ?, ?, ?)",
                (experiment, campaign, domain, variant),
            )

    def set_status(self, experiment: int, status: str, seconds: float = 0.0) -> None:
        with self._transaction() as connection:
            connection.execute(
                "UPDATE experiments SET status = ?, seconds = seconds + ? WHERE id = ?",
                (status, seconds, experiment),
            )

    def apply(self, events: Sequence[TrialEvent]) -> None:
        """Store the events of trials."""
        with self._transaction() as connection:
            for event in events:
                _write(connection, event)

    def remove(self, experiment: int) -> RemovedExperiment:
        """Forget an experiment and its trials; its campaigns stay. Returns what puts it back."""
        taken: list[TakenRow] = []
        with self._transaction() as connection:
            of_it = "trial IN (SELECT id FROM trials WHERE experiment = ?)"
            for table in ("trial_policies", "trial_files"):
                take(connection, taken, table, of_it, experiment)
            for table in ("trials", "parts"):
                take(connection, taken, table, "experiment = ?", experiment)
            take(connection, taken, "experiments", "id = ?", experiment)
        return RemovedExperiment(experiment, tuple(reversed(taken)))

    def restore(self, removed: RemovedExperiment) -> None:
        try:
            with self._transaction() as connection:
                put_back(connection, removed.rows)
        except sqlite3.IntegrityError:
            raise UsageError(
                f"experiment {removed.id} cannot be restored: its number is taken by another one",
                hint="remove that one first, or run the experiment again",
            ) from None


def _add_trial(connection: sqlite3.Connection, experiment: int, trial: Trial) -> None:
    cursor = connection.execute(
        "INSERT INTO trials (experiment, domain, label, plan, limits, problem) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (
            experiment,
            trial.domain,
            trial.label,
            encode(trial.plan).decode(),
            encode(trial.limits).decode(),
            None if trial.problem is None else add_problem(connection, trial.problem),
        ),
    )
    connection.executemany(
        "INSERT INTO trial_policies (trial, position, policy) VALUES (?, ?, ?)",
        [
            (cursor.lastrowid, position, add_policy(connection, policy))
            for position, policy in enumerate(trial.policies)
        ],
    )
    connection.executemany(
        "INSERT INTO trial_files (trial, position, file, path) VALUES (?, ?, ?, ?)",
        [
            (cursor.lastrowid, position, add_file(connection, file), file.path)
            for position, file in enumerate(trial.files)
        ],
    )


def _write(connection: sqlite3.Connection, event: TrialEvent) -> None:
    execute = connection.execute
    match event:
        case UnitStarted():
            execute(
                "UPDATE trials SET status = 'running', error = '', "
                "started = ifnull(started, ?) WHERE id = ?",
                (time.time(), event.unit),
            )
        case TrialFinished():
            execute(
                "UPDATE trials SET status = 'finished', result = ?, seconds = ? WHERE id = ?",
                (encode(event.result).decode(), event.seconds, event.unit),
            )
        case UnitStopped():
            execute("UPDATE trials SET status = 'stopped' WHERE id = ?", (event.unit,))
        case UnitFailed():
            status = "lost" if event.lost else "failed"
            execute(
                "UPDATE trials SET status = ?, error = ? WHERE id = ?",
                (status, event.error, event.unit),
            )
            _log(connection, "error", event.unit, event.error)
        case Warned():
            _log(connection, "warning", event.unit, event.text)


def _log(connection: sqlite3.Connection, level: str, trial: int | None, text: str) -> None:
    words = text if trial is None else f"trial {trial}: {text}"
    connection.execute(
        "INSERT INTO log (time, level, text) VALUES (?, ?, ?)", (time.time(), level, words)
    )
