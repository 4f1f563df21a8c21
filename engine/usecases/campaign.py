"""A campaign: many units on an executor, their events into the store and then to listeners.

The campaign itself does nothing but move events. A unit whose process dies is reported and can be
taken up again; the others go on.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.campaign.config_reader import CampaignConfig
from engine.campaign.inputs import (
    policy_inputs,
    pool_input,
    portfolio_inputs,
    problem_inputs,
)
from engine.campaign.unit import Unit
from engine.errors import WorkerLostError, WorkspaceError
from engine.policies.consent import Consent, refuse_without_consent
from engine.records.events import (
    BugFound,
    CampaignFinished,
    CampaignStarted,
    ClusterChanged,
    Event,
    Progress,
    UnitFailed,
    UnitFinished,
    UnitStarted,
    UnitStopped,
    Warned,
)
from engine.workers.channel import Command
from engine.workers.cluster import ClusterSize
from engine.workers.launch import (
    WorkerEnd,
    cluster_size,
    hub_address,
    make_executor,
    run_worker,
)
from engine.workers.link import NULL_LINK, Link
from engine.workers.program import signal_name
from engine.workers.server import Hub
from engine.workspace.watch import WorkspaceWatch
from engine.workspace.workspace import Workspace, campaign_key

POLL_SECONDS = 0.1
STOP_SECONDS = 1.2
"""How long workers may take to stop before nobody waits for them any more."""

Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class CampaignEnd:
    """`finished` if every unit came to its end, well or not."""

    campaign: int
    finished: bool
    seconds: float


def run(
    config: CampaignConfig,
    store: Workspace,
    emit: Listener = NULL_LINK.emit,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    *,
    executor: Executor | None = None,
    resume: bool = False,
    paused: Callable[[], bool] = NULL_LINK.cancelled,
) -> CampaignEnd:
    """Work on a campaign until all its units are done, or with `resume` on those that are left.

    `cancelled` and `paused` are asked ten times a second. Stopping takes at most two seconds and
    keeps everything. The executor (default: one process at a time) is shut down at the end.
    """
    problems, policies = problem_inputs(config), policy_inputs(config)
    portfolio, pool = portfolio_inputs(config), pool_input(config)
    executor = executor or make_executor("local:1")
    with _writing(store):
        campaign = store.begin(config, problems, policies, resume, portfolio, pool=pool)
        return _work(campaign, store, executor, emit, cancelled=cancelled, paused=paused)


def resume(
    campaign: int,
    store: Workspace,
    emit: Listener = NULL_LINK.emit,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    *,
    executor: Executor | None = None,
    paused: Callable[[], bool] = NULL_LINK.cancelled,
) -> CampaignEnd:
    """Do what is left of a stored campaign, with the inputs it began with."""
    executor = executor or make_executor("local:1")
    with _writing(store):
        return _work(campaign, store, executor, emit, cancelled=cancelled, paused=paused)


@contextmanager
def _writing(store: Workspace) -> Iterator[None]:
    store.claim()
    try:
        yield
    finally:
        # On a broken disk there is worse to tell; that we are gone is seen by others anyway.
        with suppress(WorkspaceError):
            store.release()


def _work(
    campaign: int,
    store: Workspace,
    executor: Executor,
    emit: Listener,
    *,
    cancelled: Callable[[], bool],
    paused: Callable[[], bool],
) -> CampaignEnd:
    started = time.monotonic()
    units = store.pending(campaign)
    keeper = WorkspaceWatch(store)
    work = _Running(units, store, executor, emit, keeper)
    try:
        work.tell([CampaignStarted(campaign, tuple(unit.number for unit in units))])
        finished = work.until_done(cancelled, paused)
    finally:
        work.close()
    seconds = time.monotonic() - started
    status = "finished" if finished else "stopped"
    work.tell([CampaignFinished(campaign, status, seconds)])
    keeper.refuse_loss()
    work.refuse_loss()
    return CampaignEnd(campaign, finished, seconds)


class _Running:
    """The units that are under way."""

    def __init__(
        self,
        units: Sequence[Unit],
        store: Workspace,
        executor: Executor,
        emit: Listener,
        keeper: WorkspaceWatch,
    ) -> None:
        self._store, self._executor, self._emit = store, executor, emit
        self._keeper = keeper
        self._units = {unit.number: unit for unit in units}
        self._hub = Hub(self._units, hub_address(executor))
        self._futures: dict[int, Future[WorkerEnd]] = {
            unit.number: executor.submit(run_worker, self._hub.ticket(unit)) for unit in units
        }
        self._started: set[int] = set()
        self._ended: set[int] = set()
        self._cluster: ClusterSize | None = None
        self._cut_off = False  # from those who run the units
        self._stopping = False
        self._paused = False

    def tell(self, events: Sequence[Event]) -> None:
        """To the store first, to the listener second."""
        if events:
            self._store.apply(events)
        for event in events:
            self._emit(event)

    def until_done(self, cancelled: Callable[[], bool], paused: Callable[[], bool]) -> bool:
        while self._futures:
            if cancelled():
                self._stop()
                return False
            if paused() != self._paused:
                self._paused = not self._paused
                self._hub.command(Command.PAUSE if self._paused else Command.RESUME)
            self._turn()
            if self._cut_off:
                self._stop()
                return False
        return True

    def refuse_loss(self) -> None:
        if self._cut_off:
            raise WorkerLostError(
                "the connection to the cluster was lost; all that was found is kept",
                hint="start the cluster again and resume the campaign, there or on this machine",
            )

    def close(self) -> None:
        for future in self._futures.values():
            future.cancel()
        self._hub.close()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _stop(self) -> None:
        """Ask politely, take what still comes, then end what is left."""
        self._stopping = True
        for future in self._futures.values():
            future.cancel()
        self._hub.command(Command.STOP)
        deadline = time.monotonic() + STOP_SECONDS
        while self._futures and time.monotonic() < deadline:
            self._turn()
        self.tell([UnitStopped(unit) for unit in self._futures])

    def _turn(self) -> None:
        """Pass on what the workers say, and see who has ended."""
        events: list[Event] = []
        for event in self._hub.receive(POLL_SECONDS):
            events.append(event)
            if isinstance(event, UnitFinished | UnitStopped | UnitFailed):
                self._ended.add(event.unit)
            elif isinstance(event, UnitStarted):
                events += self._note_start(event.unit)
        for unit, future in list(self._futures.items()):
            has_ended = unit in self._ended
            if future.cancelled() and not has_ended and not self._stopping:
                self._cut_off = True
            elif (future.done() or has_ended) and not self._hub.has(unit):
                del self._futures[unit]
                if not has_ended:
                    events += self._end_of(unit, future)
        size = cluster_size(self._executor)
        if size is not None and size != self._cluster:
            self._cluster = size
            events.append(ClusterChanged(size.workers, size.places))
        self.tell(events)
        self._keeper.look()

    def _note_start(self, unit: int) -> Iterator[Warned]:
        if unit in self._started:
            yield Warned(unit, "its worker was lost; it has started again on another one")
        self._started.add(unit)

    def _end_of(self, unit: int, future: Future[WorkerEnd]) -> Iterator[UnitStopped | UnitFailed]:
        """A process that ends without a word was lost, unless it was to end anyway."""
        if not self._stopping:
            yield UnitFailed(unit, _why(future, self._units[unit]), lost=True)
        elif unit in self._started:
            yield UnitStopped(unit)


def _why(future: Future[WorkerEnd], unit: Unit) -> str:
    """Why a process ended before its unit did."""
    try:
        end = future.result()
    except FutureCancelled:
        return "it was cancelled"
    except Exception as error:
        return f"its process could not be started or watched: {error}"
    if end.return_code == -signal.SIGKILL:
        how = "was killed; it may have needed more memory than there is"
    elif end.return_code < 0:
        how = f"died of {signal_name(end.return_code)}"
    else:
        how = f"ended with exit code {end.return_code}"
    limit = unit.limits.unit_megabytes
    memory = f" (it was given {limit} MB of memory)" if limit else ""
    words = f"; it last printed: {end.last_words:.300}" if end.last_words else ""
    return f"its process {how}{memory}{words}"


@dataclass(frozen=True, slots=True)
class Begun:
    campaign: int
    units: int  # how many are left to do


@dataclass(frozen=True, slots=True)
class Advanced:
    """There is more in the store."""

    bugs: bool  # also among the findings


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """How it goes where the units run."""

    cluster: ClusterSize | None = None  # None: this machine, or nothing is known yet
    restarted: int = 0  # units that lost their workers and began again


@dataclass(frozen=True, slots=True)
class AlreadyDone:
    """The workspace holds this very campaign, finished."""

    campaign: int


def run_campaign(
    link: Link, workspace: Path, config: CampaignConfig, executor: str, consent: Consent
) -> CampaignEnd | AlreadyDone:
    """A new campaign, or what is left of the same one."""
    refuse_without_consent((*config.policies, *config.portfolio), consent)
    problems, policies = problem_inputs(config), policy_inputs(config)
    portfolio, pool = portfolio_inputs(config), pool_input(config)
    key = campaign_key(config, problems, policies, portfolio, pool)
    with Workspace.open(workspace) as store:
        known = store.campaign_with(key)
        if known is not None and not store.pending(known):
            return AlreadyDone(known)
        reporter = _Reporter(link)
        return run(
            config,
            store,
            reporter.hear,
            link.cancelled,
            executor=make_executor(executor),
            resume=known is not None,
            paused=link.paused,
        )


def resume_campaign(
    link: Link, workspace: Path, campaign: int, executor: str, consent: Consent
) -> CampaignEnd:
    """What is left of a campaign, with the files it began with."""
    with Workspace.open(workspace) as store:
        refuse_without_consent(store.pending_policies(campaign), consent)
        reporter = _Reporter(link)
        return resume(
            campaign,
            store,
            reporter.hear,
            link.cancelled,
            executor=make_executor(executor),
            paused=link.paused,
        )


class _Reporter:
    """Makes few and small messages of many events."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._units = 1
        self._started: set[int] = set()
        self._scene = ClusterStatus()
        self._done: dict[int, float] = {}
        self._bugs = 0

    def hear(self, event: Event) -> None:
        match event:
            case CampaignStarted():
                self._units = max(len(event.units), 1)
                self._link.emit(Begun(event.campaign, len(event.units)))
            case Progress():
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
                    self._show(replace(self._scene, restarted=self._scene.restarted + 1))
                self._started.add(event.unit)
            case ClusterChanged():
                self._show(replace(self._scene, cluster=ClusterSize(event.workers, event.places)))
            case BugFound():
                self._bugs += type(event) is BugFound
                self._link.emit(Advanced(bugs=True))
            case _:
                return
        done = sum(self._done.values())
        bugs = f"{self._bugs} new bugs" if self._bugs != 1 else "1 new bug"
        self._link.progress(done, float(self._units), bugs)

    def _show(self, scene: ClusterStatus) -> None:
        self._scene = scene
        self._link.emit(scene)
