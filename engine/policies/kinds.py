"""The kinds of policies: one line per kind.

The module of a kind holds its entry, `KIND`, and imports slow packages (gRPC) only when a
policy is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.errors import Location, PolicyError
from engine.records.policy_spec import PolicySpec
from engine.workers.limits import ReadingLimitError, bounded_reading

if TYPE_CHECKING:
    from engine.policies.policy import Policy

_MODULES = {
    "remote": "engine.policies.remote",
    "plug-in": "engine.policies.plugin",
    "asnets": "engine.policies.asnets",
    "gnn": "engine.policies.gnn",
    "policy cache": "engine.policies.cache_file",
    "builtin": "engine.policies.builtin",
}
"""By name; where several kinds share a format, the first that does not decline opens a file."""

HEAD_BYTES = 2**16
"""How much of a file is read to recognize it."""


@dataclass(frozen=True)
class PolicySource:
    """What a user named, and the first bytes of its file; empty if it has none."""

    spec: PolicySpec
    head: bytes = b""

    @property
    def path(self) -> Path:
        return Path(self.spec.place)

    @cached_property
    def checkpoint(self) -> Mapping[str, Any]:
        """The contents of a torch file: tensors and plain values only."""
        from engine.policies.torch_file import load_checkpoint

        return load_checkpoint(self.path)


@dataclass(frozen=True)
class PolicyKind:
    """`recognizes` is quick and runs nothing; `open` returns None for a file of another kind."""

    name: str
    title: str  # for users
    recognizes: Callable[[PolicySource], bool]
    open: Callable[[PolicySource, int], Policy | None]  # with the seed of policies that draw
    suffixes: tuple[str, ...] = ()  # of its files; contents decide, but folders hold other files
    of_task: bool = False  # whether a policy belongs to one task rather than to a domain


def kind_named(name: str) -> PolicyKind:
    return cast("PolicyKind", import_module(_MODULES[name]).KIND)


def policy_kinds() -> Iterator[PolicyKind]:
    return map(kind_named, _MODULES)


def is_policy(source: PolicySource) -> bool:
    """Whether this looks like a policy, without opening it."""
    return any(kind.recognizes(source) for kind in policy_kinds())


def policy_suffixes() -> tuple[str, ...]:
    return tuple(suffix for kind in policy_kinds() for suffix in kind.suffixes)


def checkpoint_suffixes() -> tuple[str, ...]:
    """The suffixes of files that a portfolio is made of."""
    return tuple(suffix for kind in policy_kinds() if not kind.of_task for suffix in kind.suffixes)


def portfolio_files(folder: Path) -> list[Path]:
    """The policy files of a directory, by name."""
    suffixes = checkpoint_suffixes()
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in suffixes)
    except OSError as error:
        reason = error.strerror or error
        raise PolicyError(f"the folder cannot be read: {reason}", Location.of(folder)) from error


def open_source(spec: PolicySpec, seed: int) -> Policy:
    """The policy that a spec names, whatever its kind."""
    if spec.is_external:
        policy = _open(PolicySource(spec), seed)
    else:
        path = Path(spec.place)
        source = PolicySource(spec, _head(path))
        try:
            with bounded_reading(path.stat().st_size if source.head else 0):
                policy = _open(source, seed)
        except (ReadingLimitError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise PolicyError(
                f"the policy cannot be read: {reason}",
                Location.of(path),
                "copy the file again from its source",
            ) from None
    return policy


def _open(source: PolicySource, seed: int) -> Policy:
    for kind in policy_kinds():
        if kind.recognizes(source) and (policy := kind.open(source, seed)) is not None:
            return policy
    kinds = [kind for kind in policy_kinds() if kind.suffixes]
    known = "; ".join(f"{', '.join(kind.suffixes)} ({kind.title})" for kind in kinds)
    hint = f"choose one of these kinds: {known}"
    raise PolicyError("this is not a policy file", Location.of(source.path), hint)


def _head(path: Path) -> bytes:
    if os.path.isdir(path):
        raise PolicyError(
            "a directory of checkpoints is a portfolio, not one policy",
            Location.of(path),
            "name one of its files" if portfolio_files(path) else "it has no policy files",
        )
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe could block forever
        raise PolicyError("this is not a regular file", Location.of(path), "name a policy file")
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise PolicyError(
            f"the policy cannot be read: {error.strerror or error}",
            Location.of(path),
            "check the path and its permissions",
        ) from error
