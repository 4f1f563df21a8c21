"""Scenes of untrusted animation profiles: what painting one may cost."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from app.widgets.scene_painter import MAX_IMAGE_SIDE, MAX_TINTED, ScenePainter, scene_image
from engine.pictures.scene import Box, Scene


def png(side: int) -> bytes:
    image, data = QImage(side, side, QImage.Format.Format_Mono), QByteArray()
    image.fill(0)
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def box(number: int, x: float, fill: str) -> Box:
    return Box(f"b{number}", x, x, 5, 5, fill, "", 0, 0, image="i")


def test_one_image_in_many_colors(qapp: object) -> None:
    """Each color is a copy of the image: they are small, and there are not many."""
    boxes = tuple(box(number, 0, f"#0000{number:02x}") for number in range(200))
    scene = Scene(50, 50, boxes, "", "", images=(("i", png(4096)),))
    painter = ScenePainter(QColor, QFont())
    scene_image(scene, painter)
    assert painter._images["i"].width() == MAX_IMAGE_SIDE
    assert len(painter._tinted) == MAX_TINTED


def test_a_picture_as_large_as_numbers_allow(qapp: object) -> None:
    scene = Scene(2e6, 2e6, (box(1, 0, "#ffffff"), box(2, 2e6, "#ffffff")), "", "")
    image = scene_image(scene, ScenePainter(QColor, QFont()))
    assert image.width() == image.height() == 8192
    assert QPainter(image).isActive()
