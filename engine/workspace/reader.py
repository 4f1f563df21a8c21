"""What a workspace can be asked: campaigns, units, findings with their proofs, tasks, the log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import Location, WorkspaceError
from engine.records.codec import check, decode, expand
from engine.records.config import Unit
from engine.records.events import OracleVerdict
from engine.records.evidence import State
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.project import Project
from engine.records.training import Training
from engine.task.task import PddlSource, Task
from engine.workspace import lock
from engine.workspace.backup import Progress, copy_workspace
from engine.workspace.bug_reader import TESTED, BugReader, readable
from engine.workspace.experiments import ExperimentReader
from engine.workspace.guard import damaged, refuse_damage, stored_records
from engine.workspace.lock import Writer
from engine.workspace.rows import (
    AnswerRow,
    BugPoint,
    BugRow,
    CampaignCounts,
    CampaignRow,
    ComparisonRow,
    FindingMoment,
    FindingPlace,
    FlagRow,
    LogRow,
    OracleResultRow,
    PatternRow,
    PolicyRow,
    PoolRow,
    PoolState,
    RunRow,
    StateCounts,
    StoredComparison,
    UnitInputs,
    UnitRow,
    WitnessRow,
    WitnessUnit,
    decoding,
)
from engine.workspace.witnesses import PATTERN_ROWS, WITNESS_ROWS

UNFINISHED = ("waiting", "running", "stopped", "lost", "failed")


_CAMPAIGNS = "SELECT id, config, created, seconds, status FROM campaigns"
_UNITS = """
    SELECT u.id, u.campaign, p.name AS problem, y.name AS policy, u.seed, u.status, u.started,
        u.error, u.statistics
    FROM units u JOIN problems p ON p.id = u.problem JOIN policies y ON y.id = u.policy
