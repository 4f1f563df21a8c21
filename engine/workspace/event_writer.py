"""What every event of a campaign leaves in a workspace.

Every insertion is keyed by what it is about, so that a unit that is run again from its start
leaves the same rows as one that was never interrupted. What the user decided is not touched.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from enum import Flag, auto
from typing import Any

from engine.records.codec import Count, compress, decode, encode, expand, pack, unpack
from engine.records.events import (
    BugLocalized,
    CampaignEvent,
    CampaignFinished,
    CampaignStarted,
    FindingReported,
    RegionsChanged,
    RunFinished,
    StateAdded,
    StateTested,
    TaskReady,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.records.evidence import Evidence, State
from engine.records.finding import INFINITY
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.localization import (
    Cause,
    CauseKind,
    Failure,
    Localization,
    LocalizedStep,
    StepVerdict,
)


def add_file(connection: sqlite3.Connection, file: File) -> str:
    content = compress(file.content)
    insert_new(connection, "inputs (sha256, name, content)", (file.sha256, file.name, content))
    return file.sha256


def add_problem(connection: sqlite3.Connection, problem: ProblemInput) -> int:
    domain = problem.domain
    domain_file = add_file(connection, domain) if domain else None
    problem_file = add_file(connection, problem.problem)
    insert_new(
        connection,
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
    return one(
        connection,
        "SELECT id FROM problems WHERE name = ? AND problem_file = ? AND domain_file IS ? "
        "AND unit_costs = ?",
        (problem.name, problem_file, domain_file, problem.unit_costs),
    )


def add_policy(connection: sqlite3.Connection, policy: PolicyInput) -> int:
    file = add_file(connection, policy.file) if policy.file else None
    path = policy.file.path if policy.file else None
    insert_new(
        connection, "policies (name, spec, path, file)", (policy.name, policy.spec, path, file)
    )
    return one(
        connection,
        "SELECT id FROM policies WHERE name = ? AND spec = ? AND file IS ?",
        (policy.name, policy.spec, file),
    )


def insert_new(connection: sqlite3.Connection, target: str, values: Sequence[object]) -> None:
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT OR IGNORE INTO {target} VALUES ({marks})", values)


def one(connection: sqlite3.Connection, query: str, parameters: Sequence[object]) -> int:
    (value,) = connection.execute(query, parameters).fetchone()
    return int(value)


def save_evidence(connection: sqlite3.Connection, finding: int, evidence: Evidence) -> None:
    """Save evidence unless a better bound is known by now."""
    bound = evidence.bound
    row = connection.execute(
        "UPDATE findings SET bound = ?, gap = policy_cost - ?, evidence_kind = ? "
        "WHERE id = ? AND bound >= ? RETURNING gap, seconds",
        (bound, bound, evidence.kind, finding, bound),
    ).fetchone()
    if row is None:
        return
    connection.execute(
        "UPDATE evidence SET document = ? WHERE finding = ?",
        (encode(evidence).decode(), finding),
    )
    add_history(connection, finding, bound, *row)


def add_history(
    connection: sqlite3.Connection, finding: int, bound: int, gap: int | None, seconds: float
) -> None:
    insert_new(connection, "history (finding, bound, gap, seconds)", (finding, bound, gap, seconds))


_NO_OPERATOR = -1
_NUMBERS = (
    *("policy_cost_to_go", "optimal_low", "optimal_high", "after_low", "after_high"),
    *("loss_low", "loss_high"),
)


def save_localization(
    connection: sqlite3.Connection, finding: int, localization: Localization
) -> None:
    """Save a localization in place of the one before."""
    cause = localization.cause
    failure = localization.failure
    connection.execute(
        "INSERT OR REPLACE INTO localizations (finding, root_cause, step, searches, "
        "naive_searches, expanded, seconds, limited, failure, worst_step, worst_action, "
        "loss, loss_high, better_plan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            finding,
            None if cause is None else _root_cause(connection, finding, cause),
            None if cause is None else cause.index,
            localization.searches,
            localization.naive_searches,
            localization.expanded,
            localization.seconds,
            localization.limited,
            None if failure is None else encode(failure).decode(),
            localization.worst_step,
            localization.worst_action,
            *(None if end == INFINITY else end for end in localization.worst_loss),
            None if localization.better_plan is None else json.dumps(localization.better_plan),
        ),
    )
    steps = json.dumps([_step_row(step) for step in localization.steps])
    connection.execute(
        "INSERT OR REPLACE INTO localized_steps (finding, steps) VALUES (?, ?)",
        (finding, compress(steps.encode())),
    )


def read_localization(connection: sqlite3.Connection, finding: int) -> Localization | None:
    row = connection.execute(
        "SELECT l.step, l.searches, l.naive_searches, l.expanded, l.seconds, l.limited, "
        "l.failure, x.steps, l.worst_step, l.worst_action, l.better_plan, "
        "c.kind, c.operator, c.action, s.packed FROM localizations l "
        "LEFT JOIN localized_steps x ON x.finding = l.finding "
        "LEFT JOIN root_causes c ON c.id = l.root_cause LEFT JOIN states s ON s.id = c.state "
        "WHERE l.finding = ?",
        (finding,),
    ).fetchone()
    if row is None:
        return None
    step, searches, naive, expanded, seconds, limited, failure, steps, *rest = row
    worst, worst_action, better_plan, *about_cause = rest
    return Localization(
        steps=tuple(
            _step(number, columns) for number, columns in enumerate(json.loads(expand(steps)))
        ),
        cause=None if step is None else _cause(step, *about_cause),
        failure=None if failure is None else decode(failure, Failure),
        searches=searches,
        naive_searches=naive,
        expanded=expanded,
        seconds=seconds,
        limited=bool(limited),
        worst_step=worst,
        worst_action=worst_action,
        better_plan=None if better_plan is None else decode(better_plan, tuple[Count, ...]),
    )


def operator_of(column: int) -> int | None:
    return None if column == _NO_OPERATOR else column


def _root_cause(connection: sqlite3.Connection, finding: int, cause: Cause) -> int:
    """The number of a root cause, which is the same for all units with this problem and policy."""
    problem, policy = connection.execute(
        "SELECT u.problem, u.policy FROM findings f JOIN units u ON u.id = f.unit WHERE f.id = ?",
        (finding,),
    ).fetchone()
    packed = pack(cause.state)
    connection.execute(
        "INSERT OR IGNORE INTO states (problem, packed) VALUES (?, ?)", (problem, packed)
    )
    (state,) = connection.execute(
        "SELECT id FROM states WHERE problem = ? AND packed = ?", (problem, packed)
    ).fetchone()
    operator = _NO_OPERATOR if cause.operator is None else cause.operator
    connection.execute(
        "INSERT OR IGNORE INTO root_causes (policy, state, operator, kind, action) "
        "VALUES (?, ?, ?, ?, ?)",
        (policy, state, operator, cause.kind.value, cause.action),
    )
    (number,) = connection.execute(
        "SELECT id FROM root_causes WHERE policy = ? AND state = ? AND operator = ? AND kind = ?",
        (policy, state, operator, cause.kind.value),
    ).fetchone()
    return int(number)


def _cause(step: int, kind: str, operator: int, action: str, packed: bytes) -> Cause:
    return Cause(CauseKind(kind), step, unpack(packed), operator_of(operator), action)


def _step_row(step: LocalizedStep) -> list[Any]:
    numbers = [getattr(step, name) for name in _NUMBERS]
    bounded = [None if number == INFINITY else number for number in numbers]
    return [step.operator, step.verdict.value, *bounded, step.better_plan]


def _step(index: int, columns: list[Any]) -> LocalizedStep:
    operator, verdict, policy_cost, *bounds, plan = columns
    low, high, after_low, after_high, least, most = (INFINITY if b is None else b for b in bounds)
    return LocalizedStep(
        index=index,
        operator=operator,
        verdict=StepVerdict(verdict),
        policy_cost_to_go=policy_cost,
        optimal_low=low,
        optimal_high=high,
        after_low=after_low,
        after_high=after_high,
        loss_low=least,
        loss_high=most,
        better_operator=plan[0] if plan else None,
        better_plan=None if plan is None else tuple(plan),
    )


class Changes(Flag):
    """Which kinds of rows have changed."""

    CAMPAIGNS = auto()
    UNITS = auto()
    POOL = auto()
    BUGS = auto()
    LOG = auto()


NO_CHANGES = Changes(0)
_CHANGES: dict[type, Changes] = {
    UnitStarted: Changes.UNITS,
    StateAdded: Changes.POOL,
    RunFinished: Changes.POOL,
    StateTested: Changes.POOL,
    FindingReported: Changes.BUGS,
    RegionsChanged: Changes.BUGS,
    BugLocalized: Changes.BUGS,
    UnitProgress: Changes.UNITS,
    UnitFinished: Changes.UNITS | Changes.POOL,
    UnitStopped: Changes.UNITS,
    UnitFailed: Changes.UNITS | Changes.LOG,
    Warned: Changes.LOG,
    CampaignStarted: Changes.CAMPAIGNS | Changes.LOG,
    CampaignFinished: Changes.CAMPAIGNS | Changes.LOG,
}


_FIRST_IN_POOL = (
    "(SELECT min(number) FROM pool p WHERE p.unit = findings.unit AND p.state = findings.state)"
)


class EventWriter:
    """Writes in the transaction of its caller."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.changes = NO_CHANGES

    def write(self, event: CampaignEvent) -> None:
        self.changes |= _CHANGES.get(type(event), NO_CHANGES)
        execute = self.connection.execute
        match event:
            case UnitStarted():
                execute(
                    "UPDATE units SET status = 'running', error = '', "
                    "started = ifnull(started, ?) WHERE id = ?",
                    (time.time(), event.unit),
                )
                # The clocks of its oracles start again at zero.
                execute("DELETE FROM flags WHERE unit = ?", (event.unit,))
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
            case FindingReported():
                self._write_finding(event)
            case RegionsChanged():
                self._write_regions(event)
            case BugLocalized():
                self._write_localization(event)
            case _:
                self._write_course(event)

    def _write_course(self, event: CampaignEvent) -> None:
        """Write the progress of units and campaigns."""
        execute = self.connection.execute
        match event:
            case UnitProgress():
                self._write_statistics(event.unit, event)
            case UnitFinished():
                self._write_statistics(event.unit, event)
                execute("UPDATE units SET status = 'finished' WHERE id = ?", (event.unit,))
                # A unit that cannot be repeated exactly may have had more states before.
                place = event.unit, event.statistics.states
                execute("DELETE FROM pool WHERE unit = ? AND number >= ?", place)
                execute(
                    "UPDATE findings SET pool_number = NULL WHERE unit = ? AND pool_number >= ?",
                    place,
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
                count = len(event.units)
                units = "1 unit" if count == 1 else f"{count:,} units"
                self._log("info", None, f"campaign {event.campaign}: {units}")
            case CampaignFinished():
                execute(
                    "UPDATE campaigns SET status = ?, seconds = seconds + ? WHERE id = ?",
                    (event.status, event.seconds, event.campaign),
                )
                self._log("info", None, f"campaign {event.campaign}: {event.status}")

    def _write_statistics(self, unit: int, event: UnitProgress | UnitFinished) -> None:
        self.connection.execute(
            "UPDATE units SET statistics = ? WHERE id = ?",
            (encode(event.statistics).decode(), unit),
        )

    def _write_task(self, event: TaskReady) -> None:
        file = add_file(self.connection, File("task.sas", event.sas.encode(), ""))
        self.connection.execute(
            "UPDATE problems SET task_hash = ?, sas_file = ? "
            "WHERE id = (SELECT problem FROM units WHERE id = ?)",
            (event.task_hash, file, event.unit),
        )

    def _state(self, unit: int, state: State) -> int:
        """The number of a state, which is the same for all units of a problem."""
        problem = one(self.connection, "SELECT problem FROM units WHERE id = ?", (unit,))
        place = problem, pack(state)
        insert_new(self.connection, "states (problem, packed)", place)
        query = "SELECT id FROM states WHERE problem = ? AND packed = ?"
        return one(self.connection, query, place)

    def _write_state(self, event: StateAdded) -> None:
        state = self._state(event.unit, event.state)
        known = self.connection.execute(
            "SELECT state FROM pool WHERE unit = ? AND number = ?", (event.unit, event.number)
        ).fetchone()
        self.connection.execute(
            "INSERT INTO pool (unit, number, state, reference, walk, seconds) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (unit, number) DO UPDATE SET "
            "state = excluded.state, reference = excluded.reference, walk = excluded.walk",
            (
                event.unit,
                event.number,
                state,
                event.reference,
                pack(event.operators),
                event.seconds,
            ),
        )
        for changed in {state, *(known or ())} if known != (state,) else ():
            self.connection.execute(
                f"UPDATE findings SET pool_number = {_FIRST_IN_POOL} WHERE unit = ? AND state = ?",
                (event.unit, changed),
            )

    def _write_answers(self, event: StateTested) -> None:
        self.connection.execute(
            "UPDATE pool SET tested = 1 WHERE unit = ? AND number = ?", (event.unit, event.number)
        )
        self.connection.executemany(
            "INSERT OR REPLACE INTO answers "
            "(unit, number, oracle, verdict, bound, seconds, cpu, limited) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    event.unit,
                    event.number,
                    answer.oracle,
                    answer.verdict,
                    answer.bound,
                    answer.seconds,
                    answer.cpu,
                    answer.limited,
                )
                for answer in event.answers
            ],
        )
        self.connection.executemany(
            "INSERT INTO flags (unit, number, oracle, bound, seconds, cpu) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (unit, number, oracle) DO UPDATE SET "
            "bound = min(bound, excluded.bound)",
            [
                (event.unit, flag.number, flag.oracle, flag.bound, flag.seconds, flag.cpu)
                for flag in event.flags
            ],
        )

    def _write_finding(self, event: FindingReported) -> None:
        """A new finding, or a better bound for a known one; anything else changes nothing."""
        finding, run = event.finding, event.finding.run
        state = self._state(event.unit, finding.state)
        known = self.connection.execute(
            "SELECT id, bound FROM findings WHERE unit = ? AND state = ?", (event.unit, state)
        ).fetchone()
        if known is None:
            number = self._insert_finding(event, state)
        elif finding.bound < known[1]:
            number = known[0]
            self.connection.execute(
                "UPDATE findings SET kind = ?, policy_cost = ?, bound = ?, gap = ?, "
                "evidence_kind = ? WHERE id = ?",
                (
                    finding.kind,
                    run.cost,
                    finding.bound,
                    finding.gap,
                    finding.evidence.kind,
                    number,
                ),
            )
        else:
            return
        self.connection.execute(
            "INSERT OR REPLACE INTO evidence (finding, document) VALUES (?, ?)",
            (number, encode(finding.evidence).decode()),
        )
        self.connection.execute(
            "INSERT OR REPLACE INTO runs (finding, outcome, reason, cost, operators, "
            "last_decision) VALUES (?, ?, ?, ?, ?, ?)",
            (number, run.outcome, run.reason, run.cost, pack(run.operators), run.last_decision),
        )
        add_history(self.connection, number, finding.bound, finding.gap, event.seconds)

    def _insert_finding(self, event: FindingReported, state: int) -> int:
        finding = event.finding
        cursor = self.connection.execute(
            "INSERT INTO findings (unit, state, kind, policy_cost, bound, gap, oracle, "
            "evidence_kind, retrospective, seconds, pool_number) "
            "SELECT ?1, ?2, ?, ?, ?, ?, ?, ?, ?, ?, "
            "(SELECT min(number) FROM pool WHERE unit = ?1 AND state = ?2)",
            (
                event.unit,
                state,
                finding.kind,
                finding.run.cost,
                finding.bound,
                finding.gap,
                finding.oracle,
                finding.evidence.kind,
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

    def _write_localization(self, event: BugLocalized) -> None:
        finding = one(
            self.connection,
            "SELECT id FROM findings WHERE unit = ? AND state = ?",
            (event.unit, self._state(event.unit, event.state)),
        )
        save_localization(self.connection, finding, event.localization)
        if event.better is not None:
            save_evidence(self.connection, finding, event.better)

    def _log(self, level: str, unit: int | None, text: str) -> None:
        self.connection.execute(
            "INSERT INTO log (time, level, unit, text) VALUES (?, ?, ?, ?)",
            (time.time(), level, unit, text),
        )
