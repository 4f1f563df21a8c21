"""Table 1 and Figure 4 of Steinmetz et al. 2022 (Section 6.2).

Statistics are averages over the problems of a domain, of those for which they are defined.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from engine.experiments.oracle_data import UnitResults
from engine.experiments.oracle_tables import Units, percent
from engine.records.experiment import (
    AS_SET,
    Cell,
    Column,
    ExperimentConfig,
    Figure,
    FuzzVariant,
    RunResult,
    Series,
    Table,
)
from engine.workspace.experiments import TrialRow
from engine.workspace.rows import BugRow

QUALITATIVE, QUANTITATIVE = "qualitative", "quantitative"
Variants = Mapping[str, Mapping[str, Units]]
"""Units by domain, by the name of the variant."""


@dataclass(frozen=True)
class _Kind:
    """Bugs in states that the policy does not solve, or in those it solves."""

    name: str
    oracles: Mapping[str, str]  # by label

    @property
    def short(self) -> str:
        return {QUALITATIVE: "qual.", QUANTITATIVE: "quant."}[self.name]

    def states(self, unit: UnitResults) -> frozenset[int]:
        return unit.unsolved if self.name == QUALITATIVE else unit.solved

    def recall(self, unit: UnitResults, oracle: str) -> float | None:
        states = self.states(unit)
        return percent(len(unit.flagged(oracle) & states), len(states))

    def bugs(self, unit: UnitResults) -> frozenset[int]:
        """What any of the oracles proves."""
        found = frozenset().union(*(unit.flagged(oracle) for oracle in self.oracles.values()))
        return found & self.states(unit)


def _kinds(config: ExperimentConfig) -> tuple[_Kind, _Kind]:
    by_label = {item.label: item.oracle for item in config.oracles}

    def some(labels: Sequence[str]) -> dict[str, str]:
        return {label: by_label[label] for label in labels or by_label if label in by_label}

    return _Kind(QUALITATIVE, some(config.qualitative)), _Kind(
        QUANTITATIVE, some(config.quantitative)
    )


def fuzzing_tables(
    config: ExperimentConfig,
    trials: Sequence[TrialRow],
    variants: Variants,
    bugs: Mapping[int, Sequence[BugRow]],
) -> list[Table]:
    """`bugs` by unit."""
    tables = [_first_parts(config, trials, variants.get(AS_SET.name, {}))]
    tables += [
        _switch(config, variant, variants, bugs)
        for variant in config.variants
        if variant.name != AS_SET.name
    ]
    return tables


def _first_parts(
    config: ExperimentConfig, trials: Sequence[TrialRow], domains: Mapping[str, Units]
) -> Table:
    """Coverage (A), pools (B) and the recall of each oracle (C)."""
    kinds = _kinds(config)
    columns = [
        Column("domain"),
        Column("#", "A: coverage"),
        Column("solved", "A: coverage"),
        Column("|P|", "B: pools", 1),
        Column("|P_pi|", "B: pools", 1),
    ]
    for kind in kinds:
        columns += [Column(label, f"C: recall, {kind.name}", 1) for label in kind.oracles]
    rows = []
    for domain, (tried, solved) in _coverage(trials).items():
        units = domains.get(domain, ())
        cells: list[Cell] = [domain, tried, solved]
        cells.append(_mean(len(unit.states) for unit in units))
        cells.append(_mean(len(unit.solved) for unit in units))
        for kind in kinds:
            for oracle in kind.oracles.values():
                cells += [_mean(kind.recall(unit, oracle) for unit in units)]
        rows.append(tuple(cells))
    notes = (
        "A: problems, and those that the policy solves. B: average size of the pool, and states "
        "in it that the policy solves.",
        "C: qualitative over unsolved states, quantitative over solved ones; an empty cell: there "
        "are none.",
    )
    title = "Coverage, pools and recall of each oracle"
    return Table("oracles", title, tuple(columns), tuple(rows), notes)


def _coverage(trials: Sequence[TrialRow]) -> dict[str, tuple[int, int]]:
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for trial in trials:
        found[trial.domain][0] += 1
        result = trial.result
        if isinstance(result, RunResult):
            found[trial.domain][1] += result.is_solved_by_first
    return {domain: (tried, solved) for domain, (tried, solved) in found.items()}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _switch(
    config: ExperimentConfig,
    variant: FuzzVariant,
    variants: Variants,
    bugs: Mapping[int, Sequence[BugRow]],
) -> Table:
    """What another way of fuzzing changes (D, E): recall, diversity and regions of bugs."""
    off, on = variants.get(variant.name, {}), variants.get(AS_SET.name, {})
    kinds = _kinds(config)
    measures: list[tuple[str, Callable[[UnitResults, _Kind], float | None]]] = [
        ("recall (%)", _recall),
        ("unique (%)", _unique_pairs),
        ("regions", lambda unit, kind: _regions(unit, kind, bugs.get(unit.row.id, ()))),
    ]
    columns = [Column("domain")]
    for title, _ in measures:
        for kind in kinds:
            columns += [Column(name, f"{title}, {kind.short}", 1) for name in ("off", "on")]
    rows = []
    for domain in dict.fromkeys([*on, *off]):
        cells: list[Cell] = [domain]
        for _, measure in measures:
            for kind in kinds:
                cells += [
                    _mean(measure(unit, kind) for unit in side.get(domain, ()))
                    for side in (off, on)
                ]
        rows.append(tuple(cells))
    notes = (
        f"off: {variant.name}; on: the settings as they are. All oracles together. "
        "qual.: qualitative, quant.: quantitative.",
        "Qualitative recall is over the whole pool, quantitative recall over solved states.",
        "Unique: bugs with a pair of facts that no other bug of that kind in the pool has. "
        "Regions: of bugs in the pool.",
    )
    title = f"Fuzzing: {variant.name} compared with on"
    return Table(f"fuzzing-{_slug(variant.name)}", title, tuple(columns), tuple(rows), notes)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:100].strip("-") or "variant"


def _recall(unit: UnitResults, kind: _Kind) -> float | None:
    whole = unit.states if kind.name == QUALITATIVE else unit.solved
    return percent(len(kind.bugs(unit)), len(whole))


def _unique_pairs(unit: UnitResults, kind: _Kind) -> float | None:
    """The share of bugs with a pair of facts that no other bug has."""
    chosen = kind.bugs(unit)
    states = np.array([row.state for row in unit.pool if row.number in chosen], dtype=np.int64)
    unique = sum(_has_unique_pair(states, number) for number in range(len(states)))
    return percent(unique, len(states))


def _has_unique_pair(states: NDArray[np.int64], number: int) -> bool:
    """Whether two facts of a state are together in no other: in none both values agree."""
    agree = (np.delete(states, number, axis=0) == states[number]).astype(np.float32)
    together = agree.T @ agree  # per two variables: other states that agree in both
    np.fill_diagonal(together, 1.0)
    return bool((together == 0).any())


def _regions(unit: UnitResults, kind: _Kind, bugs: Sequence[BugRow]) -> float:
    chosen = kind.bugs(unit)
    return float(len({bug.region for bug in bugs if bug.pool_number in chosen}))


def fuzzing_figures(config: ExperimentConfig, variants: Variants) -> list[Figure]:
    """Bugs over time with the bias on and off, fuzzing and oracle interleaved (Figure 4)."""
    sides = [("on", variants.get(AS_SET.name, {}))]
    sides += [
        (variant.name, variants.get(variant.name, {}))
        for variant in config.variants
        if variant.bias is not None and variant.name != AS_SET.name
    ]
    figures = []
    domains = dict.fromkeys(domain for _, side in sides for domain in side)
    for number, domain in enumerate(domains, 1):
        for kind in _kinds(config):
            if not kind.oracles:
                continue
            label = "look" if "look" in kind.oracles and kind.name == QUANTITATIVE else ""
            label = label or next(iter(kind.oracles))
            series = [
                _interleaved(name, side.get(domain, ()), kind, kind.oracles[label])
                for name, side in sides
            ]
            if any(len(item.x) > 2 for item in series):
                figures.append(
                    Figure(
                        f"{kind.name}-{number}",
                        f"{domain}: {kind.name} bugs by {label}",
                        "time of fuzzing and oracle (s)",
                        "bugs",
                        tuple(series),
                        notes=("With and without the bias toward states in which runs are long.",),
                    )
                )
    return figures


def _interleaved(name: str, units: Units, kind: _Kind, oracle: str) -> Series:
    times = []
    end = 0.0
    for unit in units:
        clock, states = unit.fuzzing_clock, kind.states(unit)
        flags = unit.flag_times(oracle)
        times += [clock[n] + time for n, time in flags.items() if n in states]
        end = max(end, max(clock.values(), default=0.0) + unit.cpu(oracle))
    times.sort()
    x = (0.0, *times, max([end, *times[-1:]]))
    y = (0.0, *map(float, range(1, len(times) + 1)), float(len(times)))
    return Series(name, x, y)
