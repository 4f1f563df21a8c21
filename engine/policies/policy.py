"""What a policy is: a function from states to operators, asked for whole batches of states.

A policy knows its domain; bound to a task it decides. Decisions depend on nothing but the state,
neither on what was asked before nor on the other states of a batch. `PolicyRuns` asks about a
state only once, so that a policy that breaks this promise is still tested as a function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.errors import Location, PolicyError
from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.kinds import open_source
from engine.records.policy_spec import PolicySpec
from engine.task.task import PddlSource, Task

NO_ACTION = -1
"""The policy has nothing to do in this state."""

NO_OPERATION = -2
"""The policy chose an action that changes nothing, which the task has no operator for."""


@dataclass(frozen=True)
class PolicyInfo:
    """The description of a policy that `plumbline policy` prints; `details` is JSON."""

    kind: str
    domain: str | None  # the name of its domain, if it knows it
    details: Mapping[str, Any] = field(default_factory=dict)


class BoundPolicy(Protocol):
    """A policy for one task."""

    def decide(self, states: Int32Array) -> Int32Array:
        """An operator id per state, or `NO_ACTION`, or `NO_OPERATION`.

        `states` has one row of values per state. The caller checks the answer.
        """
        ...


@runtime_checkable
class Probabilistic(Protocol):
    """A bound policy that can also say how likely it finds each operator."""

    def distribution(self, states: Int32Array) -> NDArray[np.float64]:
        """One row per state, one column per operator of the task."""
        ...


class Policy(Protocol):
    def describe(self) -> PolicyInfo: ...

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        """Return reasons why the policy cannot act in a domain; empty if none is known."""
        ...

    def bind(self, task: Task) -> BoundPolicy: ...


def notes_of(bound: BoundPolicy) -> tuple[str, ...]:
    """What the user should know about a bound policy, if it has anything to say."""
    return tuple(getattr(bound, "notes", ()))


def close_policy(policy: Policy | BoundPolicy) -> None:
    """End the process or close the connection behind a policy, if there is one."""
    close = getattr(policy, "close", None)
    if close is not None:
        close()


def open_policy(spec: str, domain: Domain | None = None, seed: int = 0) -> Policy:
    """The policy a user names: a file, `grpc://host:port`, `file.py:factory`, `builtin:NAME`.

    Files are recognized by their contents. With a domain, a policy that does not fit it is
    refused. The seed matters to policies that draw random numbers.
    """
    named = PolicySpec.parse(spec)
    if named.resolution:
        raise PolicyError(
            "this policy chooses one action in every state",
            Location.of(spec),
            f"leave out #{named.resolution}",
        )
    policy = open_source(named, seed)
    if domain is not None:
        require_domain(policy, domain, spec)
    return policy


@contextmanager
def bound_policy(spec: str, task: Task, seed: int = 0) -> Iterator[BoundPolicy]:
    """Open a policy for one task, and close it in the end."""
    policy = open_policy(spec, task.source.domain if task.source else None, seed)
    try:
        bound = policy.bind(task)
        try:
            yield bound
        finally:
            close_policy(bound)
    finally:
        close_policy(policy)


def require_domain(policy: Policy, domain: Domain, name: str) -> None:
    if reasons := policy.misfits(domain):
        raise PolicyError(
            f"the policy does not fit the domain '{domain.name}': {'; '.join(reasons)}",
            Location.of(name),
            "choose the domain it was trained for",
        )


def pddl_source(task: Task, path: Path) -> PddlSource:
    if task.source is None:
        raise PolicyError(
            "this policy needs the PDDL files, and the task comes from a .sas file",
            Location.of(path),
            "name the domain and the problem instead",
        )
    return task.source
