"""The pheromone protocol, both sides."""

from __future__ import annotations

from engine.policies.kinds import PolicyKind, PolicySource
from engine.policies.policy import Policy
from engine.records.policy_spec import SpecKind


def _recognizes(source: PolicySource) -> bool:
    return source.spec.kind is SpecKind.SERVER


def _open(source: PolicySource, seed: int) -> Policy:
    del seed
    from engine.policies.remote.policy import open_remote  # gRPC is slow to import

    return open_remote(source.spec.place)


KIND = PolicyKind("remote", "Policy server", _recognizes, _open, of_task=True)
