"""Table 2 of the D-VAL paper for any pairs of domains, beside the paper's own figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.experiments.published import published
from engine.records.comparison import (
    EquivalenceVerdict,
    Obstacle,
    Parameters,
    ReadingResult,
)
from engine.records.experiment import (
    Cell,
    Column,
    DomainPair,
    ExperimentResults,
    PairResult,
    Table,
)
from engine.workspace.experiments import ExperimentRow, TrialRow

ANSWERS = {
    EquivalenceVerdict.EQUIVALENT: "yes",
    EquivalenceVerdict.NOT_EQUIVALENT: "no",
    EquivalenceVerdict.UNDECIDED: "-",
}
READINGS = {Parameters.DISTINCT: "distinct", Parameters.PDDL: "PDDL"}
OBSTACLES = {
    Obstacle.NO_BIJECTION: "no bijection",
    Obstacle.NO_MACRO: "no macro",
    Obstacle.NO_MAPPING: "no mapping",
}


def equivalence_results(row: ExperimentRow, trials: Sequence[TrialRow]) -> ExperimentResults:
    config = row.config
    pairs = {(pair.domain, pair.version): pair for pair in config.pairs}
    settings = config.equivalence
    tables = [_verdicts(trials, pairs, settings.parameters)]
    if settings.all_macros:
        tables.append(_macros(trials))
    return ExperimentResults(tuple(tables), ())


def _verdicts(
    trials: Sequence[TrialRow],
    pairs: dict[tuple[str, str], DomainPair],
    readings: Sequence[Parameters],
) -> Table:
    columns = [Column("domain"), Column("version")]
    columns += [Column(READINGS[reading], "equivalent") for reading in readings]
    columns += [
        Column("expected"),
        Column("reason"),
        Column("time (s)", decimals=2),
        Column("states"),
        Column("P"),
        Column("O"),
        Column("macro length"),
        Column("verified"),
        Column("Eq", "D-VAL paper"),
        Column("time (s)", "D-VAL paper", 2),
        Column("states", "D-VAL paper"),
    ]
    rows: list[tuple[Cell, ...]] = []
    rules: list[int] = []
    last = ""
    for trial in trials:
        if last and trial.domain != last:
            rules.append(len(rows))
        last = trial.domain
        pair = pairs.get((trial.domain, trial.label))
        rows.append(tuple(_cells(trial, pair.expected if pair else "", readings)))
    notes = [
        "expected: for distinct parameters, by the suite.",
        "reason: no macro does the operator under any mapping of its predicates, or no mapping "
        "of the predicates fits all operators.",
        "P, O: predicates and operators of the first domain. D-VAL's own pairs may be other "
        "modifications of the same kind.",
    ]
    return Table(
        "equivalence",
        "Functional equivalence of domain pairs",
        tuple(columns),
        tuple(rows),
        tuple(notes),
        tuple(rules),
    )


def _cells(trial: TrialRow, expected: str, readings: Sequence[Parameters]) -> Iterator[Cell]:
    yield trial.domain
    yield trial.label
    result = trial.result if isinstance(trial.result, PairResult) else None
    found = [result.comparison.reading(reading) if result else None for reading in readings]
    for reading in found:
        yield None if reading is None else ANSWERS[reading.verdict]
    yield {"equivalent": "yes", "not-equivalent": "no"}.get(expected, expected or None)
    first = found[0] if found else None
    yield None if first is None else _reason(first)
    yield None if result is None else result.comparison.seconds
    yield None if first is None else first.effort.states
    yield None if result is None else result.predicates
    yield None if result is None else result.operators[0]
    yield None if first is None else _longest(first)
    yield None if result is None else _verified(found)
    theirs = published(trial.domain, trial.label)
    yield None if theirs is None else theirs.verdict or "-"
    yield None if theirs is None else theirs.seconds
    yield None if theirs is None else theirs.states


def _reason(reading: ReadingResult) -> str | None:
    if reading.obstacle is None:
        return "limit" if reading.verdict is EquivalenceVerdict.UNDECIDED else None
    return OBSTACLES[reading.obstacle]


def _longest(reading: ReadingResult) -> int | None:
    """Steps of the longest macro that was needed."""
    lengths = [
        len(case.steps)
        for cover in reading.operators
        for macro in cover.macros
        for case in macro.cases
    ]
    return max(lengths, default=None)


def _verified(found: Sequence[ReadingResult | None]) -> str | None:
    known = [reading.objections for reading in found if reading is not None]
    if not known or any(objections is None for objections in known):
        return None
    return "no" if any(known) else "yes"


def _macros(trials: Sequence[TrialRow]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for trial in trials:
        if not isinstance(trial.result, PairResult):
            continue
        for reading in trial.result.comparison.readings:
            for cover in reading.operators:
                if not cover.covered:
                    continue
                count, more = len(cover.shortest), "" if cover.all_listed else "+"
                first = cover.shortest[0] if cover.shortest else None
                if count == 1 and first is not None and len(first.steps) == 1:
                    continue  # one operator for another: nothing to tell
                rows.append(
                    (
                        trial.domain,
                        trial.label,
                        READINGS[reading.parameters],
                        f"{cover.operator} of {cover.domain}",
                        f"{count}{more}",
                        None if first is None else len(first.steps),
                        "case by case" if first is None else str(first),
                    )
                )
    columns = ("domain", "version", "parameters", "operator", "macros", "length", "example")
    return Table(
        "macros",
        "Shortest macros of every operator",
        tuple(map(Column, columns)),
        tuple(rows),
        (
            "Without operators whose only macro is a single operator. Macros need no cases, and "
            "have different objects for different parameters.",
        ),
    )
