"""What a running comparison tells its listener; frozen, so that events can cross processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageStarted:
    """`stage` is one of: operators, first mapping, projections, mappings, counterexample."""

    parameters: str
    stage: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Numbers so far for one reading of the parameters."""

    parameters: str
    stage: str
    candidates: int
    conflicts: int
    operators_covered: int
    operators: int
    states: int
    seconds: float


@dataclass(frozen=True, slots=True)
class OperatorChecked:
    """One operator of A or B (`side`) under the mapping that is being tried."""

    parameters: str
    side: str
    operator: str
    covered: bool
    states: int


Event = StageStarted | Progress | OperatorChecked
Emit = Callable[[Event], None]
