"""Runs a campaign: many units on an executor, their events into the store and then to the link.

The campaign itself does nothing but move events. A unit whose process dies is reported and can be
resumed; the others continue. Experiments run their trials in the same way.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, get_args

from msgspec.structs import replace

from engine.campaign.inputs import CampaignInputs
from engine.campaign.unit import run_unit
from engine.errors import CancelledError, WorkerLostError
from engine.logs import log_path
from engine.policies.consent import Consent, refuse_without_consent
from engine.records.config import CampaignConfig, Unit, UnitLimits
from engine.records.events import (
    Advanced,
    AlreadyDone,
    Begun,
    BugLocalized,
    CampaignEvent,
    CampaignFinished,
    CampaignStarted,
    CampaignStatus,
    ClusterChanged,
    ClusterSize,
    ClusterStatus,
    FindingReported,
    TrialEvent,
    TrialFinished,
    UnitEvent,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.records.evidence import State
from engine.workers.channel import Call, Command, End
from engine.workers.limits import ProcessLimits
from engine.workers.link import AT_LIMIT, NULL_LINK, Failure, InnerLink, Link
from engine.workers.supervisor import Executor, Inbox, make_executor
from engine.workspace.workspace import Workspace

POLL_SECONDS = 0.1
STOP_SECONDS = 1.2
"""How long workers may take to stop before they are killed."""
MIN_SUBMITTED = 200
"""Units that are submitted ahead of time, at least."""

WorkEvent = CampaignEvent | TrialEvent
DEFAULT_EXECUTOR = "local"
UNIT_EVENTS = frozenset(get_args(UnitEvent))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CampaignEnd:
    campaign: int
    status: CampaignStatus
    seconds: float

    @property
    def finished(self) -> bool:
        """Whether every unit is done."""
        return self.status is CampaignStatus.FINISHED


def run(
    config: CampaignConfig,
    store: Workspace,
    link: Link = NULL_LINK,
    *,
    executor: Executor | None = None,
    resume: bool = False,
) -> CampaignEnd:
    """Work on a campaign until all its units are done, or with `resume` on those that are left.

    The link gets every event and is asked ten times a second. Stopping takes at most two seconds
    and keeps everything. The executor (default: this machine) is shut down at the end.
    """
    return _run(config, CampaignInputs.read(config), store, link, executor=executor, resume=resume)


def _run(
    config: CampaignConfig,
    inputs: CampaignInputs,
    store: Workspace,
    link: Link,
    *,
    executor: Executor | None,
    resume: bool,
) -> CampaignEnd:
    executor = executor or make_executor(DEFAULT_EXECUTOR)
    with store.writing():
        return _work(inputs.begin(config, store, resume), store, executor, link)


def resume(
    campaign: int, store: Workspace, link: Link = NULL_LINK, *, executor: Executor | None = None
) -> CampaignEnd:
    """Run the remaining units of a stored campaign with its original inputs."""
    executor = executor or make_executor(DEFAULT_EXECUTOR)
    with store.writing():
        return _work(campaign, store, executor, link)


def unit_kind(store: Workspace) -> WorkKind[Unit]:
    """How units of campaigns are run."""
    return WorkKind(lambda unit: Call.of(run_unit, unit), UNIT_EVENTS, store.apply)


def _work(campaign: int, store: Workspace, executor: Executor, link: Link) -> CampaignEnd:
    started = time.monotonic()
    units = store.pending(campaign)
    work = UnitRunner(units, unit_kind(store), store, executor, link)
    try:
        work.tell([CampaignStarted(campaign, tuple(unit.number for unit in units))])
        status = work.until_done()
    finally:
        work.close()
        executor.close()
    if status is CampaignStatus.STOPPED and not store.pending(campaign):
        status = CampaignStatus.FINISHED  # the last unit ended before it heard of the stop
    seconds = time.monotonic() - started
    work.tell([CampaignFinished(campaign, status, seconds)])
    if status is CampaignStatus.STOPPED:
        work.refuse_loss()
    return CampaignEnd(campaign, status, seconds)


def run_campaign(
    link: Link,
    workspace: Path,
    config: CampaignConfig,
    executor: str,
    consent: Consent,
    *,
    resume: bool | None = None,
) -> CampaignEnd | AlreadyDone:
    """Run a new campaign, or with `resume` the rest of the same one (None: if it exists)."""
    refuse_without_consent((*config.policies, *config.portfolio), consent)
    inputs = CampaignInputs.read(config)
    with Workspace.open(workspace) as store:
        known = store.campaign_with(inputs.key(config))
        resume = known is not None if resume is None else resume
        if resume and known is not None and store.campaign(known).status == CampaignStatus.FINISHED:
            _minimize(link, store, known, consent)
            return AlreadyDone(known)
        place = make_executor(executor)
        end = _run(config, inputs, store, CampaignReporter(link), executor=place, resume=resume)
        if end.finished:
            _minimize(link, store, end.campaign, consent)
        return end


def resume_campaign(
    link: Link, workspace: Path, campaign: int, executor: str, consent: Consent
) -> CampaignEnd:
    """Run the remaining units of a campaign with its original files."""
    with Workspace.open(workspace) as store:
        refuse_without_consent(store.pending_policies(campaign), consent)
        end = resume(campaign, store, CampaignReporter(link), executor=make_executor(executor))
        if end.finished:
            _minimize(link, store, campaign, consent)
        return end


def _minimize(link: Link, store: Workspace, campaign: int, consent: Consent) -> None:
    """Look for smallest witnesses if the campaign asks for them; a stop keeps results."""
    settings = store.campaign(campaign).config.minimization
    if settings.enabled and not link.cancelled():
        from engine.usecases.minimize import MinimizeOptions, minimize  # it brings all verifiers

        options = MinimizeOptions(tries=settings.tries, campaign=campaign)
        with suppress(CancelledError):
            minimize(_Forwarder(link), store.path, None, consent, options)


class _Forwarder(InnerLink):
    """Reports progress only, because events of a campaign are about units."""

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self._outer.progress(done, total, f"minimizing {text}")


class WorkUnit(Protocol):
    """What can be submitted: a unit of a campaign, a trial of an experiment."""

    @property
    def number(self) -> int: ...
    @property
    def limits(self) -> UnitLimits: ...


Work = TypeVar("Work", bound=WorkUnit)


@dataclass(frozen=True, slots=True)
class WorkKind(Generic[Work]):
    """How work of a kind is called, which events it may send, and what stores them."""

    call: Callable[[Work], Call]
    events: frozenset[type]
    apply: Callable[[Sequence[Any]], object]


class UnitRunner(Generic[Work]):
    """The units that are under way. The caller closes the executor."""

    def __init__(
        self,
        units: Sequence[Work],
        kind: WorkKind[Work],
        store: Workspace,
        executor: Executor,
        link: Link,
    ) -> None:
        self._kind, self._store, self._executor, self._link = kind, store, executor, link
        self._waiting = deque(units)
        self._units: dict[int, Work] = {}  # those that were submitted and are not over
        self._inbox = Inbox(kind.events)
        self._started: set[int] = set()
        self._ended: set[int] = set()
        self._failed = False  # any unit
        self._cluster: ClusterSize | None = None
        self._stopping = False
        self._paused = False
        self._submit()

    def tell(self, events: Sequence[WorkEvent]) -> None:
        """Store the events, then report them to the link."""
        self._failed |= any(isinstance(event, UnitFailed) for event in events)
        if events:
            self._kind.apply(events)
        for event in events:
            self._link.emit(event)

    def until_done(self) -> CampaignStatus:
        while self._units or self._waiting:
            # Asked in this way it does not wait while it is paused.
            if self._link.control.cancelled or self._executor.lost:
                self._stop()
                return CampaignStatus.STOPPED
            if self._link.paused() != self._paused:
                self._paused = not self._paused
                self._executor.order(Command.PAUSE if self._paused else Command.RESUME)
            if not self._paused:
                self._submit()
            self._turn()
        return CampaignStatus.INCOMPLETE if self._failed else CampaignStatus.FINISHED

    def _submit(self) -> None:
        """Submit a few units at a time; there may be hundreds of thousands and little time."""
        size = self._executor.size
        places = max(MIN_SUBMITTED, 0 if size is None else 2 * size.places)
        while self._waiting and len(self._units) < places:
            unit = self._waiting.popleft()
            self._units[unit.number] = unit
            limits = ProcessLimits(unit.limits.unit_seconds, unit.limits.unit_megabytes)
            report = partial(self._inbox.put, unit.number)
            self._executor.submit(self._kind.call(unit), limits, report)

    def refuse_loss(self) -> None:
        if self._executor.lost:
            raise WorkerLostError(
                "the connection to the cluster was lost; all results so far are kept",
                hint="restart the cluster, then resume there or on this machine",
            )

    def close(self) -> None:
        self._inbox.close()

    def _stop(self) -> None:
        """Ask the workers to stop, take their last events, and kill those that do not stop."""
        self._stopping = True
        self._executor.order(Command.STOP)
        deadline = time.monotonic() + STOP_SECONDS
        while self._units and time.monotonic() < deadline:
            self._turn()
        self.tell([UnitStopped(unit) for unit in self._units if unit not in self._ended])

    def _turn(self) -> None:
        """Pass on the events of the workers, and see which have ended."""
        events: list[WorkEvent] = []
        for number, told in self._inbox.take(POLL_SECONDS):
            if isinstance(told, End):
                unit = self._units.pop(number)
                if number not in self._ended:
                    events += self._end_of(unit, told)
                continue
            for event in told:
                events.append(event)
                if isinstance(event, TrialFinished | UnitFinished | UnitStopped | UnitFailed):
                    self._ended.add(number)
                elif isinstance(event, UnitStarted):
                    events += self._note_start(number)
        size = self._executor.size
        if size is not None and size != self._cluster:
            self._cluster = size
            events.append(ClusterChanged(size))
        self.tell(events)
        self._store.heartbeat()

    def _note_start(self, unit: int) -> Iterator[Warned]:
        if unit in self._started:
            yield Warned(unit, "its worker was lost; it was restarted on another one")
        self._started.add(unit)

    def _end_of(self, unit: Work, end: End) -> Iterator[UnitStopped | UnitFailed]:
        """Return the events of a process that ended; if it reported none, it was lost."""
        if not self._stopping:
            failure = end.failure or Failure("the worker ended too early")
            at_limit = failure.message.startswith(AT_LIMIT)
            yield UnitFailed(unit.number, _why(failure, unit), lost=not at_limit)
        elif unit.number in self._started:
            yield UnitStopped(unit.number)


def _why(failure: Failure, unit: WorkUnit) -> str:
    """Why a process ended before its unit did."""
    if not failure.expected:
        _log.error("unit %d: %s\n%s", unit.number, failure.message, failure.details)
        return f"{failure.message}; details in {log_path()}"
    limit = unit.limits.unit_megabytes
    memory = f" (its memory limit was {limit} MB)" if limit else ""
    *_, last = failure.details.splitlines() or [""]
    words = f"; it last printed: {last:.300}" if last else ""
    return f"{failure.message}{memory}{words}"


class CampaignReporter(InnerLink):
    """Combines many events into a few small messages."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self._units = 1
        self._started: set[int] = set()
        self._status = ClusterStatus()
        self._done: dict[int, float] = {}
        self._failed: set[int] = set()
        self._bugs: set[tuple[int, State]] = set()
        self._localized = 0

    def emit(self, event: object) -> None:
        match event:
            case CampaignStarted():
                self._units = max(len(event.units), 1)
                self._outer.emit(Begun(event.campaign, len(event.units)))
            case UnitProgress():
                share = event.statistics.states / max(event.statistics.size, 1)
                self._done[event.unit] = min(share, 1.0)
                self._outer.emit(Advanced(bugs=False))
            case UnitFinished():
                self._done[event.unit] = 1.0
                self._outer.emit(Advanced(bugs=False))
            case UnitFailed():
                self._failed.add(event.unit)
                self._outer.emit(event)
            case Warned():
                self._outer.emit(event)
            case UnitStarted():
                self._failed.discard(event.unit)
                self._outer.emit(event)
                if event.unit in self._started:
                    self._show(replace(self._status, restarted=self._status.restarted + 1))
                self._started.add(event.unit)
            case ClusterChanged():
                self._show(replace(self._status, cluster=event.size))
            case FindingReported():
                self._bugs.add((event.unit, event.finding.state))
                self._outer.emit(Advanced(bugs=True))
            case BugLocalized():
                self._localized += 1
            case _:
                return
        bugs = "1 new bug" if len(self._bugs) == 1 else f"{len(self._bugs)} new bugs"
        localized = f", {self._localized} localized" if self._localized else ""
        # Failed units do not count as done, or the estimate would be too low.
        done = sum(share for unit, share in self._done.items() if unit not in self._failed)
        left = float(self._units - len(self._failed))
        self._outer.progress(done, left or None, f"{bugs}{localized}")

    def _show(self, status: ClusterStatus) -> None:
        self._status = status
        self._outer.emit(status)
