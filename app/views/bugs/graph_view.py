"""A state as a graph: objects are boxes, facts about two objects are lines, changes are colored."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt, Slot
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QGraphicsScene,
    QGraphicsView,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.models.state_graph import MAX_OBJECTS, Edge, GraphLayout, Node, Picture
from app.services.theme import Theme
from engine.report.state_facts import Change, StateFacts

SPREAD = 96.0
"""Room per node, as the side of a square."""
ZOOM = 1.2


class GraphView(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state-graph")
        self._theme = theme
        self._layout: GraphLayout | None = None
        self._facts: StateFacts | None = None
        self._action = ""
        self._fit = True
        self.title = QLabel()
        self.title.setProperty("role", "heading")
        self._static = QCheckBox("Constant facts")
        self._static.setObjectName("graph-static")
        self._static.setAccessibleName("Draw constant facts")
        self._static.setToolTip("Draw facts that no action changes, such as roads")
        self._static.setChecked(True)
        self._static.toggled.connect(self._draw)
        self.scene = QGraphicsScene(self)
        self.view = _Canvas(self.scene, self)
        self._legend = QLabel()
        self._legend.setProperty("role", "muted")
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        bar = QHBoxLayout()
        bar.addWidget(self.title, 1)
        bar.addWidget(self._static)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        layout.addWidget(self._legend)
        theme.changed.connect(self._draw)

    def set_layout(self, layout: GraphLayout | None) -> None:
        self._layout = layout
        self._fit = True

    def show_state(self, title: str, facts: StateFacts | None, action: str = "") -> None:
        self.title.setText(title)
        self._facts, self._action = facts, action
        self._draw()

    @Slot()
    def _draw(self) -> None:
        self.scene.clear()
        self.scene.setBackgroundBrush(self._theme.color("surface"))
        border, accent = (self._theme.color(token).name() for token in ("border", "accent"))
        self.view.setStyleSheet(
            f"QGraphicsView {{ border: 1px solid {border}; }}"
            f"QGraphicsView:focus {{ border-color: {accent}; }}"
        )
        self._legend.setText("")
        if self._layout is None or self._facts is None:
            return
        if self._layout.too_many:
            count = len(self._layout.objects)
            self._write(f"Too many objects to draw: {count} (at most {MAX_OBJECTS}).")
            return
        picture = self._layout.picture(self._facts, self._action, self._static.isChecked())
        if not picture.nodes:
            self._write("This task has no facts about objects to draw.")
            return
        self._draw_picture(picture)
        self._legend.setText(self._legend_text())
        if self._fit:
            self.view.fit()
            self._fit = False

    def _legend_text(self) -> str:
        added, removed = self._theme.color("proven").name(), self._theme.color("bad").name()
        return (
            f'<span style="color:{added}">+ becomes true</span> &nbsp; '
            f'<span style="color:{removed}">\N{MINUS SIGN} becomes false</span> &nbsp; '
            "framed: in the action"
        )

    def _write(self, text: str) -> None:
        item = self.scene.addText(text, self._theme.ui_font)
        item.setDefaultTextColor(self._theme.color("muted"))
        self.scene.setSceneRect(self.scene.itemsBoundingRect())
        self.view.resetTransform()

    def _draw_picture(self, picture: Picture) -> None:
        side = SPREAD * max(2.0, math.sqrt(len(picture.nodes)) * 1.3)
        centers = {
            node.name: QPointF(node.x * side * 1.35, node.y * side) for node in picture.nodes
        }
        boxes = {node.name: self._box(node, centers[node.name]) for node in picture.nodes}
        between: dict[frozenset[str], int] = {}
        for edge in sorted(picture.edges, key=lambda edge: not edge.static):
            pair = frozenset((edge.source, edge.target))
            number = between.get(pair, 0)
            between[pair] = number + 1
            self._draw_edge(edge, centers, boxes, number)
        for node in picture.nodes:
            self._draw_node(node, boxes[node.name])
        self.scene.setSceneRect(self.scene.itemsBoundingRect().adjusted(-16, -16, 16, 16))

    def _box(self, node: Node, center: QPointF) -> QRectF:
        metrics = QFontMetricsF(self._theme.mono_font)
        small = QFontMetricsF(self._small_font())
        width = max(
            [metrics.horizontalAdvance(node.name), *map(small.horizontalAdvance, node.labels)]
        )
        height = metrics.height() + len(node.labels) * small.height()
        box = QRectF(0, 0, width + 16, height + 8)
        box.moveCenter(center)
        return box

    def _small_font(self) -> QFont:
        font = self._theme.ui_font
        font.setPointSizeF(max(6.0, self._theme.point_size - 1.5))
        return font

    def _draw_node(self, node: Node, box: QRectF) -> None:
        path = QPainterPath()
        path.addRoundedRect(box, 6, 6)
        token = "accent" if node.involved else "border"
        pen = QPen(self._theme.color(token), 2.5 if node.involved else 1)
        item = self.scene.addPath(path, pen, self._theme.color("raised"))
        item.setZValue(2)
        item.setToolTip("\n".join([node.name, *node.labels]))
        metrics = QFontMetricsF(self._theme.mono_font)
        y = box.top() + 4
        self._text(node.name, self._theme.mono_font, "text", box, y)
        y += metrics.height()
        small = self._small_font()
        for label in node.labels:
            token = {"+": "proven", "\N{MINUS SIGN}": "bad"}.get(label[0], "muted")
            self._text(label, small, token, box, y)
            y += QFontMetricsF(small).height()

    def _text(self, text: str, font: QFont, token: str, box: QRectF, y: float) -> None:
        item = self.scene.addSimpleText(text, font)
        item.setBrush(self._theme.color(token))
        width = QFontMetricsF(font).horizontalAdvance(text)
        item.setPos(box.center().x() - width / 2, y)
        item.setZValue(3)

    def _draw_edge(
        self, edge: Edge, centers: dict[str, QPointF], boxes: dict[str, QRectF], number: int
    ) -> None:
        token = {Change.ADDED: "proven", Change.REMOVED: "bad"}.get(edge.change, "text")
        token = "disabled" if edge.static else token
        pen = QPen(self._theme.color(token), 0.8 if edge.static else 1.6)
        if edge.change is Change.REMOVED:
            pen.setStyle(Qt.PenStyle.DashLine)
        start, end = centers[edge.source], centers[edge.target]
        along = end - start
        length = math.hypot(along.x(), along.y()) or 1.0
        normal = QPointF(-along.y(), along.x()) * (1 / length)
        bend = normal * (number * 18.0)
        middle = (start + end) * 0.5 + bend
        path = QPainterPath(start)
        path.quadTo(middle, end)
        item = self.scene.addPath(path, pen)
        item.setZValue(0 if edge.static else 1)
        item.setToolTip(f"({edge.label} {edge.source} {edge.target})")
        tip = _border_point(boxes[edge.target], middle)
        if not edge.static:
            self._arrow(tip, middle, pen)
            self._edge_label(edge, (start + end) * 0.5 + bend * 0.5, token)

    def _arrow(self, tip: QPointF, origin: QPointF, pen: QPen) -> None:
        back = origin - tip
        length = math.hypot(back.x(), back.y()) or 1.0
        side = QPointF(-back.y(), back.x()) * (3.5 / length)
        back = back * (8 / length)
        head = QPolygonF([tip, tip + back + side, tip + back - side])
        self.scene.addPolygon(head, Qt.PenStyle.NoPen, pen.color()).setZValue(1)

    def _edge_label(self, edge: Edge, place: QPointF, token: str) -> None:
        sign = {Change.ADDED: "+", Change.REMOVED: "\N{MINUS SIGN}"}.get(edge.change, "")
        font = self._small_font()
        text = self.scene.addSimpleText(sign + edge.label, font)
        text.setBrush(self._theme.color("muted" if token == "text" else token))
        size = text.boundingRect()
        text.setPos(place.x() - size.width() / 2, place.y() - size.height() / 2)
        text.setZValue(1.8)
        ground = self.scene.addRect(
            text.sceneBoundingRect().adjusted(-2, 0, 2, 0),
            Qt.PenStyle.NoPen,
            self._theme.color("surface"),
        )
        ground.setZValue(1.7)


def _border_point(box: QRectF, outside: QPointF) -> QPointF:
    """Where the line from a point to the middle of a box meets the box."""
    center = box.center()
    away = outside - center
    if away.isNull():
        return center
    factors = [
        half / abs(distance)
        for half, distance in ((box.width() / 2, away.x()), (box.height() / 2, away.y()))
        if distance
    ]
    return center + away * min([*factors, 1.0])


class _Canvas(QGraphicsView):
    """Fits the picture until the user zooms."""

    def __init__(self, scene: QGraphicsScene, parent: QWidget) -> None:
        super().__init__(scene, parent)
        self.setObjectName("graph-canvas")
        self.setAccessibleName("State as a graph")
        self.setToolTip("Scroll to zoom, drag to move")
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self._zoomed = False

    def fit(self) -> None:
        self._zoomed = False
        self.fitInView(self.sceneRect(), Qt.AspectRatioMode.KeepAspectRatio)
        if self.transform().m11() > 1.0:  # a small picture need not be blown up
            self.resetTransform()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        if not self._zoomed and self.scene().items():
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802  Qt's name
        self._zoomed = True
        factor = ZOOM if event.angleDelta().y() > 0 else 1 / ZOOM
        self.scale(factor, factor)
