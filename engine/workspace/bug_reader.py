"""What can be asked about bugs: one of them with its proof, many as rows, lists, root causes.

There may be a million of them, so all bugs are read one by one (`each_bug`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import DamagedRecordError, Location, UsageError, WorkspaceError
from engine.records.codec import check, unpack
from engine.records.evidence import State
from engine.records.finding import BugKind
from engine.records.localization import Localization, RootCause
from engine.workspace.connection import Connection, Version
from engine.workspace.event_writer import read_localization
from engine.workspace.filter import Term
from engine.workspace.guard import damaged, stored_records
from engine.workspace.rows import (
    Bug,
    BugCounts,
    BugRow,
    Row,
    bug_of,
    by_name,
    decoding,
    root_cause_of,
    rows_of,
)
from engine.workspace.triage import Decisions

if TYPE_CHECKING:
    from engine.workspace.bug_columns import BugColumns, Mask
    from engine.workspace.bug_list import BugList, BugOverview, BugQuery

PORTION = 500
"""Bugs that are read at once where there may be very many."""
TESTED = "u.problem NOT IN (SELECT id FROM problems WHERE origin IS NOT NULL)"
"""Units of campaigns, except for those of witnesses."""
_BUG_COLUMNS = """
    f.id, u.campaign, f.unit, f.kind, p.name AS problem, y.name AS policy, u.seed, f.policy_cost,
    f.bound, f.gap, f.oracle AS found_by, f.evidence_kind, f.region, l.root_cause, f.status, f.note,
    f.seconds, f.retrospective, ifnull(c.action, '') AS bad_action, l.worst_step,
    ifnull(l.worst_action, '') AS worst_action, l.loss, l.loss_high, d.original AS duplicate_of,
    t.id AS pattern, ifnull(t.family, '') AS family, f.pool_number
"""
_BUG_TABLES = """
    findings f JOIN units u ON u.id = f.unit JOIN problems p ON p.id = u.problem
    JOIN policies y ON y.id = u.policy LEFT JOIN localizations l ON l.finding = f.id
    LEFT JOIN root_causes c ON c.id = l.root_cause LEFT JOIN duplicates d ON d.finding = f.id
    LEFT JOIN witnesses w ON w.id = ifnull(
        (SELECT id FROM witnesses WHERE finding = f.id),
        (SELECT id FROM witnesses WHERE root_cause = l.root_cause AND step IS NULL
            AND pattern IS NOT NULL ORDER BY same LIMIT 1))
    LEFT JOIN patterns t ON t.id = w.pattern
"""
_BUGS = f"SELECT {_BUG_COLUMNS} FROM {_BUG_TABLES}"
_WHOLE_BUGS = f"""
    SELECT {_BUG_COLUMNS}, u.problem AS problem_id, u.policy AS policy_id, s.packed AS state,
        e.document AS evidence, r.outcome, r.reason, r.cost, r.operators, r.last_decision
    FROM {_BUG_TABLES} JOIN states s ON s.id = f.state LEFT JOIN evidence e ON e.finding = f.id
        LEFT JOIN runs r ON r.finding = f.id
