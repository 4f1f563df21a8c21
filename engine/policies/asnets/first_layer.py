"""The first action layer as a table.

Its inputs are bits: which related facts hold, which are goals, and whether the operator is
applicable. Operators of a schema with the same goal facts differ in the state's bits only, so
their hidden vectors are rows of a small table, and a state selects one row per operator. Where a
schema has many related atoms its bits are cut into chunks, and the rows of the chunks are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.native.networks import FloatArray
from engine.policies.asnets.grounding import MISSING, Grounding

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

CHUNK_BITS = 10
PADDING_ROW = 0
"""The table's first row is zero: what an operator with fewer chunks adds."""


@dataclass(frozen=True)
class _SchemaBits:
    """The operators of one schema and the bits that select their rows.

    Bit k stands for related atom k, the last one for applicability.
    """

    operators: slice
    sources: Ints  # (operators, bits): the row of truth values a bit is read from
    kinds: Ints  # per operator its class: same goal facts, same missing facts
    goals: Mask  # (classes, atoms)
    missing: Mask  # (classes, atoms)

    @property
    def bits(self) -> int:
        return int(self.sources.shape[1])

    def chunks(self) -> list[slice]:
        starts = range(0, self.bits, CHUNK_BITS)
        return [slice(start, min(start + CHUNK_BITS, self.bits)) for start in starts]

    def inputs(self, chunk: slice) -> FloatArray:
        """What the matrix is applied to: per class and pattern of the chunk's bits one row.

        Columns: the state's bits, the goal's bits, applicability, and a one for the bias.
        """
        atoms, width = self.bits - 1, chunk.stop - chunk.start
        patterns = (np.arange(2**width)[:, None] >> np.arange(width)) & 1
        rows = np.zeros((len(self.goals), 2**width, 2 * atoms + 2), np.float32)
        held = np.zeros((2**width, self.bits))
        held[:, chunk] = patterns
        rows[:, :, :atoms] = held[:, :atoms]
        rows[:, :, 2 * atoms] = held[:, atoms]
        absent = np.broadcast_to(self.missing[:, None, :], (*rows.shape[:2], atoms))
        rows[:, :, :atoms][absent] = 0.0
        if chunk.start == 0:  # what does not depend on the state is counted once
            rows[:, :, :atoms][absent] = -1.0
            rows[:, :, atoms : 2 * atoms] = self.goals[:, None, :]
            rows[:, :, atoms : 2 * atoms][absent] = -1.0
            rows[:, :, -1] = 1.0
        return rows.reshape(-1, rows.shape[2])


@dataclass(frozen=True)
class Selection:
    """Bits by operator, those of an operator together: where each is read, and what it counts.

    A bit is read from a fact or, counted on from the last fact, from an operator's applicability.
    """

    starts: Ints  # by operator
    sources: Ints
    values: Ints


class FirstLayer:
    """Which rows of the table a state selects: `base` plus the bits of the selection, by chunk."""

    def __init__(self, grounding: Grounding, facts: Ints) -> None:
        self.inputs: list[tuple[int, FloatArray]] = []  # schema, and what its matrix is applied to
        schemas = [
            (schema, _schema_bits(grounding, schema, facts))
            for schema in range(len(grounding.related))
            if len(grounding.related[schema])
        ]
        chunks = max([1, *(len(bits.chunks()) for _, bits in schemas)])
        operators = len(grounding.operators)
        self.base = np.full((chunks, operators), PADDING_ROW, dtype=np.int64)
        entries: list[list[tuple[Ints, Ints, int]]] = [[] for _ in range(chunks)]
        first_row = PADDING_ROW + 1
        for schema, bits in schemas:
            for number, chunk in enumerate(bits.chunks()):
                inputs = bits.inputs(chunk)
                self.inputs.append((schema, inputs))
                patterns = 2 ** (chunk.stop - chunk.start)
                self.base[number, bits.operators] = first_row + bits.kinds * patterns
                first_row += len(inputs)
                members = np.arange(bits.operators.start, bits.operators.stop)
                for place, bit in enumerate(range(chunk.start, chunk.stop)):
                    entries[number].append((members, bits.sources[:, bit], 2**place))
        self.selections = [_selection(chunk, operators) for chunk in entries]

    def table(self, weights: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
        """The rows before activation; `weights` are matrix and bias by schema.

        Columns are added one by one: a matrix product adds them in an order of its own.
        """
        hidden = len(weights[0][1])
        parts = [np.zeros((PADDING_ROW + 1, hidden), np.float32)]
        for schema, inputs in self.inputs:
            matrix, bias = weights[schema]
            rows = np.zeros((len(inputs), hidden), np.float32)
            for column, factors in enumerate((*matrix.T, bias)):
                rows += inputs[:, column, None] * factors
            parts.append(rows)
        return np.concatenate(parts)


def _schema_bits(grounding: Grounding, schema: int, facts: Ints) -> _SchemaBits:
    operators = grounding.block(schema)
    related = grounding.related[schema]
    missing = related == MISSING
    goal = np.append(grounding.goal, False)[related]
    kinds, members = np.unique(np.concatenate([goal, missing], axis=1), axis=0, return_inverse=True)
    atoms = related.shape[1]
    # A missing fact is read nowhere: its bit is taken from the operator and weighs nothing.
    applicable = len(facts) + np.arange(operators.start, operators.stop)
    sources = np.where(missing, MISSING, np.searchsorted(facts, related))
    sources = np.concatenate([sources, applicable[:, None]], axis=1)
    return _SchemaBits(operators, sources, members.reshape(-1), kinds[:, :atoms], kinds[:, atoms:])


def _selection(entries: list[tuple[Ints, Ints, int]], operators: int) -> Selection:
    owners = np.concatenate([members for members, _, _ in entries] or [np.empty(0, np.int64)])
    sources = np.concatenate([source for _, source, _ in entries] or [np.empty(0, np.int64)])
    values = np.concatenate(
        [np.full(len(members), value) for members, _, value in entries] or [np.empty(0, np.int64)]
    )
    known = sources != MISSING
    order = np.argsort(owners[known], kind="stable")
    counts = np.bincount(owners[known], minlength=operators)
    return Selection(
        np.cumsum(counts) - counts, sources[known][order], values[known][order].astype(np.int64)
    )
