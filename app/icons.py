"""Our own icons: drawings in one colour, tinted when they are loaded.

Every file of `resources/icons` is drawn with `currentColor` on a grid of 24.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"
SIZES = (16, 20, 24, 32, 48)
RATIOS = (1, 2)


def make_icon(name: str, color: QColor, disabled: QColor) -> QIcon:
    icon = QIcon()
    for mode, tint in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled)):
        renderer = _renderer(name, tint)
        for size in SIZES:
            for ratio in RATIOS:
                icon.addPixmap(_draw(renderer, size, ratio), mode)
    return icon


def application_icon() -> QIcon:
    icon = QIcon()
    renderer = QSvgRenderer(str(ICONS / "plumbline.svg"))
    for size in (*SIZES, 64, 128, 256):
        icon.addPixmap(_draw(renderer, size, 1))
    return icon


def write_tinted(name: str, color: QColor, path: str) -> None:
    """The drawing as a file; where none can be written the picture is left out."""
    with suppress(OSError):
        Path(path).write_text(_tinted(name, color), encoding="utf-8")


def _tinted(name: str, color: QColor) -> str:
    drawing = (ICONS / f"{name}.svg").read_text(encoding="utf-8")
    return drawing.replace("currentColor", color.name())


def _renderer(name: str, color: QColor) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_tinted(name, color).encode()))


def _draw(renderer: QSvgRenderer, size: int, ratio: int) -> QPixmap:
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size * ratio, size * ratio))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
