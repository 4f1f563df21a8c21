"""What the kernels do between the matrix products of a network: ELU and pooling.

They take the tensors of torch as they are: wrapping one in an array can take longer than the call.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.native.library import Int64Array, PoolIndex, as_array, call


class Tensor(Protocol):
    """What is needed of a tensor; torch itself is not imported here."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def is_contiguous(self) -> bool: ...
    def is_floating_point(self) -> bool: ...
    def element_size(self) -> int: ...
    def numel(self) -> int: ...
    def data_ptr(self) -> int: ...


def elu(rows: Tensor, bias: Tensor) -> None:
    """x for x > 0, exp(x) - 1 otherwise, of the rows with the bias added to each; in place."""
    width = rows.shape[-1]
    is_double = _is_double(rows)
    if bias.shape != (width,) or _is_double(bias) != is_double:
        raise ValueError("the bias does not fit the rows")
    n_rows = rows.numel() // max(1, width)
    call("network_elu_rows", is_double, n_rows, width, bias.data_ptr(), rows.data_ptr())


class NativePools:
    """Which operators each pool is the maximum of.

    A fact of block b has `slots[b]` pools; pools are counted block by block, fact by fact, and
    pool i has the members `begin[i]` up to `begin[i + 1]`.
    """

    def __init__(
        self,
        facts: npt.ArrayLike,
        slots: npt.ArrayLike,
        begin: Int64Array,
        members: Int64Array,
        n_operators: int,
    ) -> None:
        self._arrays = tuple(as_array(a, np.int64) for a in (facts, slots, begin, members))
        per_block, per_fact, begin, members = self._arrays
        self.n_operators, self.n_pools = n_operators, int(per_block @ per_fact)
        if len(begin) != self.n_pools + 1 or begin[0] != 0 or begin[-1] != len(members):
            raise ValueError("every pool needs a beginning and an end")
        if (np.diff(begin) < 0).any() or ((members < 0) | (members >= n_operators)).any():
            raise ValueError("a member of a pool is no operator")
        self._index = PoolIndex(len(per_block), *(array.ctypes.data for array in self._arrays))

    def fill(self, operators: Tensor, empty: float, pools: Tensor) -> None:
        """Pool operators (operators, states, hidden), into as many vectors as pools and states.

        Blocks follow each other; in each, pools[fact, state, slot] is a hidden vector.
        """
        n_operators, n_states, hidden = operators.shape
        is_double = _is_double(operators)
        if n_operators != self.n_operators or _is_double(pools) != is_double:
            raise ValueError("these are not the operators the pools were made for")
        if pools.numel() != self.n_pools * n_states * hidden:
            raise ValueError("the pools do not fit where they should go")
        call(
            *("network_pool", self._index, is_double, n_states, hidden, empty),
            *(operators.data_ptr(), pools.data_ptr()),
        )


def _is_double(values: Tensor) -> bool:
    size = values.element_size()
    if not (values.is_floating_point() and values.is_contiguous() and size in (4, 8)):
        raise ValueError("expected floats that lie together")
    return size == 8
