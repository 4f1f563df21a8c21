"""What the lists of the equivalence screen show: differences in structure, earlier comparisons."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.comparison import READINGS, VERDICTS
from app.models.table_model import Column
from engine.campaign.comparisons import ComparisonRow


@dataclass(frozen=True, slots=True)
class StructureLine:
    change: str
    text: str


_CHANGES = {"+": "added", "-": "removed", "~": "changed"}


def structure_lines(text: str) -> list[StructureLine]:
    """What `DomainDiff.as_text` says; lines within an action begin with spaces and stay so."""
    lines = []
    for line in text.splitlines():
        words = line.lstrip()
        change = _CHANGES.get(words[:1])
        indent = " " * (len(line) - len(words))
        lines.append(StructureLine(change or "changed", indent + words[2 if change else 0 :]))
    return lines


STRUCTURE_COLUMNS = (
    Column[StructureLine](
        "change",
        "Change from A to B",
        lambda line: line.change,
        icon=lambda line: {"added": "add", "removed": "remove"}.get(line.change, "swap"),
    ),
    Column[StructureLine]("text", "What", lambda line: line.text, mono=True),
)


def verdicts(answer: Mapping[str, Any]) -> str:
    """Once if both readings come to the same."""
    words = {
        READINGS[name]: VERDICTS[answer[name]["verdict"]][0] for name in READINGS if name in answer
    }
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{verdict} ({reading.lower()})" for reading, verdict in words.items())


HISTORY_COLUMNS = (
    Column[ComparisonRow]("id", "No.", lambda row: row.id, numeric=True),
    Column[ComparisonRow](
        "time",
        "When",
        lambda row: row.created,
        text=lambda row: time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created)),
    ),
    Column[ComparisonRow](
        "a", "A", lambda row: Path(row.name_a).name, row_tip=lambda row: row.name_a
    ),
    Column[ComparisonRow](
        "b", "B", lambda row: Path(row.name_b).name, row_tip=lambda row: row.name_b
    ),
    Column[ComparisonRow]("verdict", "Verdict", lambda row: verdicts(row.answer)),
    Column[ComparisonRow](
        "seconds",
        "Seconds",
        lambda row: float(row.answer.get("seconds", 0.0)),
        text=lambda row: f"{row.answer.get('seconds', 0.0):.2f}",
        numeric=True,
    ),
)
