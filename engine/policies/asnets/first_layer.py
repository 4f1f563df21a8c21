"""The first action layer as a table.

Its inputs are bits: which related facts hold, which are goals, and whether the operator is
applicable. Operators of a schema with the same goal facts differ in the state's bits only, so
their hidden vectors are rows of a small table, and a state selects one row per operator. Where a
schema has many related atoms its bits are cut into chunks, and the rows of the chunks are added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine.native import networks as native
from engine.policies.asnets.grounding import MISSING, Grounding


def elu(rows: Tensor, bias: Tensor | None = None) -> Tensor:
    """ELU of the rows, with a bias added to each.

    Without gradients the rows are overwritten, by a kernel: torch makes several passes.
    """
    if torch.is_grad_enabled():
        values = rows if bias is None else rows + bias
        return torch.maximum(values, torch.clamp_max(values, 0.0).exp() - 1.0)
    native.elu(rows, rows.new_zeros(rows.shape[-1]) if bias is None else bias)
    return rows


Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Reals = NDArray[np.float64]

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

    def inputs(self, chunk: slice) -> Reals:
        """What the matrix is applied to: per class and pattern of the chunk's bits one row.

        Columns: the state's bits, the goal's bits, applicability, and a one for the bias.
        """
        atoms, width = self.bits - 1, chunk.stop - chunk.start
        patterns = (np.arange(2**width)[:, None] >> np.arange(width)) & 1
        rows = np.zeros((len(self.goals), 2**width, 2 * atoms + 2))
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


class FirstLayer:
    """`truth` below has one row per wired fact, `applicable` one per operator."""

    def __init__(self, grounding: Grounding, facts: Ints, dtype: torch.dtype) -> None:
        self._inputs: list[tuple[int, Tensor]] = []
        schemas = [
            (schema, _schema_bits(grounding, schema, facts))
            for schema in range(len(grounding.related))
            if len(grounding.related[schema])
        ]
        chunks = max([1, *(len(bits.chunks()) for _, bits in schemas)])
        operators = len(grounding.operators)
        base = np.full((chunks, operators), PADDING_ROW, dtype=np.int64)
        entries: list[list[tuple[Ints, Ints, int]]] = [[] for _ in range(chunks)]
        first_row = PADDING_ROW + 1
        for schema, bits in schemas:
            for number, chunk in enumerate(bits.chunks()):
                inputs = bits.inputs(chunk)
                self._inputs.append((schema, torch.from_numpy(inputs).to(dtype)))
                patterns = 2 ** (chunk.stop - chunk.start)
                base[number, bits.operators] = first_row + bits.kinds * patterns
                first_row += len(inputs)
                members = np.arange(bits.operators.start, bits.operators.stop)
                for place, bit in enumerate(range(chunk.start, chunk.stop)):
                    entries[number].append((members, bits.sources[:, bit], 2**place))
        self._base = torch.from_numpy(base).unsqueeze(2)
        self._bags = [_bag(chunk, operators) for chunk in entries]

    def table(self, weights: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Rows to be selected; `weights` are matrix and bias by schema.

        Rows that are not to be added up are activated here: there are fewer than operators.
        """
        hidden = len(weights[0][1])
        parts = [weights[0][0].new_zeros((PADDING_ROW + 1, hidden))]
        for schema, inputs in self._inputs:
            matrix, bias = weights[schema]
            parts.append(inputs @ torch.cat((matrix, bias.unsqueeze(1)), dim=1).t())
        rows = torch.cat(parts)
        return elu(rows) if len(self._bags) == 1 else rows

    def select(self, table: Tensor, truth: Tensor, applicable: Tensor) -> Tensor:
        """Hidden vectors (operators, states, hidden)."""
        bits = torch.cat((truth, applicable.to(truth.dtype)))
        rows: Tensor | None = None
        for base, (sources, starts, values) in zip(self._base, self._bags, strict=True):
            codes = functional.embedding_bag(
                sources, bits, starts, mode="sum", per_sample_weights=values.to(bits.dtype)
            )
            chosen = table.index_select(0, (codes.long() + base).view(-1))
            rows = chosen if rows is None else rows + chosen
        assert rows is not None
        if len(self._bags) > 1:
            rows = elu(rows)
        return rows.view(len(applicable), applicable.shape[1], -1)


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


def _bag(entries: list[tuple[Ints, Ints, int]], operators: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sources with their values, those of an operator together, and where each operator starts."""
    owners = np.concatenate([members for members, _, _ in entries] or [np.empty(0, np.int64)])
    sources = np.concatenate([source for _, source, _ in entries] or [np.empty(0, np.int64)])
    values = np.concatenate(
        [np.full(len(members), value) for members, _, value in entries] or [np.empty(0, np.int64)]
    )
    known = sources != MISSING
    order = np.argsort(owners[known], kind="stable")
    counts = np.bincount(owners[known], minlength=operators)
    return (
        torch.from_numpy(sources[known][order]),
        torch.from_numpy(np.cumsum(counts) - counts),
        torch.from_numpy(values[known][order]).float(),
    )
