"""A policy written down state by state: the policy cache of the reference tool.

One line per state: the operator, -1 for none, and the values. About states that are not in it
nothing is known, so a run that meets one is aborted, not failed.
See docs/formats.md, "Policy cache".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import Location, PolicyError
from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.kinds import PolicyKind, PolicySource
from engine.policies.policy import NO_ACTION, PolicyInfo
from engine.task.task import Task

_LINE = re.compile(r"-?\d+(?: +\d+)+ *")
CACHE_SUFFIX = ".cache"
State = tuple[int, ...]


def _recognizes(source: PolicySource) -> bool:
    """Told by the first line; the last of the first bytes may be cut off."""
    line = source.head.split(b"\n", 1)[0].decode("ascii", "replace").rstrip("\r")
    return _LINE.fullmatch(line) is not None


def write_policy_cache(decisions: Iterable[tuple[State, int]]) -> str:
    return "".join(f"{operator} {' '.join(map(str, state))}\n" for state, operator in decisions)


class CachePolicy:
    """Fits whatever task its states belong to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(
                f"the policy cache cannot be read: {error}", Location.of(path)
            ) from error
        self._lines = [
            (number, line.split())
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip()
        ]

    def describe(self) -> PolicyInfo:
        return PolicyInfo("policy cache", None, {"states": len(self._lines)})

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        return ()

    def bind(self, task: Task) -> BoundCache:
        sizes = [len(variable.values) for variable in task.variables]
        known: dict[State, int] = {}
        for number, words in self._lines:
            operator, *state = self._numbers(number, words)
            if len(state) != len(sizes) or any(
                not 0 <= value < size for value, size in zip(state, sizes, strict=True)
            ):
                raise self._error(number, "this is not a state of the task")
            if task.extend(state) != tuple(state):
                message = "derived values do not follow from the axioms: another task?"
                raise self._error(number, message)
            if not NO_ACTION <= operator < len(task.operators):
                raise self._error(number, f"the task has no operator {operator}")
            if known.setdefault(tuple(state), operator) != operator:
                raise self._error(number, "this state has a different operator in an earlier line")
        return BoundCache(known)

    def _numbers(self, number: int, words: list[str]) -> list[int]:
        try:
            return [int(word) for word in words]
        except ValueError:
            raise self._error(number, "a line holds an operator and values") from None

    def _error(self, line: int, message: str) -> PolicyError:
        return PolicyError(
            message, Location.of(self._path, line), "choose the task that the cache was made for"
        )


@dataclass(frozen=True)
class BoundCache:
    known: Mapping[State, int]

    def decide(self, states: Int32Array) -> Int32Array:
        rows = list(map(tuple, states.tolist()))
        if missing := [row for row in rows if row not in self.known]:
            raise PolicyError(
                f"the policy cache does not know the state {missing[0]}",
                hint="the cache decides only in the states that it lists",
            )
        return np.array([self.known[row] for row in rows], dtype=np.int32)


KIND = PolicyKind(
    "policy cache",
    "Policy cache",
    _recognizes,
    lambda source, _: CachePolicy(source.path),
    (CACHE_SUFFIX,),
    of_task=True,
)
