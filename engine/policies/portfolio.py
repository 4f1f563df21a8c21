"""Portfolios: several policies on the states of one table, the most promising first.

Checkpoints of one training are ranked by what they achieved on its validation problems. Policies
without such a record are all run on the initial state instead: numbers of different origin cannot
be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import Location, PolicyError
from engine.policies.kinds import checkpoint_suffixes, portfolio_files
from engine.policies.policy import Policy, close_policy, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.task.states import StateTable
from engine.workers.link import NULL_LINK

MAX_MEMBERS = 20
"""How many policies a portfolio keeps, as in Sievers et al. 2026."""

RANKING_STEPS = 1000
"""How far policies without a record are run from the initial state."""

Rank = tuple[float, float]
"""The share of problems that stay unsolved, and the cost of solved ones: smaller is better."""


@dataclass(frozen=True)
class Member:
    """A policy of a portfolio; evidence names it as the origin of its steps."""

    name: str
    runs: PolicyRuns


@dataclass(frozen=True)
class Portfolio:
    """Ranked policies, all on the same table."""

    members: tuple[Member, ...]
    _resources: ExitStack = field(default_factory=ExitStack, repr=False)

    def on(self, table: StateTable) -> Portfolio:
        """The same policies on another table, without what is known of their runs.

        It need not be closed, and cannot be used after this one was.
        """
        members = (Member(one.name, PolicyRuns(one.runs.policy, table)) for one in self.members)
        return Portfolio(tuple(members))

    def close(self) -> None:
        """End the processes and close the connections behind the policies."""
        self._resources.close()


def open_portfolio(
    specs: Mapping[str, str],
    table: StateTable,
    seed: int = 0,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> Portfolio:
    """The best `MAX_MEMBERS` of these policies, given by their names."""
    domain = table.task.source.domain if table.task.source else None
    with ExitStack() as resources:
        policies = []
        for spec in specs.values():
            policies.append(open_policy(spec, domain, seed))
            resources.callback(close_policy, policies[-1])
        named = list(zip(specs, policies, strict=True))
        recorded = [_recorded_rank(policy) for policy in policies]
        if all(rank is not None for rank in recorded):
            known = dict(named)
            named = [(name, known[name]) for name in recorded_order(known)[:MAX_MEMBERS]]
        members = []
        for name, policy in named:
            bound = policy.bind(table.task)
            resources.callback(close_policy, bound)
            members.append(Member(name, PolicyRuns(bound, table)))
        if any(rank is None for rank in recorded):
            members = _ranked_by_running(members, table, cancelled)
        return Portfolio(tuple(members[:MAX_MEMBERS]), resources.pop_all())


def recorded_order(policies: Mapping[str, Policy]) -> list[str]:
    """Names, the best policy first by what trainings recorded; as they are if one did not."""
    ranks = {name: _recorded_rank(policy) for name, policy in policies.items()}
    if any(rank is None for rank in ranks.values()):
        return list(ranks)
    return sorted(ranks, key=lambda name: ranks[name] or (0.0, 0.0))


def named_policies(specs: Sequence[str]) -> dict[str, str]:
    """What a user wrote, by short names; a directory stands for the policy files in it."""
    expanded = _expanded(specs)
    return dict(zip(_short_names(expanded), expanded, strict=True))


def _expanded(specs: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for text in specs:
        spec = PolicySpec.parse(text, base="")
        if spec.kind is not SpecKind.FOLDER:
            found[text] = None
            continue
        folder = Path(spec.place)
        files = portfolio_files(folder)
        if not files:
            raise PolicyError(
                "the portfolio has no policy files",
                Location.of(folder),
                f"name a directory with files that end in {', '.join(checkpoint_suffixes())}",
            )
        found.update(dict.fromkeys(map(str, files)))
    return list(found)


def _short_names(specs: Sequence[str]) -> list[str]:
    """Return file names if they are distinct, else what the user wrote."""
    names = [PolicySpec.parse(spec).name for spec in specs]
    return names if len(set(names)) == len(names) else list(specs)


def _recorded_rank(policy: Policy) -> Rank | None:
    """The rank that the training wrote into the checkpoint."""
    details = policy.describe().details
    success, cost = details.get("success"), details.get("cost")
    if isinstance(success, int | float) and isinstance(cost, int | float):
        return 1.0 - success, cost
    return None


def _ranked_by_running(
    members: Sequence[Member], table: StateTable, cancelled: Callable[[], bool]
) -> list[Member]:
    (start,) = table.add([table.task.init]).tolist()

    def rank(member: Member) -> Rank:
        results = member.runs.run([start], RANKING_STEPS, cancelled)
        solved = results.outcome[0] is RunOutcome.SOLVED
        return (0.0, float(results.cost[0])) if solved else (1.0, 0.0)

    return sorted(members, key=rank)
