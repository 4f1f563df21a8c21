"""Recall of oracles over joint pools, and bugs over time.

Table 1 and Figure 1 of Eisenhut et al. 2023 (Section 5.2), Table 2 of Sievers et al. 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.experiments.oracle_data import UnitResults, joint_states
from engine.records.experiment import Cell, Column, ExperimentConfig, Figure, Series, Table

Units = Sequence[UnitResults]
MIN_TIME = 0.01
"""Where the time axis begins, in seconds."""


def percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None


def recall_table(config: ExperimentConfig, domains: Mapping[str, Units]) -> Table:
    """The share of the joint pool that each oracle flags, and all of them together."""
    columns = [Column("domain"), Column("problems"), Column("J")]
    columns += [Column(item.label, "recall (%)", 1) for item in config.oracles]
    columns.append(Column("BestOf", "recall (%)", 1))
    rows = []
    for domain, units in domains.items():
        chosen = _compared(config, units)
        joint = {unit.row.id: joint_states(unit, chosen) for unit in units}
        size = sum(map(len, joint.values()))
        cells: list[Cell] = [domain, len(units), size]
        for item in config.oracles:
            flagged = sum(len(unit.flagged(item.oracle) & joint[unit.row.id]) for unit in units)
            cells.append(percent(flagged, size) if item.oracle in chosen else None)
        best = sum(len(_union(unit, chosen) & joint[unit.row.id]) for unit in units)
        rows.append((*cells, percent(best, size)))
    note = (
        "J: states that all compared oracles examined. An oracle is left out where it examined "
        f"fewer states per problem than {config.min_states} on average, or not the whole pool if "
        "that is smaller."
    )
    title = "Recall: share of the joint pool that an oracle flags"
    return Table("recall", title, tuple(columns), tuple(rows), (note,))


def _compared(config: ExperimentConfig, units: Units) -> list[str]:
    """The oracles that are fast enough to be compared in a domain."""
    if not units:
        return []
    pool = sum(len(unit.states) for unit in units) / len(units)
    least = min(float(config.min_states), pool)
    return [
        item.oracle
        for item in config.oracles
        if sum(len(unit.examined(item.oracle)) for unit in units) / len(units) >= least
    ]


def _union(unit: UnitResults, oracles: Sequence[str]) -> frozenset[int]:
    return frozenset().union(*(unit.flagged(oracle) for oracle in oracles))


def outcome_table(config: ExperimentConfig, domains: Mapping[str, Units]) -> Table:
    """Recall over states that the policy does not solve, and over those that it solves."""
    oracles = [item.oracle for item in config.oracles]
    parts = (("T_U", "unsolved: qualitative bugs (%)"), ("T_S", "solved: quantitative bugs (%)"))
    columns = [Column("domain"), Column("#P")]
    for name, group in parts:
        columns.append(Column(name, group))
        columns += [Column(item.label, group, 1) for item in config.oracles]
    rows = []
    for domain, units in domains.items():
        cells: list[Cell] = [domain, len(units)]
        for is_solved in (False, True):
            states = {
                unit.row.id: joint_states(unit, oracles)
                & (unit.solved if is_solved else unit.unsolved)
                for unit in units
            }
            size = sum(map(len, states.values()))
            cells.append(size)
            for oracle in oracles:
                flagged = sum(len(unit.flagged(oracle) & states[unit.row.id]) for unit in units)
                cells.append(percent(flagged, size))
        rows.append(tuple(cells))
    note = (
        "Only states that all oracles examined. T_U, T_S: those that the policy does not solve, "
        "and those that it solves."
    )
    return Table(
        "recall",
        "Share of pool states that each oracle flags",
        tuple(columns),
        tuple(rows),
        (note,),
    )


def effort_table(config: ExperimentConfig, domains: Mapping[str, Units]) -> Table:
    """What the oracles took, all domains together."""
    columns = (
        Column("oracle"),
        Column("states"),
        Column("bugs"),
        Column("CPU time (s)", decimals=2),
        Column("set-up (s)", decimals=2),
        Column("factors"),
        Column("at limit"),
    )
    rows = []
    for item in config.oracles:
        units = [unit for group in domains.values() for unit in group]
        found = [
            statistics
            for unit in units
            for statistics in unit.row.statistics.oracles
            if statistics.oracle == item.oracle
        ]
        factors = ", ".join(dict.fromkeys(s.factors for s in found if s.factors)) or None
        rows.append(
            (
                item.label,
                sum(len(unit.examined(item.oracle)) for unit in units),
                sum(len(unit.flagged(item.oracle)) for unit in units),
                sum(statistics.cpu for statistics in found),
                sum(statistics.setup_cpu for statistics in found),
                factors,
                sum(bool(statistics.limit) for statistics in found),
            )
        )
    note = (
        "CPU time: without verification. Set-up: the part before the first state, "
        "such as the dominance function. At limit: problems on which it ran out of time."
    )
    return Table("effort", "Results and times of each oracle", columns, tuple(rows), (note,))


def time_figures(config: ExperimentConfig, domains: Mapping[str, Units]) -> list[Figure]:
    """Bugs of a domain over each oracle's own time (Figure 1)."""
    return [
        Figure(
            f"bugs-over-time-{number}",
            f"{domain}: bugs over time",
            "CPU time of the oracle (s)",
            "bugs",
            tuple(_curve(item.label, item.oracle, units) for item in config.oracles),
            log_x=True,
            notes=("Dashed from where the oracle had examined the pools of all problems.",),
        )
        for number, (domain, units) in enumerate(domains.items(), 1)
        if any(unit.results for unit in units)
    ]


def _curve(label: str, oracle: str, units: Units) -> Series:
    times = sorted(time for unit in units for time in unit.flag_times(oracle).values())
    end = max((unit.cpu(oracle) for unit in units), default=0.0)
    done = all(unit.is_done for unit in units)
    x = (MIN_TIME, *(max(time, MIN_TIME) for time in times), max(end, MIN_TIME, *times[-1:]))
    y = (0.0, *map(float, range(1, len(times) + 1)), float(len(times)))
    return Series(label, x, y, max(end, MIN_TIME) if done else None)
