"""The wiring of a network as tensors of torch, for training.

Everything is laid out item first, then state, then hidden unit, so that one row gather moves a
whole batch and the indices do not depend on its size.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.policies.asnets.first_layer import PADDING_ROW
from engine.policies.asnets.wiring import Wiring


def elu(values: Tensor) -> Tensor:
    return torch.maximum(values, torch.clamp_max(values, 0.0).exp() - 1.0)


class TensorWiring:
    def __init__(self, wiring: Wiring, dtype: torch.dtype = torch.float32) -> None:
        self.operators = wiring.operators
        self.blocks = wiring.blocks
        self.schemas = wiring.schemas
        self.schema_of_operator = torch.from_numpy(wiring.schema_of_operator)
        self._positive = [torch.from_numpy(column) for column in wiring.positive]
        self._negative = [torch.from_numpy(column) for column in wiring.negative]
        self._sum_rows = torch.from_numpy(wiring.sum_rows)
        self._sum_starts = torch.from_numpy(wiring.sum_begin[:-1])
        self._wire_first(wiring, dtype)
        self._wire_pools(wiring, dtype)

    def _wire_first(self, wiring: Wiring, dtype: torch.dtype) -> None:
        first = wiring.first
        self._inputs = [
            (schema, torch.from_numpy(inputs).to(dtype)) for schema, inputs in first.inputs
        ]
        self._base = torch.from_numpy(first.base).unsqueeze(2)
        self._selections = [
            tuple(map(torch.from_numpy, (part.sources, part.starts, part.values)))
            for part in first.selections
        ]

    def _wire_pools(self, wiring: Wiring, dtype: torch.dtype) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            self._pools = torch.sparse_csr_tensor(
                torch.from_numpy(wiring.pool_begin),
                torch.from_numpy(wiring.pool_members),
                torch.ones(len(wiring.pool_members), dtype=dtype),
                (len(wiring.pool_begin) - 1, wiring.operators),
                check_invariants=False,
            )
        self._empty_pools = torch.from_numpy(np.flatnonzero(np.diff(wiring.pool_begin) == 0))

    def applicable(self, truth: Tensor) -> Tensor:
        """Which operators are applicable (operators, states), given truth values of facts."""
        holds = torch.cat((truth > 0.5, truth.new_ones((1, truth.shape[1]), dtype=torch.bool)))
        result = holds.new_ones((self.operators, truth.shape[1]))
        for column in self._positive:
            result &= holds.index_select(0, column)
        if self._negative:
            fails = ~holds
            fails[-1] = True
            for column in self._negative:
                result &= fails.index_select(0, column)
        return result

    def first_layer(
        self, weights: list[tuple[Tensor, Tensor]], truth: Tensor, applicable: Tensor
    ) -> Tensor:
        """Hidden vectors (operators, states, hidden); `weights` are matrix and bias by schema."""
        parts = [weights[0][0].new_zeros((PADDING_ROW + 1, len(weights[0][1])))]
        for schema, inputs in self._inputs:
            matrix, bias = weights[schema]
            parts.append(inputs @ torch.cat((matrix, bias.unsqueeze(1)), dim=1).t())
        table = torch.cat(parts)
        bits = torch.cat((truth, applicable.to(truth.dtype)))
        rows = table.new_zeros((self.operators * truth.shape[1], table.shape[1]))
        for base, (sources, starts, values) in zip(self._base, self._selections, strict=True):
            codes = functional.embedding_bag(
                sources, bits, starts, mode="sum", per_sample_weights=values.to(bits.dtype)
            )
            rows = rows + table.index_select(0, (codes.long() + base).view(-1))
        return elu(rows).view(len(applicable), applicable.shape[1], -1)

    def sum_related(self, products: Tensor) -> Tensor:
        """Per operator the sum of its rows of products, one for each related atom."""
        return functional.embedding_bag(self._sum_rows, products, self._sum_starts, mode="sum")

    def pool(self, actions: Tensor, empty: float) -> list[Tensor]:
        """Maxima over operators, by block: one row per fact and state, its pools side by side."""
        _, states, hidden = actions.shape
        flat: Tensor = torch.sparse.mm(self._pools, actions.view(len(actions), -1), "amax")
        pools = flat.index_fill(0, self._empty_pools, empty).view(-1, states, hidden)
        parts = [pools[block.pools].view(-1, block.slots, states, hidden) for block in self.blocks]
        return [part.transpose(1, 2).flatten(2).flatten(0, 1) for part in parts]
