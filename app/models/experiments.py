"""The experiment that the form describes, and the one that this window runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.services.context import Context
from app.services.jobs import Job, JobProgress
from app.services.settings import consent
from engine.experiments.config_reader import preset_experiment
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.experiments.suites import folder_suites, read_pairs
from engine.records.events import ExperimentAdvanced, ExperimentBegun, UnitFailed, Warned
from engine.records.experiment import ExperimentConfig, ExperimentKind, PortfolioRanking, Suite
from engine.records.project import Project
from engine.report.words import count_text
from engine.usecases.experiment import resume_experiment, run_experiment

DEFAULT_SCALE = 20
MAX_PORTFOLIO = 1000


@dataclass(frozen=True, slots=True)
class PortfolioChoice:
    """Which portfolios are compared: how many policies they have, and which come first."""

    sizes: str
    ranking: PortfolioRanking

    @property
    def problem(self) -> str:
        parts = self.sizes.replace(",", " ").split()
        if parts and all(part.isdecimal() and 0 < int(part) <= MAX_PORTFOLIO for part in parts):
            return ""
        return "write the sizes of portfolios as numbers, such as 1, 2, 5, 10"

    def table(self) -> dict[str, object]:
        """The settings as in the TOML file of an experiment."""
        sizes = {int(part) for part in self.sizes.replace(",", " ").split()}
        return {"sizes": sorted(sizes), "ranking": self.ranking.value}


class Source(StrEnum):
    """What an experiment is run on."""

    PROJECT = "project"
    FOLDER = "folder"
    EXAMPLES = "examples"


@dataclass(frozen=True, slots=True)
class ExperimentChoice:
    preset: str
    source: Source
    place: str  # a folder of domains, or a CSV file of pairs
    scale: int
    portfolio: PortfolioChoice

    @property
    def compares_portfolios(self) -> bool:
        return EXPERIMENT_PRESETS[self.preset].kind is ExperimentKind.PORTFOLIO

    @property
    def compares_domains(self) -> bool:
        return EXPERIMENT_PRESETS[self.preset].kind is ExperimentKind.EQUIVALENCE

    def config(self, project: Project) -> ExperimentConfig:
        """Return the experiment; raise PlumblineError if something is missing."""
        suites: list[Suite] = []
        pairs = []
        if self.source is Source.FOLDER and self.compares_domains:
            pairs = read_pairs(Path(self.place))
        elif self.source is Source.FOLDER:
            suites = folder_suites(Path(self.place))
        elif self.source is Source.PROJECT and not self.compares_domains:
            suites = [project_suite(project)]
        return preset_experiment(
            self.preset,
            suites,
            pairs,
            scale=self.scale,
            unit_costs=project.unit_costs,
            tables={"portfolio": self.portfolio.table()} if self.compares_portfolios else None,
        )

    def problem(self, project: Project) -> str:
        """Return what has to be chosen first, or an empty string."""
        if self.source is Source.FOLDER and not self.place:
            what = "a CSV file of domain pairs" if self.compares_domains else "a folder of domains"
            return f"choose {what}"
        if self.source is Source.PROJECT and self.compares_domains:
            return "choose a CSV file of domain pairs, or the bundled pairs"
        if self.compares_portfolios and self.portfolio.problem:
            return self.portfolio.problem
        missing = ""
        if self.source is Source.PROJECT:
            missing = _missing(project, EXPERIMENT_PRESETS[self.preset].kind)
        if not missing:
            return ""
        return f"add {missing} on the Project screen, or run on a folder or the examples"


def _missing(project: Project, kind: ExperimentKind) -> str:
    if not project.problems:
        return "problems"
    if kind is not ExperimentKind.ACTIONS and not project.policies:
        return "a policy"
    if kind is ExperimentKind.PORTFOLIO and not project.portfolio:
        return "a portfolio of policies"
    return ""


def project_suite(project: Project) -> Suite:
    domain = project.domain
    name = Path(domain).parent.name if domain else "project"
    return Suite(name, domain, project.problems, project.policies, project.portfolio)


def describe_experiment(config: ExperimentConfig) -> str:
    """Describe in one sentence what will happen."""
    if config.kind is ExperimentKind.EQUIVALENCE:
        pairs = count_text(len(config.pairs), "pair")
        return f"{pairs} of domains, at most {_time(config.equivalence.seconds)} each."
    problems = count_text(sum(len(suite.problems) for suite in config.suites), "problem")
    domains = count_text(len(config.suites), "domain")
    if config.kind is ExperimentKind.ACTIONS:
        methods = len(config.actions.heuristics) * len(config.actions.algorithms)
        return (
            f"{problems} of {domains}, {config.actions.actions} actions each, {methods} methods, "
            f"at most {_time(config.actions.seconds)} per question."
        )
    words = [f"{problems} of {domains}"]
    if len(config.variants) > 1:
        words.append(f"{len(config.variants)} ways of fuzzing")
    if config.kind is ExperimentKind.PORTFOLIO:
        words.append(f"portfolios of up to {count_text(max(config.portfolio.sizes), 'policy')}")
    words.append(f"pools of {config.fuzzing.size} states")
    words.append(f"{len(config.oracles)} oracles compared")
    if config.limits.oracle_seconds is not None:
        words.append(f"at most {_time(config.limits.oracle_seconds)} per oracle and problem")
    return f"{', '.join(words)}."


def _time(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"


class ExperimentController(QObject):
    changed = Signal()  # it began, advanced or ended
    advanced = Signal()  # there is more in the store
    failed = Signal(object)  # Failure: it could not run at all

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.job: Job | None = None
        self.experiment: int | None = None  # known once it has begun
        self.progress: JobProgress | None = None
        self._failures: list[UnitFailed] = []
        context.document.writer_changed.connect(self.changed)

    @property
    def is_busy(self) -> bool:
        return self.job is not None

    def start(self, config: ExperimentConfig, executor: str) -> None:
        self._begin(run_experiment, config, executor)

    def resume(self, experiment: int, executor: str) -> None:
        self._begin(resume_experiment, experiment, executor)

    @Slot()
    def stop(self) -> None:
        if self.job is not None:
            self.job.stop()
            self.changed.emit()

    def state_text(self, number: int, stored: str) -> str:
        """Return in words what a stored experiment is doing."""
        if self.is_busy and number == self.experiment:
            return "running"
        if stored != "running":
            return stored
        writer = self._context.document.writer()
        is_elsewhere = writer is not None and writer.pid not in self._context.jobs.pids
        return "running elsewhere" if is_elsewhere else "interrupted"

    def is_running(self, number: int, stored: str) -> bool:
        """Whether a stored experiment is running, in this window or in another process."""
        return self.state_text(number, stored).startswith("running")

    def _begin(self, work: object, what: object, executor: str) -> None:
        assert self.job is None
        self.experiment = what if isinstance(what, int) else None
        self.progress = None
        self._failures.clear()
        arguments = self._context.document.path, what, executor, consent(self._context.settings)
        job = self._context.jobs.start("Run experiment", work, *arguments, banner=False)  # type: ignore[arg-type]
        job.events.connect(self._on_events)
        job.progressed.connect(self._on_progressed)
        job.failed.connect(self.failed)
        job.ended.connect(self._on_ended)
        self.job = job
        self.changed.emit()

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        for event in events:
            match event:
                case ExperimentBegun(experiment=experiment):
                    self.experiment = experiment
                    self.changed.emit()
                case ExperimentAdvanced():
                    self.advanced.emit()
                case UnitFailed():
                    self._failures.append(event)
                    self._context.document.notify("log")
                case Warned():
                    self._context.document.notify("log")

    @Slot(object)
    def _on_progressed(self, progress: JobProgress) -> None:
        self.progress = progress
        self.changed.emit()

    @Slot()
    def _on_ended(self) -> None:
        self.job, self.progress = None, None
        for topic in ("experiments", "campaigns", "bugs", "log"):
            self._context.document.notify(topic)
        self.advanced.emit()
        self.changed.emit()
        if self._failures:
            first = self._failures[0]
            which = count_text(len(self._failures), "unit")
            self._context.messages.warning(
                f"{which} of the experiment failed: {first.error}. Resume it to try again.",
                "\n".join(failure.error for failure in self._failures),
            )
