"""The tables and figures of an experiment, from what the workspace holds of it by now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from engine import __version__
from engine.experiments.action_tables import action_results
from engine.experiments.equivalence_tables import equivalence_results
from engine.experiments.fuzzing_tables import fuzzing_figures, fuzzing_tables
from engine.experiments.oracle_data import unit_results
from engine.experiments.oracle_tables import (
    Units,
    effort_table,
    outcome_table,
    recall_table,
    time_figures,
)
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.records.experiment import (
    AS_SET,
    Cell,
    Column,
    ExperimentKind,
    ExperimentResults,
    Figure,
    RunResult,
    Table,
)
from engine.records.finding import RunOutcome
from engine.workspace.experiments import ExperimentRow, TrialRow
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow


def experiment_results(store: WorkspaceReader, experiment: int) -> ExperimentResults:
    row, trials = store.experiments.row(experiment), store.experiments.trials(experiment)
    match row.config.kind:
        case ExperimentKind.ACTIONS:
            return action_results(row, trials)
        case ExperimentKind.EQUIVALENCE:
            return equivalence_results(row, trials)
        case ExperimentKind.PORTFOLIO:
            return _portfolio_results(store, row, trials)
        case ExperimentKind.FUZZING:
            return _fuzzing_results(store, row, trials)
        case ExperimentKind.ORACLES:
            domains = _variants(store, row)[AS_SET.name]
            tables = recall_table(row.config, domains), effort_table(row.config, domains)
            return ExperimentResults(tables, tuple(time_figures(row.config, domains)))


def _variants(store: WorkspaceReader, row: ExperimentRow) -> dict[str, dict[str, Units]]:
    """The units of all campaigns, by variant and domain."""
    found: dict[str, dict[str, Units]] = {AS_SET.name: {}}
    found.update((variant.name, {}) for variant in row.config.variants)
    for part in store.experiments.parts(row.id):
        found.setdefault(part.variant, {})[part.domain] = unit_results(store, part.campaign)
    return found


def _portfolio_results(
    store: WorkspaceReader, row: ExperimentRow, trials: Sequence[TrialRow]
) -> ExperimentResults:
    tables = [portfolio_table(row, trials)]
    figures: list[Figure] = []
    if row.config.oracles:
        domains = _variants(store, row)[AS_SET.name]
        tables += [outcome_table(row.config, domains), effort_table(row.config, domains)]
        figures = time_figures(row.config, domains)
    return ExperimentResults(tuple(tables), tuple(figures))


def _fuzzing_results(
    store: WorkspaceReader, row: ExperimentRow, trials: Sequence[TrialRow]
) -> ExperimentResults:
    variants = _variants(store, row)
    bugs: defaultdict[int, list[BugRow]] = defaultdict(list)
    for part in store.experiments.parts(row.id):
        for bug in store.bugs(part.campaign):
            bugs[bug.unit].append(bug)
    tables = fuzzing_tables(row.config, trials, variants, bugs)
    everything = {
        f"{domain} {name}".strip(): units
        for name, domains in variants.items()
        for domain, units in domains.items()
    }
    tables.append(effort_table(row.config, everything))
    return ExperimentResults(tuple(tables), tuple(fuzzing_figures(row.config, variants)))


def experiment_title(row: ExperimentRow) -> str:
    preset = EXPERIMENT_PRESETS.get(row.config.preset)
    return preset.title if preset else f"Experiment: {row.config.kind}"


def about_experiment(row: ExperimentRow) -> dict[str, str]:
    """What has to be said beside the tables."""
    config, preset = row.config, EXPERIMENT_PRESETS.get(row.config.preset)
    about = {"Settings": preset.paper} if preset else {}
    if config.scale > 1:
        about["Scale"] = f"pool sizes and limits in seconds divided by {config.scale}"
    about["Seeds"] = ", ".join(map(str, config.seeds))
    about["Status"] = f"{row.status}, {row.seconds:.0f} s"
    about["Plumbline"] = __version__
    return about


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
