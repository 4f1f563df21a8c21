"""Which plug-ins and servers the user lets a workspace use.

A plug-in is a program and a server is somebody on the network; a workspace, which may come from
anybody, only names them. So what was agreed to is never kept in a workspace, and is bound to what
the user has seen: an address, or a file at its place with its contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import PlumblineError, PolicyError
from engine.files import read_bytes

SERVER = "grpc://"


@dataclass(frozen=True, slots=True)
class Consent:
    """`agreed` are names that `consent_name` gives."""

    agreed: frozenset[str] = frozenset()
    to_all: bool = False

    def objection(self, spec: str) -> str:
        """Why a policy may not be asked; empty if it may."""
        if self.to_all:
            return ""
        try:
            name = consent_name(spec)
        except PlumblineError as error:
            return str(error)
        if not name or name in self.agreed:
            return ""
        if spec.startswith(SERVER):
            return f"policy server {spec} is not trusted"
        return f"plug-in {plugin_file(spec)} is not trusted"


NO_CONSENT = Consent()


def plugin_file(spec: str) -> str | None:
    """The file of a plug-in policy; None for others."""
    path, colon, _ = spec.rpartition(":")
    return path if colon and path.endswith(".py") and not spec.startswith(SERVER) else None


def consent_name(spec: str) -> str:
    """What the user has to agree to before a policy may be used; empty if to nothing."""
    if spec.startswith(SERVER):
        return spec
    path = plugin_file(spec)
    if path is None:
        return ""
    content = read_bytes(path, "a Python file")
    return f"{hashlib.sha256(content).hexdigest()} {Path(path).resolve()}"


def refuse_without_consent(specs: Iterable[str], consent: Consent) -> None:
    for spec in specs:
        if objection := consent.objection(spec):
            raise PolicyError(
                objection,
                hint="review it, add it to the project and allow it there",
            )
