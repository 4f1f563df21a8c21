"""Action schema networks: lifted relatedness, grounding, the network, its files, the policy."""

from __future__ import annotations

from engine.policies.kinds import PolicyKind, PolicySource
from engine.policies.policy import Policy
from engine.policies.torch_file import ZIP_START

_SQLITE_START = b"SQLite format 3\x00"


def _recognizes(source: PolicySource) -> bool:
    return source.head.startswith((_SQLITE_START, ZIP_START))


def _open(source: PolicySource, seed: int) -> Policy | None:
    """A `.policy` file of cpddl, or a `.pt` file of our own."""
    del seed
    from engine.policies.asnets.policy import AsnetsPolicy

    if source.head.startswith(_SQLITE_START):
        return AsnetsPolicy.from_cpddl(source.path)
    if "plumbline" not in source.checkpoint:
        return None
    return AsnetsPolicy.from_checkpoint(source.path, source.checkpoint)


KIND = PolicyKind("asnets", "Action schema network", _recognizes, _open, (".policy", ".pt"))
