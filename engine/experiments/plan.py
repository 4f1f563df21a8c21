"""From a configuration to the trials and the key of an experiment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache

from engine.campaign.inputs import Read, problem_inputs, read_file, read_policies
from engine.records.codec import to_json
from engine.records.comparison import CompareOptions
from engine.records.config import UnitLimits
from engine.records.experiment import (
    AS_SET,
    ActionPlan,
    ExperimentConfig,
    ExperimentKind,
    PairPlan,
    PortfolioRanking,
    RunPlan,
    Suite,
    Trial,
)
from engine.records.inputs import File, ProblemInput

GRACE_SECONDS = 60.0
"""On top of what a question may take: reading files, translating, building heuristics."""


def plan_trials(config: ExperimentConfig, read: Read = read_file) -> list[Trial]:
    """All questions of an experiment beside its campaigns, with the files they are about."""
    read = cache(read)
    match config.kind:
        case ExperimentKind.EQUIVALENCE:
            found = _pairs(config, read)
        case ExperimentKind.ACTIONS:
            found = _actions(config, read)
        case ExperimentKind.PORTFOLIO:
            found = _portfolios(config, read)
        case _:
            found = _coverage(config, read)
    return list(found)


def experiment_key(config: ExperimentConfig, trials: Sequence[Trial]) -> str:
    """The same for the same settings and contents of files, wherever these are."""
    settings = to_json(config)
    assert isinstance(settings, dict)
    document = {
        **settings,
        "suites": [suite.name for suite in config.suites],
        "pairs": [[pair.domain, pair.version, pair.expected] for pair in config.pairs],
        "trials": [
            [
                trial.domain,
                trial.label,
                to_json(trial.plan),
                [file.sha256 for file in (*_files(trial), *trial.files)],
                [policy.file.sha256 if policy.file else policy.spec for policy in trial.policies],
            ]
            for trial in trials
        ],
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _files(trial: Trial) -> tuple[File, ...]:
    return () if trial.problem is None else trial.problem.files


def _problems(config: ExperimentConfig, suite: Suite, read: Read) -> tuple[ProblemInput, ...]:
    return problem_inputs(config.campaign(suite, AS_SET), read)


def _policy_trials(
    config: ExperimentConfig, plan: RunPlan, limits: UnitLimits, read: Read
) -> Iterator[Trial]:
    """Runs of the policy of each suite on each problem; with it come the others it has beside."""
    for suite in config.suites:
        (policy,) = suite.policies
        others = [spec for spec in suite.portfolio if spec != policy]
        policies = read_policies((policy, *others), read)
        for problem in _problems(config, suite, read):
            yield Trial(0, suite.name, policies[0].name, plan, limits, problem, policies)


def _coverage(config: ExperimentConfig, read: Read) -> Iterator[Trial]:
    """Whether the policies solve the problems."""
    plan = RunPlan(config.seeds[0], config.testing.step_limit)
    limits = UnitLimits(unit_megabytes=config.limits.unit_megabytes)
    return _policy_trials(config, plan, limits, read)


def _portfolios(config: ExperimentConfig, read: Read) -> Iterator[Trial]:
    """How well portfolios of several sizes solve them."""
    settings = config.portfolio
    plan = RunPlan(
        config.seeds[0],
        config.testing.step_limit,
        most=max(settings.sizes),
        ranked=settings.ranking is PortfolioRanking.RECORDED,
        seconds=settings.seconds,
    )
    limits = UnitLimits(settings.seconds + GRACE_SECONDS, settings.megabytes)
    return _policy_trials(config, plan, limits, read)


def _actions(config: ExperimentConfig, read: Read) -> Iterator[Trial]:
    settings = config.actions
    heuristics = list(settings.heuristics)
    if "dominance" in settings.algorithms:
        heuristics.insert(0, "")  # dominance needs none
    for suite in config.suites:
        for problem in _problems(config, suite, read):
            for seed in config.seeds:
                for heuristic in heuristics:
                    plan = ActionPlan(seed, settings, heuristic)
                    label = heuristic or "dominance"
                    yield Trial(0, suite.name, label, plan, UnitLimits(), problem)


def _pairs(config: ExperimentConfig, read: Read) -> Iterator[Trial]:
    settings = config.equivalence
    options = CompareOptions(
        settings.parameters,
        seconds=settings.seconds,
        verify=settings.verify,
        all_macros=settings.all_macros,
    )
    for pair in config.pairs:
        plan = PairPlan(options)
        files = read(pair.a), read(pair.b)
        yield Trial(0, pair.domain, pair.version, plan, UnitLimits(), None, (), files)
