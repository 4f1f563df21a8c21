"""Background jobs on bugs (verify, localize, find a plan, export), and a cache of their tasks.

One job of each kind runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.services.context import Context
from app.services.folders import show_in_desktop
from app.services.jobs import Job
from app.services.reader import QueryThread
from app.services.settings import consent
from engine.campaign.bundle import Bundle
from engine.campaign.reproduction import exported_text, reproduction_text
from engine.errors import PlumblineError
from engine.records.verification import Verification
from engine.report.words import count_text
from engine.task.task import Task
from engine.usecases.better_plan import FoundPlan, find_better_plan
from engine.usecases.export import export_bundles
from engine.usecases.localize import Localized, LocalizeOptions, Localizing, localize
from engine.usecases.minimize import MinimizeOptions, WitnessResult, minimize, result_text
from engine.usecases.verify import verify
from engine.verify.stored import VerifyOptions

MAX_TASKS = 12
"""Tasks can be large."""


class BugJobs(QObject):
    verified = Signal(object)
    """`Verification`"""
    localized = Signal(int)
    """The localization of a bug has changed in the workspace."""
    searched = Signal(object)
    """`Localizing`: how far the localization is."""
    plan_found = Signal(object)
    """`FoundPlan`"""
    minimized = Signal(int)
    """The witness of a bug has changed in the workspace."""
    changed = Signal()
    """A job began or ended."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._jobs: dict[str, Job] = {}
        self._minimized = 0  # by the job under way

    def running(self, kind: str) -> bool:
        return kind in self._jobs

    def stop(self, kind: str) -> None:
        if kind in self._jobs:
            self._jobs[kind].stop()

    def verify(self, bugs: Sequence[int] | None) -> None:
        """Verify some bugs; None: everything that the workspace claims."""
        title = "Verify workspace" if bugs is None else f"Verify {_which(bugs)}"
        options = VerifyOptions(None if bugs is None else tuple(bugs))
        granted = consent(self._context.settings)
        job = self._start("verify", title, verify, granted, options)
        if job is not None:
            job.finished.connect(self._on_verified)

    def localize(self, bugs: Sequence[int], wish: LocalizeOptions | None = None) -> None:
        wish = wish or LocalizeOptions()
        job = self._start("localize", f"Localize {_which(bugs)}", localize, tuple(bugs), wish)
        if job is not None:
            job.events.connect(self._on_localize_events)

    def minimize(self, bugs: Sequence[int]) -> None:
        granted = consent(self._context.settings)
        title = f"Minimize {_which(bugs)}"
        job = self._start("minimize", title, minimize, tuple(bugs), granted, MinimizeOptions())
        if job is not None:
            self._minimized = 0
            job.events.connect(self._on_minimize_events)
            job.finished.connect(self._on_minimized)
            job.stopped.connect(self._on_minimize_stopped)

    def find_plan(self, bug: int) -> None:
        job = self._start("plan", f"Find better plan for bug {bug}", find_better_plan, bug)
        if job is not None:
            job.finished.connect(self._on_plan_found)

    def export(self, bugs: Sequence[int], folder: Path) -> None:
        granted = consent(self._context.settings)
        title = f"Export {_which(bugs)}"
        job = self._start("export", title, export_bundles, tuple(bugs), folder, granted)
        if job is not None:
            job.finished.connect(partial(self._on_exported, folder))

    def _start(
        self, kind: str, title: str, work: Callable[..., object], *arguments: object
    ) -> Job | None:
        """None if work of this kind runs already."""
        if kind in self._jobs:
            self._context.messages.info(f"Still running: {self._jobs[kind].title}")
            return None
        job = self._context.jobs.start(title, work, self._context.document.path, *arguments)
        self._jobs[kind] = job
        job.ended.connect(self._on_ended)
        self.changed.emit()
        return job

    @Slot()
    def _on_ended(self) -> None:
        job = self.sender()
        self._jobs = {kind: other for kind, other in self._jobs.items() if other is not job}
        self.changed.emit()

    @Slot(object)
    def _on_verified(self, found: Verification) -> None:
        self.verified.emit(found)

    @Slot(list)
    def _on_localize_events(self, events: list[object]) -> None:
        for event in events:
            if isinstance(event, Localized):
                if event.not_kept:
                    text = f"The bad steps of bug {event.bug} were not saved: {event.not_kept}"
                    self._context.messages.warning(text)
                self.localized.emit(event.bug)
        newest = [event for event in events if isinstance(event, Localizing)]
        if newest:
            self.searched.emit(newest[-1])

    @Slot(list)
    def _on_minimize_events(self, events: list[object]) -> None:
        for event in events:
            if isinstance(event, WitnessResult):
                self._minimized += 1
                self.minimized.emit(event.bug)

    @Slot()
    def _on_minimize_stopped(self) -> None:
        done = count_text(self._minimized, "bug")
        self._context.messages.info(f"Stopped. What was found for {done} is kept.")

    @Slot(object)
    def _on_minimized(self, results: tuple[WitnessResult, ...]) -> None:
        details = "\n".join(map(result_text, results))
        if len(results) == 1:
            self._context.messages.info(result_text(results[0]))
            return
        found = sum(item.verified for item in results)
        self._context.messages.info(f"{found} of {len(results)} bugs have a witness.", details)

    @Slot(object)
    def _on_plan_found(self, found: FoundPlan) -> None:
        self.plan_found.emit(found)

    def _on_exported(self, folder: Path, bundles: tuple[Bundle, ...]) -> None:
        lacking = [str(bundle.bug) for bundle in bundles if not bundle.has_better_plan]
        text = f"Exported {count_text(len(bundles), 'bug')} to {folder}"
        if lacking:
            which = "bug" if len(lacking) == 1 else "bugs"
            text += f"; no better plan is known for {which} {', '.join(lacking)}"
        text += f". {exported_text([bundle.reproduction for bundle in bundles])}"
        details = "\n".join(f"bug {b.bug}: {reproduction_text(b.reproduction)}" for b in bundles)
        show = partial(show_in_desktop, folder, self._context.messages)
        self._context.messages.info(text, details, actions=[("Open folder", show)])


def _which(bugs: Sequence[int]) -> str:
    return f"bug {bugs[0]}" if len(bugs) == 1 else f"{len(bugs)} bugs"


class TaskCache(QObject):
    arrived = Signal(int)
    """A requested task has arrived: the number of its problem."""
    failed = Signal(int, str)

    def __init__(self, reader: QueryThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader = reader
        self._tasks: dict[int, Task] = {}
        self._wanted: set[int] = set()

    def get(self, problem: int) -> Task | None:
        """Return the task, or None and fetch it; `arrived` is emitted when it is there."""
        task = self._tasks.pop(problem, None)
        if task is not None:
            self._tasks[problem] = task  # the most recently used is the last
        elif problem not in self._wanted:
            self._wanted.add(problem)
            self._reader.ask(
                self,
                lambda store: store.task(problem),
                partial(self._on_task, problem),
                partial(self._on_failed, problem),
            )
        return task

    def _on_task(self, problem: int, task: Task) -> None:
        self._wanted.discard(problem)
        self._tasks[problem] = task
        while len(self._tasks) > MAX_TASKS:
            del self._tasks[next(iter(self._tasks))]
        self.arrived.emit(problem)

    def _on_failed(self, problem: int, error: PlumblineError) -> None:
        self._wanted.discard(problem)
        self.failed.emit(problem, str(error))
