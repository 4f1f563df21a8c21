"""Pictures in 256 colours: a third of the size, and nobody sees the difference.

A screen has few colours and many shades at the edges of letters; those take the nearest of the
most frequent ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage, QPixmap

MOST = 256


def in_few_colours(picture: QPixmap) -> QImage:
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32)
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts, kind="stable")[:MOST]]
    distances = np.abs(_channels(colours)[:, None, :] - _channels(kept)[None, :, :]).sum(axis=2)
    content = distances.argmin(axis=1).astype(np.uint8)[places].tobytes()
    few = QImage(content, width, height, width, QImage.Format.Format_Indexed8)
    few.setColorTable(kept.tolist())
    return few.copy()  # which holds its content itself


def _channels(colours: NDArray[np.uint32]) -> NDArray[np.int32]:
    return np.stack([colours >> shift & 255 for shift in (0, 8, 16)], axis=1).astype(np.int32)
