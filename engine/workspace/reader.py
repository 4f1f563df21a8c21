"""What a workspace can be asked: campaigns, units, findings with their proofs, tasks, the log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from engine.campaign.inputs import File, PolicyInput, ProblemInput, unpack_inputs
from engine.campaign.unit import Unit
from engine.errors import DamagedRecordError, Location, UsageError, WorkspaceError
from engine.pddl import check_files
from engine.records.codec import checked, decode, expand, unpack
from engine.records.events import (
    StoredRun,
)
from engine.records.evidence import Evidence
from engine.records.localization import Localization, RootCause
from engine.records.project import Project
from engine.task.sas import parse_sas
from engine.task.task import PddlSource, Task
from engine.workspace.comparisons import ComparisonRow, StoredComparison
from engine.workspace.event_writer import read_localization
from engine.workspace.guard import workspace_errors
from engine.workspace.rows import Bug, BugRow, CampaignRow, LogRow, PoolRow, UnitRow, root_cause_of

UNFINISHED = ("waiting", "running", "stopped", "lost", "failed")


_BUGS = """
    SELECT f.id, u.campaign, u.id, f.kind, p.name, y.name, u.seed, f.policy_cost, f.bound, f.gap,
        f.oracle, f.evidence_kind, f.region, {root_cause}, f.status, f.note, f.seconds,
        (SELECT min(number) FROM pool WHERE unit = f.unit AND state = f.state), f.retrospective,
        {bad_action}, {original}
    FROM findings f JOIN units u ON u.id = f.unit JOIN problems p ON p.id = u.problem
        JOIN policies y ON y.id = u.policy
"""


Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Question = Callable[Concatenate["WorkspaceReader", Arguments], Answer]


def _or_damaged(question: Question[Arguments, Answer]) -> Question[Arguments, Answer]:
    """A file may come from a stranger: what makes no sense in it is the file's fault, not ours."""

    @wraps(question)
    def ask(self: WorkspaceReader, /, *args: Arguments.args, **options: Arguments.kwargs) -> Answer:
        try:
            return question(self, *args, **options)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise WorkspaceError(
                f"the file is damaged: {error}", Location.of(self.path), "take a copy from before"
            ) from error
        except RecursionError:
            raise WorkspaceError(
                "the file is damaged: it is nested", Location.of(self.path)
            ) from None

    return ask


