"""The result of a comparison of two domains as rows of tables."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.models.table_model import Column
from engine.errors import PlumblineError
from engine.pddl import Domain, format_action, parse_domain
from engine.records.comparison import (
    Comparison,
    EquivalenceVerdict,
    OperatorCover,
    Parameters,
    PredicatePair,
    ReadingResult,
)
from engine.report.comparison_text import READINGS, VERDICTS
from engine.workspace.rows import ComparisonRow

READING_TIPS = {
    Parameters.DISTINCT: "Different parameters of an action stand for different objects.",
    Parameters.PDDL: "As in PDDL, two parameters of an action may stand for the same object.",
}
MARKS = {
    EquivalenceVerdict.EQUIVALENT: ("check", "proven"),
    EquivalenceVerdict.NOT_EQUIVALENT: ("bad", "bad"),
    EquivalenceVerdict.UNDECIDED: ("unknown", "undecided"),
}
"""Icon and color."""

_VARIABLE = re.compile(r"\?[^\s()]+")


@dataclass(frozen=True, slots=True)
class MappingLine:
    kind: str  # "predicate" or "type"
    a: str
    b: str
    note: str


def mapping_lines(reading: ReadingResult) -> list[MappingLine]:
    lines = [MappingLine("predicate", pair.a, pair.b, _order(pair)) for pair in reading.mapping]
    return lines + [
        MappingLine("type", a, b, "" if a != b else "same name") for a, b in reading.types
    ]


def _order(pair: PredicatePair) -> str:
    return f"argument order {pair.places}" if pair.permuted else ""


def how_covered(operator: OperatorCover) -> str:
    """Return in one line how the other domain does it."""
    other = "B" if operator.domain == "A" else "A"
    cases = [case for macro in operator.macros for case in macro.cases]
    if not operator.covered or not cases:
        return f"not always possible in {other}"
    if len(cases) == 1:
        return str(cases[0]) if cases[0].steps else "nothing to do"
    return f"{len(cases)} cases: {cases[0]}, …"


def answers(comparison: Comparison) -> set[tuple[Parameters, str]]:
    """What a comparison has decided and what of it was verified: a stop leaves less of both."""
    decided = [r for r in comparison.readings if r.verdict is not EquivalenceVerdict.UNDECIDED]
    verified = [reading for reading in decided if reading.objections is not None]
    return {(r.parameters, "decided") for r in decided} | {
        (r.parameters, "verified") for r in verified
    }


def explain_difference(comparison: Comparison) -> str:
    """Explain whether the verdict depends on the reading of parameters."""
    verdicts = {reading.verdict for reading in comparison.readings}
    if len(comparison.readings) < 2 or EquivalenceVerdict.UNDECIDED in verdicts:
        return ""  # unknown
    if len(verdicts) == 1:
        return "Both readings of parameters give the same verdict."
    return "The verdict depends on whether two parameters may stand for the same object."


def within(reading: ReadingResult) -> str:
    """Return what is known about one direction."""
    a, b = reading.a_within_b, reading.b_within_a
    if reading.verdict is EquivalenceVerdict.EQUIVALENT or (a is None and b is None):
        return ""
    if a:
        return "Under the closest mapping, B can do everything that A can do, but not vice versa."
    if b:
        return "Under the closest mapping, A can do everything that B can do, but not vice versa."
    return "Under the closest mapping, each domain can do something that the other cannot."


class Expansion:
    """Operators and macros written out in the words of their domains."""

    def __init__(self, text_a: str, text_b: str) -> None:
        self._domains = {"A": _domain(text_a), "B": _domain(text_b)}

    def operator(self, operator: OperatorCover) -> str:
        return self._body(operator.domain, operator.operator, operator.parameters)

    def macro(self, operator: OperatorCover) -> str:
        """Write out how the other domain does it, each step with its conditions and effects."""
        other = "B" if operator.domain == "A" else "A"
        if not operator.covered:
            return f"; no macro of domain {other} always does this\n"
        parts: list[str] = []
        for macro in operator.macros:
            if len(operator.macros) > 1:
                parts.append(f"; if {macro.patterns[0]}")
            for case in macro.cases:
                parts += [f"; where {case.condition}"] if case.condition else []
                parts += ["; nothing to do"] if not case.steps else []
                parts += [
                    f"; {step}\n{self._body(other, step.operator, step.arguments)}"
                    for step in case.steps
                ]
        return "\n".join(parts) + "\n"

    def _body(self, domain: str, name: str, arguments: Sequence[str]) -> str:
        model = self._domains[domain]
        action = next((a for a in model.actions if a.name == name), None) if model else None
        if action is None:
            return f"; {name} of {domain}\n"
        names = dict(zip((p.name for p in action.parameters), arguments, strict=False))
        text = format_action(action)
        return _VARIABLE.sub(lambda found: names.get(found[0], found[0]), text)


def _domain(text: str) -> Domain | None:
    try:
        return parse_domain(text)
    except PlumblineError:
        return None


@dataclass(frozen=True, slots=True)
class StructureLine:
    change: str
    text: str


_CHANGES = {"+": "added", "-": "removed", "~": "changed"}


def structure_lines(text: str) -> list[StructureLine]:
    """Return the lines of `DomainDiff.as_text`; lines within an action stay indented."""
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
    Column[StructureLine]("text", "Declaration", lambda line: line.text, mono=True),
)


def verdicts(comparison: Comparison) -> str:
    """Return one text if both readings give the same verdict."""
    words = {
        READINGS[reading.parameters]: VERDICTS[reading.verdict] for reading in comparison.readings
    }
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{verdict} ({reading.lower()})" for reading, verdict in words.items())


def with_folder(path: str) -> str:
    """The name of a domain with its folder: the versions of one are often called the same."""
    return str(Path(Path(path).parent.name) / Path(path).name)


HISTORY_COLUMNS = (
    Column[ComparisonRow]("id", "No.", lambda row: row.id, numeric=True),
    Column[ComparisonRow](
        "time",
        "When",
        lambda row: row.created,
        text=lambda row: time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created)),
    ),
    Column[ComparisonRow](
        "a", "A", lambda row: with_folder(row.name_a), row_tip=lambda row: row.name_a
    ),
    Column[ComparisonRow](
        "b", "B", lambda row: with_folder(row.name_b), row_tip=lambda row: row.name_b
    ),
    Column[ComparisonRow]("verdict", "Verdict", lambda row: verdicts(row.comparison)),
    Column[ComparisonRow](
        "seconds",
        "Time",
        lambda row: row.comparison.seconds,
        text=lambda row: f"{row.comparison.seconds:.2f} s",
        numeric=True,
    ),
)
