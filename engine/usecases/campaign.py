"""Runs a campaign: many units on an executor, their events into the store and then to the link.

The campaign itself does nothing but move events. A unit whose process dies is reported and can be
resumed; the others go on.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Semaphore
from typing import get_args

from msgspec.structs import replace

from engine.campaign.inputs import (
    policy_inputs,
    pool_input,
    portfolio_inputs,
    problem_inputs,
    read_file,
)
from engine.campaign.unit import run_unit
from engine.errors import WorkerLostError
from engine.logs import log_path
from engine.native.control import Control
from engine.policies.consent import Consent, refuse_without_consent
from engine.records.config import CampaignConfig, Unit
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
    UnitEvent,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.records.evidence import State
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.workers.channel import Call, ChannelError, Command, End, Events, unpack
from engine.workers.limits import ProcessLimits
from engine.workers.link import AT_LIMIT, NULL_LINK, Failure, Link
from engine.workers.supervisor import Executor, make_executor
from engine.workspace.workspace import Workspace, campaign_key

POLL_SECONDS = 0.1
STOP_SECONDS = 1.2
"""How long workers may take to stop before they are killed."""
DEFAULT_EXECUTOR = "local:1"
MIN_SUBMITTED = 200
"""Units that are submitted ahead of time, at least."""
MAX_WAITING = 100
"""Messages of workers that wait to be stored."""
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


@dataclass(frozen=True, slots=True)
class _Inputs:
    """All files of a campaign, read once."""

    problems: tuple[ProblemInput, ...]
    policies: tuple[PolicyInput, ...]
    portfolio: tuple[PolicyInput, ...]
    pool: File | None

    @classmethod
    def read(cls, config: CampaignConfig) -> _Inputs:
        read = cache(read_file)  # a policy may be in the portfolio as well
        return cls(
            problem_inputs(config, read),
            policy_inputs(config, read),
            portfolio_inputs(config, read),
            pool_input(config, read),
        )

    def key(self, config: CampaignConfig) -> str:
        return campaign_key(config, self.problems, self.policies, self.portfolio, self.pool)

    def begin(self, config: CampaignConfig, store: Workspace, resume: bool) -> int:
        return store.begin(
            config, self.problems, self.policies, resume, self.portfolio, pool=self.pool
        )


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
    and keeps everything. The executor (default: one process at a time) is shut down at the end.
    """
    return _run(config, _Inputs.read(config), store, link, executor=executor, resume=resume)


