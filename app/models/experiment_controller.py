"""Start, resume and stop the experiment that this window runs; one per document."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.services.context import Context
from app.services.jobs import Job, JobProgress
from app.services.settings import consent
from engine.records.events import ExperimentAdvanced, ExperimentBegun, UnitFailed, Warned
from engine.records.experiment import ExperimentConfig
from engine.report.words import count_text
from engine.usecases.experiment import resume_experiment, run_experiment


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
        """Return in a word what a stored experiment is doing."""
        if self.is_busy and number == self.experiment:
            return "running"
        return "interrupted" if stored == "running" else stored

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
