"""Reduce pictures to 256 colors, which makes them a third as large without a visible difference.

A screen has few colors and many shades at the edges of letters; those take the nearest one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage, QPixmap

MAX_COLORS = 256


def in_few_colors(picture: QPixmap) -> QImage:
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32)
    colors, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept, nearest = _choose(_channels(colors), counts)
    content = nearest[places].tobytes()
    few = QImage(content, width, height, width, QImage.Format.Format_Indexed8)
    few.setColorTable(colors[kept].tolist())
    return few.copy()  # which holds its content itself


def _choose(
    colors: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[list[int], NDArray[np.uint8]]:
    """One after the other those that would be missed most, and the nearest of them for each."""
    kept: list[int] = []
    nearest = np.zeros(len(colors), dtype=np.uint8)
    distance = np.full(len(colors), 3 * 255, dtype=np.int64)
    for number in range(min(MAX_COLORS, len(colors))):
        kept.append(int(np.argmax(distance * counts)))
        to_new = np.abs(colors - colors[kept[-1]]).sum(axis=1)
        nearest[to_new < distance] = number
        distance = np.minimum(distance, to_new)
    return kept, nearest


def _channels(colors: NDArray[np.uint32]) -> NDArray[np.int32]:
    return np.stack([colors >> shift & 255 for shift in (0, 8, 16)], axis=1).astype(np.int32)
