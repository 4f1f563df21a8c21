"""Forward h2: which facts, pairs of facts and operators can be reached from the initial state.

The fix-point of Haslum and Geffner (AIPS 2000) with 0/1 values, restricted to the forward
direction as cpddl does before it builds a network. Pairs are rows of bit sets, and a whole
generation of operators is handled at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

CHUNK = 4096  # operators handled at once: bounds the memory of a generation


@dataclass(frozen=True)
class StripsOperators:
    """Fact ids per operator, rows padded with -1."""

    precondition: Ints
    add: Ints
    delete: Ints

    def __len__(self) -> int:
        return len(self.precondition)


def forward_h2(operators: StripsOperators, initial: Mask) -> tuple[Mask, Mask]:
    """Masks of the reached operators and of the reached facts."""
    deleted = np.zeros(len(initial), dtype=np.bool_)
    deleted[operators.delete[operators.delete >= 0]] = True
    permanent = initial & ~deleted  # true in every state: no pair with them can be excluded
    number = np.full(len(initial) + 1, -1, dtype=np.int64)
    number[:-1][~permanent] = np.arange(np.count_nonzero(~permanent))
    table = _PairTable(
        StripsOperators(
            number[operators.precondition], number[operators.add], number[operators.delete]
        ),
        initial[~permanent],
    )
    reached_operators = table.run()
    reached = permanent.copy()
    reached[~permanent] = table.reached_facts()
    return reached_operators, reached


class _PairTable:
    def __init__(self, operators: StripsOperators, initial: Mask) -> None:
        self.operators = operators
        self.size = len(initial)
        words = self.size // 64 + 1
        # One more row than facts: padding (-1) reads the last one, the set of reached facts.
        self.pairs = np.zeros((self.size + 1, words), dtype=np.uint64)
        self.pairs[:-1][initial] = _pack(initial, words)
        self.mirrored = np.zeros((self.size, self.size), dtype=np.bool_)
        self.single = _pack(np.eye(self.size + 1, self.size, dtype=np.bool_), words)

    def reached_facts(self) -> Mask:
        return np.asarray(np.any(self.pairs[:-1] & self.single[:-1], axis=1))

    def run(self) -> Mask:
        operators = self.operators
        reached = np.zeros(len(operators), dtype=np.bool_)
        unconditional = ~(operators.precondition >= 0).any(axis=1)
        dirty = np.ones(self.size + 1, dtype=np.bool_)
        while dirty.any():
            self.pairs[-1] = _pack(self.reached_facts(), self.pairs.shape[1])
            touched = dirty[operators.precondition] & (operators.precondition >= 0)
            candidates = np.flatnonzero(touched.any(axis=1) | unconditional)
            before = self.pairs.copy()
            for start in range(0, len(candidates), CHUNK):
                chunk = candidates[start : start + CHUNK]
                partners = self._partners(chunk)
                applicable = self._applicable(chunk, partners)
                reached[chunk[applicable]] = True
                self._apply(chunk[applicable], partners[applicable])
            self._mirror(before)
            dirty = np.any(self.pairs != before, axis=1)
        return reached

    def _bits(self, facts: Ints) -> Words:
        """The union of the columns of `facts` as one bit set per row."""
        bits = np.zeros((len(facts), self.pairs.shape[1]), dtype=np.uint64)
        for column in range(facts.shape[1]):
            bits |= self.single[facts[:, column]]
        return bits

    def _partners(self, chunk: Ints) -> Words:
        """Facts that may be true together with the whole precondition."""
        precondition = self.operators.precondition[chunk]
        partners = np.broadcast_to(self.pairs[-1], (len(chunk), self.pairs.shape[1])).copy()
        for column in range(precondition.shape[1]):
            partners &= self.pairs[precondition[:, column]]
        return partners

    def _applicable(self, chunk: Ints, partners: Words) -> Mask:
        """All pairs of the precondition are reached: it is part of its own partners."""
        needed = self._bits(self.operators.precondition[chunk])
        return np.asarray(np.all(needed & ~partners == 0, axis=1))

    def _apply(self, chunk: Ints, partners: Words) -> None:
        operators = self.operators
        added = self._bits(operators.add[chunk])
        gone = self._bits(operators.delete[chunk])
        together = (partners & ~gone) | added
        facts = operators.add[chunk]
        rows, columns = np.nonzero(facts >= 0)
        target = facts[rows, columns]
        if not len(target):
            return
        order = np.argsort(target, kind="stable")
        distinct, first = np.unique(target[order], return_index=True)
        merged = np.bitwise_or.reduceat(together[rows[order]], first, axis=0)
        self.pairs[distinct] |= merged

    def _mirror(self, before: Words) -> None:
        """Pairs have no order: (f, a) is reached with (a, f), which is new since `before`."""
        changed = np.flatnonzero(np.any(self.pairs[:-1] != before[:-1], axis=1))
        new = _unpack(self.pairs[changed] & ~before[changed], self.size)
        row, fact = np.divmod(np.flatnonzero(new), self.size)  # faster than in two dimensions
        self.mirrored[fact, changed[row]] = True
        affected = np.flatnonzero(new.any(axis=0))
        self.pairs[affected] |= _pack(self.mirrored[affected], self.pairs.shape[1])


def _pack(bits: Mask, words: int) -> Words:
    """Bit sets along the last axis, padded to whole words."""
    packed = np.packbits(bits, axis=-1, bitorder="little")
    padded = np.zeros((*bits.shape[:-1], words * 8), dtype=np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint64)


def _unpack(words: Words, size: int) -> Mask:
    return np.unpackbits(words.view(np.uint8), axis=-1, count=size, bitorder="little").view(
        np.bool_
    )
