"""What a disk may hold after the power failed: syncs are kept, the rest may be lost or torn.

A trace (see write_trace.c) is played up to some point. What was synced is there. Of every later
write any sectors may be missing, and of later changes to the folder any number from the end.
"""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
ACKNOWLEDGED = "acknowledged"
"""A file in the traced folder to which a process writes what it has promised to keep."""


@dataclass(frozen=True, slots=True)
class Step:
    kind: str  # write, truncate, sync, create, unlink, link: the first letter
    name: str
    offset: int
    data: bytes


def read_trace(path: Path) -> list[Step]:
    data, position, steps = path.read_bytes(), 0, []
    while position < len(data):
        kind, length, offset, size = struct.unpack_from("<cHQQ", data, position)
        position += 19
        name = data[position : position + length].decode()
        position += length
        steps.append(Step(kind.decode(), name, offset, data[position : position + size]))
        position += size
    return steps


@dataclass
class _File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Step] = field(default_factory=list)

    def sync(self) -> None:
        for step in self.pending:
            _apply(self.durable, step)
        self.pending.clear()

    def after_failure(self, chance: random.Random) -> bytes:
        content = bytearray(self.durable)
        for step in self.pending:
            if step.kind == "t":
                if chance.random() < 0.5:
                    _apply(content, step)
                continue
            kept = chance.choice((0.0, 0.5, 1.0))
            for start in range(0, len(step.data), SECTOR):
                if chance.random() < kept:
                    part = step.data[start : start + SECTOR]
                    _apply(content, Step("w", step.name, step.offset + start, part))
        return bytes(content)


def _apply(content: bytearray, step: Step) -> None:
    if step.kind == "t":
        del content[step.offset :]
        content.extend(bytes(step.offset - len(content)))
    else:
        end = step.offset + len(step.data)
        content.extend(bytes(max(0, end - len(content))))
        content[step.offset : end] = step.data


class Disk:
    """A folder, as the steps of a trace change it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._names: dict[str, _File | None] = {
            name: _File(bytearray(content)) for name, content in files.items()
        }
        self._durable_names = dict(self._names)
        self._name_changes: dict[str, list[_File | None]] = defaultdict(list)
        self.acknowledged: list[str] = []

    def take(self, step: Step) -> None:
        if step.name == ACKNOWLEDGED:
            if step.kind == "w":
                self.acknowledged += step.data.decode().split()
        elif step.kind in "cul":
            file = _File() if step.kind == "c" else None
            if step.kind == "l":
                file = self._names[step.data.decode()]
            self._names[step.name] = file
            self._name_changes[step.name].append(file)
        elif not step.name:  # the folder was synced
            self._durable_names = dict(self._names)
            self._name_changes.clear()
        else:
            file = self._names[step.name]
            assert file is not None, f"{step.name} is written to without a name"
            if step.kind == "s":
                file.sync()
            else:
                file.pending.append(step)

    def after_failure(self, chance: random.Random) -> dict[str, bytes]:
        """What may be found on it now."""
        names = dict(self._durable_names)
        for name, changes in self._name_changes.items():
            names[name] = chance.choice([names.get(name), *changes])
        return {name: file.after_failure(chance) for name, file in names.items() if file}