def _run(
    config: CampaignConfig,
    inputs: _Inputs,
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
    """Do what is left of a stored campaign, with the inputs it began with."""
    executor = executor or make_executor(DEFAULT_EXECUTOR)
    with store.writing():
        return _work(campaign, store, executor, link)


def _work(campaign: int, store: Workspace, executor: Executor, link: Link) -> CampaignEnd:
    started = time.monotonic()
    units = store.pending(campaign)
    work = _Running(units, store, executor, link)
    try:
        work.tell([CampaignStarted(campaign, tuple(unit.number for unit in units))])
        status = work.until_done()
    finally:
        work.close()
    seconds = time.monotonic() - started
    work.tell([CampaignFinished(campaign, status, seconds)])
    work.refuse_loss()
    return CampaignEnd(campaign, status, seconds)


class _Running:
    """The units that are under way."""

    def __init__(
        self,
        units: Sequence[Unit],
        store: Workspace,
        executor: Executor,
        link: Link,
    ) -> None:
        self._store, self._executor, self._link = store, executor, link
        self._waiting = deque(units)
        self._units: dict[int, Unit] = {}  # those that were submitted and are not over
        self._inbox = _Inbox()
        self._started: set[int] = set()
        self._ended: set[int] = set()
        self._failed = False  # any unit
        self._cluster: ClusterSize | None = None
        self._stopping = False
        self._paused = False
        self._submit()

    def tell(self, events: Sequence[CampaignEvent]) -> None:
        """To the store first, to the link second."""
        self._failed |= any(isinstance(event, UnitFailed) for event in events)
        if events:
            self._store.apply(events)
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
        """Not all at once: there may be hundreds of thousands, and the time may be up soon."""
        size = self._executor.size
        places = max(MIN_SUBMITTED, 0 if size is None else 2 * size.places)
        while self._waiting and len(self._units) < places:
            unit = self._waiting.popleft()
            self._units[unit.number] = unit
            limits = ProcessLimits(unit.limits.unit_seconds, unit.limits.unit_megabytes)
            report = partial(self._inbox.put, unit.number)
            self._executor.submit(Call.of(run_unit, unit), limits, report)

    def refuse_loss(self) -> None:
        if self._executor.lost:
            raise WorkerLostError(
                "the connection to the cluster was lost; all results so far are kept",
                hint="restart the cluster, then resume the campaign there or on this machine",
            )

    def close(self) -> None:
        self._inbox.close()
        self._executor.close()

    def _stop(self) -> None:
        """Ask politely, take what still comes, then end what is left."""
        self._stopping = True
        self._executor.order(Command.STOP)
        deadline = time.monotonic() + STOP_SECONDS
        while self._units and time.monotonic() < deadline:
            self._turn()
        self.tell([UnitStopped(unit) for unit in self._units if unit not in self._ended])

    def _turn(self) -> None:
        """Pass on what the workers say, and see which have ended."""
        events: list[CampaignEvent] = []
        for number, told in self._inbox.take(POLL_SECONDS):
            if isinstance(told, End):
                unit = self._units.pop(number)
                if number not in self._ended:
                    events += self._end_of(unit, told)
                continue
            for event in told:
                events.append(event)
                if isinstance(event, UnitFinished | UnitStopped | UnitFailed):
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

    def _end_of(self, unit: Unit, end: End) -> Iterator[UnitStopped | UnitFailed]:
        """A process that ends without a word was lost, unless it was to end anyway."""
        if not self._stopping:
            failure = end.failure or Failure("the worker ended too early")
            at_limit = failure.message.startswith(AT_LIMIT)
            yield UnitFailed(unit.number, _why(failure, unit), lost=not at_limit)
        elif unit.number in self._started:
            yield UnitStopped(unit.number)


class _Inbox:
    """What workers say, decoded by the threads that receive it.

    What is not taken soon enough waits in the workers.
    """

    def __init__(self) -> None:
        self._messages: SimpleQueue[tuple[int, list[UnitEvent] | End]] = SimpleQueue()
        self._places = Semaphore(MAX_WAITING)
        self._closed = False

    def put(self, unit: int, message: Events | End) -> None:
        if isinstance(message, End):
            self._messages.put((unit, message))
            return
        events = [unpack(event, UNIT_EVENTS) for event in message.events]
        if any(event.unit not in (unit, None) for event in events):
            raise ChannelError("a unit sent an event of another one")
        while not self._places.acquire(timeout=POLL_SECONDS):
            if self._closed:
                return
        self._messages.put((unit, events))

    def take(self, seconds: float) -> Iterator[tuple[int, list[UnitEvent] | End]]:
        """Wait a while for the first."""
        with suppress(Empty):
            first = self._messages.get(timeout=seconds)
            rest = [self._messages.get_nowait() for _ in range(self._messages.qsize())]
            for unit, told in (first, *rest):
                if not isinstance(told, End):
                    self._places.release()
                yield unit, told

    def close(self) -> None:
        self._closed = True


def _why(failure: Failure, unit: Unit) -> str:
    """Why a process ended before its unit did."""
    if not failure.expected:
        _log.error("unit %d: %s\n%s", unit.number, failure.message, failure.details)
        return f"{failure.message}; details in {log_path()}"
    limit = unit.limits.unit_megabytes
    memory = f" (its memory limit was {limit} MB)" if limit else ""
    *_, last = failure.details.splitlines() or [""]
    words = f"; it last printed: {last:.300}" if last else ""
    return f"{failure.message}{memory}{words}"


def run_campaign(
    link: Link,
    workspace: Path,
    config: CampaignConfig,
    executor: str,
    consent: Consent,
    *,
    resume: bool | None = None,
) -> CampaignEnd | AlreadyDone:
    """Run a new campaign, or with `resume` what is left of the same one (None: if it is there)."""
    refuse_without_consent((*config.policies, *config.portfolio), consent)
    inputs = _Inputs.read(config)
    with Workspace.open(workspace) as store:
        known = store.campaign_with(inputs.key(config))
        resume = known is not None if resume is None else resume
        if resume and known is not None and not store.pending(known):
            return AlreadyDone(known)
        place = make_executor(executor)
        return _run(config, inputs, store, _Reporter(link), executor=place, resume=resume)


def resume_campaign(
    link: Link, workspace: Path, campaign: int, executor: str, consent: Consent
) -> CampaignEnd:
    """Do what is left of a campaign, with the files it began with."""
    with Workspace.open(workspace) as store:
        refuse_without_consent(store.pending_policies(campaign), consent)
        return resume(campaign, store, _Reporter(link), executor=make_executor(executor))


class _Reporter(Link):
    """Makes few and small messages of many events."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._units = 1
        self._started: set[int] = set()
        self._status = ClusterStatus()
        self._done: dict[int, float] = {}
        self._bugs: set[tuple[int, State]] = set()
        self._localized = 0

    @property
    def control(self) -> Control:
        return self._link.control

    def paused(self) -> bool:
        return self._link.paused()

    def emit(self, event: object) -> None:
        match event:
            case CampaignStarted():
                self._units = max(len(event.units), 1)
                self._link.emit(Begun(event.campaign, len(event.units)))
            case UnitProgress():
                self._done[event.unit] = event.statistics.states / event.statistics.size
                self._link.emit(Advanced(bugs=False))
            case UnitFinished():
                self._done[event.unit] = 1.0
                self._link.emit(Advanced(bugs=False))
            case UnitFailed():
                self._done[event.unit] = 1.0
                self._link.emit(event)
            case Warned():
                self._link.emit(event)
            case UnitStarted():
                self._link.emit(event)
                if event.unit in self._started:
                    self._show(replace(self._status, restarted=self._status.restarted + 1))
                self._started.add(event.unit)
            case ClusterChanged():
                self._show(replace(self._status, cluster=event.size))
            case FindingReported():
                self._bugs.add((event.unit, event.finding.state))
                self._link.emit(Advanced(bugs=True))
            case BugLocalized():
                self._localized += 1
            case _:
                return
        bugs = "1 new bug" if len(self._bugs) == 1 else f"{len(self._bugs)} new bugs"
        localized = f", {self._localized} localized" if self._localized else ""
        self._link.progress(sum(self._done.values()), float(self._units), f"{bugs}{localized}")

    def _show(self, status: ClusterStatus) -> None:
        self._status = status
        self._link.emit(status)
