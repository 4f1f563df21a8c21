"""What is asked of a workspace comes as rows: campaigns, units, pool states, findings, the log.

`of` makes one of the columns of a query and checks what a stranger may have written there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.campaign.config_reader import CampaignConfig
from engine.records.codec import checked, unpack
from engine.records.events import (
    OracleStatistics,
    RivalStatistics,
    State,
    StoredRun,
    UnitStatistics,
)
from engine.records.evidence import Evidence
from engine.records.localization import CauseKind, RootCause
from engine.workspace.event_writer import operator_of


@dataclass(frozen=True, slots=True)
class BugRow:
    """A finding without its proof: what a table shows."""

    id: int
    campaign: int
    unit: int
    kind: str
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
    status: str
    note: str
    seconds: float
    pool_number: int | None  # None: the state is not in the pool
    retrospective: bool
    bad_action: str = ""  # the step to blame, once it is known: "pick b1 rooma left"
    duplicate_of: int | None = None  # the bug that this one repeats, if that was said

    @classmethod
    def of(cls, columns: Sequence[Any]) -> BugRow:
        *values, retrospective, bad_action, original = columns
        return cls(*[*values, bool(retrospective), bad_action or "", original])

    @property
    def status_text(self) -> str:
        return self.status if self.duplicate_of is None else f"{self.status} of {self.duplicate_of}"


@dataclass(frozen=True)
class Bug:
    """A finding with its state, its proof and the policy's run."""

    row: BugRow
    problem_id: int
    policy_id: int
    state: State
    evidence: Evidence
    run: StoredRun


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
    statistics: dict[str, Any]

    @classmethod
    def of(cls, columns: Sequence[Any]) -> UnitRow:
        *values, statistics = columns
        return cls(*[*values, _statistics(statistics)])


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool state and how the policy does in it; the cost is a lower bound if it was aborted."""

    number: int
    state: State
    reference: int
    walk: tuple[int, ...]
    seconds: float
    outcome: str | None  # None: not known yet
    reason: str | None
    policy_cost: int | None


@dataclass(frozen=True, slots=True)
class CampaignRow:
    id: int
    config: CampaignConfig
    created: float
    seconds: float
    status: str

    @classmethod
    def of(cls, columns: Sequence[Any]) -> CampaignRow:
        number, config, *rest = columns
        return cls(number, _config(config), *rest)


@dataclass(frozen=True, slots=True)
class LogRow:
    time: float
    level: str
    unit: int | None
    text: str


@lru_cache(maxsize=64)
def _config(text: str) -> CampaignConfig:
    """Asked for again and again while a campaign is watched."""
    return checked(CampaignConfig.from_json(json.loads(text)))


@lru_cache(maxsize=4096)
def _statistics(text: str) -> dict[str, Any]:
    """As they were stored; a unit that has not begun has none."""
    document: dict[str, Any] = json.loads(text)
    lists = {
        "oracles": tuple(OracleStatistics(**entry) for entry in document.get("oracles", ())),
        "portfolio": tuple(RivalStatistics(**entry) for entry in document.get("portfolio", ())),
    }
    checked(UnitStatistics(**{**document, **lists}))
    return document


def root_cause_of(columns: Sequence[Any], bugs: Sequence[int]) -> RootCause:
    number, kind, problem, policy, packed, operator, action = columns
    return RootCause(
        id=number,
        kind=CauseKind(kind),
        problem=problem,
        policy=policy,
        state=unpack(packed),
        operator=operator_of(operator),
        action=action,
        bugs=tuple(bugs),
    )
