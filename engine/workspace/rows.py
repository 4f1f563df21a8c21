"""What is asked of a workspace comes as rows: campaigns, units, pool states, findings, the log.

The columns of a query have the names of a row's fields. Records in them are decoded here.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

from engine.errors import DamagedRecordError
from engine.records.codec import check, decode, unpack
from engine.records.comparison import CompareOptions, Comparison
from engine.records.config import CampaignConfig
from engine.records.events import UnitStatistics
from engine.records.evidence import Evidence, State
from engine.records.finding import BugKind, BugStatus, EndReason, Finding, Run, RunOutcome
from engine.records.inputs import File
from engine.records.localization import CauseKind, RootCause
from engine.records.pattern import Attempt, Certificate, Same
from engine.workspace.event_writer import operator_of


@dataclass(frozen=True, slots=True)
class BugRow:
    """A finding without its proof: what a table shows."""

    id: int
    campaign: int
    unit: int
    kind: BugKind
    problem: str
    policy: str
    seed: int
    policy_cost: int | None
    bound: int
    gap: int | None
    found_by: str
    evidence_kind: str
    region: int | None
    root_cause: int | None
    status: BugStatus
    note: str
    seconds: float
    pool_number: int | None  # None: the state is not in the pool
    retrospective: bool
    bad_action: str = ""  # the root cause, once it is known: "pick b1 rooma left"
    worst_step: int | None = None  # the step that loses most, once it is known
    worst_action: str = ""
    loss: int | None = None  # of the worst step, at least; None: it loses the goal
    loss_high: int | None = None  # at most; None: it may lose the goal
    duplicate_of: int | None = None  # the bug that this one repeats, if that was said
    pattern: int | None = None  # of its root cause's witness, if it was minimized
    family: str = ""  # of the pattern

    @property
    def status_text(self) -> str:
        original = "" if self.duplicate_of is None else f" of {self.duplicate_of}"
        return f"{self.status}{original}"


@dataclass(frozen=True, slots=True)
class WitnessRow:
    """What became of a root cause, or of a step of a bug, when it was minimized.

    `bug` is what it was made from, `finding` the witness itself; None: there is none.
    """

    id: int
    bug: int
    root_cause: int | None
    step: int | None  # None: the root cause
    same: Same
    finding: int | None
    pattern: int | None
    key: str  # of the pattern
    family: str
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class WitnessUnit:
    """The unit of a witness: its bug, its campaign, and the problem that it was made from."""

    unit: int
    problem: int
    policy: int
    seed: int
    campaign: int
    origin: int
    bug: int | None


@dataclass(frozen=True, slots=True)
class PatternRow:
    id: int
    key: str
    family: str
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class StateCounts:
    tested: int
    optimal: int  # states in which an oracle proved the policy optimal


@dataclass(frozen=True)
class Bug:
    """All that is known of one bug."""

    row: BugRow
    problem_id: int
    policy_id: int
    finding: Finding


@dataclass(frozen=True, slots=True)
class UnitRow:
    id: int
    campaign: int
    problem: str
    policy: str
    seed: int
    status: str
    started: float | None
    error: str
    statistics: UnitStatistics


@dataclass(frozen=True, slots=True)
class UnitInputs:
    """What a unit tests, by numbers."""

    unit: int
    problem: int
    policy: int
    seed: int


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool state and how the policy does in it; the cost is a lower bound if it was aborted."""

    number: int
    state: State
    reference: int
    walk: tuple[int, ...]
    seconds: float
    outcome: RunOutcome | None  # None: not known yet
    reason: EndReason | None
    policy_cost: int | None
    tested: bool


@dataclass(frozen=True, slots=True)
class CampaignRow:
    id: int
    config: CampaignConfig
    created: float
    seconds: float
    status: str


@dataclass(frozen=True, slots=True)
class LogRow:
    time: float
    level: str
    unit: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A comparison of two domains without their texts."""

    id: int
    created: float
    name_a: str
    name_b: str
    options: CompareOptions
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class StoredComparison:
    row: ComparisonRow
    a: File
    b: File


@dataclass(frozen=True, slots=True)
class CampaignCounts:
    """What a list shows of a campaign beside its row."""

    campaign: int
    bugs: int  # in states of the pool
    further: int  # bugs in other states
    failed_units: int
    limited_units: int  # they met a limit


@dataclass(frozen=True, slots=True)
class BugCounts:
    """The bugs of a campaign; except for the first and the last, those in states of the pool."""

    found: int
    in_pool: int
    fails: int
    too_expensive: int
    stopped: int
    retrospective: int
    regions: int
    localized: int


@dataclass(frozen=True, slots=True)
class BugPoint:
    """What a bug costs: what is possible, and what the policy's run costs (None: it fails)."""

    id: int
    bound: int
    policy_cost: int | None


@dataclass(frozen=True, slots=True)
class FindingMoment:
    """When a bug was found, by which oracle."""

    id: int
    unit: int
    state: int
    oracle: str
    kind: BugKind
    seconds: float


@dataclass(frozen=True, slots=True)
class PoolState:
    """A state of the pool, and whether all oracles are done with it."""

    number: int
    state: int
    seconds: float
    tested: bool