"""


class BugReader:
    """The questions about bugs; `WorkspaceReader` has the others."""

    def __init__(
        self, path: Path, connection: Connection, decisions: Decisions | None = None
    ) -> None:
        self.path = path
        self._connection = connection
        self._decisions = decisions or Decisions()
        self._columns: BugColumns | None = None
        self._columns_version: Version | None = None

    def bugs(self, campaign: int | None = None, *, terms: Sequence[Term] = ()) -> list[BugRow]:
        """Findings in the order in which they were found, without witnesses.

        All of them or those that fit a filter.
        """
        return list(self.each_bug(campaign, terms=terms))

    def each_bug(
        self, campaign: int | None = None, *, terms: Sequence[Term] = ()
    ) -> Iterator[BugRow]:
        """The same one by one, in little memory however many there are."""
        with self._reading_columns() as columns:
            numbers = columns.ids[_fitting(columns, campaign, terms)]
        for first in range(0, len(numbers), PORTION):
            yield from self.bug_rows(numbers[first : first + PORTION].tolist())

    def count_bugs(self, terms: Sequence[Term] = ()) -> int:
        """How many bugs fit a filter."""
        with self._reading_columns() as columns:
            return int(_fitting(columns, None, terms).sum())

    def bug_list(self, query: BugQuery) -> BugList:
        """Which bugs a table shows, in their order and groups, by their numbers alone."""
        from engine.workspace.bug_list import list_bugs  # numpy

        with self._reading_columns() as columns:
            return list_bugs(columns, query)

    def bug_overview(self) -> BugOverview:
        from engine.workspace.bug_list import overview

        with self._reading_columns() as columns:
            return overview(columns)

    def read_ahead(self) -> bool:
        """Read a part of what later lists of bugs need; whether there is more."""
        with self._reading_columns() as columns:
            return columns.read_ahead()

    @contextmanager
    def _reading_columns(self) -> Iterator[BugColumns]:
        """Take a turn in which the columns of all bugs are those of the file as it is now."""
        from engine.workspace.bug_columns import BugColumns  # numpy

        with stored_records(self.path), self._connection.reading() as connection:
            assert not connection.in_transaction, "columns of what is not there yet"
            before, now = self._columns_version, self._connection.version()
            if self._columns is None or before is None or not self._decisions.lead(before, now):
                self._columns = BugColumns(connection)
            elif before != now:
                self._columns.forget_decisions()
            self._columns_version = now
            yield self._columns

    def bugs_of_unit(self, unit: int) -> list[BugRow]:
        return self._read(BugRow, f"{_BUGS} WHERE f.unit = ? ORDER BY f.id", unit)

    def bug_counts(self, campaign: int) -> BugCounts:
        """How many bugs a campaign has found, of which kinds."""
        (counts,) = self._read(
            BugCounts,
            "SELECT count(*) AS found, count(f.pool_number) AS in_pool, "
            "ifnull(sum(f.pool_number IS NOT NULL AND f.kind = ?1), 0) AS fails, "
            "ifnull(sum(f.pool_number IS NOT NULL AND f.kind = ?2), 0) AS too_expensive, "
            "ifnull(sum(f.pool_number IS NOT NULL AND f.kind = ?3), 0) AS stopped, "
            "ifnull(sum(f.pool_number IS NOT NULL AND f.retrospective), 0) AS retrospective, "
            "(SELECT count(*) FROM (SELECT DISTINCT f.unit, f.region FROM findings f JOIN units u "
            "ON u.id = f.unit WHERE u.campaign = ?4 AND f.pool_number IS NOT NULL)) AS regions, "
            "(SELECT count(*) FROM localizations l JOIN findings f ON f.id = l.finding JOIN units "
            "u ON u.id = f.unit WHERE u.campaign = ?4) AS localized "
            f"FROM findings f JOIN units u ON u.id = f.unit WHERE u.campaign = ?4 AND {TESTED}",
            BugKind.FAILS,
            BugKind.TOO_EXPENSIVE,
            BugKind.STOPPED,
            campaign,
        )
        return counts

    def bug_rows(self, numbers: Sequence[int]) -> list[BugRow]:
        """Some findings, in the order in which they were found; unknown ones are left out."""
        return self._read(
            BugRow,
            f"{_BUGS} WHERE f.id IN (SELECT value FROM json_each(?)) ORDER BY f.id",
            json.dumps(list(numbers)),
        )

    def bug(self, number: int) -> Bug:
        """The whole of a finding."""
        with self._connection.reading() as connection:
            found = by_name(connection.execute(f"{_WHOLE_BUGS} WHERE f.id = ?", (number,)))
        if not found:
            raise UsageError(
                f"unknown bug {number} in {self.path}", hint="'plumbline bugs' lists all bugs"
            )
        if found[0]["evidence"] is None or found[0]["outcome"] is None:
            raise damaged(self.path, f"bug {number} has no evidence")
        with stored_records(self.path, f"bug {number}"):
            return bug_of(found[0])

    def localization(self, finding: int) -> Localization | None:
        """Which steps of a bug's run are bad; None if that has not been examined."""
        with self._connection.reading() as connection:
            try:
                with decoding():
                    found = read_localization(connection, finding)
                    return None if found is None else check(found)
            except DamagedRecordError as error:
                raise WorkspaceError(
                    f"the localization of bug {finding} is damaged: {error}",
                    Location.of(self.path),
                    f"run 'plumbline localize --bug {finding}' again",
                ) from error

    def localized_bugs(self, campaign: int | None = None) -> set[int]:
        """The bugs whose runs have been examined, whatever came out."""
        rows = self._rows(
            "SELECT l.finding FROM localizations l JOIN findings f ON f.id = l.finding "
            "JOIN units u ON u.id = f.unit WHERE ?1 IS NULL OR u.campaign = ?1",
            (campaign,),
        )
        return {finding for (finding,) in rows}

    def root_causes(self, campaign: int | None = None) -> list[RootCause]:
        """The bad steps that bugs were traced back to, in the order in which they were found."""
        return list(self.each_root_cause(self.root_cause_numbers(campaign), campaign))

    def root_cause_numbers(
        self,
        campaign: int | None = None,
        *,
        terms: Sequence[Term] = (),
        largest_first: bool = False,
    ) -> list[int]:
        """Those that bugs have which fit a filter, in the order in which they were found."""
        from engine.workspace.bug_columns import UNKNOWN, counted

        with self._reading_columns() as columns:
            causes = columns.numbers("root")[_fitting(columns, campaign, terms)]
            return counted(causes[causes != UNKNOWN], largest_first=largest_first)

    def each_root_cause(
        self, numbers: Sequence[int], campaign: int | None = None, *, terms: Sequence[Term] = ()
    ) -> Iterator[RootCause]:
        """Root causes one by one, with those of their bugs that fit."""
        for first in range(0, len(numbers), PORTION):
            yield from self._root_causes(numbers[first : first + PORTION], campaign, terms)

    def _root_causes(
        self, numbers: Sequence[int], campaign: int | None, terms: Sequence[Term]
    ) -> list[RootCause]:
        wanted = json.dumps(numbers)
        bugs: dict[int, list[int]] = {}
        with self._reading_columns() as columns, self._connection.reading() as connection:
            fits = _fitting(columns, campaign, terms)
            pairs = connection.execute(
                "SELECT root_cause, finding FROM localizations WHERE root_cause IN "
                "(SELECT value FROM json_each(?)) ORDER BY step, finding",
                (wanted,),
            ).fetchall()
            fitting = columns.true_of([finding for _, finding in pairs], fits)
            for cause, finding in compress(pairs, fitting):
                bugs.setdefault(cause, []).append(finding)
            rows = by_name(
                connection.execute(
                    "SELECT c.id, c.kind, p.name AS problem, y.name AS policy, s.packed AS state, "
                    "c.operator, c.action FROM root_causes c JOIN states s ON s.id = c.state "
                    "JOIN problems p ON p.id = s.problem JOIN policies y ON y.id = c.policy "
                    "WHERE c.id IN (SELECT value FROM json_each(?))",
                    (wanted,),
                )
            )
            found = {
                row["id"]: root_cause_of(row, bugs[row["id"]]) for row in rows if row["id"] in bugs
            }
        return [found[number] for number in numbers if number in found]

    def history(self, finding: int) -> list[tuple[int, int | None, float]]:
        """Bounds, gaps and times: the first is when it was found, the others improved it."""
        return self._rows(
            "SELECT bound, gap, seconds FROM history WHERE finding = ? ORDER BY bound DESC",
            (finding,),
        )

    def bug_states(self, unit: int) -> dict[int, State]:
        """The states of the bugs of a unit, by bug number, as far as they can be read."""
        rows = self._rows(
            "SELECT f.id, s.packed FROM findings f JOIN states s ON s.id = f.state "
            "WHERE f.unit = ?",
            (unit,),
        )
        found = ((number, readable(packed)) for number, packed in rows)
        return {number: state for number, state in found if state is not None}

    def _rows(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        return self._connection.rows(query, parameters)

    def _one(self, query: str, *parameters: object) -> tuple[Any, ...]:
        """The row that another one refers to."""
        rows: list[tuple[Any, ...]] = self._rows(query, parameters)
        if len(rows) != 1:
            raise damaged(self.path, "something is missing that other parts refer to")
        return rows[0]

    def _read(self, kind: type[Row], query: str, *parameters: object) -> list[Row]:
        with stored_records(self.path), self._connection.reading() as connection:
            return rows_of(kind, connection.execute(query, parameters))


def _fitting(columns: BugColumns, campaign: int | None, terms: Sequence[Term]) -> Mask:
    """The bugs of one campaign, or of all, that fit a filter."""
    from engine.workspace.conditions import Conditions  # numpy

    fits = Conditions(columns).all_of(terms)
    return fits if campaign is None else fits & columns.of_campaign(campaign)


def readable(packed: bytes) -> State | None:
    try:
        return unpack(packed)
    except ValueError:
        return None
