"""A Python file of the user in a process of its own."""

from __future__ import annotations

from engine.policies.kinds import PolicyKind, PolicySource
from engine.policies.policy import Policy
from engine.records.policy_spec import SpecKind


def _recognizes(source: PolicySource) -> bool:
    return source.spec.kind is SpecKind.PLUGIN


def _open(source: PolicySource, seed: int) -> Policy:
    del seed
    from engine.policies.plugin.policy import open_plugin

    return open_plugin(source.path, source.spec.factory)


KIND = PolicyKind("plug-in", "Python plug-in", _recognizes, _open)