@dataclass(frozen=True, slots=True)
class AnswerRow:
    number: int
    oracle: str
    verdict: str  # an OracleVerdict, unless it was forged; the verifier says so
    bound: int | None  # what the oracle showed to suffice
    seconds: float
    cpu: float = 0.0
    limited: bool = False  # a limit ended the examination


@dataclass(frozen=True, slots=True)
class FlagRow:
    """A pool state that an oracle proves to be a bug by itself, and its own clock then."""

    number: int
    oracle: str
    bound: int
    seconds: float
    cpu: float


@dataclass(frozen=True, slots=True)
class OracleResultRow:
    """The result of one oracle, compared with others, in one pool state.

    `flag_bound` is None if the oracle does not prove a bug here. `flag_cpu` is its own clock when
    it first proved one, which may be later than the examination.
    """

    unit: int
    problem: str
    policy: str
    seed: int
    number: int
    oracle: str
    outcome: RunOutcome
    policy_cost: int | None
    verdict: str
    bound: int | None
    seconds: float
    cpu: float
    limited: bool
    flag_bound: int | None
    flag_cpu: float | None


@dataclass(frozen=True, slots=True)
class PolicyRow:
    id: int
    name: str
    spec: str
    file: str | None


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Where a bug is: in a state of a problem, with a policy."""

    id: int
    state: int
    problem: int
    policy: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """How a policy did in a pool state."""

    state: int
    policy: int
    outcome: RunOutcome
    policy_cost: int | None


Row = TypeVar("Row")
Kind = TypeVar("Kind", bound=StrEnum)


@contextmanager
def decoding() -> Iterator[None]:
    """Wrap the decoding of values without a codec; any exception means a damaged record."""
    try:
        yield
    except RecursionError:
        raise DamagedRecordError("it is nested too deeply") from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise DamagedRecordError(str(error)) from error


def rows_of(kind: type[Row], cursor: sqlite3.Cursor) -> list[Row]:
    """The rows of a query whose columns have the names of the fields."""
    names = [column[0] for column in cursor.description]
    columns = dict(zip(names, zip(*cursor.fetchall(), strict=True), strict=False))
    if not columns:
        return []
    decoders = _DECODERS.get(kind, {})
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    for name, decode_column in decoders.items():
        with decoding():
            columns[name] = tuple(map(decode_column, columns[name]))
    values = [columns[field.name] for field in fields]
    return [kind(*row) for row in zip(*values, strict=True)]


def by_name(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def bug_of(row: Mapping[str, Any]) -> Bug:
    values = {field.name: row[field.name] for field in dataclasses.fields(BugRow)}
    with decoding():
        values |= {name: make(row[name]) for name, make in _DECODERS[BugRow].items()}
        state, operators = unpack(row["state"]), unpack(row["operators"])
    run = Run(row["outcome"], row["reason"], row["cost"], operators, row["last_decision"])
    evidence = decode(row["evidence"], Evidence)
    return Bug(
        BugRow(**values),
        row["problem_id"],
        row["policy_id"],
        check(Finding(state, row["kind"], run, row["bound"], evidence, row["found_by"])),
    )


@lru_cache(maxsize=64)
def _config(text: str) -> CampaignConfig:
    """Asked for again and again while a campaign is watched."""
    return decode(text, CampaignConfig)


@lru_cache(maxsize=4096)
def _statistics(text: str) -> UnitStatistics:
    return decode(text, UnitStatistics)


def root_cause_of(row: Mapping[str, Any], bugs: Sequence[int]) -> RootCause:
    with decoding():
        kind, state = CauseKind(row["kind"]), unpack(row["state"])
    return RootCause(
        id=row["id"],
        kind=kind,
        problem=row["problem"],
        policy=row["policy"],
        state=state,
        operator=operator_of(row["operator"]),
        action=row["action"],
        bugs=tuple(bugs),
    )


def _or_none(kind: type[Kind]) -> Callable[[str | None], Kind | None]:
    return cache(lambda text: None if text is None else kind(text))


_DECODERS: dict[type, dict[str, Callable[[Any], Any]]] = {
    BugRow: {"kind": cache(BugKind), "status": cache(BugStatus), "retrospective": bool},
    UnitRow: {"statistics": _statistics},
    CampaignRow: {"config": _config},
    PoolRow: {
        "state": unpack,
        "walk": unpack,
        "outcome": _or_none(RunOutcome),
        "reason": _or_none(EndReason),
        "tested": bool,
    },
    AnswerRow: {"limited": bool},
    OracleResultRow: {"outcome": cache(RunOutcome), "limited": bool},
    FindingMoment: {"kind": cache(BugKind)},
    RunRow: {"outcome": cache(RunOutcome)},
    WitnessRow: {"same": cache(Same), "attempt": partial(decode, kind=Attempt)},
    PatternRow: {"certificate": partial(decode, kind=Certificate)},
    ComparisonRow: {
        "options": partial(decode, kind=CompareOptions),
        "comparison": partial(decode, kind=Comparison),
    },
}
