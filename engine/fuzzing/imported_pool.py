"""A pool that is given rather than grown: one that was made before, or one of other tools.

Pool files and bugs files can be described without a task; whether they fit one shows when they are
read for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.errors import Location, UnreadableFileError
from engine.fuzzing.bugs_file import FAILS, parse_bugs, task_in
from engine.fuzzing.fuzzer import FuzzStatistics
from engine.fuzzing.pool_file import PoolEntry, count_states, is_pool, parse_pool
from engine.records.config import MadeState
from engine.records.inputs import File
from engine.records.project import PoolContents
from engine.task.sas import parse_sas
from engine.task.task import Task


def contents(file: File) -> PoolContents:
    """What is in a pool file or a bugs file, whatever task it belongs to."""
    text = _text(file)
    if is_pool(text):
        return PoolContents(count_states(text, file.path))
    records = parse_bugs(text, None, file.path)
    values = [record.value for record in records if record.value is not None]
    bugs = sum(value != 0 for value in values)
    return PoolContents(len(records), bugs, values.count(FAILS), task_in(text) is not None)


def task_of(file: File) -> Task:
    """The task that a bugs file brings with it."""
    text = task_in(_text(file))
    if text is None:
        raise UnreadableFileError("this file contains no task", Location.of(file.path))
    return parse_sas(text, file.path)


class MadePool:
    """What the same walks found before, with where each state came from."""

    def __init__(self, states: Sequence[MadeState], *, complete: bool) -> None:
        self.complete = False  # before the last state has been taken
        self._was_complete = complete
        self.statistics = FuzzStatistics()
        self.entries = [
            PoolEntry(made.state, made.reference, len(made.operators), made.operators)
            for made in states
        ]

    def grow(self) -> Iterator[int]:
        yield from range(len(self.entries))
        self.complete = self._was_complete


class ImportedPool:
    """Stands where a fuzzer does: the entries are there from the beginning."""

    complete = False  # other states are unknown

    def __init__(self, file: File, task: Task) -> None:
        self.statistics = FuzzStatistics()
        self.entries = _distinct(_entries(file, task), self.statistics)

    def grow(self) -> Iterator[int]:
        yield from range(len(self.entries))


def _text(file: File) -> str:
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFileError("this is not a text file", Location.of(file.path)) from None


def _entries(file: File, task: Task) -> list[PoolEntry]:
    text = _text(file)
    if is_pool(text):
        return parse_pool(text, task, file.path)
    return [PoolEntry(record.state) for record in parse_bugs(text, task, file.path)]


def _distinct(entries: list[PoolEntry], statistics: FuzzStatistics) -> list[PoolEntry]:
    """Every state once; where it came from is unknown unless its walk was written down."""
    known: dict[tuple[int, ...], None] = {}
    for entry in entries:
        if entry.state in known:
            statistics.duplicates += 1
        known[entry.state] = None
    return [PoolEntry(state) for state in known]
