"""What every event of a campaign leaves in a workspace.

Every insertion is keyed by what it is about, so that a unit that is run again from its start
leaves the same rows as one that was never interrupted. What the user decided is not touched.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import asdict

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
from engine.campaign.input_rows import add_file, insert_new, one
from engine.campaign.inputs import File
from engine.campaign.localisation_rows import save_localisation
from engine.campaign.packing import pack


class EventRows:
    """Writes in the transaction of whoever calls."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def write(self, event: Event) -> None:
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
                count = len(event.units)
                units = "1 unit" if count == 1 else f"{count:,} units"
                self._log("info", None, f"campaign {event.campaign}: {units}")
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
        insert_new(self.connection, "history", (finding, event.bound, event.gap, event.seconds))

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
        finding = one(
            self.connection,
            "SELECT id FROM findings WHERE unit = ? AND state = ?",
            (event.unit, self._state(event.unit, event.state)),
        )
        save_localisation(self.connection, finding, event.localisation)

    def _log(self, level: str, unit: int | None, text: str) -> None:
        self.connection.execute(
            "INSERT INTO log (time, level, unit, text) VALUES (?, ?, ?, ?)",
            (time.time(), level, unit, text),
        )
