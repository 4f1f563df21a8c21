"""Paints a scene with Qt: on the screen, into the clipboard, into a PNG; between two steps, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPainterPath, QPen, QPolygonF

from app.services.theme import COLORS, Theme
from engine.pictures.scene import Box, Item, Line, Scene, Text, kind_colors
from engine.pictures.svg import WHITE

Colors = Callable[[str], QColor]
IMAGE_SCALE = 2
MAX_PIXELS = 8192
"""Of a side of an image of a whole scene."""
MAX_IMAGE_SIDE = 512
"""Larger images of a profile are made smaller: each color that tints one makes a copy of it."""
MAX_TINTED = 100


def between(old: Scene, new: Scene, progress: float) -> list[tuple[Item, float]]:
    """What is seen on the way from one scene to another, with its opacity."""
    before = {item.key: item for item in old.items}
    after = {item.key for item in new.items}
    found = [(item, 1.0 - progress) for item in old.items if item.key not in after]
    for item in new.items:
        other = before.get(item.key)
        if other is None:
            found.append((item, progress))
        else:
            found.append((_moved(other, item, progress), 1.0))
    return found


def _moved(old: Item, new: Item, progress: float) -> Item:
    def mix(a: float, b: float) -> float:
        return a + (b - a) * progress

    if isinstance(old, Box) and isinstance(new, Box):
        w, h = mix(old.w, new.w), mix(old.h, new.h)
        return replace(new, x=mix(old.x, new.x), y=mix(old.y, new.y), w=w, h=h)
    if isinstance(old, Line) and isinstance(new, Line):
        x2, y2 = mix(old.x2, new.x2), mix(old.y2, new.y2)
        return replace(new, x1=mix(old.x1, new.x1), y1=mix(old.y1, new.y1), x2=x2, y2=y2)
    if isinstance(old, Text) and isinstance(new, Text):
        return replace(new, x=mix(old.x, new.x), y=mix(old.y, new.y))
    return new


class ScenePainter:
    """Paints items; `colors` names colors, `font` gives the family of texts."""

    def __init__(self, colors: Colors, font: QFont) -> None:
        self._colors, self._family = colors, font.family()
        self._images: dict[str, QImage] = {}
        self._tinted: dict[tuple[str, str], QImage] = {}

    def take_images(self, scene: Scene) -> None:
        """Images of an animation profile; their sizes were checked when it was read."""
        if self._images.keys() != dict(scene.images).keys():
            self._images = {name: _small(QImage.fromData(data)) for name, data in scene.images}
            self._tinted.clear()

    def color(self, name: str) -> QColor:
        return self._colors(name)

    def paint(self, painter: QPainter, items: list[tuple[Item, float]]) -> None:
        device = painter.device()
        dots = device.logicalDpiY() if device is not None else 96
        for item, opacity in items:
            painter.setOpacity(opacity)
            match item:
                case Box():
                    self._box(painter, item)
                case Text():
                    self._text(painter, item, dots)
                case Line():
                    self._line(painter, item)
        painter.setOpacity(1.0)

    def _pen(self, name: str, width: float, dashed: bool = False) -> QPen:
        if not name:
            return QPen(Qt.PenStyle.NoPen)
        pen = QPen(self.color(name), width)
        if dashed:
            pen.setDashPattern([3 / width, 2 / width])
        return pen

    def _box(self, painter: QPainter, box: Box) -> None:
        rect = QRectF(box.x, box.y, box.w, box.h)
        image = self._image(box)
        if image is not None:
            painter.drawImage(rect, image)
            return
        painter.setPen(self._pen(box.edge, box.stroke, box.dashed))
        painter.setBrush(self.color(box.fill) if box.fill else Qt.BrushStyle.NoBrush)
        if box.sign == "circle":
            painter.drawEllipse(rect)
        elif box.sign:
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in box.outline()]))
        else:
            painter.drawRoundedRect(rect, box.radius, box.radius)

    def _image(self, box: Box) -> QImage | None:
        """The image of a box, multiplied by its color; None if it cannot be read."""
        image = self._images.get(box.image)
        if image is None or image.isNull() or box.fill.lower() == WHITE:
            return None if image is None or image.isNull() else image
        key = box.image, box.fill
        if key not in self._tinted:
            if len(self._tinted) >= MAX_TINTED:
                return image
            tinted = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
            painter = QPainter(tinted)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
            painter.fillRect(tinted.rect(), self.color(box.fill))
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
            painter.drawImage(0, 0, image)  # what was transparent stays so
            painter.end()
            self._tinted[key] = tinted
        return self._tinted[key]

    def _text(self, painter: QPainter, text: Text, dots: int) -> None:
        font = QFont(self._family)
        font.setPointSizeF(text.size * 72 / dots)
        font.setBold(text.bold)
        font.setStrikeOut(text.struck)
        painter.setFont(font)
        painter.setPen(self.color(text.color))
        x = text.x
        if text.middle:
            x -= painter.fontMetrics().horizontalAdvance(text.text) / 2
        painter.drawText(QPointF(x, text.y), text.text)

    def _line(self, painter: QPainter, line: Line) -> None:
        path = QPainterPath(QPointF(line.x1, line.y1))
        path.quadTo(QPointF(*line.middle), QPointF(line.x2, line.y2))
        painter.setPen(self._pen(line.color, line.width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if line.arrow:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.color(line.color))
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in line.head()]))


def _small(image: QImage) -> QImage:
    if max(image.width(), image.height()) <= MAX_IMAGE_SIDE:
        return image
    kept, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(MAX_IMAGE_SIDE, MAX_IMAGE_SIDE, kept, smooth)


def theme_painter(theme: Theme) -> ScenePainter:
    """With the colors that the theme has now, in whichever thread it paints."""
    colors = {name: theme.color(name) for name in COLORS}
    colors |= {name: QColor(color) for name, color in kind_colors(theme.is_dark).items()}

    def color_of(name: str) -> QColor:
        """Of the theme, of a kind, or a color that a domain or a profile names."""
        return colors[name] if name in colors else QColor(name)

    return ScenePainter(color_of, theme.ui_font)


def scene_image(
    scene: Scene, painter_of: ScenePainter, scale: float = IMAGE_SCALE, part: QRectF | None = None
) -> QImage:
    """A scene, or a part of it, as an image, on its paper."""
    part = part or QRectF(0, 0, scene.width, scene.height)
    scale = min(scale, MAX_PIXELS / max(part.width(), part.height()))
    image = QImage(
        max(1, round(part.width() * scale)),
        max(1, round(part.height() * scale)),
        QImage.Format.Format_RGB32,
    )
    image.fill(painter_of.color(scene.paper))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    painter.translate(-part.topLeft())
    painter_of.take_images(scene)
    painter_of.paint(painter, [(item, 1.0) for item in scene.items])
    painter.end()
    return image
