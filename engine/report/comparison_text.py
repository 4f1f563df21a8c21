"""A comparison of two domains, and its progress, in words."""

from __future__ import annotations

from collections.abc import Iterator

from engine.records.comparison import (
    Comparison,
    EquivalenceVerdict,
    Exclusion,
    Obstacle,
    OperatorCover,
    Parameters,
    ReadingResult,
    Side,
)
from engine.records.events import ComparisonProgress, OperatorChecked, StageStarted
from engine.report.words import count_text

READINGS = {
    Parameters.DISTINCT: "Parameters are distinct",
    Parameters.PDDL: "Parameters may coincide",
}

TITLES = {
    Parameters.DISTINCT: "With distinct objects for different parameters",
    Parameters.PDDL: "With parameters that may coincide, as in PDDL",
}
VERDICTS = {
    EquivalenceVerdict.EQUIVALENT: "Equivalent",
    EquivalenceVerdict.NOT_EQUIVALENT: "Not equivalent",
    EquivalenceVerdict.UNDECIDED: "Undecided",
}
SHOWN = 12
"""How many exclusions the text names."""


def describe(comparison: Comparison) -> str:
    return "\n\n".join("\n".join(_reading(reading)) for reading in comparison.readings) + "\n"


def _reading(reading: ReadingResult) -> Iterator[str]:
    yield f"{TITLES[reading.parameters]}: {VERDICTS[reading.verdict]}"
    yield f"  {reading.reason}"
    yield from (f"  note: {note}" for note in reading.notes)
    if reading.mapping:
        closest = "" if reading.verdict is EquivalenceVerdict.EQUIVALENT else " (the closest found)"
        yield f"  predicates of A -> B{closest}: " + ", ".join(map(str, reading.mapping))
        renamed = [f"{s} -> {t}" for s, t in reading.types if s != t]
        if renamed:
            yield "  types of A -> B: " + ", ".join(renamed)
    for operator in reading.operators:
        yield from (f"  {line}" for line in cover_sentences(operator))
    if reading.counterexample is not None:
        yield from _refutation(reading)


def cover_sentences(cover: OperatorCover) -> Iterator[str]:
    """How the other domain does an action."""
    name, other = f"{cover} of {cover.domain}", _other(cover.domain)
    if not cover.covered:
        yield f"{name} cannot always be done in {other}"
    for number, macro in enumerate(cover.macros):
        where = f"if {macro.patterns[0]}, " if number else ""
        if len(macro.cases) == 1 and not macro.cases[0].condition:
            yield f"{name} is {where}done in {other} by {macro.cases[0]}"
            continue
        yield f"{name} is {where}done in {other} case by case:"
        for case in macro.cases:
            yield f"  where {case.condition or 'anything holds'}: {case}"
    if len(cover.shortest) > 1:
        more = "" if cover.all_listed else " or more"
        yield f"  one of {len(cover.shortest)}{more} shortest macros, which are:"
        yield from (f"    {case}" for case in cover.shortest)


def exclusion_text(exclusion: Exclusion) -> str:
    """Why these predicates cannot be mapped so."""
    pairs = [*map(str, exclusion.predicates), *(f"type {s} -> {t}" for s, t in exclusion.types)]
    action = " ".join((exclusion.operator, *exclusion.arguments))
    state = " ".join(map(str, exclusion.state)) or "nothing"
    looked_at = " (looking at these predicates only)" if exclusion.projected else ""
    return (
        f"not {' and '.join(pairs)}: where {state} holds, ({action}) of {exclusion.domain} "
        f"cannot be done in {_other(exclusion.domain)}{looked_at}"
    )


def _other(side: Side) -> Side:
    return "B" if side == "A" else "A"


def obstacle_text(reading: ReadingResult) -> str:
    """Why domains are not equivalent, in one sentence; empty if that is not known."""
    match reading.obstacle:
        case Obstacle.NO_MACRO:
            return (
                f"No macro implements {reading.blocked}, whatever its predicates are mapped to in "
                "the other domain."
            )
        case Obstacle.NO_MAPPING:
            return (
                "Every action schema has a macro under some mapping of its predicates, but no "
                "mapping fits all of them."
            )
    return ""


def _refutation(reading: ReadingResult) -> Iterator[str]:
    if sentence := obstacle_text(reading):
        yield f"  {sentence}"
    if reading.a_within_b:
        yield "  Under this mapping, B can do everything that A can do."
    if reading.b_within_a:
        yield "  Under this mapping, A can do everything that B can do."
    found = reading.counterexample
    if found is not None:
        other = "B" if found.solved_by == "A" else "A"
        confirmed = (
            f"all {found.states_explored} reachable states searched"
            if found.states_explored is not None
            else "too large to confirm by search"
        )
        yield f"  Counterexample: {found.step} solves it in {found.solved_by}; {other} has no plan"
        yield f"  ({confirmed}). The problem for A:"
        yield from (f"    {line}" for line in found.problem_a.splitlines())
        yield "  and for B:"
        yield from (f"    {line}" for line in found.problem_b.splitlines())
    if reading.exclusions:
        yield "  Every mapping of the predicates has one of these conflicts:"
        yield from (f"    {exclusion_text(exclusion)}" for exclusion in reading.exclusions[:SHOWN])
        if len(reading.exclusions) > SHOWN:
            yield f"    and {len(reading.exclusions) - SHOWN} more"


_STAGES = {
    "operators": "reading actions",
    "first mapping": "trying the most likely mapping",
    "projections": "searching for conflicts between pairs of predicates",
    "mappings": "trying mappings",
    "counterexample": "building a counterexample",
}


def progress_line(events: list[object]) -> str:
    """What the last of them says."""
    for event in reversed(events):
        match event:
            case ComparisonProgress():
                return (
                    f"{READINGS[event.parameters]}: {_stage(event.stage)}, "
                    f"{event.operators_covered} of {event.operators} actions covered, "
                    f"{count_text(event.candidates, 'mapping')} tried, "
                    f"{count_text(event.conflicts, 'conflict')}, "
                    f"{count_text(event.states, 'state')}"
                )
            case StageStarted():
                return f"{READINGS[event.parameters]}: {_stage(event.stage)}"
            case OperatorChecked():
                return f"{READINGS[event.parameters]}: {event.operator} of {event.side}"
    return ""


def _stage(stage: str) -> str:
    return _STAGES.get(stage, stage)
