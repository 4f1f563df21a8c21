"""The pool of test states and its text file.

A pool remembers how each state was reached: the entry a walk started from and, where the walk was
made by us, its operators. The file names variables and facts, so that a pool made for another
encoding of the same problem is refused instead of misread (P43). See docs/formats.md, "Pool file".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import Location, UnreadableFileError, UsageError
from engine.files import read_text
from engine.task.task import Task

_HEADER = "sas_variables"
_START = "pool"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """`operators` is None where only the length of the walk is known."""

    state: tuple[int, ...]
    reference: int = -1  # the index of the entry where the walk started; -1: the initial state
    steps: int = 0
    operators: tuple[int, ...] | None = None


def write_pool(task: Task, entries: list[PoolEntry]) -> str:
    facts = [";".join([str(len(v.values)), *v.values]) for v in task.variables]
    lines = [_HEADER, str(len(task.variables)), *facts, _START]
    numbers = [str(value) for value in range(max(task.domain_sizes, default=0))]
    for number, entry in enumerate(entries):
        values = ";".join([numbers[value] for value in entry.state])
        lines.append(f"{entry.reference};{entry.steps};#{number};{values}")
    return "\n".join(lines) + "\n"


def is_pool(text: str) -> bool:
    return text.startswith(_HEADER)


def count_states(text: str, path: str = "") -> int:
    """How many entries a pool file has, whatever task it belongs to."""
    lines = iter(text.splitlines())
    if not any(line.strip() == _START for line in lines):
        raise UnreadableFileError(f"it has no line '{_START}'", Location.of(path))
    return sum(bool(line.strip()) for line in lines)


def read_pool(path: Path, task: Task) -> list[PoolEntry]:
    """The entries of a pool file that belongs to this very encoding."""
    return parse_pool(read_text(path, "a pool file"), task, str(path))


def parse_pool(text: str, task: Task, path: str = "") -> list[PoolEntry]:
    lines = text.splitlines()
    count = len(task.variables)
    if len(lines) < count + 3 or lines[0].strip() != _HEADER:
        raise UnreadableFileError(
            f"this is not a pool file: it must begin with '{_HEADER}'",
            Location.of(path, 1),
            "make one with 'plumbline fuzz'",
        )
    if lines[1].strip() != str(count):
        raise _other_encoding(path, 2, f"expected {count} variables, found '{lines[1].strip()}'")
    for number, variable in enumerate(task.variables):
        expected = ";".join([str(len(variable.values)), *variable.values])
        if lines[number + 2].strip() != expected:
            raise _other_encoding(path, number + 3, f"variable {number} is another one")
    if lines[count + 2].strip() != _START:
        raise UnreadableFileError("expected the line 'pool' here", Location.of(path, count + 3))
    return _entries(lines, count + 3, task, path)


def _entries(lines: list[str], first: int, task: Task, path: str) -> list[PoolEntry]:
    entries: list[PoolEntry] = []
    for number, line in enumerate(lines[first:], first + 1):
        if line.strip():
            entries.append(_entry(line, len(entries), task, Location.of(path, number)))
    if entries and entries[0].state != task.init:
        raise _other_encoding(path, first + 1, "its first state is not the task's initial state")
    return entries


def _entry(line: str, index: int, task: Task, location: Location) -> PoolEntry:
    words = line.strip().split(";")
    if len(words) != len(task.variables) + 3 or not words[2].startswith("#"):
        message = f"an entry has {len(task.variables) + 3} parts: reference;steps;#id;values"
        raise UnreadableFileError(message, location)
    try:
        reference, steps, *state = (int(word) for word in words[:2] + words[3:])
    except ValueError:
        raise UnreadableFileError("an entry holds integers only", location) from None
    if not -1 <= reference < max(index, 1) or steps < 0:
        raise UnreadableFileError("a walk must start at an earlier entry", location)
    for variable, value in zip(task.variables, state, strict=True):
        if not 0 <= value < len(variable.values):
            raise UnreadableFileError(f"{variable.name} has no value {value}", location)
    if task.extend(state) != tuple(state):
        raise UnreadableFileError(
            "derived values do not follow from the axioms: another task?",
            location,
            "choose the task that the pool was made for",
        )
    return PoolEntry(tuple(state), reference, steps)


def _other_encoding(path: str, line: int, reason: str) -> UsageError:
    return UsageError(
        f"this pool belongs to another task: {reason}",
        Location.of(path, line),
        "choose the task that the pool was made for",
    )
