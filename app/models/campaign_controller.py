"""Start, pause, resume and stop the campaign that this window runs.

One per document, shared by the screens. Findings are in the workspace before signals are emitted,
so listeners read them there.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Signal, Slot

from app.services.context import Context
from app.services.jobs import Job, JobProgress
from app.services.messages import Message
from app.services.settings import consent
from engine.records.config import CampaignConfig
from engine.records.events import (
    Advanced,
    AlreadyDone,
    Begun,
    CampaignFinished,
    CampaignStatus,
    ClusterStatus,
    UnitFailed,
    UnitStopped,
    Warned,
)
from engine.report.words import count_text
from engine.usecases.campaign import CampaignEnd, resume_campaign, run_campaign
from engine.workers.link import AT_LIMIT
from engine.workspace.rows import CampaignRow


class CampaignState(StrEnum):
    """What a campaign is doing; the value is shown to the user."""

    RUNNING = "running"
    PAUSED = "paused"
    ELSEWHERE = "running elsewhere"  # in another process
    INTERRUPTED = "interrupted"  # its process was killed
    STOPPED = "stopped"
    INCOMPLETE = "incomplete"  # units failed
    FINISHED = "finished"


def campaign_controller(context: Context) -> CampaignController:
    """Return the controller of this document."""
    known = context.document.findChild(CampaignController)
    return known if isinstance(known, CampaignController) else CampaignController(context)


class CampaignController(QObject):
    changed = Signal()  # it began, paused, resumed, stopped or ended
    advanced = Signal()  # there is more in the store
    already_done = Signal(int)  # the same campaign exists and is finished
    failed = Signal(object)  # Failure: it could not run at all

    def __init__(self, context: Context) -> None:
        super().__init__(context.document)
        self._context = context
        self.job: Job | None = None
        self.campaign: int | None = None  # known once it has begun
        self.progress: JobProgress | None = None
        self.executor = ""  # where its units run, as on the command line
        self.scene = ClusterStatus()
        self._ended: tuple[int, CampaignState] | None = None  # what was run last, and how it ended
        self._failures: list[UnitFailed] = []
        self._told: Message | None = None  # about them
        context.document.writer_changed.connect(self.changed)

    @property
    def is_busy(self) -> bool:
        return self.job is not None

    def start(self, config: CampaignConfig, executor: str) -> None:
        self._begin(run_campaign, config, executor)

    def resume(self, campaign: int, executor: str) -> None:
        """Resume a campaign that was stopped or killed."""
        self._begin(resume_campaign, campaign, executor)

    @property
    def is_paused(self) -> bool:
        return self.job is not None and self.job.is_paused

    @Slot()
    def toggle_pause(self) -> None:
        if self.job is not None:
            self.job.pause(not self.job.is_paused)

    @Slot()
    def stop(self) -> None:
        if self.job is not None:
            self.job.stop()
            self.changed.emit()

    def seconds_left(self) -> float | None:
        return None if self.job is None else self.job.seconds_left()

    def state(self, row: CampaignRow) -> CampaignState:
        """Return what a stored campaign is doing now."""
        if self.is_busy and row.id == self.campaign:
            return CampaignState.PAUSED if self.is_paused else CampaignState.RUNNING
        if row.status != "running":
            return CampaignState(row.status)
        writer = self._context.document.writer()
        if writer is not None and writer.pid not in self._context.jobs.pids:
            return CampaignState.ELSEWHERE
        if self._ended is not None and self._ended[0] == row.id:
            return self._ended[1]  # the row was read before
        return CampaignState.INTERRUPTED

    def _begin(self, work: object, what: object, executor: str) -> None:
        assert self.job is None
        path = self._context.document.path
        self.campaign, self._ended = what if isinstance(what, int) else None, None
        self.progress = None
        self._failures.clear()
        if self._told is not None:
            self._context.messages.withdraw(self._told)
            self._told = None
        self.executor, self.scene = executor, ClusterStatus()
        granted = consent(self._context.settings)
        arguments = path, what, executor, granted
        job = self._context.jobs.start("Run campaign", work, *arguments, banner=False)  # type: ignore[arg-type]
        job.events.connect(self._on_events)
        job.progressed.connect(self._on_progressed)
        job.paused.connect(self.changed)
        job.finished.connect(self._on_finished)
        job.failed.connect(self.failed)
        job.stopped.connect(self._on_stopped)
        job.ended.connect(self._on_ended)
        self.job = job
        self.changed.emit()

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        topics: dict[str, None] = {}
        for event in events:
            match event:
                case Begun(campaign=campaign):
                    self.campaign = campaign
                    topics["campaigns"] = None
                    self.changed.emit()
                case ClusterStatus():
                    self.scene = event
                    self.changed.emit()
                case Advanced(bugs=True):
                    topics["bugs"] = None
                case UnitFailed():
                    self._failures.append(event)
                    topics["log"] = None
                case Warned():
                    topics["log"] = None
        for topic in topics:
            self._context.document.notify(topic)
        self.advanced.emit()

    @Slot(object)
    def _on_progressed(self, progress: JobProgress) -> None:
        self.progress = progress
        self.changed.emit()

    @Slot(object)
    def _on_finished(self, result: object) -> None:
        if isinstance(result, AlreadyDone):
            self.already_done.emit(result.campaign)
        elif isinstance(result, CampaignEnd):
            self._ended = result.campaign, CampaignState(result.status)

    @Slot()
    def _on_stopped(self) -> None:
        """Record the stop of a campaign that did not end in time and was killed."""
        if self.campaign is not None:
            self._ended = self.campaign, CampaignState.STOPPED
        store = self._context.document.store
        for row in store.campaigns():
            if row.id == self.campaign and row.status == "running":
                running = [unit.id for unit in store.units(row.id) if unit.status == "running"]
                stops = [UnitStopped(unit) for unit in running]
                store.apply([*stops, CampaignFinished(row.id, CampaignStatus.STOPPED, 0.0)])

    @Slot()
    def _on_ended(self) -> None:
        self.job, self.progress = None, None
        for topic in ("campaigns", "bugs", "log"):
            self._context.document.notify(topic)
        self.advanced.emit()
        self.changed.emit()
        self._tell_failures()

    def _tell_failures(self) -> None:
        """Report the same failure of many units once, such as a lost policy server."""
        if not self._failures:
            return
        first, *rest = self._failures
        which = count_text(len(rest) + 1, "unit")
        more = "; to raise a limit, run a new campaign" if AT_LIMIT in first.error else ""
        self._told = self._context.messages.warning(
            f"{which} of campaign {self.campaign} failed: {first.error}. All findings are kept; "
            f"resume the campaign to run the rest{more}.",
            "\n".join(f"unit {failure.unit}: {failure.error}" for failure in self._failures),
        )
