"""The normally distributed numbers of torch, without torch.

They are made from uniform ones, of which half give radii and half give angles (Box and Muller).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 16
"""Numbers are made in blocks of this size; fewer are made in pairs, with double precision."""


def torch_normal(rows: int, columns: int, seed: int) -> NDArray[np.float32]:
    """What `torch.randn` gives for a seed on a processor, except for the last place."""
    size = rows * columns
    random = np.random.RandomState(seed % 2**32)
    if size < _BLOCK:
        numbers = _few(random, size)
    else:
        drawn = random.randint(0, 2**32, size + _BLOCK, np.uint32) % 2**24
        uniform = drawn.astype(np.float32) / np.float32(2**24)
        numbers = np.empty(size, np.float32)
        whole = size // _BLOCK * _BLOCK
        numbers[:whole] = _block_by_block(uniform[:whole])
        if whole < size:  # the last block is drawn again and overlaps the one before
            numbers[-_BLOCK:] = _block_by_block(uniform[size:])
    return numbers.reshape(rows, columns)


def _block_by_block(uniform: NDArray[np.float32]) -> NDArray[np.float32]:
    halves = uniform.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log(1 - halves[:, 0]))
    angle = np.float32(2 * np.pi) * halves[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()


def _few(random: np.random.RandomState, size: int) -> NDArray[np.float32]:
    high, low = random.randint(0, 2**32, (size + 1) // 2 * 4, np.uint64).reshape(-1, 2).T
    uniform = ((high << np.uint64(32) | low) % np.uint64(2**53)).astype(np.float64) / 2**53
    radius, angle = np.sqrt(-2 * np.log1p(-uniform[1::2])), 2 * np.pi * uniform[::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.ravel()[:size].astype(np.float32)
