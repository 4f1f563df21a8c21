"""A figure of an experiment, as its SVG and PDF files show it, in the colors of the theme."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPointF, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.services.theme import Theme
from engine.files import write_bytes
from engine.records.experiment import Figure
from engine.report.experiment.drawing import GRID, INK, Drawing, Label, Line, Mark, draw
from engine.report.experiment.files import figure_csv
from engine.report.experiment.pdf import pdf
from engine.report.experiment.svg import svg

LIGHTER = 165
"""Percent by which the colors of lines are lighter on a dark background."""


class FigureView(QWidget):
    def __init__(self, theme: Theme, figure: Figure, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName(f"figure-{figure.name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.update)
        self.set_figure(figure)

    def set_figure(self, figure: Figure) -> None:
        self.figure = figure
        self._drawing: Drawing = draw(figure)
        self.setAccessibleName(figure.title)
        self.setToolTip(" ".join(figure.notes))
        self.setMinimumSize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(round(self._drawing.width), round(self._drawing.height))

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self._theme.color("surface"))
        for shape in self._drawing.shapes:
            match shape:
                case Line():
                    pen = QPen(self._color(shape.color), shape.width)
                    if shape.dashes:
                        dashes = [float(part) / shape.width for part in shape.dashes.split()]
                        pen.setDashPattern(dashes)
                    painter.setPen(pen)
                    painter.drawPolyline(_polygon(shape.points))
                case Mark():
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(self._color(shape.color))
                    painter.drawPolygon(_polygon(shape.points))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                case Label():
                    self._write(painter, shape)
        if self.hasFocus():
            painter.setPen(self._theme.color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _write(self, painter: QPainter, label: Label) -> None:
        font = QFont(self._theme.ui_font)
        font.setPixelSize(round(label.size + 1))
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        width = painter.fontMetrics().horizontalAdvance(label.text)
        back = {"start": 0.0, "middle": width / 2, "end": float(width)}[label.anchor]
        painter.save()
        painter.translate(label.x, label.y)
        if not label.upright:
            painter.rotate(-90)
        painter.drawText(QPointF(-back, 0), label.text)
        painter.restore()

    def _color(self, color: str) -> QColor:
        if color == INK:
            return self._theme.color("text")
        if color == GRID:
            return self._theme.color("grid")
        made = QColor(color)
        return made.lighter(LIGHTER) if self._theme.is_dark else made

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802  Qt's name
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy picture").triggered.connect(self.copy_picture)
        for kind in ("PDF", "SVG", "CSV"):
            action = menu.addAction(f"Save as {kind}…")
            action.setData(kind.lower())
            action.triggered.connect(self._choose_file)
        menu.popup(event.globalPos())

    @Slot()
    def copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.grab())

    @Slot()
    def _choose_file(self) -> None:
        ending = self.sender().data()  # type: ignore[attr-defined]  # an action of the menu
        name, _ = QFileDialog.getSaveFileName(self, "Save figure", f"{self.figure.name}.{ending}")
        if name:
            self.save(Path(name) if Path(name).suffix else Path(f"{name}.{ending}"))

    def save(self, path: Path) -> None:
        match path.suffix.lower():
            case ".csv":
                content = figure_csv(self.figure).encode()
            case ".svg":
                content = svg(self._drawing).encode()
            case _:
                content = pdf(self._drawing)
        write_bytes(path, content)


def _polygon(points: tuple[tuple[float, float], ...]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])
