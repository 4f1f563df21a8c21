"""The workspace: one SQLite file that holds a campaign's inputs, states, findings and log.

Everything is written in transactions, and reported only after it is committed. Modules of their own
write events, inputs, decisions and localizations.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import Location, UsageError, WorkspaceError
from engine.records.codec import encode, to_json
from engine.records.comparison import CompareOptions, Comparison
from engine.records.config import CampaignConfig
from engine.records.events import CampaignEvent
from engine.records.evidence import Evidence
from engine.records.finding import BugStatus
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.localization import Localization
from engine.records.pattern import Attempt
from engine.records.project import Project
from engine.records.training import Training
from engine.workspace import lock, triage, witnesses
from engine.workspace.backup import WorkspaceWatch
from engine.workspace.connection import Connection, WorkspaceLostError
from engine.workspace.event_writer import (
    Changes,
    EventWriter,
    add_file,
    add_policy,
    add_problem,
    save_evidence,
    save_localization,
)
from engine.workspace.experiments import ExperimentWriter
from engine.workspace.guard import open_workspace, second_connection
from engine.workspace.reader import WorkspaceReader
from engine.workspace.triage import Undo
from engine.workspace.witnesses import DeletedWitnesses, StoredWitness


def campaign_key(
    config: CampaignConfig,
    problems: Sequence[ProblemInput],
    policies: Sequence[PolicyInput],
    portfolio: Sequence[PolicyInput],
    pool: File | None = None,
) -> str:
    settings = to_json(config)
    assert isinstance(settings, dict)
    if not config.localization.enabled:
        del settings["localization"]  # campaigns are older than it, and without it still the same
    if not config.minimization.enabled:
        del settings["minimization"]
    del settings["pool"]
    if pool is not None:
        settings["pool"] = pool.sha256
    document = {
        **settings,
        "domain": None,
        "problems": [[item.name, *(file.sha256 for file in item.files)] for item in problems],
        "policies": _identities(policies),
        "portfolio": _identities(portfolio),
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _identities(policies: Sequence[PolicyInput]) -> list[list[str]]:
    return [[item.name, item.file.sha256 if item.file else item.spec] for item in policies]


class Workspace(WorkspaceReader):
    """Reads and writes; use it in one thread, and as a context manager."""

    def __init__(self, path: Path, connection: Connection) -> None:
        super().__init__(path, connection)
        self._last_beat = 0.0
        self._watch: WorkspaceWatch | None = None  # while a campaign writes

    @classmethod
    def open(cls, path: str | Path, *, may_wait: bool = False) -> Workspace:
        """A workspace that exists; with `may_wait`, a large one may still have to be checked."""
        return cls(Path(path), open_workspace(Path(path), may_wait=may_wait))

    @property
    def awaits_check(self) -> bool:
        """Whether `check_all` must be called, in another thread, before anything is written."""
        return self._connection.awaits_check

    def end_check(self) -> None:
        """All of it is well, as another thread has found out."""
        self._connection.awaits_check = False
        self._connection.is_sound = self._connection.is_sealed()

    @classmethod
    def create(cls, path: str | Path) -> Workspace:
        """A workspace that may exist already."""
        return cls(Path(path), open_workspace(Path(path), may_create=True))

    def for_another_thread(self) -> WorkspaceReader:
        """The same file, by a connection of its own."""
        return WorkspaceReader(self.path, second_connection(self.path), self._decisions)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def change_count(self) -> int:
        """How many rows were changed through this object."""
        return self._connection.change_count

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one campaign that writes to this workspace; call `heartbeat` often."""
        with self._connection.writing() as connection:
            lock.claim(connection, self.path)
        watch = self._watch = WorkspaceWatch(self._connection)
        try:
            yield
            watch.look()
        finally:
            self._watch = None
            # On a broken disk there is worse to report; others notice anyway that we are gone.
            with suppress(WorkspaceError), self._connection.writing() as connection:
                lock.release(connection)

    def heartbeat(self) -> None:
        """Every few seconds let others see that we are there, and see that the file is."""
        if self._watch is not None and self._is_beat_due():
            self.apply([])
            self._watch.look()

    def _is_beat_due(self) -> bool:
        return time.monotonic() - self._last_beat > lock.HEARTBEAT_SECONDS

    def begin(
        self,
        config: CampaignConfig,
        problems: Sequence[ProblemInput],
        policies: Sequence[PolicyInput],
        resume: bool,
        portfolio: Sequence[PolicyInput] = (),
        *,
        pool: File | None = None,
    ) -> int:
        """The number of the campaign: a new one, or with `resume` the one that is there."""
        key = campaign_key(config, problems, policies, portfolio, pool)
        known = self.campaign_with(key)
        if known is not None:
            if resume:
                self._refuse_other_programs(known, {item.spec for item in (*policies, *portfolio)})
                return known
            raise WorkspaceError(
                "this campaign already exists in the workspace",
                Location.of(self.path),
                "continue it with --resume, or choose another file or seed",
            )
        if resume and self.campaigns():
            raise UsageError(
                f"{self.path} holds no campaign with this configuration and these inputs",
                hint="undo the changes since then, or run it without --resume as a new one",
            )
        with self._connection.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO campaigns (key, config, created) VALUES (?, ?, ?)",
                (key, encode(config).decode(), time.time()),
            )
            campaign = cursor.lastrowid
            assert campaign is not None
            problem_ids = [add_problem(connection, problem) for problem in problems]
            policy_ids = [add_policy(connection, policy) for policy in policies]
            connection.executemany(
                "INSERT INTO units (campaign, problem, policy, seed) VALUES (?, ?, ?, ?)",
                [
                    (campaign, problem, policy, seed)
                    for problem in problem_ids
                    for policy in policy_ids
                    for seed in config.seeds
                ],
            )
            connection.executemany(
                "INSERT INTO portfolios (campaign, position, policy) VALUES (?, ?, ?)",
                [
                    (campaign, i, add_policy(connection, policy))
                    for i, policy in enumerate(portfolio)
                ],
            )
            if pool is not None:
                connection.execute(
                    "INSERT INTO pools (campaign, path, file) VALUES (?, ?, ?)",
                    (campaign, pool.path, add_file(connection, pool)),
                )
        return campaign

    def _refuse_other_programs(self, campaign: int, named: set[str]) -> None:
        """The user agrees to the programs of their configuration, not to those of the file."""
        for spec in self.pending_policies(campaign):
            if spec not in named:
                raise WorkspaceError(
                    f"a unit is to be tested with {spec}, which the configuration does not name",
                    Location.of(self.path),
                    "do not use this file unless you know where it comes from",
                )

    def apply(self, events: Iterable[CampaignEvent]) -> Changes:
        """Store and commit events; a lost file is saved elsewhere."""
        with self._recording() as connection:
            writer = EventWriter(connection)
            for event in events:
                writer.write(event)
        return writer.changes

    @contextmanager
    def _recording(self) -> Iterator[sqlite3.Connection]:
        """A transaction of work that has taken long, and does not give up easily."""
        try:
            with self._connection.writing(lock.CAMPAIGN_PATIENCE_SECONDS) as connection:
                yield connection
                if self._is_beat_due():
                    self._last_beat = time.monotonic()
                    lock.beat(connection)
        except WorkspaceLostError as error:
            raise (self._watch.rescued(error) if self._watch else error) from None

    @property
    def experiments(self) -> ExperimentWriter:
        return ExperimentWriter(self, self._connection, self._file, self._recording)

    def set_status(
        self,
        bugs: Sequence[int],
        status: BugStatus,
        note: str | None = None,
        duplicate_of: int | None = None,
    ) -> Undo:
        """Store the user's decision about bugs; return its undo."""
        with self._deciding() as connection:
            return triage.set_status(connection, bugs, status, note, duplicate_of)

    def set_note(self, bugs: Sequence[int], note: str) -> Undo:
        with self._deciding() as connection:
            return triage.set_note(connection, bugs, note)

    def undo(self, undo: Undo) -> Undo:
        """Take a decision back; returns what makes it again."""
        with self._deciding() as connection:
            return triage.restore(connection, undo)

    @contextmanager
    def _deciding(self) -> Iterator[sqlite3.Connection]:
        """A transaction that changes nothing but decisions."""
        with self._connection.writing() as connection:
            yield connection
        self._decisions.add(*self._connection.last_change)

    def set_project(self, project: Project) -> None:
        with self._connection.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO project (id, document) VALUES (1, ?)",
                (encode(project).decode(),),
            )

    def add_comparison(self, a: File, b: File, options: CompareOptions, found: Comparison) -> int:
        """Keep a comparison of two domains; returns its number."""
        with self._connection.writing() as connection:
            cursor = connection.execute(
                "INSERT INTO comparisons (created, name_a, name_b, file_a, file_b, question, "
                "answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    time.time(),
                    a.path,
                    b.path,
                    add_file(connection, a),
                    add_file(connection, b),
                    encode(options).decode(),
                    encode(found).decode(),
                ),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def save_evidence(self, finding: int, evidence: Evidence) -> None:
        """Evidence that is as good as what is known, in its place."""
        with self._connection.writing() as connection:
            save_evidence(connection, finding, evidence)

    def save_localization(self, finding: int, localization: Localization) -> None:
        """What was found out about the steps of a bug's run, in place of what was known."""
        with self._connection.writing() as connection:
            save_localization(connection, finding, localization)

    def save_attempt(
        self,
        bug: int,
        root_cause: int | None,
        step: int | None,
        *,
        attempt: Attempt,
        stored: StoredWitness | None,
    ) -> int | None:
        """Replace the stored result of minimizing a root cause; return the number of the witness.

        With a `step` it is that step of the bug's run instead of its root cause.
        """
        with self._connection.writing() as connection:
            return witnesses.save_attempt(
                connection, bug, root_cause, step, attempt=attempt, stored=stored
            )

    def delete_witnesses(self, numbers: Sequence[int]) -> DeletedWitnesses:
        """Take witnesses out, by the numbers of their rows; returns what puts them back."""
        with self._connection.writing() as connection:
            return witnesses.delete_witnesses(connection, numbers)

    def restore_witnesses(self, deleted: DeletedWitnesses) -> None:
        try:
            with self._connection.writing() as connection:
                witnesses.restore_witnesses(connection, deleted)
        except sqlite3.IntegrityError:
            raise UsageError(
                "the witnesses cannot be restored: their numbers are taken by others",
                hint="minimize their bugs again",
            ) from None

    def save_training(self, training: Training) -> None:
        """What is known of the training in its folder, instead of what was known before."""
        with self._connection.writing() as connection:
            connection.execute(
                "INSERT INTO trainings (folder, created, document) VALUES (?, ?, ?) "
                "ON CONFLICT (folder) DO UPDATE SET document = excluded.document",
                (training.plan.folder, time.time(), encode(training).decode()),
            )
