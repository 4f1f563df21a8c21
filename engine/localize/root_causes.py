"""Root causes: bugs whose runs go through the same bad step are one.

A policy is a function, so runs that share a step are the same from there on and share their last
bad step. Grouping bugs by the step to blame is therefore the same as uniting all bugs that share
any bad step. The step's own state is the smallest bug of all: what follows is optimal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from engine.localize.localisation import CauseKind, State


@dataclass(frozen=True, slots=True)
class RootCause:
    """A bad step of one policy on one problem, and the bugs it is to blame for."""

    id: int
    kind: CauseKind
    problem: str
    policy: str
    state: State  # where it is taken
    operator: int | None  # None: the policy has no answer there that can be executed
    action: str  # the operator's name
    bugs: tuple[int, ...]  # the nearest to the bad step first

    @property
    def smallest_bug(self) -> int:
        """The bug whose run comes to the bad step soonest."""
        return self.bugs[0]

    @property
    def schema(self) -> str:
        """The action without its objects."""
        return self.action.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class SchemaCauses:
    """All root causes that are instances of one action schema."""

    schema: str
    causes: tuple[RootCause, ...]

    @property
    def bugs(self) -> int:
        return sum(len(cause.bugs) for cause in self.causes)


def by_schema(causes: Iterable[RootCause]) -> list[SchemaCauses]:
    """Root causes by the action to blame, those with the most bugs first."""
    groups: defaultdict[str, list[RootCause]] = defaultdict(list)
    for cause in causes:
        groups[cause.schema].append(cause)
    found = [
        SchemaCauses(schema, tuple(sorted(group, key=lambda cause: (-len(cause.bugs), cause.id))))
        for schema, group in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.bugs, group.schema))
