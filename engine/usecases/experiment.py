"""Runs an experiment: its trials, then the campaigns that follow from them.

Everything is done by the same workers, executors and workspace as a campaign, so that it can be
stopped and resumed, here or on a cluster. Which problems a campaign tests may depend on the
trials: papers test a policy only where it solves the problem.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from engine.experiments.plan import experiment_key, plan_trials
from engine.policies.consent import Consent, refuse_without_consent
from engine.records.config import CampaignConfig, MadeState, Unit
from engine.records.events import (
    CampaignFinished,
    CampaignStarted,
    CampaignStatus,
    ExperimentAdvanced,
    ExperimentBegun,
    TrialEvent,
    TrialFinished,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    Warned,
)
from engine.records.experiment import ExperimentConfig, ExperimentKind, FuzzVariant, Suite, Trial
from engine.records.inputs import ProblemInput
from engine.usecases.campaign import UnitRunner, WorkKind, unit_kind
from engine.usecases.trial import run_trial
from engine.workers.channel import Call
from engine.workers.link import InnerLink, Link
from engine.workers.supervisor import Executor, make_executor
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace, campaign_key

TRIAL_EVENTS = frozenset(get_args(TrialEvent))


@dataclass(frozen=True, slots=True)
class ExperimentEnd:
    experiment: int
    status: CampaignStatus
    seconds: float


def run_experiment(
    link: Link,
    workspace: Path,
    config: ExperimentConfig,
    executor: str,
    consent: Consent,
    *,
    resume: bool | None = None,
) -> ExperimentEnd:
    """Run a new experiment, or with `resume` the rest of the same one (None: if it exists)."""
    named = [spec for suite in config.suites for spec in (*suite.policies, *suite.portfolio)]
    refuse_without_consent(named, consent)
    trials = plan_trials(config)
    key = experiment_key(config, trials)
    with Workspace.open(workspace) as store:
        if resume is None:
            resume = store.experiments.with_key(key) is not None
        return _run(
            store,
            link,
            executor,
            lambda: store.experiments.begin(config, key, trials, resume=resume),
        )


def resume_experiment(
    link: Link, workspace: Path, experiment: int, executor: str, consent: Consent
) -> ExperimentEnd:
    """Run the rest of a stored experiment with its original files."""
    with Workspace.open(workspace) as store:
        refuse_without_consent(store.experiments.external_policies(experiment), consent)
        return _run(store, link, executor, lambda: experiment)


def _run(store: Workspace, link: Link, executor: str, begin: Callable[[], int]) -> ExperimentEnd:
    place = make_executor(executor)
    try:
        with store.writing():
            return _Experiment(begin(), store, place, link).run()
    finally:
        place.close()


class _Experiment:
    """Runs the rest of an experiment, stage by stage."""

    def __init__(self, number: int, store: Workspace, executor: Executor, link: Link) -> None:
        self._number, self._store, self._executor = number, store, executor
        self._config = store.experiments.row(number).config
        self._reporter = _Reporter(link, number)
        self._statuses: list[CampaignStatus] = []

    def run(self) -> ExperimentEnd:
        experiments, began = self._store.experiments, time.monotonic()
        experiments.set_status(self._number, "running")
        try:
            self._ask(experiments.pending(self._number))
            if CampaignStatus.STOPPED not in self._statuses and self._config.oracles:
                self._test()
            status = _worst(self._statuses)
        except BaseException:
            seconds = time.monotonic() - began
            experiments.set_status(self._number, CampaignStatus.STOPPED, seconds)
            raise
        seconds = time.monotonic() - began
        experiments.set_status(self._number, status, seconds)
        return ExperimentEnd(self._number, status, seconds)

    def _ask(self, trials: Sequence[Trial]) -> None:
        """The trials that have no answer yet."""
        kind: WorkKind[Trial] = WorkKind(
            lambda trial: Call.of(run_trial, trial), TRIAL_EVENTS, self._store.experiments.apply
        )
        self._reporter.begin(len(trials))
        runner = UnitRunner(trials, kind, self._store, self._executor, self._reporter)
        try:
            self._statuses.append(runner.until_done())
        finally:
            runner.close()
        runner.refuse_loss()

    def _test(self) -> None:
        """The units of all campaigns, side by side."""
        campaigns = [
            self._campaign(suite, variant)
            for suite in self._config.suites
            for variant in self._config.variants
        ]
        numbers = [number for number in campaigns if number is not None]
        pending = {number: self._store.pending(number) for number in numbers}
        pending = {number: units for number, units in pending.items() if units}
        units = [unit for group in pending.values() for unit in group]
        self._reporter.begin(len(units))
        runner = UnitRunner(units, self._kind(), self._store, self._executor, self._reporter)
        began = time.monotonic()
        try:
            for number, group in pending.items():
                runner.tell([CampaignStarted(number, tuple(unit.number for unit in group))])
            status = runner.until_done()
        finally:
            runner.close()
        self._statuses.append(status)
        seconds = time.monotonic() - began
        for number in pending:
            left = self._store.pending(number)
            end = status if left else CampaignStatus.FINISHED
            runner.tell([CampaignFinished(number, end, seconds)])
        runner.refuse_loss()

    def _kind(self) -> WorkKind[Unit]:
        """How units are run: on pools that are there already, unless fuzzing is the subject."""
        kind = unit_kind(self._store)
        if self._config.kind is ExperimentKind.FUZZING:
            return kind
        return dataclasses.replace(
            kind, call=lambda unit: kind.call(with_made_pool(unit, self._store))
        )

    def _campaign(self, suite: Suite, variant: FuzzVariant) -> int | None:
        """The campaign of a suite, begun now unless it is there; None if nothing is to be tested.

        Its files are those of the trials, which the workspace keeps.
        """
        trials = [
            self._store.experiments.trial_inputs(row.id)
            for row in self._store.experiments.trials(self._number)
            if row.domain == suite.name and self._config.tests(row.result)
        ]
        if not trials or not trials[0].policies:
            return None
        problems = [trial.problem for trial in trials if trial.problem is not None]
        policy, *portfolio = trials[0].policies
        config = self._settings(suite, variant, problems)
        key = campaign_key(config, problems, [policy], portfolio)
        known = self._store.campaign_with(key)
        number = known
        if number is None:
            number = self._store.begin(config, problems, [policy], False, portfolio)
        self._store.experiments.add_part(self._number, number, suite.name, variant.name)
        return number

    def _settings(
        self, suite: Suite, variant: FuzzVariant, problems: Sequence[ProblemInput]
    ) -> CampaignConfig:
        paths = tuple(problem.problem.path for problem in problems)
        return replace(self._config.campaign(suite, variant), problems=paths)


def _worst(statuses: Sequence[CampaignStatus]) -> CampaignStatus:
    for status in (CampaignStatus.STOPPED, CampaignStatus.INCOMPLETE):
        if status in statuses:
            return status
    return CampaignStatus.FINISHED


class _Reporter(InnerLink):
    """Tells how many trials and units are done, and what went wrong."""

    def __init__(self, link: Link, experiment: int) -> None:
        super().__init__(link)
        self._experiment = experiment
        self._units = self._done = 0

    def begin(self, units: int) -> None:
        self._units += units
        self._outer.emit(ExperimentBegun(self._experiment, self._units))

    def emit(self, event: object) -> None:
        match event:
            case TrialFinished() | UnitFinished():
                self._done += 1
            case UnitFailed():
                self._done += 1
                self._outer.emit(event)
            case Warned():
                self._outer.emit(event)
            case UnitProgress():
                pass
            case _:
                return
        self._outer.emit(ExperimentAdvanced(self._done, self._units))
        text = f"{self._done} of {self._units}"
        self._outer.progress(self._done, max(self._units, 1), text)


def with_made_pool(unit: Unit, store: WorkspaceReader) -> Unit:
    """Return the unit with the pool of an earlier unit, if that is the result of the same walks.

    Experiments on the same problems, policies and seeds then test the same states, and their
    tables are about the same pools. A full pool is the same however much time walks had left.
    """
    if unit.pool is not None:
        return unit
    for other in store.repeated_units(unit.number):
        config = store.campaign(other.campaign).config
        settings = config.fuzzing
        if other.statistics.states == settings.size:
            settings = replace(settings, seconds=unit.fuzzing.seconds)
        if settings == unit.fuzzing and not other.statistics.limit:
            pool = store.pool(other.id)
            return replace(
                unit,
                made=tuple(MadeState(row.state, row.reference, row.walk) for row in pool),
                made_complete=other.statistics.complete,
            )
    return unit
