"""A comparison of two domains as one HTML file, or as the JSON of `plumbline compare`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine import __version__
from engine.pddl.reader import text_of
from engine.records.codec import to_json
from engine.records.comparison import (
    Comparison,
    Counterexample,
    Exclusion,
    OperatorCover,
    ReadingResult,
)
from engine.records.inputs import File
from engine.report.comparison_text import TITLES, VERDICTS, exclusion_text
from engine.report.templates import source, template


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return what `plumbline compare --json` prints."""
    document: dict[str, Any] = {
        reading.parameters.value: _reading(reading) for reading in comparison.readings
    }
    document["seconds"] = round(comparison.seconds, 4)
    checked = [reading for reading in comparison.readings if reading.objections is not None]
    if checked:
        document["verification"] = {
            "ok": not any(reading.objections for reading in checked),
            "problems": list(failed_evidence(comparison)),
            **{reading.parameters.value: to_json(reading.objections) for reading in checked},
        }
    return document


def failed_evidence(comparison: Comparison) -> Iterator[str]:
    """What the verifier says against it."""
    for reading in comparison.readings:
        for objection in reading.objections or ():
            yield f"the evidence for '{reading.parameters}' fails: {objection}"


def _reading(reading: ReadingResult) -> dict[str, Any]:
    found, effort = reading.counterexample, reading.effort
    return {
        "verdict": reading.verdict.value,
        "reason": reading.reason,
        "mapping": {pair.a: pair.b for pair in reading.mapping} or None,
        "types": dict(reading.types),
        "argument_permutations": {
            pair.a: [place + 1 for place in pair.order] for pair in reading.mapping if pair.permuted
        },
        "operators": [_operator(operator) for operator in reading.operators],
        "counterexample": None if found is None else _counterexample(found),
        "conflicts": [_conflict(exclusion) for exclusion in reading.exclusions],
        "a_within_b": reading.a_within_b,
        "b_within_a": reading.b_within_a,
        "obstacle": None if reading.obstacle is None else reading.obstacle.value,
        "blocked_operator": reading.blocked or None,
        "notes": list(reading.notes),
        "effort": {
            "candidates": effort.candidates,
            "conflicts": effort.conflicts,
            "states": effort.states,
            "seconds": round(effort.seconds, 4),
        },
    }


def _operator(operator: OperatorCover) -> dict[str, Any]:
    return {
        "domain": operator.domain,
        "operator": operator.operator,
        "parameters": list(operator.parameters),
        "covered": operator.covered,
        "macros": [
            {
                "patterns": [dict(pattern.bindings) for pattern in macro.patterns],
                "cases": [
                    {
                        "true": list(map(str, case.true)),
                        "false": list(map(str, case.false)),
                        "steps": list(map(str, case.steps)),
                    }
                    for case in macro.cases
                ],
            }
            for macro in operator.macros
        ],
        "shortest_macros": [list(map(str, case.steps)) for case in operator.shortest],
        "all_listed": operator.all_listed,
    }


def _counterexample(found: Counterexample) -> dict[str, Any]:
    return {
        "solved_by": found.solved_by,
        "operator": found.step.operator,
        "plan": [str(found.step)],
        "problem_a": found.problem_a,
        "problem_b": found.problem_b,
        "states_explored": found.states_explored,
    }


def _conflict(exclusion: Exclusion) -> dict[str, Any]:
    return {
        "predicates": {pair.a: pair.b for pair in exclusion.predicates},
        "types": dict(exclusion.types),
        "domain": exclusion.domain,
        "operator": exclusion.operator,
        "sentence": exclusion_text(exclusion),
    }


def comparison_report(comparison: Comparison, a: File, b: File, suffix: str) -> str:
    """HTML unless the file's name ends with `.json`."""
    if suffix.lower() == ".json":
        document = {"a": a.path, "b": b.path, **comparison_json(comparison)}
        return json.dumps(document, indent=2) + "\n"
    return template("comparison.html.j2").render(
        a=a,
        b=b,
        text_a=text_of(a.content),
        text_b=text_of(b.content),
        titles=TITLES,
        readings=comparison.readings,
        verdicts=VERDICTS,
        seconds=comparison.seconds,
        exclusion_text=exclusion_text,
        style=source("style.css"),
        version=__version__,
    )
