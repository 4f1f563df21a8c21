"""The project of a workspace: its domain, problems, policies and pools, and their check.

A workspace stores it, together with the campaign that the user was preparing. Only names are kept
here: what a campaign used is copied into the workspace when it begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.files import SAS_SUFFIX
from engine.pddl.diagnostics import Diagnostic, Severity
from engine.records.codec import Record, Text
from engine.records.config import CampaignConfig
from engine.records.finding import RunOutcome
from engine.records.policy_spec import require_specs


class Project(Record):
    """Paths are absolute; policies are named as on the command line.

    Consent to plug-ins and servers is not stored here: a workspace may come from a stranger.
    """

    domain: Text | None = None
    problems: tuple[Text, ...] = ()
    policies: tuple[Text, ...] = ()
    portfolio: tuple[Text, ...] = ()  # policies that some oracles compare with
    unit_costs: bool = False
    pools: tuple[Text, ...] = ()  # states to test: pool files and bugs files
    draft: CampaignConfig | None = None  # the campaign as it was last set up
    profile: Text | None = None  # how to draw states: an animation profile

    def __post_init__(self) -> None:
        require_specs((*self.policies, *self.portfolio))

    @property
    def is_empty(self) -> bool:
        return not (self.domain or self.problems or self.policies or self.portfolio or self.pools)

    def with_files(
        self,
        *,
        domain: str | None = None,
        problems: Iterable[str] = (),
        policies: Iterable[str] = (),
        portfolio: Iterable[str] = (),
        pools: Iterable[str] = (),
        profile: str | None = None,
    ) -> Project:
        """More files; a new domain or profile takes the place of the old one."""
        return replace(
            self,
            domain=domain or self.domain,
            problems=_joined(self.problems, problems),
            policies=_joined(self.policies, policies),
            portfolio=_joined(self.portfolio, portfolio),
            pools=_joined(self.pools, pools),
            profile=profile or self.profile,
        )

    def without(self, names: Iterable[str]) -> Project:
        """The project without these files and policies, whatever their role."""
        gone = frozenset(names)
        return replace(
            self,
            domain=None if self.domain in gone else self.domain,
            problems=_rest(self.problems, gone),
            policies=_rest(self.policies, gone),
            portfolio=_rest(self.portfolio, gone),
            pools=_rest(self.pools, gone),
            profile=None if self.profile in gone else self.profile,
        )


def _joined(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))


def _rest(names: tuple[str, ...], gone: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)


def is_grounded(problem: str) -> bool:
    """Whether a problem is a task of its own and needs no domain."""
    return Path(problem).suffix.lower() == SAS_SUFFIX


class DomainChecked(Record):
    path: str
    name: str
    types: int
    predicates: int
    actions: int
    diagnostics: tuple[Diagnostic, ...]


class ProblemChecked(Record):
    path: str
    name: str
    objects: int | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_broken(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)

    @property
    def obstacle(self) -> Diagnostic | None:
        """The first reason in this file why the problem cannot be tested."""
        reasons = (
            item for item in self.diagnostics if item.severity is Severity.ERROR or item.is_idle
        )
        return next(reasons, None)


class PolicyChecked(Record):
    """`error` says why it cannot be used at all, `misfits` why not with this domain."""

    spec: str
    kind: str = ""
    domain: str | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    misfits: tuple[str, ...] = ()
    error: str = ""
    consent: str = ""  # what the user has to agree to before it is used, if to anything
    factories: tuple[str, ...] = ()  # what a plug-in's file offers
    compared: bool = True  # or there was no domain to hold it against, such as a broken one

    @property
    def fits(self) -> bool:
        return not (self.misfits or self.error)


class PoolContents(Record):
    """`bugs` and `fails` count the records of a bugs file; a pool file has none."""

    states: int
    bugs: int | None = None
    fails: int = 0
    has_task: bool = False  # a bugs file may bring it


class PoolChecked(Record):
    """What is in a file of states to test; whose states they are shows with the tasks."""

    path: str
    contents: PoolContents | None = None
    error: str = ""


class ProjectChecked(Record):
    """Everything has been looked at; these may be run."""

    problems: tuple[str, ...]
    policies: tuple[str, ...]
    pools: tuple[str, ...] = ()


class TaskMeasured(Record):
    problem: str
    facts: int
    operators: int
    error: str = ""  # why there is no task
    no_dominance: str = ""  # why it has none and what oracles do instead


class PolicyRan(Record):
    """`outcome` is None if the policy cannot run on the problem."""

    problem: str
    policy: str
    outcome: RunOutcome | None
    reason: str
    cost: int | None = None
    steps: int | None = None


class PoolTried(Record):
    """Whether the states of a pool or a bugs file are states of a problem's task."""

    problem: str
    pool: str
    states: int = 0  # different ones
    error: str = ""
