"""Action schema networks in the kernels: decisions and logits without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.native.library import (
    BoolArray,
    Int32Array,
    as_array,
    call,
    check_shape,
    create,
    destroy_with,
)

FloatArray = npt.NDArray[np.float32]

LANES = 4
"""The number of hidden units is a multiple of it; kLanes of the kernel."""


@dataclass(frozen=True)
class IndexRows:
    """Items with lists of numbers: those of item i are `entries[begin[i]:begin[i + 1]]`."""

    begin: Int32Array
    entries: Int32Array

    def checked(self, count: int) -> tuple[Int32Array, Int32Array]:
        """Return the arrays for a kernel; raise ValueError unless they list `count` items."""
        begin, entries = as_array(self.begin, np.int32), as_array(self.entries, np.int32)
        if len(begin) != count + 1 or begin[0] != 0 or begin[-1] != len(entries):
            raise ValueError("every row needs a beginning and an end")
        if (np.diff(begin) < 0).any():
            raise ValueError("rows must follow each other")
        return begin, entries


@dataclass(frozen=True)
class NetworkArrays:
    """What engine/native/networks/action_schema_network.hpp calls by the same names."""

    hidden: int
    layers: int
    schemas: int
    facts: Int32Array  # rows (variable, value)
    required: IndexRows
    forbidden: IndexRows
    base: Int32Array  # (chunks, operators)
    sources: IndexRows
    values: Int32Array
    schema: Int32Array
    products: IndexRows
    pools: IndexRows
    blocks: Int32Array  # rows (facts, slots, has a missing fact)


class NativeNetwork:
    """A network unrolled over one task, with its weights; states are rows of values."""

    def __init__(
        self, arrays: NetworkArrays, n_variables: int, table: FloatArray, weights: FloatArray
    ) -> None:
        self.n_variables = n_variables
        chunks, self.n_operators = arrays.base.shape
        n_pools = int((arrays.blocks[:, 0] * arrays.blocks[:, 1]).sum())
        check_shape(table, (None, arrays.hidden))
        check_shape(weights, (None,))
        shape = [n_variables, arrays.hidden, arrays.layers, arrays.schemas]
        shape += [len(arrays.facts), self.n_operators, chunks, n_pools, len(arrays.blocks)]
        sources = arrays.sources.checked(chunks * self.n_operators)
        values = as_array(arrays.values, np.int32, (len(arrays.sources.entries),))
        self.handle = create(
            "asnets_create",
            np.array(shape, np.int32),
            as_array(arrays.facts, np.int32, (None, 2)),
            *arrays.required.checked(self.n_operators),
            *arrays.forbidden.checked(self.n_operators),
            as_array(arrays.base, np.int32, (None, self.n_operators)),
            *(*sources, values),
            as_array(arrays.schema, np.int32, (self.n_operators,)),
            *arrays.products.checked(self.n_operators),
            *arrays.pools.checked(n_pools),
            as_array(arrays.blocks, np.int32, (None, 3)),
            *(len(table), table, len(weights), weights),
        )
        destroy_with(self, "asnets_destroy", self.handle)

    def logits(self, states: Int32Array) -> tuple[FloatArray, BoolArray]:
        """Logits, and which operators are applicable; one row per state."""
        states = as_array(states, np.int32, (None, self.n_variables))
        logits = np.empty((len(states), self.n_operators), np.float32)
        applicable = np.empty((len(states), self.n_operators), np.bool_)
        call("asnets_logits", self.handle, len(states), states, logits, applicable)
        return logits, applicable


def elu(numbers: FloatArray) -> FloatArray:
    """x for x > 0, exp(x) - 1 otherwise."""
    padded = np.append(np.ravel(numbers), np.zeros(-numbers.size % LANES)).astype(np.float32)
    call("elu", padded.size, padded)
    return padded[: numbers.size].reshape(numbers.shape)
