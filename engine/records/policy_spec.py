"""How a user names a policy: the only parser of a POLICY.

A POLICY is a file, a folder of checkpoints, `grpc://host:port`, `path/to/file.py:factory` or
`builtin:NAME`; `#first`, `#worst` or `#best` may follow and says which action counts where the
policy allows several. What kind of policy a file holds, its content decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from msgspec.structs import replace

from engine.errors import DamagedRecordError, PolicyError
from engine.records.codec import Record, Text

BUILTIN = "builtin:"
SERVER = "grpc://"
RESOLUTIONS = ("first", "worst", "best")
_HINT = "name a policy file, grpc://host:port, path/to/file.py:factory or builtin:NAME"


class SpecKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    SERVER = "server"
    PLUGIN = "plug-in"
    BUILTIN = "built-in"


class PolicySpec(Record):
    """`place` is a path, an address or the name of a built-in policy."""

    kind: SpecKind
    place: Text
    factory: Text = ""
    resolution: Text = ""

    @classmethod
    def parse(cls, text: str, base: str | Path | None = None) -> PolicySpec:
        """The policy that a user names; paths are relative to `base`.

        A folder ends with a slash. Only with a `base` is the disk asked whether a path is one.
        """
        if "\0" in text:
            raise PolicyError("the name of a policy contains a NUL character", hint=_HINT)
        start, _, resolution = text.rpartition("#")
        named, resolution = (start, resolution) if resolution in RESOLUTIONS else (text, "")
        if not named.removeprefix(BUILTIN).removeprefix(SERVER).strip():
            raise PolicyError(f"'{text}' names no policy", hint=_HINT)
        if named.startswith(BUILTIN):
            return cls(SpecKind.BUILTIN, named.removeprefix(BUILTIN), "", resolution)
        if named.startswith(SERVER):
            address = named.removeprefix(SERVER)
            require_address(address)
            return cls(SpecKind.SERVER, address, "", resolution)
        path = named if base is None else os.path.join(base, named)
        file, _, factory = path.rpartition(":")
        if file.endswith(".py") and "/" not in factory:
            _require_function(factory)
            return cls(SpecKind.PLUGIN, file, factory, resolution)
        if path.endswith("/") or (base is not None and os.path.isdir(path)):
            return cls(SpecKind.FOLDER, path.rstrip("/") or "/", "", resolution)
        if path.endswith(".py"):
            raise PolicyError(
                f"'{text}' does not say which function of the plug-in makes the policy",
                hint=f"write {named}:FACTORY",
            )
        return cls(SpecKind.FILE, path, "", resolution)

    def __str__(self) -> str:
        return self._text(self.place)

    def _text(self, place: str) -> str:
        end = f"#{self.resolution}" if self.resolution else ""
        match self.kind:
            case SpecKind.BUILTIN:
                return f"{BUILTIN}{place}{end}"
            case SpecKind.SERVER:
                return f"{SERVER}{place}{end}"
            case SpecKind.PLUGIN:
                return f"{place}:{self.factory}{end}"
            case SpecKind.FOLDER:
                return f"{place.rstrip('/')}/{end}"
        return f"{place}{end}"

    def at(self, place: str) -> PolicySpec:
        """The same with its file somewhere else."""
        return replace(self, place=place)

    @property
    def needs_consent(self) -> bool:
        """Whether the user has to agree before it is used: a program, or another machine."""
        return self.kind in (SpecKind.PLUGIN, SpecKind.SERVER)

    @property
    def is_external(self) -> bool:
        """Whether it is used where it is, rather than from a copy of its file."""
        return self.kind not in (SpecKind.FILE, SpecKind.FOLDER)

    @property
    def path(self) -> Path | None:
        """The file or folder; None if it has none."""
        return None if self.kind in (SpecKind.BUILTIN, SpecKind.SERVER) else Path(self.place)

    @property
    def name(self) -> str:
        """A short name that still identifies the policy."""
        return self.short_name(1)

    def short_name(self, parts: int) -> str:
        """Return the name with this number of last parts of its path; the whole name without a
        path.
        """
        path = self.path
        if path is None:
            return str(self)
        return self._text("/".join(path.parts[-parts:]) or self.place)


def require_address(address: str) -> None:
    """Refuse what cannot be the address of a policy server."""
    if not is_address(address):
        raise PolicyError(
            f"'{address}' is not the address of a policy server",
            hint="write grpc://host:port or grpc://unix:path",
        )


def is_address(address: str, lowest_port: int = 1) -> bool:
    """Whether gRPC can use it: `host:port` or `unix:path`."""
    if address.startswith("unix:"):
        return len(address) > len("unix:")
    host, _, port = address.rpartition(":")
    is_number = port.isascii() and port.isdigit() and len(port) <= 5
    return bool(host) and is_number and lowest_port <= int(port) < 2**16


def require_specs(texts: Iterable[str]) -> None:
    """Refuse a record with a text that names no policy."""
    for text in texts:
        try:
            PolicySpec.parse(text)
        except PolicyError as error:
            raise DamagedRecordError(str(error)) from None


def _require_function(factory: str) -> None:
    if not factory.isidentifier():
        raise PolicyError(
            f"'{factory}' is not the name of a function",
            hint="name a plug-in as path/to/file.py:factory",
        )
