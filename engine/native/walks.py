"""Random walks in the kernels, and the pool that they fill."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np

from engine.native.library import (
    BoolArray,
    Int32Array,
    NativeLimits,
    NativeProgress,
    Outcome,
    as_array,
    call,
    create,
    destroy_with,
)
from engine.native.states import NativeStates

SLICE_SECONDS = 0.02
"""How long a call takes at most: between calls Ctrl-C is noticed."""


class Counts(NamedTuple):
    entries: int
    operators: int
    offered: int  # different states
    walks: int
    duplicates: int
    filtered: int
    failed_walks: int


@dataclass(frozen=True)
class NativeEntries:
    """Pool states with the entry where the walk began (-1: none) and the length of the walk."""

    states: Int32Array
    references: Int32Array
    lengths: Int32Array
    operators: Int32Array  # of all walks, one after the other


class NativeWalks:
    """A pool of at most `size` states. Not for use by two threads at once.

    A call is interrupted after a moment, or after `seconds` if that is less; the next call
    continues.
    """

    def __init__(
        self,
        states: NativeStates,
        random: Random,
        *,
        size: int,
        walk_length: int,
        novelty: int,
    ) -> None:
        words = np.array(random.getstate()[1], np.int64)
        self._handle = create(
            "walks_create", states.handle, words, min(size, 2**31), walk_length, novelty
        )
        destroy_with(self, "walks_destroy", self._handle, states)
        self._progress = NativeProgress()

    def offer(self, state: int, reference: int, operators: tuple[int, ...]) -> None:
        path = as_array(operators, np.int32)
        call("walks_offer", self._handle, state, reference, len(path), path)

    def grow(self, entries: int, walks: int | None, seconds: float) -> bool:
        """Walk until the pool has this many entries or no other states are left, or after `walks`.

        Return whether that is done.
        """
        outcome = ctypes.c_int64()
        limits, most = _slice(seconds), -1 if walks is None else walks
        call("walks_grow", self._handle, entries, most, limits, self._progress, outcome)
        return _ended(outcome)

    def is_exhausted(self, seconds: float = SLICE_SECONDS) -> bool | None:
        """Whether all states that walks can end in were offered; None: not known yet."""
        outcome = ctypes.c_int64()
        call("walks_exhausted", self._handle, _slice(seconds), self._progress, outcome)
        if Outcome(outcome.value) is Outcome.FAILED:
            return False
        return True if _ended(outcome) else None

    def counts(self) -> Counts:
        counts = np.empty(len(Counts._fields), np.int64)
        call("walks_counts", self._handle, counts)
        return Counts(*counts.tolist())

    def entries(self, first: int, first_operator: int, counts: Counts) -> NativeEntries:
        """Entries from `first` on, whose operators begin with `first_operator`."""
        n = counts.entries - first
        states, references, lengths = (np.empty(n, np.int32) for _ in range(3))
        operators = np.empty(counts.operators - first_operator, np.int32)
        call("walks_entries", self._handle, first, states, references, lengths, operators)
        return NativeEntries(states, references, lengths, operators)

    def candidates(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Operators and successors with which a walk may continue."""
        count = np.full(1, -1, np.int64)
        while count[0] < 0:
            limits = _slice(SLICE_SECONDS)
            call("walks_candidates", self._handle, state, limits, self._progress, count)
        operators, successors = (np.empty(int(count[0]), np.int32) for _ in range(2))
        call("walks_steps", self._handle, operators, successors)
        return operators, successors

    def is_known(self, states: Int32Array) -> BoolArray:
        """Which of these states were offered."""
        states = as_array(states, np.int32)
        answers = np.empty(len(states), np.bool_)
        call("walks_known", self._handle, len(states), states, answers)
        return answers


def _slice(seconds: float) -> NativeLimits:
    """0 would be no limit."""
    return NativeLimits(min(max(seconds, 1e-6), SLICE_SECONDS), 0, 2**63)


def _ended(outcome: ctypes.c_int64) -> bool:
    ended = Outcome(outcome.value)
    if ended is Outcome.MEMORY_LIMIT:
        raise MemoryError("random walks: out of memory")
    return ended is Outcome.SOLVED