class WorkspaceReader:
    """The questions; `Workspace` adds the writing."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @_or_damaged
    def project(self) -> Project:
        """What the user works on; empty in a workspace that only the command line has seen."""
        if not self._has_table("project"):
            return Project()
        for (document,) in self.rows("SELECT document FROM project"):
            return checked(Project.from_json(json.loads(document)))
        return Project()

    @_or_damaged
    def comparisons(self) -> list[ComparisonRow]:
        """Of two domains, the oldest first."""
        if not self._has_table("comparisons"):
            return []
        rows = self.rows(
            "SELECT id, created, name_a, name_b, question, answer FROM comparisons ORDER BY id"
        )
        return list(map(ComparisonRow.of, rows))

    @_or_damaged
    def comparison(self, number: int) -> StoredComparison:
        ((file_a, file_b),) = self.rows(
            "SELECT file_a, file_b FROM comparisons WHERE id = ?", (number,)
        )
        (row,) = (row for row in self.comparisons() if row.id == number)
        return StoredComparison(row, self._file(file_a, row.name_a), self._file(file_b, row.name_b))

    @_or_damaged
    def trainings(self) -> dict[str, dict[str, Any]]:
        """Trainings by their folders, the oldest first."""
        if not self._has_table("trainings"):
            return {}
        rows = self.rows("SELECT folder, document FROM trainings ORDER BY created")
        return {folder: json.loads(document) for folder, document in rows}

    @_or_damaged
    def campaigns(self) -> list[CampaignRow]:
        rows = self.rows("SELECT id, config, created, seconds, status FROM campaigns ORDER BY id")
        return list(map(CampaignRow.of, rows))

    def campaign_with(self, key: str) -> int | None:
        rows = self.rows("SELECT id FROM campaigns WHERE key = ?", (key,))
        return next((int(number) for (number,) in rows), None)

    @_or_damaged
    def units(self, campaign: int | None = None) -> list[UnitRow]:
        rows = self.rows(
            "SELECT u.id, u.campaign, p.name, y.name, u.seed, u.status, u.started, u.error, "
            "u.statistics FROM units u JOIN problems p ON p.id = u.problem "
            "JOIN policies y ON y.id = u.policy WHERE ?1 IS NULL OR u.campaign = ?1 ORDER BY u.id",
            (campaign,),
        )
        return list(map(UnitRow.of, rows))

    @_or_damaged
    def pending(self, campaign: int) -> list[Unit]:
        """The units that are not finished, with the inputs that were stored."""
        (config,) = (row.config for row in self.campaigns() if row.id == campaign)
        marks = ", ".join("?" * len(UNFINISHED))
        rows = self.rows(
            f"SELECT id, problem, policy, seed FROM units WHERE campaign = ? "
            f"AND status IN ({marks}) ORDER BY id",
            (campaign, *UNFINISHED),
        )
        portfolio, pool = self.portfolio(campaign), self.imported_pool(campaign)
        # Each once: thousands of units may share a large policy.
        problems = {number: self.problem(number) for number in {row[1] for row in rows}}
        policies = {number: self.policy(number) for number in {row[2] for row in rows}}
        return [
            Unit(
                number,
                problems[problem],
                policies[policy],
                seed,
                config.fuzzing,
                config.testing,
                config.limits,
                portfolio,
                config.localization,
                pool,
            )
            for number, problem, policy, seed in rows
        ]

    def pending_policies(self, campaign: int) -> list[str]:
        """The policies that are to be used by what is left of a campaign, by their specs."""
        units = self.pending(campaign)
        inputs = [policy for unit in units for policy in (unit.policy, *unit.portfolio)]
        return list(dict.fromkeys(policy.spec for policy in inputs if policy.is_external))

    @_or_damaged
    def bugs(self, campaign: int | None = None, *, after: int = 0, limit: int = -1) -> list[BugRow]:
        """Findings in the order in which they were found.

        All of them, or, to read many bit by bit, at most `limit` that come `after` a known one.
        """
        rows = self.rows(
            f"{self._bugs_query()} WHERE f.id > ?2 AND (?1 IS NULL OR u.campaign = ?1) "
            "ORDER BY f.id LIMIT ?3",
            (campaign, after, limit),
        )
        return list(map(BugRow.of, rows))

    @_or_damaged
    def bug_rows(self, numbers: Sequence[int]) -> list[BugRow]:
        """Some findings, in the order in which they were found; unknown ones are left out."""
        rows = self.rows(
            f"{self._bugs_query()} WHERE f.id IN (SELECT value FROM json_each(?)) ORDER BY f.id",
            (json.dumps(list(numbers)),),
        )
        return list(map(BugRow.of, rows))

    @_or_damaged
    def bug(self, number: int) -> Bug:
        for row in self.rows(f"{self._bugs_query()} WHERE f.id = ?", (number,)):
            return self.with_proof(BugRow.of(row))
        raise UsageError(
            f"{self.path} holds no bug {number}", hint="'plumbline bugs' lists those it holds"
        )

    @_or_damaged
    def with_proof(self, row: BugRow) -> Bug:
        """The whole of a finding."""
        ((problem, policy, packed, document, outcome, reason, cost, operators, last),) = self.rows(
            "SELECT u.problem, u.policy, s.packed, e.document, r.outcome, r.reason, r.cost, "
            "r.operators, r.last_decision FROM findings f JOIN units u ON u.id = f.unit "
            "JOIN states s ON s.id = f.state JOIN evidence e ON e.finding = f.id "
            "JOIN runs r ON r.finding = f.id WHERE f.id = ?",
            (row.id,),
        )
        try:
            evidence = decode(document, Evidence)
            run = StoredRun(outcome, reason, cost, unpack(operators), last)
            return Bug(row, problem, policy, unpack(packed), evidence, run)
        except (DamagedRecordError, ValueError, TypeError) as error:
            raise WorkspaceError(
                f"bug {row.id} is damaged: {error}", Location.of(self.path), "take a copy"
            ) from error

    def localization(self, finding: int) -> Localization | None:
        """Which steps of a bug's run are bad; None if that has not been examined."""
        if not self._has_table("localizations"):
            return None
        with workspace_errors(self.path):
            try:
                found = read_localization(self.connection, finding)
                return None if found is None else checked(found)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise WorkspaceError(
                    f"what is known of the steps of bug {finding} is damaged: {error}",
                    Location.of(self.path),
                    f"'plumbline localize --bug {finding}' finds it out again",
                ) from error

    def localized_bugs(self, campaign: int | None = None) -> set[int]:
        """The bugs whose runs have been examined, whatever came out."""
        if not self._has_table("localizations"):
            return set()
        rows = self.rows(
            "SELECT l.finding FROM localizations l JOIN findings f ON f.id = l.finding "
            "JOIN units u ON u.id = f.unit WHERE ?1 IS NULL OR u.campaign = ?1",
            (campaign,),
        )
        return {finding for (finding,) in rows}

    @_or_damaged
    def root_causes(self, campaign: int | None = None) -> list[RootCause]:
        """The bad steps that bugs were traced back to, in the order in which they were found."""
        if not self._has_table("root_causes"):
            return []
        bugs: dict[int, list[int]] = {}
        for cause, finding in self.rows(
            "SELECT l.root_cause, l.finding FROM localizations l JOIN findings f "
            "ON f.id = l.finding JOIN units u ON u.id = f.unit WHERE l.root_cause IS NOT NULL "
            "AND (?1 IS NULL OR u.campaign = ?1) ORDER BY l.step, l.finding",
            (campaign,),
        ):
            bugs.setdefault(cause, []).append(finding)
        rows = self.rows(
            "SELECT c.id, c.kind, p.name, y.name, s.packed, c.operator, c.action "
            "FROM root_causes c JOIN states s ON s.id = c.state "
            "JOIN problems p ON p.id = s.problem JOIN policies y ON y.id = c.policy ORDER BY c.id"
        )
        return [root_cause_of(row, bugs[row[0]]) for row in rows if row[0] in bugs]

    def _bugs_query(self) -> str:
        cause = action = original = "NULL"
        if self._has_table("localizations"):
            cause = "(SELECT root_cause FROM localizations WHERE finding = f.id)"
            action = f"(SELECT action FROM root_causes WHERE id = {cause})"
        if self._has_table("duplicates"):
            original = "(SELECT original FROM duplicates WHERE finding = f.id)"
        return _BUGS.format(root_cause=cause, bad_action=action, original=original)

    def history(self, finding: int) -> list[tuple[int, int | None, float]]:
        """Bounds, gaps and times: the first is when it was found, the others improved it."""
        return self.rows(
            "SELECT bound, gap, seconds FROM history WHERE finding = ? ORDER BY bound DESC",
            (finding,),
        )

    @_or_damaged
    def problem(self, number: int) -> ProblemInput:
        ((name, path, domain_path, problem_file, domain_file, unit_costs),) = self.rows(
            "SELECT name, path, domain_path, problem_file, domain_file, unit_costs FROM problems "
            "WHERE id = ?",
            (number,),
        )
        domain = self._file(domain_file, domain_path) if domain_file else None
        file = self._file(problem_file, path)
        return checked(ProblemInput(name, file, domain, bool(unit_costs)))

    @_or_damaged
    def policy(self, number: int) -> PolicyInput:
        ((name, spec, path, file),) = self.rows(
            "SELECT name, spec, path, file FROM policies WHERE id = ?", (number,)
        )
        return checked(PolicyInput(name, spec, self._file(file, path) if file else None))

    @_or_damaged
    def portfolio(self, campaign: int) -> tuple[PolicyInput, ...]:
        rows = self.rows(
            "SELECT policy FROM portfolios WHERE campaign = ? ORDER BY position", (campaign,)
        )
        return tuple(self.policy(policy) for (policy,) in rows)

    @_or_damaged
    def imported_pool(self, campaign: int) -> File | None:
        """The states that a campaign tests instead of walking."""
        if self._has_table("pools"):
            for path, file in self.rows(
                "SELECT path, file FROM pools WHERE campaign = ?", (campaign,)
            ):
                return self._file(file, path)
        return None

    @_or_damaged
    def problem_of(self, unit: int) -> int:
        ((problem,),) = self.rows("SELECT problem FROM units WHERE id = ?", (unit,))
        return int(problem)

    @_or_damaged
    def task_hash(self, problem: int) -> str:
        ((value,),) = self.rows("SELECT task_hash FROM problems WHERE id = ?", (problem,))
        return str(value)

    @_or_damaged
    def task(self, problem: int) -> Task:
        """The task as it was when it was tested: no translator is needed, whatever its version."""
        ((sas,),) = self.rows("SELECT sas_file FROM problems WHERE id = ?", (problem,))
        if sas is None:
            raise WorkspaceError("this problem has not been translated yet", Location.of(self.path))
        task = parse_sas(self._file(sas, "").content.decode())
        source = self.problem(problem)
        if source.domain is None:
            return task
        with unpack_inputs(source) as files:
            report = check_files(*files.task_files)
        if report.domain is None or report.problem is None or not report.ok:
            raise ValueError(f"the copies of {source.name} and its domain have errors")
        pddl = PddlSource(report.domain, report.problem, source.unit_costs)
        return replace(task, source=pddl)

    @_or_damaged
    def log(self, skip: int = 0) -> list[LogRow]:
        """All that happened, or what is new for somebody who knows the first `skip` entries."""
        rows = self.rows(
            "SELECT time, level, unit, text FROM log ORDER BY id LIMIT -1 OFFSET ?", (skip,)
        )
        return [LogRow(*row) for row in rows]

    @_or_damaged
    def pool(self, unit: int) -> list[PoolRow]:
        rows = self.rows(
            "SELECT x.number, s.packed, x.reference, x.walk, x.seconds, x.outcome, x.reason, "
            "x.policy_cost FROM pool x JOIN states s ON s.id = x.state WHERE x.unit = ? "
            "ORDER BY x.number",
            (unit,),
        )
        return [
            PoolRow(number, unpack(packed), reference, unpack(walk), *rest)
            for number, packed, reference, walk, *rest in rows
        ]

    def pool_states(self, campaign: int | None = None) -> int:
        ((count,),) = self.rows(
            "SELECT count(*) FROM pool JOIN units u ON u.id = unit "
            "WHERE ?1 IS NULL OR u.campaign = ?1",
            (campaign,),
        )
        return int(count)

    def damage(self) -> str:
        """What is wrong with the file; empty if nothing is."""
        ((answer,),) = self.rows("PRAGMA quick_check(1)")
        return "" if answer == "ok" else str(answer)

    def _has_table(self, name: str) -> bool:
        """An old file that may not be written is not brought up to date and lacks what is new."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))

    def _file(self, sha256: str, path: str | None) -> File:
        ((name, content),) = self.rows(
            "SELECT name, content FROM inputs WHERE sha256 = ?", (sha256,)
        )
        file = checked(File(name, expand(content), path or name))
        if file.sha256 != sha256:
            raise WorkspaceError(f"the copy of {name} is damaged", Location.of(self.path))
        return file

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        """The answer to a query; errors of the database in the user's words."""
        with workspace_errors(self.path):
            return self.connection.execute(query, parameters).fetchall()
