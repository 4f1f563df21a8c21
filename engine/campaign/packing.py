"""Sequences of small numbers as bytes, which take one or two per entry, and compressed files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

_WIDTHS = (1, 2, 4)
LARGEST_CONTENT = 512 * 2**20
"""A few bytes can be made to unfold to more than any memory holds."""


def pack(numbers: Sequence[int]) -> bytes:
    """The width of an entry in bytes, then the entries, least significant byte first."""
    largest = max(numbers, default=0)
    width = next(width for width in _WIDTHS if largest < 256**width)
    return bytes([width]) + np.array(numbers, f"<u{width}").tobytes()


def unpack(data: bytes) -> tuple[int, ...]:
    if not data or data[0] not in _WIDTHS or (len(data) - 1) % data[0]:
        raise ValueError("these bytes are no sequence of numbers")
    return tuple(np.frombuffer(data, f"<u{data[0]}", offset=1).tolist())


def compress(content: bytes) -> bytes:
    return zlib.compress(content)


def expand(data: bytes) -> bytes:
    """What was compressed, if it is of a sensible size."""
    unfolding = zlib.decompressobj()
    try:
        content = unfolding.decompress(data, LARGEST_CONTENT)
    except zlib.error as error:
        raise ValueError(f"compressed content is broken: {error}") from error
    if not unfolding.eof:
        raise ValueError("compressed content is cut off or too large")
    return content
