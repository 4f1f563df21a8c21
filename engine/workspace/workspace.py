"""The workspace: one SQLite file that holds a campaign's inputs, states, findings and log.

Everything is written in transactions, and nothing is told to anybody before it is committed. What
events, inputs, decisions and localizations leave behind is said in modules of their own.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.campaign.config_reader import CampaignConfig
from engine.campaign.inputs import File, PolicyInput, ProblemInput
from engine.errors import Location, UsageError, WorkspaceError
from engine.records.events import Event
from engine.records.localization import Localization
from engine.records.project import Project
from engine.workspace import lock as writer
from engine.workspace.event_writer import (
    EventRows,
    add_file,
    add_policy,
    add_problem,
    save_localization,
)
from engine.workspace.guard import open_workspace, second_connection, workspace_errors
from engine.workspace.reader import WorkspaceReader
from engine.workspace.triage import decide


def campaign_key(
    config: CampaignConfig,
    problems: Sequence[ProblemInput],
    policies: Sequence[PolicyInput],
    portfolio: Sequence[PolicyInput],
    pool: File | None = None,
) -> str:
    settings = config.to_json()
    if not config.localization.enabled:
        del settings["localization"]  # campaigns are older than it, and without it still the same
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

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._last_beat = 0.0

    @classmethod
    def open(cls, path: str | Path) -> Workspace:
        """A workspace that exists."""
        return cls(Path(path), open_workspace(Path(path)))

    @classmethod
    def create(cls, path: str | Path) -> Workspace:
        """A workspace that may exist already."""
        return cls(Path(path), open_workspace(Path(path), create=True))

    def for_another_thread(self) -> WorkspaceReader:
        """The same file, by a connection of its own."""
        return WorkspaceReader(self.path, second_connection(self.path))

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; errors of the database in the user's words."""
        with workspace_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def claim(self) -> None:
        """Become the one campaign that writes to this workspace."""
        with workspace_errors(self.path):
            writer.claim(self.connection, self.path)

    def release(self) -> None:
        with workspace_errors(self.path):
            writer.release(self.connection)

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
                "the workspace holds this very campaign already",
                Location.of(self.path),
                "continue it with --resume, or choose another file or seed",
            )
        if resume and self.campaigns():
            raise UsageError(
                f"{self.path} holds no campaign with this configuration and these inputs",
                hint="undo what was changed since, or run it without --resume beside the others",
            )
        with self.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO campaigns (key, config, created) VALUES (?, ?, ?)",
                (key, json.dumps(config.to_json()), time.time()),
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
        """The user agrees to the plug-ins and servers of his configuration, not to the file's."""
        for spec in self.pending_policies(campaign):
            if spec not in named:
                raise WorkspaceError(
                    f"a unit is to be tested with {spec}, which the configuration does not name",
                    Location.of(self.path),
                    "do not use this file unless you know where it comes from",
                )

    def apply(self, events: Iterable[Event]) -> None:
        """Write events down and commit them."""
        with self.transaction() as connection:
            rows = EventRows(connection)
            for event in events:
                rows.write(event)
            if time.monotonic() - self._last_beat > writer.HEARTBEAT_SECONDS:
                self._last_beat = time.monotonic()
                writer.beat(connection)

    def set_status(
        self,
        findings: Sequence[int],
        status: str,
        note: str | None = None,
        duplicate_of: int | None = None,
    ) -> None:
        """What the user thinks of findings."""
        with self.transaction() as connection:
            decide(connection, findings, status, note, duplicate_of)

    def set_project(self, project: Project) -> None:
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO project VALUES (1, ?)", (json.dumps(project.to_json()),)
            )

    def add_comparison(
        self, a: File, b: File, question: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> int:
        """Keep a comparison of two domains; returns its number."""
        with self.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO comparisons (created, name_a, name_b, file_a, file_b, question, "
                "answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    time.time(),
                    a.path,
                    b.path,
                    add_file(connection, a),
                    add_file(connection, b),
                    json.dumps(dict(question)),
                    json.dumps(dict(answer)),
                ),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def save_localization(self, finding: int, localization: Localization) -> None:
        """What was found out about the steps of a bug's run, in place of what was known."""
        with self.transaction() as connection:
            save_localization(connection, finding, localization)

    def save_training(self, folder: str, document: Mapping[str, Any]) -> None:
        """What is known of the training in a folder, instead of what was known before."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO trainings VALUES (?, ?, ?) "
                "ON CONFLICT (folder) DO UPDATE SET document = excluded.document",
                (folder, time.time(), json.dumps(dict(document))),
            )
