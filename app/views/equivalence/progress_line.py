"""The events of a running comparison as one line."""

from __future__ import annotations

from app.models.comparison import READINGS
from engine.equivalence.events import OperatorChecked, Progress, StageStarted

_STAGES = {
    "operators": "looking at the operators",
    "first mapping": "trying the likeliest mapping",
    "projections": "looking for conflicts between pairs of predicates",
    "mappings": "trying mappings",
    "counterexample": "building a counterexample",
}


def progress_line(events: list[object]) -> str:
    """What the last of them says."""
    for event in reversed(events):
        match event:
            case Progress():
                return (
                    f"{_reading(event.parameters)}: {_stage(event.stage)}, "
                    f"{event.operators_covered} of {event.operators} operators done, "
                    f"{event.candidates} mappings tried, {event.conflicts} conflicts, "
                    f"{event.states} states"
                )
            case StageStarted():
                return f"{_reading(event.parameters)}: {_stage(event.stage)}"
            case OperatorChecked():
                return f"{_reading(event.parameters)}: {event.operator} of {event.side}"
    return ""


def _reading(parameters: str) -> str:
    return READINGS.get(parameters, parameters)


def _stage(stage: str) -> str:
    return _STAGES.get(stage, stage)
