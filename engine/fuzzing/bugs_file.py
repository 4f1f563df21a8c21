"""The bugs file of the reference tool: states with bug values and bounds.

Records may come in any order and several times: the largest bug value counts, a failure (-1) above
all, and the smallest bound. What such a file claims comes without evidence, so its states are
worth testing again and nothing more. See docs/formats.md, "Bugs file".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from engine.errors import Location, UnreadableFileError
from engine.task.sas import parse_sas
from engine.task.task import Task

FAILS = -1
_NO_BOUND = -1
_SAS_BEGIN, _SAS_END = "begin_sas", "end_sas"
_START = re.compile(rf"\s*(?:{_SAS_BEGIN}\s|\d+\s*\n\s*state\s*\n)")


@dataclass(frozen=True, slots=True)
class BugRecord:
    """`value` None: no result is known; FAILS: the policy fails on a solvable state."""

    state: tuple[int, ...]
    value: int | None = None
    bound: int | None = None
    in_pool: bool = False

    def with_result(self, value: int, bound: int | None) -> BugRecord:
        known = [other for other in (self.bound, bound) if other is not None]
        return replace(self, value=_worse(self.value, value), bound=min(known, default=None))


def _worse(known: int | None, value: int) -> int:
    if known is None or FAILS in (known, value):
        return FAILS if known == FAILS else value
    return max(known, value)


def is_bugs_file(text: str) -> bool:
    """Whether a text begins like a bugs file: with a task, or with the state of the first bug."""
    return _START.match(text) is not None


def task_in(text: str) -> str | None:
    """The task that a bugs file brings with it, as the text of a `.sas` file."""
    lines = [line.strip() for line in text.splitlines()]
    if _SAS_BEGIN not in lines:
        return None
    inside = lines[lines.index(_SAS_BEGIN) + 1 :]
    end = inside.index(_SAS_END) if _SAS_END in inside else len(inside)
    return "\n".join(inside[:end]) + "\n"


def write_bugs(records: Iterable[BugRecord]) -> str:
    lines: list[str] = []
    for number, record in enumerate(records):
        lines += [str(number), "state", " ".join(map(str, record.state))]
        if record.value is not None:
            bound = _NO_BOUND if record.bound is None else record.bound
            lines += [str(number), "result", str(record.value), str(bound)]
        if record.in_pool:
            lines += [str(number), "pool"]
    return "\n".join(lines) + "\n" if lines else ""


def parse_bugs(text: str, task: Task | None, path: str = "") -> list[BugRecord]:
    """Return the records in order of appearance; without a task, states are not checked."""
    return _Reader(text, task, path).records()


class _Reader:
    def __init__(self, text: str, task: Task | None, path: str) -> None:
        self._lines = list(enumerate(text.splitlines(), 1))
        self._task, self._path = task, path
        self._place = 0

    def records(self) -> list[BugRecord]:
        self._lines = list(self._without_task())
        found: dict[int, BugRecord] = {}
        while self._place < len(self._lines):
            number = self._integers(1, "a bug's number")[0]
            line, kind = self._next("'state', 'result' or 'pool'")
            if kind == "state":
                if number in found:
                    raise self._error(line, f"bug {number} has two states")
                found[number] = BugRecord(self._state())
            elif kind not in ("result", "pool"):
                raise self._error(line, f"'{kind:.40}' is not 'state', 'result' or 'pool'")
            elif number not in found:
                raise self._error(line, f"bug {number} has no state yet")
            elif kind == "result":
                (value,), (bound,) = self._integers(1, "a value"), self._integers(1, "a bound")
                if value < FAILS or bound < _NO_BOUND:
                    raise self._error(line, "bug values and bounds are at least -1")
                known = None if bound == _NO_BOUND else bound
                found[number] = found[number].with_result(value, known)
            else:
                found[number] = replace(found[number], in_pool=True)
        return list(found.values())

    def _without_task(self) -> Iterator[tuple[int, str]]:
        """The task that the file may bring with it must be ours."""
        lines = iter(self._lines)
        for line, text in lines:
            if text.strip() != _SAS_BEGIN:
                if text.strip():
                    yield line, text.strip()
                continue
            inside: list[str] = []
            for _, content in lines:
                if content.strip() == _SAS_END:
                    break
                inside.append(content)
            theirs = parse_sas("\n".join(inside) + "\n", self._path)
            if self._task is not None and theirs.hash != self._task.hash:
                raise self._error(line, "these bugs belong to another task")

    def _next(self, what: str) -> tuple[int, str]:
        if self._place == len(self._lines):
            last = self._lines[-1][0] if self._lines else 1
            raise self._error(last, f"the file ends where {what} is expected")
        self._place += 1
        return self._lines[self._place - 1]

    def _integers(self, count: int | None, what: str) -> list[int]:
        line, text = self._next(what)
        try:
            numbers = [int(word) for word in text.split()]
        except ValueError:
            raise self._error(line, f"{what} is expected here, not '{text:.40}'") from None
        if count is not None and len(numbers) != count:
            raise self._error(line, f"{count} numbers are expected here, not {len(numbers)}")
        return numbers

    def _state(self) -> tuple[int, ...]:
        if self._task is None:
            return tuple(self._integers(None, "a state"))
        line = self._lines[min(self._place, len(self._lines) - 1)][0]
        values = self._integers(len(self._task.variables), "a state")
        for variable, value in zip(self._task.variables, values, strict=True):
            if not 0 <= value < len(variable.values):
                raise self._error(line, f"{variable.name} has no value {value}")
        if self._task.extend(values) != tuple(values):
            message = "derived values do not follow from the axioms: another task?"
            raise self._error(line, message)
        return tuple(values)

    def _error(self, line: int, message: str) -> UnreadableFileError:
        return UnreadableFileError(
            message, Location.of(self._path, line), "choose a bugs file of this task"
        )
