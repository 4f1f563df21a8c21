"""Which plug-ins and servers the user lets a workspace use.

A plug-in is a program and a server is another machine; a workspace, which may come from a stranger,
only names them. So consent is never stored in a workspace, and is bound to what the user has seen:
an address, or a file at its place with its contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import PlumblineError, PolicyError
from engine.files import read_bytes
from engine.records.policy_spec import PolicySpec, SpecKind


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
        named = PolicySpec.parse(spec)
        if named.kind is SpecKind.SERVER:
            return f"policy server {spec} is not trusted"
        return f"plug-in {named.place} is not trusted"


NO_CONSENT = Consent()


def consent_name(spec: str) -> str:
    """What the user has to agree to before a policy may be used; empty if to nothing."""
    named = PolicySpec.parse(spec)
    if not named.needs_consent:
        return ""
    if named.kind is SpecKind.SERVER:
        return str(named)
    content = read_bytes(named.place, "a Python file")
    return f"{hashlib.sha256(content).hexdigest()} {Path(named.place).resolve()}"


def refuse_without_consent(specs: Iterable[str], consent: Consent) -> None:
    for spec in specs:
        if objection := consent.objection(spec):
            raise PolicyError(
                objection,
                hint="review it, add it to the project and allow it there",
            )
