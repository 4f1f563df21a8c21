"""Table 1 of Sievers et al. 2026: coverage and plan cost of portfolios of growing size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from engine.records.experiment import Cell, Column, RunResult, Table
from engine.records.finding import RunOutcome
from engine.workspace.experiments import ExperimentRow, TrialRow


def portfolio_table(row: ExperimentRow, trials: Sequence[TrialRow]) -> Table:
    """Costs are averages over the problems that every size solves, as in the paper."""
    sizes = row.config.portfolio.sizes
    columns = [Column("domain"), Column("#P")]
    columns += [Column(str(size), "coverage") for size in sizes]
    columns += [Column(str(size), "average plan cost", 1) for size in sizes]
    rows: list[tuple[Cell, ...]] = []
    most = 0
    for domain, results in _by_domain(trials).items():
        most = max([most, *(len(result.runs) for result in results)])
        best = [{size: _best(result, size) for size in sizes} for result in results]
        covered = [sum(found[size] is not None for found in best) for size in sizes]
        common = [found for found in best if None not in found.values()]
        costs = [_average(common, size) for size in sizes]
        rows.append((domain, len(results), *covered, *costs))
    notes = ["Costs over problems that portfolios of every size solve."]
    if most < max(sizes):
        notes.append(f"No portfolio has more than {most} policies, the tested one included.")
    title = f"Coverage and average plan cost of portfolios of {_listed(sizes)} policies"
    return Table("portfolios", title, tuple(columns), tuple(rows), tuple(notes))


def _by_domain(trials: Sequence[TrialRow]) -> Mapping[str, list[RunResult]]:
    found: defaultdict[str, list[RunResult]] = defaultdict(list)
    for trial in trials:
        if isinstance(trial.result, RunResult):
            found[trial.domain].append(trial.result)
    return found


def _best(result: RunResult, size: int) -> int | None:
    """Return the cost of the cheapest plan of the first policies."""
    costs = [
        run.cost
        for run in result.runs[:size]
        if run.outcome is RunOutcome.SOLVED and run.cost is not None
    ]
    return min(costs, default=None)


def _average(common: Sequence[Mapping[int, int | None]], size: int) -> float | None:
    costs = [cost for found in common if (cost := found[size]) is not None]
    return fmean(costs) if costs else None


def _listed(sizes: Sequence[int]) -> str:
    *most, last = map(str, sizes)
    return f"{', '.join(most)} and {last}" if most else last
