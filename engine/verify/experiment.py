"""Claims about an experiment as a whole: its trials and campaigns follow from its settings.

Settings can be changed and their key renewed, but then trials, their labels and the settings of
campaigns have to be those that the new settings lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.errors import PlumblineError
from engine.records.experiment import ExperimentConfig, Trial
from engine.records.inputs import File
from engine.records.verification import HOLDS, Verdict, false
from engine.workspace.experiments import ExperimentRow, TrialRow
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import campaign_key

Plan = Callable[[ExperimentConfig, Callable[[str], File]], Sequence[Trial]]


def check_experiment(
    row: ExperimentRow,
    asked: Sequence[TrialRow],
    trials: Sequence[Trial],
    store: WorkspaceReader,
    plan: Plan,
) -> Verdict:
    """Whether an experiment has the trials and campaigns of its settings; `plan` makes trials."""
    problem = _plan_problem(row.config, trials, plan)
    problem = problem or next(_part_problems(row, asked, trials, store), "")
    return false(problem) if problem else HOLDS


def _plan_problem(config: ExperimentConfig, trials: Sequence[Trial], plan: Plan) -> str:
    try:
        planned = plan(config, _files(config, trials).__getitem__)
    except (KeyError, PlumblineError):
        return "its settings name other files than its trials"
    same = list(map(_question, planned)) == list(map(_question, trials))
    return "" if same else "its trials are not those that its settings ask for"


def _files(config: ExperimentConfig, trials: Sequence[Trial]) -> dict[str, File]:
    """The stored files by the paths in the settings; a problem is stored under its first path."""
    policies = (policy.file for trial in trials for policy in trial.policies)
    found = {file.path: file for file in policies if file is not None}
    for suite in config.suites:
        own = [trial.problem for trial in trials if trial.domain == suite.name and trial.problem]
        problems = dict.fromkeys(item.problem for item in own)
        found.update(zip(suite.problems, problems, strict=False))
        if suite.domain is not None and own and own[0].domain is not None:
            found[suite.domain] = own[0].domain
    for pair, trial in zip(config.pairs, trials, strict=False):
        found.update(zip((pair.a, pair.b), trial.files, strict=False))
    return found


def _question(trial: Trial) -> tuple[object, ...]:
    """What a trial asks, wherever its files are."""
    problem = trial.problem
    named = problem and (problem.name, problem.unit_costs, *map(_content, problem.files))
    policies = [(item.name, item.spec, _content(item.file)) for item in trial.policies]
    files = list(map(_content, trial.files))
    return trial.domain, trial.label, trial.plan, trial.limits, named, policies, files


def _content(file: File | None) -> str | None:
    return None if file is None else file.sha256


def _part_problems(
    row: ExperimentRow, asked: Sequence[TrialRow], trials: Sequence[Trial], store: WorkspaceReader
) -> Iterator[str]:
    expected = _campaigns(row.config, asked, trials, store)
    parts = store.experiments.parts(row.id)
    for part in parts:
        if expected.get((part.domain, part.variant)) != part.campaign:
            yield f"campaign {part.campaign} is not the one of '{part.domain}' '{part.variant}'"
    if row.status != "finished":
        return
    if any(trial.status != "finished" for trial in asked):
        yield "it is called finished, but one of its trials is not"
    if row.config.oracles and set(expected.values()) != {part.campaign for part in parts}:
        yield "one of its campaigns is missing"
    if any(unit.status != "finished" for part in parts for unit in store.units(part.campaign)):
        yield "it is called finished, but one of its campaigns is not"


def _campaigns(
    config: ExperimentConfig,
    asked: Sequence[TrialRow],
    trials: Sequence[Trial],
    store: WorkspaceReader,
) -> dict[tuple[str, str], int | None]:
    """The campaigns that settings lead to, by the names of suites and variants."""
    found = {}
    for suite in config.suites:
        own = [
            trial
            for row, trial in zip(asked, trials, strict=True)
            if row.domain == suite.name and config.tests(row.result)
        ]
        if not own or not own[0].policies:
            continue
        policy, *portfolio = own[0].policies
        problems = [trial.problem for trial in own if trial.problem is not None]
        for variant in config.variants:
            key = campaign_key(config.campaign(suite, variant), problems, [policy], portfolio)
            found[suite.name, variant.name] = store.campaign_with(key)
    return found
