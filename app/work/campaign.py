"""Runs a campaign in the worker process, with a connection of its own to the workspace.

Everything goes to the store; the window is only told that there is something new to read, and
what its user should hear at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from app.work.link import Link
from engine.campaign.campaign import CampaignEnd, run, take_up
from engine.campaign.cluster import ClusterSize
from engine.campaign.config import CampaignConfig
from engine.campaign.events import (
    BugFound,
    CampaignStarted,
    ClusterChanged,
    Event,
    Progress,
    UnitFailed,
    UnitFinished,
    UnitStarted,
    Warned,
)
from engine.campaign.executor import make_executor
from engine.campaign.identity import campaign_key
from engine.campaign.inputs import policy_inputs, pool_input, portfolio_inputs, problem_inputs
from engine.campaign.store import Store
from engine.policies.consent import Consent, refuse_without_consent


@dataclass(frozen=True, slots=True)
class Begun:
    campaign: int
    units: int  # how many are left to do


@dataclass(frozen=True, slots=True)
class Advanced:
    """There is more in the store."""

    bugs: bool  # also among the findings


@dataclass(frozen=True, slots=True)
class Scene:
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
    with Store.open(workspace) as store:
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


def take_up_campaign(
    link: Link, workspace: Path, campaign: int, executor: str, consent: Consent
) -> CampaignEnd:
    """What is left of a campaign, with the files it began with."""
    with Store.open(workspace) as store:
        refuse_without_consent(store.pending_policies(campaign), consent)
        reporter = _Reporter(link)
        return take_up(
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
        self._scene = Scene()
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

    def _show(self, scene: Scene) -> None:
        self._scene = scene
        self._link.emit(scene)