"""


class WorkspaceReader(BugReader):
    """The questions; `Workspace` adds the writing."""

    def close(self) -> None:
        self._connection.close()

    def check_all(self) -> None:
        """Check a large file that was opened without; an error says what is damaged."""
        refuse_damage(self._connection)
        self._connection.is_sound = True

    def interrupt(self) -> None:
        """End, from another thread, what is being read."""
        self._connection.interrupt()

    def save_copy(self, path: Path, progress: Progress | None = None) -> None:
        """Copy the whole workspace as it is now, also if its file was deleted since."""
        copy_workspace(self._connection, path, progress)

    def announce(self) -> None:
        """Let other windows know that the workspace is open here, until it is closed."""
        self._connection.announce()

    def is_open_elsewhere(self) -> bool:
        """Whether another window has announced itself."""
        return self._connection.is_announced_elsewhere()

    def writer(self) -> Writer | None:
        """The campaign, of any process, that writes to the file at the moment."""
        with self._connection.reading() as connection:
            return lock.current(connection)

    def data_version(self) -> int:
        """Another number after every change by another connection."""
        ((version,),) = self._rows("PRAGMA data_version")
        return int(version)

    def is_blank(self) -> bool:
        """Whether nothing was ever put into it."""
        return not any(self._rows(f"SELECT 1 FROM {table} LIMIT 1") for table in self._tables())

    def dump(self) -> dict[str, list[dict[str, Any]]]:
        """All rows of all tables, as they are stored."""
        found = {}
        with self._connection.reading() as connection:
            for table in self._tables():
                cursor = connection.execute(f"SELECT * FROM {table}")
                names = [column[0] for column in cursor.description]
                found[table] = [dict(zip(names, row, strict=True)) for row in cursor]
        return found

    def _tables(self) -> list[str]:
        rows = self._rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [name for (name,) in rows]

    def project(self) -> Project:
        """What the user works on; empty in a workspace that only the command line has seen."""
        for (document,) in self._rows("SELECT document FROM project"):
            with stored_records(self.path):
                return decode(document, Project)
        return Project()

    def comparisons(self) -> list[ComparisonRow]:
        """The comparisons of domains, the oldest first."""
        return self._read(
            ComparisonRow,
            "SELECT id, created, name_a, name_b, question AS options, answer AS comparison "
            "FROM comparisons ORDER BY id",
        )

    def comparison(self, number: int) -> StoredComparison:
        file_a, file_b = self._one("SELECT file_a, file_b FROM comparisons WHERE id = ?", number)
        (row,) = (row for row in self.comparisons() if row.id == number)
        return StoredComparison(row, self._file(file_a, row.name_a), self._file(file_b, row.name_b))

    def training_folders(self) -> list[str]:
        """The folders of all trainings, the oldest first."""
        return [folder for (folder,) in self._rows("SELECT folder FROM trainings ORDER BY created")]

    def training(self, folder: str) -> Training:
        (document,) = self._one("SELECT document FROM trainings WHERE folder = ?", folder)
        with stored_records(self.path):
            return decode(document, Training)

    @property
    def experiments(self) -> ExperimentReader:
        """What can be asked about experiments."""
        return ExperimentReader(self, self._connection, self._file)

    def campaigns(self) -> list[CampaignRow]:
        return self._read(CampaignRow, f"{_CAMPAIGNS} ORDER BY id")

    def campaign(self, number: int) -> CampaignRow:
        """A campaign that is there."""
        for row in self._read(CampaignRow, f"{_CAMPAIGNS} WHERE id = ?", number):
            return row
        raise damaged(self.path, f"it has no campaign {number}")

    def campaign_numbers(self) -> list[int]:
        return [number for (number,) in self._rows("SELECT id FROM campaigns ORDER BY id")]

    def campaign_with(self, key: str) -> int | None:
        rows = self._rows("SELECT id FROM campaigns WHERE key = ?", (key,))
        return next((int(number) for (number,) in rows), None)

    def units(self, campaign: int | None = None) -> list[UnitRow]:
        return self._read(
            UnitRow,
            f"{_UNITS} WHERE p.origin IS NULL AND (?1 IS NULL OR u.campaign = ?1) ORDER BY u.id",
            campaign,
        )

    def unit(self, number: int) -> UnitRow:
        """A unit that is there."""
        for row in self._read(UnitRow, f"{_UNITS} WHERE u.id = ?", number):
            return row
        raise damaged(self.path, f"it has no unit {number}")

    def pending(self, campaign: int) -> list[Unit]:
        """The units that are not finished, with the inputs that were stored."""
        config = self.campaign(campaign).config
        marks = ", ".join("?" * len(UNFINISHED))
        rows = self._rows(
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
        """Return the policies that the remaining units of a campaign use, by their specs."""
        units = self.pending(campaign)
        inputs = [policy for unit in units for policy in (unit.policy, *unit.portfolio)]
        return list(dict.fromkeys(policy.spec for policy in inputs if policy.is_external))

    def witnesses(self) -> list[WitnessRow]:
        """What became of root causes that were minimized, the oldest first."""
        return self._read(WitnessRow, f"{WITNESS_ROWS} ORDER BY w.id")

    def witness_of(self, finding: int) -> WitnessRow | None:
        """Return the record of a bug that is a witness; None if it is not one."""
        rows = self._read(WitnessRow, f"{WITNESS_ROWS} WHERE w.finding = ?", finding)
        return next(iter(rows), None)

    def attempt_on(self, bug: BugRow) -> WitnessRow | None:
        """What became of a bug's root cause when it was minimized; None if it was not."""
        rows = self._read(
            WitnessRow,
            f"{WITNESS_ROWS} WHERE w.step IS NULL AND "
            "CASE WHEN ?1 IS NULL THEN w.bug = ?2 ELSE w.root_cause = ?1 END "
            "ORDER BY w.same, w.id LIMIT 1",
            bug.root_cause,
            bug.id,
        )
        return next(iter(rows), None)

    def patterns(self) -> list[PatternRow]:
        """The patterns of all witnesses, in the order in which they were found."""
        return self._read(PatternRow, PATTERN_ROWS)

    def witness_units(self) -> list[WitnessUnit]:
        """The units of witnesses, which belong to no campaign's list."""
        return self._read(
            WitnessUnit,
            "SELECT u.id AS unit, u.problem, u.policy, u.seed, u.campaign, p.origin, f.id AS bug "
            "FROM units u JOIN problems p ON p.id = u.problem "
            "LEFT JOIN findings f ON f.unit = u.id WHERE p.origin IS NOT NULL ORDER BY u.id",
        )

    def problem(self, number: int) -> ProblemInput:
        name, path, domain_path, problem_file, domain_file, unit_costs = self._one(
            "SELECT name, path, domain_path, problem_file, domain_file, unit_costs FROM problems "
            "WHERE id = ?",
            number,
        )
        domain = self._file(domain_file, domain_path) if domain_file else None
        file = self._file(problem_file, path)
        with stored_records(self.path):
            return check(ProblemInput(name, file, domain, bool(unit_costs)))

    def policy(self, number: int) -> PolicyInput:
        name, spec, path, file = self._one(
            "SELECT name, spec, path, file FROM policies WHERE id = ?", number
        )
        copy = self._file(file, path) if file else None
        with stored_records(self.path):
            return check(PolicyInput(name, spec, copy))

    def portfolio(self, campaign: int) -> tuple[PolicyInput, ...]:
        rows = self._rows(
            "SELECT policy FROM portfolios WHERE campaign = ? ORDER BY position", (campaign,)
        )
        return tuple(self.policy(policy) for (policy,) in rows)

    def imported_pool(self, campaign: int) -> File | None:
        """The states that a campaign tests instead of walking."""
        for path, file in self._rows(
            "SELECT path, file FROM pools WHERE campaign = ?", (campaign,)
        ):
            return self._file(file, path)
        return None

    def repeated_units(self, unit: int) -> list[UnitRow]:
        """Other finished units with the same problem, policy and seed that made their pools."""
        return self._read(
            UnitRow,
            f"{_UNITS} JOIN units o ON o.problem = u.problem AND o.policy = u.policy "
            "AND o.seed = u.seed WHERE o.id = ? AND u.id <> o.id AND u.status = 'finished' "
            "AND u.campaign NOT IN (SELECT campaign FROM pools) ORDER BY u.id",
            unit,
        )

    def unit_inputs(self, campaign: int) -> list[UnitInputs]:
        """What the units of a campaign test."""
        return self._read(
            UnitInputs,
            "SELECT u.id AS unit, u.problem, u.policy, u.seed FROM units u WHERE u.campaign = ? "
            f"AND {TESTED} ORDER BY u.id",
            campaign,
        )

    def was_interrupted(self, unit: int) -> bool:
        """Whether a unit may have begun more than once, according to the log."""
        ((starts, losses),) = self._rows(
            "SELECT (SELECT count(*) FROM log WHERE unit IS NULL AND text GLOB "
            "'campaign ' || u.campaign || ': [0-9]*'), "
            "(SELECT count(*) FROM log WHERE unit = u.id AND text GLOB '*restarted*') "
            "FROM units u WHERE u.id = ?",
            (unit,),
        )
        return bool(starts > 1 or losses)

    def states(self, problem: int) -> list[State]:
        """All states of a problem that anything refers to, as far as they can be read."""
        rows = self._rows("SELECT packed FROM states WHERE problem = ?", (problem,))
        return [state for (packed,) in rows if (state := readable(packed)) is not None]

    def dangling(self) -> str:
        """A table with a row that refers to a missing row; empty if there is none."""
        rows = self._rows("PRAGMA foreign_key_check")
        return "" if not rows else str(rows[0][0])

    def problem_of(self, unit: int) -> int:
        (problem,) = self._one("SELECT problem FROM units WHERE id = ?", unit)
        return int(problem)

    def task_hash(self, problem: int) -> str | None:
        """None if no unit has translated it yet."""
        hashed, sas = self._one("SELECT task_hash, sas_file FROM problems WHERE id = ?", problem)
        if (hashed is None) != (sas is None):
            raise damaged(self.path, "a task or its hash is missing")
        return None if hashed is None else str(hashed)

    def task(self, problem: int) -> Task:
        """The task as it was when it was tested: no translator is needed, whatever its version."""
        (sas,) = self._one("SELECT sas_file FROM problems WHERE id = ?", problem)
        if sas is None:
            raise WorkspaceError("this problem has not been translated yet", Location.of(self.path))
        content = self._file(sas, "").content
        with stored_records(self.path), decoding():
            text = content.decode()
        from engine.task.sas import parse_sas  # only who looks at a task needs a reader of it

        task = parse_sas(text)
        source = self.problem(problem)
        if source.domain is None:
            return task
        from engine.pddl import check_texts
        from engine.pddl.reader import text_of

        report = check_texts(*(text_of(file.content) for file in source.files))
        if (
            report.domain is None
            or report.problem is None
            or any(not item.is_refusal for item in report.errors)
        ):
            raise damaged(self.path, f"the copies of {source.name} and its domain have errors")
        pddl = PddlSource(report.domain, report.problem, source.unit_costs)
        return replace(task, source=pddl)

    def log(self, skip: int = 0) -> list[LogRow]:
        """Return the log without its first `skip` entries."""
        return self._read(
            LogRow, "SELECT time, level, unit, text FROM log ORDER BY id LIMIT -1 OFFSET ?", skip
        )

    def pool(self, unit: int) -> list[PoolRow]:
        return self._read(
            PoolRow,
            "SELECT x.number, s.packed AS state, x.reference, x.walk, x.seconds, x.outcome, "
            "x.reason, x.policy_cost, x.tested FROM pool x JOIN states s ON s.id = x.state "
            "WHERE x.unit = ? ORDER BY x.number",
            unit,
        )

    def pool_states(self, campaign: int | None = None) -> int:
        ((count,),) = self._rows(
            "SELECT count(*) FROM pool JOIN units u ON u.id = unit "
            "WHERE ?1 IS NULL OR u.campaign = ?1",
            (campaign,),
        )
        return int(count)

    def tested(self) -> StateCounts:
        """How many states of all campaigns were tested, and what is known of them."""
        (counts,) = self._read(
            StateCounts,
            "SELECT count(*) AS tested, count(o.number) AS optimal FROM pool p LEFT JOIN "
            "(SELECT DISTINCT unit, number FROM answers WHERE verdict = ?) o "
            "ON o.unit = p.unit AND o.number = p.number WHERE p.tested",
            OracleVerdict.OPTIMAL.value,
        )
        return counts

    def counts(self) -> dict[int, CampaignCounts]:
        """The counts by campaign."""
        rows = self._read(
            CampaignCounts,
            "SELECT c.id AS campaign, "
            "(SELECT count(*) FROM findings f JOIN units u ON u.id = f.unit "
            "WHERE u.campaign = c.id AND f.pool_number IS NOT NULL) AS bugs, "
            "(SELECT count(*) FROM findings f JOIN units u ON u.id = f.unit "
            f"WHERE u.campaign = c.id AND {TESTED} AND f.pool_number IS NULL) AS further, "
            "(SELECT count(*) FROM units WHERE campaign = c.id AND status IN ('failed', 'lost')) "
            "AS failed_units, "
            "(SELECT count(*) FROM units WHERE campaign = c.id AND status = 'finished' "
            "AND CASE WHEN json_valid(statistics) THEN json_extract(statistics, '$.limit') END "
            "!= '') AS limited_units FROM campaigns c",
        )
        return {row.campaign: row for row in rows}

    # What belongs to a campaign is read by findings in their order (CROSS JOIN): by units, all of
    # them would be sorted for every portion.

    def bug_points(self, campaign: int, *, after: int, limit: int) -> list[BugPoint]:
        """Bugs that come `after` a known one, in the order in which they were found."""
        return self._read(
            BugPoint,
            "SELECT f.id, f.bound, f.policy_cost FROM findings f "
            f"CROSS JOIN units u ON u.id = f.unit WHERE u.campaign = ? AND {TESTED} AND f.id > ? "
            "ORDER BY f.id LIMIT ?",
            campaign,
            after,
            limit,
        )

    def finding_moments(self, campaign: int, *, after: int, limit: int) -> list[FindingMoment]:
        """The same bugs, as a timeline has them."""
        return self._read(
            FindingMoment,
            "SELECT f.id, f.unit, f.state, f.oracle, f.kind, f.seconds FROM findings f "
            f"CROSS JOIN units u ON u.id = f.unit WHERE u.campaign = ? AND {TESTED} AND f.id > ? "
            "ORDER BY f.id LIMIT ?",
            campaign,
            after,
            limit,
        )

    def pool_bug_moments(self, campaign: int, *, after: int, limit: int) -> list[FindingMoment]:
        """Those in states of the pool, when both were known."""
        return self._read(
            FindingMoment,
            "SELECT f.id, f.unit, f.state, f.oracle, f.kind, max(f.seconds, p.seconds) AS seconds "
            "FROM findings f CROSS JOIN units u ON u.id = f.unit CROSS JOIN pool p "
            "ON p.unit = f.unit AND p.number = f.pool_number "
            f"WHERE u.campaign = ? AND {TESTED} AND f.id > ? ORDER BY f.id LIMIT ?",
            campaign,
            after,
            limit,
        )

    def states_of_pool(self, unit: int, *, begin: int, limit: int) -> list[PoolState]:
        """Pool states of a unit, beginning with a number."""
        return self._read(
            PoolState,
            "SELECT number, state, seconds, tested FROM pool WHERE unit = ? AND number >= ? "
            "ORDER BY number LIMIT ?",
            unit,
            begin,
            limit,
        )

    def answers(self, unit: int, first: int, last: int) -> list[AnswerRow]:
        """What oracles said about pool states of a unit."""
        return self._read(
            AnswerRow,
            "SELECT number, oracle, verdict, bound, seconds, cpu, limited FROM answers "
            "WHERE unit = ? AND number BETWEEN ? AND ?",
            unit,
            first,
            last,
        )

    def flags(self, unit: int) -> list[FlagRow]:
        """The pool states that oracles of a unit prove to be bugs, each by itself."""
        return self._read(
            FlagRow,
            "SELECT number, oracle, bound, seconds, cpu FROM flags WHERE unit = ? "
            "ORDER BY number, oracle",
            unit,
        )

    def oracle_results(
        self, campaign: int, *, unit: int | None = None, after: int = -1
    ) -> list[OracleResultRow]:
        """What each oracle of a comparison made of each pool state that it examined.

        All units, or one of them, and then only states with numbers above a known one.
        """
        return self._read(
            OracleResultRow,
            "SELECT u.id AS unit, p.name AS problem, y.name AS policy, u.seed, a.number, a.oracle, "
            "x.outcome, x.policy_cost, a.verdict, a.bound, a.seconds, a.cpu, a.limited, "
            "f.bound AS flag_bound, f.cpu AS flag_cpu "
            "FROM units u JOIN problems p ON p.id = u.problem JOIN policies y ON y.id = u.policy "
            "JOIN answers a ON a.unit = u.id JOIN pool x ON x.unit = u.id AND x.number = a.number "
            "LEFT JOIN flags f ON f.unit = u.id AND f.number = a.number AND f.oracle = a.oracle "
            "WHERE u.campaign = ?1 AND (?2 IS NULL OR u.id = ?2) AND a.number > ?3 "
            "AND x.outcome IS NOT NULL ORDER BY u.id, a.number, a.oracle",
            campaign,
            unit,
            after,
        )

    def problem_names(self, campaign: int) -> dict[int, str]:
        """The problems that a campaign tests."""
        return dict(
            self._rows(
                "SELECT DISTINCT p.id, p.name FROM units u JOIN problems p ON p.id = u.problem "
                "WHERE u.campaign = ? AND p.origin IS NULL",
                (campaign,),
            )
        )

    def policies(self, campaign: int) -> list[PolicyRow]:
        """The policies that a campaign tests."""
        return self._read(
            PolicyRow,
            "SELECT DISTINCT y.id, y.name, y.spec, y.file FROM units u "
            "JOIN policies y ON y.id = u.policy WHERE u.campaign = ? ORDER BY y.id",
            campaign,
        )

    def finding_places(self, campaign: int) -> list[FindingPlace]:
        """The places of bugs, those with the best bounds last."""
        return self._read(
            FindingPlace,
            "SELECT f.id, f.state, u.problem, u.policy FROM findings f JOIN units u "
            f"ON u.id = f.unit WHERE u.campaign = ? AND {TESTED} ORDER BY f.bound DESC, f.id DESC",
            campaign,
        )

    def policy_runs(self, campaign: int) -> list[RunRow]:
        """How the policies of a campaign did in its pool states."""
        return self._read(
            RunRow,
            "SELECT x.state, y.id AS policy, x.outcome, x.policy_cost FROM pool x JOIN units u "
            "ON u.id = x.unit JOIN policies y ON y.id = u.policy "
            "WHERE u.campaign = ? AND x.outcome IS NOT NULL",
            campaign,
        )

    def damage(self) -> str:
        """What is wrong with the file; empty if nothing is."""
        ((answer,),) = self._rows("PRAGMA integrity_check(1)")
        return "" if answer == "ok" else str(answer)

    def _file(self, sha256: str, path: str | None) -> File:
        name, content = self._one("SELECT name, content FROM inputs WHERE sha256 = ?", sha256)
        with stored_records(self.path), decoding():
            file = check(File(name, expand(content), path or name))
        if file.sha256 != sha256:
            raise damaged(self.path, f"the copy of {name} was changed")
        return file
