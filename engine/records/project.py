"""The project of a workspace: which domain, problems, policies and pools the user works on.

A workspace keeps it from one day to the next, together with the campaign the user was about to
run. Only names are kept here: what a campaign used is copied into the workspace when it begins.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from engine.records.codec import Record, Text
from engine.records.config import CampaignConfig


class Project(Record):
    """Paths are absolute; policies are named as on the command line.

    Which plug-ins and servers the user trusts is not said here: a workspace may come from anybody.
    """

    domain: Text | None = None
    problems: tuple[Text, ...] = ()
    policies: tuple[Text, ...] = ()
    portfolio: tuple[Text, ...] = ()  # policies that some oracles compare with
    unit_costs: bool = False
    pools: tuple[Text, ...] = ()  # states to test: pool files and bugs files
    draft: CampaignConfig | None = None  # the campaign as it was last set up

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
    ) -> Project:
        """More files; a new domain takes the place of the old one."""
        return replace(
            self,
            domain=domain or self.domain,
            problems=_joined(self.problems, problems),
            policies=_joined(self.policies, policies),
            portfolio=_joined(self.portfolio, portfolio),
            pools=_joined(self.pools, pools),
        )

    def without(self, names: Iterable[str]) -> Project:
        """Without these files and policies, whatever their role."""
        gone = frozenset(names)
        return replace(
            self,
            domain=None if self.domain in gone else self.domain,
            problems=_rest(self.problems, gone),
            policies=_rest(self.policies, gone),
            portfolio=_rest(self.portfolio, gone),
            pools=_rest(self.pools, gone),
        )


def _joined(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))


def _rest(names: tuple[str, ...], gone: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)
