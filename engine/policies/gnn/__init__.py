"""Relational graph neural networks as policies: checkpoint files, encoding, network, policy."""

from __future__ import annotations

from engine.policies.kinds import PolicyKind, PolicySource
from engine.policies.policy import Policy
from engine.policies.torch_file import ZIP_START


def _recognizes(source: PolicySource) -> bool:
    return source.head.startswith(ZIP_START)


def _open(source: PolicySource, seed: int) -> Policy:
    from engine.policies.gnn.policy import GnnPolicy

    return GnnPolicy.from_checkpoint(source.path, source.checkpoint, seed)


KIND = PolicyKind("gnn", "Graph network", _recognizes, _open, (".ckpt",))
