"""A plot in the colors of the theme: curves or points, values on hover, export.

Importing this module imports pyqtgraph, which is slow, so import it where the first plot is made.
New data is drawn at most ten times a second.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from numpy.typing import ArrayLike
from PySide6.QtCore import QBuffer, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QImage, QKeyEvent, QPainter
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe, heading
from app.widgets.layouts import hbox, vbox
from app.widgets.plot_series import POINT_SIZE, Curve, Drawing, Points, floats
from engine.files import write_bytes
from engine.plain_text import plain_cell

__all__ = ["Curve", "Plot", "Points"]

DRAW_MILLISECONDS = 100
NEAR_PIXELS = 14
_PNG_RATIO = 2
_ROOM_BELOW_ZERO = 0.04
_EDGE, _TOP, _GAP = 1, 8, 6  # pixels
_MANY = 5
"""A legend of more lines stands beside the curves, which it would cover."""


_Text = tuple[QRectF, int, str]
_Specs = tuple[object, object, list[_Text]]
"""What pyqtgraph draws of an axis: its line, its ticks and their numbers."""


class Plot(QWidget):
    """Set curves or points again whenever they change."""

    point_activated = Signal(object)  # the key of a point that was clicked, or entered
    drawn = Signal()

    def __init__(
        self,
        theme: Theme,
        name: str,
        title: str,
        axes: tuple[str, str],
        *,
        legend: tuple[int, int] = (12, 8),
        counts: bool = False,
        x_counts: bool = False,
        from_zero: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """`axes` are the titles of the x and the y axis, with their units.

        `legend` is the place of the legend; negative numbers count from the right and the bottom.
        With `counts` the y axis has whole numbers only, with `x_counts` the x axis. With
        `from_zero` the y axis begins at zero, so that small differences look small.
        """
        super().__init__(parent)
        describe(self, name, title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title, self.axes = title, axes
        self._theme = theme
        self._curves: tuple[Curve, ...] = ()
        self._points: tuple[Points, ...] = ()
        self._diagonal = False
        self._near: tuple[int, int] | None = None  # the selected point: its set and its index
        self._hover_x: float | None = None
        self._from_zero = from_zero
        self._make_view(legend, counts, x_counts)
        self._make_hover()
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAW_MILLISECONDS)
        self._timer.timeout.connect(self._draw)
        theme.changed.connect(self.restyle)
        self.restyle()

    def _make_view(self, legend: tuple[int, int], counts: bool, x_counts: bool) -> None:
        axes = {"left": _Axis("left", counts), "bottom": _Axis("bottom", x_counts)}
        self.canvas = pg.PlotWidget(self, enableMenu=False, axisItems=axes)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.canvas.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.canvas.setMouseEnabled(x=True, y=True)
        self.item = self.canvas.getPlotItem()
        self.item.ctrlMenu.setParent(self, Qt.WindowType.Popup)  # it would outlive the plot
        self.item.hideButtons()
        self.item.showGrid(x=False, y=False)
        self._legend_place = legend
        self.legend = self.item.addLegend(offset=legend)
        self.drawing = Drawing(self.item, self.legend, self._theme)
        self._zero = pg.ScatterPlotItem(size=1, pen=None, brush=None)  # in the range only
        self.item.vb.addItem(self._zero)

    def _make_hover(self) -> None:
        self._line = pg.InfiniteLine(angle=90, movable=False)
        self.label = pg.TextItem(anchor=(0, 1), fill=self._theme.color("raised"))
        self._ring = pg.ScatterPlotItem(size=POINT_SIZE + 6, brush=None)
        for item in (self._line, self.label, self._ring):
            item.setZValue(10)
            self.item.addItem(item, ignoreBounds=True)
            item.hide()
        self.canvas.scene().sigMouseMoved.connect(self._hover)
        self.canvas.scene().sigMouseClicked.connect(self._click)

    def _lay_out(self) -> None:
        self.export_button = self._make_export_button()
        self._theme.keep_icon(self.export_button, "export", "muted")
        # Views may add widgets of their own.
        self.header = hbox(heading(self.title), 1, self.export_button, spacing=8)
        vbox(self.header, (self.canvas, 1), parent=self, spacing=4)

    def set_curves(self, curves: Sequence[Curve]) -> None:
        self._curves = tuple(curves)
        self._soon()

    def set_axes(self, x: str, y: str) -> None:
        """Give the axes other titles."""
        if self.axes != (x, y):
            self.axes = x, y
            self.restyle()

    def set_points(self, points: Sequence[Points], *, diagonal: bool = False) -> None:
        """Show points; with `diagonal`, also a line where both values are the same."""
        self._points, self._diagonal = tuple(points), diagonal
        self._near = None
        self._soon()

    @property
    def is_empty(self) -> bool:
        sets: tuple[Curve | Points, ...] = (*self._curves, *self._points)
        return not any(np.size(item.x) for item in sets)

    def save(self, path: Path) -> None:
        """Save as PNG, SVG or CSV, by the suffix of the name."""
        self._near = self._hover_x = None
        self._draw()
        match path.suffix.lower():
            case ".csv":
                content = self._csv()
            case ".svg":
                from pyqtgraph.exporters import SVGExporter

                content = SVGExporter(self.item).export(toBytes=True)
            case _:
                content = self._png()
        write_bytes(path, content)

    @Slot()
    def restyle(self) -> None:
        color, size = self._theme.color, f"{self._theme.point_size - 1}pt"
        self.canvas.setBackground(color("surface"))
        for side, title in (("bottom", self.axes[0]), ("left", self.axes[1])):
            axis = self.item.getAxis(side)
            axis.setPen(color("border"))
            axis.setTextPen(color("muted"))
            axis.setStyle(
                tickFont=self._theme.ui_font, tickLength=-4, hideOverlappingLabels=side == "bottom"
            )
            axis.setLabel(title, **{"color": color("muted").name(), "font-size": size})
        self.legend.setLabelTextColor(color("text"))
        self.legend.setLabelTextSize(size)
        self._line.setPen(pg.mkPen(color("muted"), width=1, style=Qt.PenStyle.DotLine))
        self.label.setColor(color("text"))
        self.label.fill = pg.mkBrush(color("raised"))
        self.label.border = pg.mkPen(color("border"))
        self._ring.setPen(pg.mkPen(color("accent"), width=2))
        self._draw()

    def _soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _draw(self) -> None:
        self._timer.stop()
        sets: tuple[Curve | Points, ...] = (*self._curves, *self._points)
        self.item.vb.setLimits(
            xMin=_lowest([item.x for item in sets]), yMin=_lowest([item.y for item in sets])
        )
        starts = [floats(curve.x)[:1] for curve in self._curves if np.size(curve.x)]
        if self._from_zero and starts:
            self._zero.setData(starts[0], np.zeros(1))
        self.drawing.draw(self._curves, self._points, self._diagonal)
        self._place_legend()
        if self.is_empty:  # else it keeps the range of what was here before
            self.item.vb.setRange(QRectF(0, 0, 1, 1), disableAutoRange=False)
        self.item.vb.updateAutoRange()  # else the axes follow a frame later than the curves
        self._show_hover()
        self.drawn.emit()

    def _place_legend(self) -> None:
        """Over the curves, or beside them if it is long."""
        beside = len(self.legend.items) > _MANY
        self.legend.setParentItem(self.item if beside else self.item.vb)
        self.legend.setOffset((-_EDGE, _TOP) if beside else self._legend_place)
        room = self.legend.width() + _GAP if beside else _EDGE
        # Above there is half of the topmost number, below the title of the axis, which pyqtgraph
        # places a few pixels too low.
        self.item.layout.setContentsMargins(_EDGE, _TOP, room, _GAP)
        self.item.layout.activate()

    @Slot(object)
    def _hover(self, place: QPointF) -> None:
        box = self.item.vb
        if not box.sceneBoundingRect().contains(place):
            self._near = self._hover_x = None
        elif self._points:
            self._near = self._nearest(place)
        else:
            self._hover_x = float(box.mapSceneToView(place).x())
        self._show_hover()

    @Slot(object)
    def _click(self, event: object) -> None:
        place = event.scenePos()  # type: ignore[attr-defined]  # a MouseClickEvent of pyqtgraph
        self.setFocus()
        self._near = self._nearest(place)
        self._show_hover()
        self._activate()

    def _activate(self) -> None:
        if self._near is not None:
            number, index = self._near
            self.point_activated.emit(self._points[number].keys[index])

    def _nearest(self, place: QPointF) -> tuple[int, int] | None:
        """Return the point near the mouse, if there is one."""
        here, (width, height) = self.item.vb.mapSceneToView(place), self.item.vb.viewPixelSize()
        best, found = float(NEAR_PIXELS), None
        for number, points in enumerate(self._points):
            x, y = floats(points.x), floats(points.y)
            distance = np.hypot((x - here.x()) / width, (y - here.y()) / height)
            index = int(np.argmin(distance)) if len(distance) else -1
            if index >= 0 and distance[index] < best:
                best, found = float(distance[index]), (number, index)
        return found

    def _show_hover(self) -> None:
        self._line.setVisible(self._hover_x is not None and bool(self._curves))
        self._ring.setVisible(self._near is not None)
        texts: list[str] = []
        x = y = 0.0
        if self._near is not None:
            number, index = self._near
            points = self._points[number]
            x, y = float(floats(points.x)[index]), float(floats(points.y)[index])
            self._ring.setData([x], [y])
            height = points.y_text or f"{self.axes[1]}: {_number(y)}"
            texts = [points.name, f"{self.axes[0]}: {_number(x)}", height]
        elif self._hover_x is not None and self._curves:
            x = self._hover_x
            self._line.setPos(x)
            texts = [f"{self.axes[0]}: {_number(x)}", *self._values_at(x)]
            y = float(self.item.vb.viewRange()[1][0])
        self.label.setVisible(bool(texts))
        if texts:
            left, right = self.item.vb.viewRange()[0]
            self.label.setText("\n".join(texts))
            self.label.setAnchor((0 if x < (left + right) / 2 else 1, 1))
            self.label.setPos(x, y)

    def _values_at(self, x: float) -> list[str]:
        texts = []
        for curve in self._curves:
            xs, ys = floats(curve.x), floats(curve.y)
            place = int(np.searchsorted(xs, x, side="right")) - 1
            if 0 <= place < len(ys):
                texts.append(f"{curve.name}: {_number(float(ys[place]))}")
        return texts

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusInEvent(event)
        self._frame(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusOutEvent(event)
        self._frame(False)

    def _frame(self, focused: bool) -> None:
        """Draw the focus frame around the plot."""
        self.canvas.setProperty("focused", focused)
        self.canvas.style().polish(self.canvas)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        """Left and Right go along the values, Return opens what is behind a point."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in steps and not self.is_empty:
            self._step(steps[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate()
        else:
            super().keyPressEvent(event)

    def _step(self, by: int) -> None:
        if self._points:
            places = [
                (number, index)
                for number, points in enumerate(self._points)
                for index in np.argsort(floats(points.x), kind="stable").tolist()
            ]
            here = places.index(self._near) + by if self._near in places else 0
            self._near = places[here % len(places)]
        else:
            xs = np.unique(np.concatenate([floats(curve.x) for curve in self._curves]))
            now = self._hover_x if self._hover_x is not None else float(xs[0])
            place = int(np.searchsorted(xs, now)) + by
            self._hover_x = float(xs[min(max(place, 0), len(xs) - 1)])
        self._show_hover()

    def _make_export_button(self) -> QToolButton:
        button = QToolButton()
        describe(
            button,
            f"{self.objectName()}-export",
            f"Export {self.title}",
            "Save the plot as an image or its values as CSV",
        )
        button.setAutoRaise(True)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        button.setMenu(self._menu())
        button.setFixedSize(26, 26)
        return button

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for kind in ("PNG", "SVG", "CSV"):
            action = menu.addAction(f"Save as {kind}…")
            action.setData(kind.lower())
            action.triggered.connect(self._choose_file)
        menu.addSeparator()
        menu.addAction("Show all").triggered.connect(self._show_all)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802  Qt's name
        self.export_button.menu().popup(event.globalPos())

    @Slot()
    def _show_all(self) -> None:
        self.item.enableAutoRange()

    @Slot()
    def _choose_file(self) -> None:
        ending = self.sender().data()  # type: ignore[attr-defined]  # an action of the menu
        name, _ = QFileDialog.getSaveFileName(self, "Save plot", f"{self.objectName()}.{ending}")
        if name:
            self.save(Path(name) if Path(name).suffix else Path(f"{name}.{ending}"))

    def _png(self) -> bytes:
        """Twice as fine as on most screens."""
        image = QImage(self.canvas.size() * _PNG_RATIO, QImage.Format.Format_ARGB32)
        image.setDevicePixelRatio(_PNG_RATIO)
        image.fill(self._theme.color("surface"))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.canvas.render(painter, QRectF(self.canvas.rect()))
        painter.end()
        content = QBuffer()
        image.save(content, "PNG")  # type: ignore[call-overload]  # it takes names of formats as text
        return bytes(content.data().data())

    def _csv(self) -> bytes:
        file = io.StringIO(newline="")
        writer = csv.writer(file)
        writer.writerow(["series", *self.axes])
        sets: tuple[Curve | Points, ...] = (*self._curves, *self._points)
        for item in sets:
            for x, y in zip(floats(item.x), floats(item.y), strict=True):
                writer.writerow([plain_cell(item.name), _number(float(x)), _number(float(y))])
        return file.getvalue().encode()


class _Axis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Plain numbers; with `whole` no fractions."""

    def __init__(self, side: str, whole: bool) -> None:
        super().__init__(side)
        self._whole = whole

    def tickSpacing(self, least: float, most: float, size: float) -> list[tuple[float, float]]:  # noqa: N802  pyqtgraph's name
        spacing: list[tuple[float, float]] = super().tickSpacing(least, most, size)
        if not self._whole:
            return spacing
        return [(step, offset) for step, offset in spacing if step >= 1] or [(1.0, 0.0)]

    def generateDrawSpecs(self, painter: QPainter) -> _Specs | None:  # noqa: N802  pyqtgraph's name
        """Leave out every other number below the plot where they would touch."""
        specs: _Specs | None = super().generateDrawSpecs(painter)
        if specs is None or self.orientation != "bottom":
            return specs
        axis, ticks, texts = specs
        return axis, ticks, _apart(texts)

    def updateAutoSIPrefix(self) -> None:  # noqa: N802  pyqtgraph's name
        """Never "x0.001": pyqtgraph ignores the switch for axes without a unit. Called after every
        change of the range, so the drawn axis is discarded.
        """
        self.autoSIPrefixScale = 1.0
        self.picture = None
        self.update()


def _apart(texts: list[_Text]) -> list[_Text]:
    texts = sorted(texts, key=lambda text: text[0].left())
    while any(b.left() - a.right() < _GAP for (a, *_), (b, *_) in pairwise(texts)):
        texts = texts[::2]
    return texts


def _lowest(values: Sequence[ArrayLike]) -> float | None:
    """Return the lower end: zero if no value is negative, with a little room for marks."""
    known = np.concatenate([np.zeros(0), *map(floats, values)])
    known = known[np.isfinite(known)]
    if known.min(initial=0.0) < 0:
        return None
    return -_ROOM_BELOW_ZERO * (float(known.max(initial=0.0)) or 1.0)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}"
