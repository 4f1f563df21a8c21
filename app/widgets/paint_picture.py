"""Paints an SVG file as PNG, two pixels per unit: `python -m app.widgets.paint_picture IN OUT`."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SCALE = 2
MAX_PIXELS = 8192


def paint(source: str, target: str) -> bool:
    """Write the picture; False if it cannot be read or written."""
    renderer = QSvgRenderer(source)
    size = renderer.defaultSize()
    if not renderer.isValid() or size.isEmpty():
        return False
    scale = min(SCALE, MAX_PIXELS / max(size.width(), size.height()))
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter)
    painter.end()
    return bool(image.save(target))


def main() -> int:
    application = QGuiApplication(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    return 0 if paint(*sys.argv[1:3]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
