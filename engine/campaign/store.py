"""The workspace: one SQLite file that holds a campaign's inputs, states, findings and log.

Every insertion is keyed by what it is about, so that a unit that is run again from its start
leaves the same rows as one that was never interrupted. What the user decided about a finding is
never overwritten. Nothing is told to anybody before it is committed.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.campaign import writer
from engine.campaign.config import CampaignConfig
from engine.campaign.decisions import decide
from engine.campaign.events import (
    BugFound,
    BugImproved,
    BugLocalised,
    CampaignFinished,
    CampaignStarted,
    Event,
    Progress,
    RegionsChanged,
    RunFinished,
    State,
    StateAdded,
    StateTested,
    TaskReady,
    UnitFailed,
    UnitFinished,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.campaign.identity import campaign_key
from engine.campaign.inputs import File, PolicyInput, ProblemInput
from engine.campaign.localisation_rows import save_localisation
from engine.campaign.packing import compress, pack
from engine.campaign.project import Project
from engine.campaign.reading import Reading
from engine.campaign.workspace_file import open_workspace, workspace_errors
from engine.errors import Location, UsageError, WorkspaceError
from engine.localize.localisation import Localisation


class Store(Reading):
    """Reads and writes; use it in one thread, and as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._last_beat = 0.0

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """A workspace that exists."""
        return cls(Path(path), open_workspace(Path(path)))

    @classmethod
    def create(cls, path: str | Path) -> Store:
        """A workspace that may exist already."""
        return cls(Path(path), open_workspace(Path(path), create=True))

    def __enter__(self) -> Store:
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
            problem_ids = [self._add_problem(problem) for problem in problems]
            policy_ids = [self._add_policy(policy) for policy in policies]
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
                [(campaign, i, self._add_policy(policy)) for i, policy in enumerate(portfolio)],
            )
            if pool is not None:
                connection.execute(
                    "INSERT INTO pools (campaign, path, file) VALUES (?, ?, ?)",
                    (campaign, pool.path, self._add_file(pool)),
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
            for event in events:
                self._write(event)
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
                    self._add_file(a),
                    self._add_file(b),
                    json.dumps(dict(question)),
                    json.dumps(dict(answer)),
                ),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def save_localisation(self, finding: int, localisation: Localisation) -> None:
        """What was found out about the steps of a bug's run, in place of what was known."""
        with self.transaction() as connection:
            save_localisation(connection, finding, localisation)

    def save_training(self, folder: str, document: Mapping[str, Any]) -> None:
        """What is known of the training in a folder, instead of what was known before."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO trainings VALUES (?, ?, ?) "
                "ON CONFLICT (folder) DO UPDATE SET document = excluded.document",
                (folder, time.time(), json.dumps(dict(document))),
            )

    def _add_file(self, file: File) -> str:
        content = compress(file.content)
        self._insert_new("inputs (sha256, name, content)", (file.sha256, file.name, content))
        return file.sha256

    def _add_problem(self, problem: ProblemInput) -> int:
        domain = problem.domain
        domain_file = self._add_file(domain) if domain else None
        problem_file = self._add_file(problem.problem)
        self._insert_new(
            "problems (name, path, domain_path, problem_file, domain_file, unit_costs)",
            (
                problem.name,
                problem.problem.path,
                domain.path if domain else None,
                problem_file,
                domain_file,
                problem.unit_costs,
            ),
        )
        return self._one(
            "SELECT id FROM problems WHERE name = ? AND problem_file = ? AND domain_file IS ? "
            "AND unit_costs = ?",
            (problem.name, problem_file, domain_file, problem.unit_costs),
        )

    def _add_policy(self, policy: PolicyInput) -> int:
        file = self._add_file(policy.file) if policy.file else None
        path = policy.file.path if policy.file else None
        self._insert_new(
            "policies (name, spec, path, file)", (policy.name, policy.spec, path, file)
        )
        return self._one(
            "SELECT id FROM policies WHERE name = ? AND spec = ? AND file IS ?",
            (policy.name, policy.spec, file),
        )

    def _insert_new(self, target: str, values: Sequence[object]) -> None:
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT OR IGNORE INTO {target} VALUES ({marks})", values)

    def _one(self, query: str, parameters: Sequence[object]) -> int:
        (value,) = self.connection.execute(query, parameters).fetchone()
        return int(value)

    def _write(self, event: Event) -> None:
        execute = self.connection.execute
        match event:
            case UnitStarted():
                execute(
                    "UPDATE units SET status = 'running', error = '', "
                    "started = ifnull(started, ?) WHERE id = ?",
                    (time.time(), event.unit),
                )
            case TaskReady():
                self._write_task(event)
            case StateAdded():
                self._write_state(event)
            case RunFinished():
                execute(
                    "UPDATE pool SET outcome = ?, reason = ?, policy_cost = ? "
                    "WHERE unit = ? AND number = ?",
                    (event.outcome, event.reason, event.policy_cost, event.unit, event.number),
                )
            case StateTested():
                self._write_answers(event)
            case BugFound():
                self._write_finding(event)
            case RegionsChanged():
                self._write_regions(event)
            case BugLocalised():
                self._write_localisation(event)
            case _:
                self._write_course(event)

    def _write_course(self, event: Event) -> None:
        """How units and campaigns get on."""
        execute = self.connection.execute
        match event:
            case Progress():
                self._write_statistics(event.unit, event)
            case UnitFinished():
                self._write_statistics(event.unit, event)
                execute("UPDATE units SET status = 'finished' WHERE id = ?", (event.unit,))
                # A unit that cannot be repeated exactly may have had more states before.
                execute(
                    "DELETE FROM pool WHERE unit = ? AND number >= ?",
                    (event.unit, event.statistics.states),
                )
            case UnitStopped():
                execute("UPDATE units SET status = 'stopped' WHERE id = ?", (event.unit,))
            case UnitFailed():
                status = "lost" if event.lost else "failed"
                execute(
                    "UPDATE units SET status = ?, error = ? WHERE id = ?",
                    (status, event.error, event.unit),
                )
                self._log("error", event.unit, event.error)
            case Warned():
                self._log("warning", event.unit, event.text)
            case CampaignStarted():
                execute("UPDATE campaigns SET status = 'running' WHERE id = ?", (event.campaign,))
                self._log("info", None, f"campaign {event.campaign}: {len(event.units)} units")
            case CampaignFinished():
                execute(
                    "UPDATE campaigns SET status = ?, seconds = seconds + ? WHERE id = ?",
                    (event.status, event.seconds, event.campaign),
                )
                self._log("info", None, f"campaign {event.campaign}: {event.status}")

    def _write_statistics(self, unit: int, event: Progress | UnitFinished) -> None:
        self.connection.execute(
            "UPDATE units SET statistics = ? WHERE id = ?",
            (json.dumps(asdict(event.statistics)), unit),
        )

    def _write_task(self, event: TaskReady) -> None:
        file = self._add_file(File("task.sas", event.sas.encode(), ""))
        self.connection.execute(
            "UPDATE problems SET task_hash = ?, sas_file = ? "
            "WHERE id = (SELECT problem FROM units WHERE id = ?)",
            (event.task_hash, file, event.unit),
        )

    def _state(self, unit: int, state: State) -> int:
        """The number of a state, which is the same for all units of a problem."""
        problem, packed = self._one("SELECT problem FROM units WHERE id = ?", (unit,)), pack(state)
        self._insert_new("states (problem, packed)", (problem, packed))
        return self._one(
            "SELECT id FROM states WHERE problem = ? AND packed = ?", (problem, packed)
        )

    def _write_state(self, event: StateAdded) -> None:
        self.connection.execute(
            "INSERT INTO pool (unit, number, state, reference, walk, seconds) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (unit, number) DO UPDATE SET "
            "state = excluded.state, reference = excluded.reference, walk = excluded.walk",
            (
                event.unit,
                event.number,
                self._state(event.unit, event.state),
                event.reference,
                pack(event.operators),
                event.seconds,
            ),
        )

    def _write_answers(self, event: StateTested) -> None:
        self.connection.execute(
            "UPDATE pool SET tested = 1 WHERE unit = ? AND number = ?", (event.unit, event.number)
        )
        self.connection.executemany(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    event.unit,
                    event.number,
                    answer.oracle,
                    answer.verdict,
                    answer.bound,
                    answer.seconds,
                )
                for answer in event.answers
            ],
        )

    def _write_finding(self, event: BugFound | BugImproved) -> None:
        """A new finding, or a better bound for a known one; anything else changes nothing."""
        state = self._state(event.unit, event.state)
        known = self.connection.execute(
            "SELECT id, bound FROM findings WHERE unit = ? AND state = ?", (event.unit, state)
        ).fetchone()
        if known is None:
            finding = self._insert_finding(event, state)
        elif event.bound < known[1]:
            finding = known[0]
            self.connection.execute(
                "UPDATE findings SET kind = ?, policy_cost = ?, bound = ?, gap = ?, "
                "evidence_kind = ? WHERE id = ?",
                (
                    event.kind,
                    event.policy_cost,
                    event.bound,
                    event.gap,
                    event.evidence_kind,
                    finding,
                ),
            )
        else:
            return
        run = event.run
        self.connection.execute(
            "INSERT OR REPLACE INTO evidence VALUES (?, ?)", (finding, event.evidence)
        )
        self.connection.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
            (finding, run.outcome, run.reason, run.cost, pack(run.operators), run.last_decision),
        )
        self._insert_new("history", (finding, event.bound, event.gap, event.seconds))

    def _insert_finding(self, event: BugFound, state: int) -> int:
        cursor = self.connection.execute(
            "INSERT INTO findings (unit, state, kind, policy_cost, bound, gap, oracle, "
            "evidence_kind, retrospective, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.unit,
                state,
                event.kind,
                event.policy_cost,
                event.bound,
                event.gap,
                event.oracle,
                event.evidence_kind,
                event.retrospective,
                event.seconds,
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _write_regions(self, event: RegionsChanged) -> None:
        unit = event.unit
        self.connection.executemany(
            "UPDATE findings SET region = "
            "(SELECT id FROM findings WHERE unit = ? AND state = ?) WHERE unit = ? AND state = ?",
            [
                (unit, self._state(unit, leader), unit, self._state(unit, state))
                for state, leader in event.regions
            ],
        )

    def _write_localisation(self, event: BugLocalised) -> None:
        finding = self._one(
            "SELECT id FROM findings WHERE unit = ? AND state = ?",
            (event.unit, self._state(event.unit, event.state)),
        )
        save_localisation(self.connection, finding, event.localisation)

    def _log(self, level: str, unit: int | None, text: str) -> None:
        self.connection.execute(
            "INSERT INTO log (time, level, unit, text) VALUES (?, ?, ?, ?)",
            (time.time(), level, unit, text),
        )
