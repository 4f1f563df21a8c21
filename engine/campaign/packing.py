"""Sequences of small numbers as bytes: states and walks take one or two bytes per entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WIDTHS = (1, 2, 4)


def pack(numbers: Sequence[int]) -> bytes:
    """The width of an entry in bytes, then the entries, least significant byte first."""
    largest = max(numbers, default=0)
    width = next(width for width in _WIDTHS if largest < 256**width)
    return bytes([width]) + np.array(numbers, f"<u{width}").tobytes()


def unpack(data: bytes) -> tuple[int, ...]:
    if not data or data[0] not in _WIDTHS or (len(data) - 1) % data[0]:
        raise ValueError("these bytes are no sequence of numbers")
    return tuple(np.frombuffer(data, f"<u{data[0]}", offset=1).tolist())
