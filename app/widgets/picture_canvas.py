"""Shows a scene: zoom, pan, search, a walk over its objects, and motion between two steps."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPointF,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsView,
    QStyle,
    QStyleOptionGraphicsItem,
    QToolTip,
    QWidget,
)

from app.services.theme import Theme
from app.widgets.builders import describe
from app.widgets.scene_painter import ScenePainter, between, scene_image, theme_painter
from engine.pictures.scene import Box, Item, Scene

MOTION_MILLISECONDS = 160
ZOOM = 1.2
MIN_FIT, MAX_FIT = 0.5, 1.25
"""A picture is fitted within these bounds; beyond them it scrolls."""
NO_FIT, READABLE = 0.4, 0.8
"""Where much less would fit, the part around the action is shown as large as can be read."""
NEXT_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Tab)
PREVIOUS_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Backtab)


class PictureCanvas(QGraphicsView):
    object_selected = Signal(str)
    """Clicked, or chosen with the keyboard; empty for none."""
    step_requested = Signal(int)
    """Go this number of steps forward or back."""
    play_requested = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        describe(self, name, "Picture of the state")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self._theme = theme
        self._scene = QGraphicsScene(self)
        self._drawing = _Drawing(theme_painter(theme))
        self._scene.addItem(self._drawing)
        self.setScene(self._scene)
        self.picture: Scene | None = None
        self.selected = ""
        self._found = ""
        self._zoomed = False
        self._pressed: QPointF | None = None
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(MOTION_MILLISECONDS)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._on_motion)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_picture(self, picture: Scene | None, animate: bool = False) -> None:
        """With `animate` what moved since the last picture glides to its place."""
        old, self.picture = self.picture, picture
        self._motion.stop()
        self._drawing.old = None
        if picture is None:
            self._drawing.show(None)
            self.setAccessibleDescription("")
            return
        resized = old is None or (old.width, old.height) != (picture.width, picture.height)
        self._drawing.show(picture)
        self.setAccessibleName(picture.title)
        self.setAccessibleDescription(picture.description)
        self._scene.setSceneRect(0, 0, picture.width, picture.height)
        self._mark()
        if resized and not self._zoomed:
            self.fit()
        else:
            self._show_action()
        if animate and not resized and old is not None and self._moves():
            self._drawing.old = old
            self._motion.start()

    def _moves(self) -> bool:
        """Whether the desktop wants motion at all."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self.isVisible() and self.style().styleHint(hint, None, self) > 0

    def search(self, words: str) -> int:
        """Mark the objects whose names contain some text; how many there are."""
        self._found = words.strip().lower()
        self._mark()
        return len(self._drawing.found)

    def select(self, name: str) -> None:
        self.selected = name
        self._mark()

    def image(self) -> QImage | None:
        return None if self.picture is None else scene_image(self.picture, self._drawing.painter)

    @Slot()
    def fit(self) -> None:
        self._zoomed = False
        self.resetTransform()
        if self.picture is not None:
            room = self.viewport().size()
            scale = min(room.width() / self.picture.width, room.height() / self.picture.height)
            if scale < NO_FIT:  # then a part that can be read says more
                scale = READABLE
            scale = min(max(scale, MIN_FIT), MAX_FIT)
            self.scale(scale, scale)
            self.centerOn(0, 0)
            self._show_action()

    def _show_action(self) -> None:
        """Of a picture that is larger than the view, what the step is about."""
        items = self.picture.items if self.picture else ()
        boxes = [item for item in items if isinstance(item, Box) and item.edge == "accent"]
        acting = [box for box in boxes if box.object or box.key.endswith("/target")]
        if not self._zoomed:
            self._make_room(acting)
        room = self.mapToScene(self.viewport().rect()).boundingRect()
        around = QRectF()
        for box in sorted(acting, key=lambda box: box.w * box.h):
            place = around.united(QRectF(box.x, box.y, box.w, box.h))
            if place.width() <= room.width() and place.height() <= room.height():
                around = place
        if not room.contains(around):
            self.centerOn(around.center())

    def _make_room(self, acting: Sequence[Box]) -> None:
        """Draw smaller, as long as it can be read, where boxes lie too far apart to be seen."""
        whole = QRectF()
        for box in acting:
            whole = whole.united(QRectF(box.x, box.y, box.w, box.h))
        size, scale = self.viewport().size(), self.transform().m11()
        wanted = min(size.width() / (whole.width() + 1), size.height() / (whole.height() + 1))
        if MIN_FIT <= wanted < scale:
            self.scale(wanted / scale, wanted / scale)

    def zoom(self, factor: float) -> None:
        self._zoomed = True
        self.scale(factor, factor)

    def _mark(self) -> None:
        boxes = self.picture.boxes() if self.picture else {}
        self._drawing.found = [
            box
            for box in boxes.values()
            if self._found and self._found in f"{box.object}\n{box.tip}".lower().partition("(")[0]
        ]
        self._drawing.focus = boxes.get(self.selected)
        self._drawing.update()

    @Slot(object)
    def _on_motion(self, value: object) -> None:
        if isinstance(value, float):
            self._drawing.progress = value
            if value >= 1.0:
                self._drawing.old = None
            self._drawing.update()

    @Slot()
    def _on_theme_changed(self) -> None:
        self._drawing.painter = theme_painter(self._theme)
        paper = "surface" if self.picture is None else self.picture.paper
        self._scene.setBackgroundBrush(self._drawing.painter.color(paper))
        self._drawing.accent = self._theme.color("accent")
        self._drawing.warning = self._theme.color("undecided")
        self._drawing.update()

    # Events.

    def _box_at(self, place: QPointF) -> Box | None:
        """The innermost box with something to say."""
        found = None
        for item in self.picture.items if self.picture else ():
            if (
                isinstance(item, Box)
                and item.tip
                and QRectF(item.x, item.y, item.w, item.h).contains(place)
            ):
                found = item
        return found

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            box = self._box_at(self.mapToScene(event.pos()))
            QToolTip.showText(event.globalPos(), box.tip if box else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        super().mouseReleaseEvent(event)
        if self._pressed is not None and (event.position() - self._pressed).manhattanLength() < 4:
            box = self._box_at(self.mapToScene(event.position().toPoint()))
            self._choose(box.object if box else "")
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        del event
        self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802  Qt's name
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(ZOOM if event.angleDelta().y() > 0 else 1 / ZOOM)
            event.accept()
        else:
            super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        if not self._zoomed:
            self.fit()

    def event(self, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
            and self._walk(1 if event.key() == Qt.Key.Key_Tab else -1)
        ):
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.step_requested.emit(1 if key == Qt.Key.Key_Right else -1)
        elif key in NEXT_KEYS or key in PREVIOUS_KEYS:
            self._walk(1 if key in NEXT_KEYS else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.object_selected.emit(self.selected)
        elif key == Qt.Key.Key_Escape and self.selected:
            self._choose("")
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(1 / ZOOM if key == Qt.Key.Key_Minus else ZOOM)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_F):
            self.fit()
        elif key == Qt.Key.Key_Space:
            self.play_requested.emit()
        else:
            super().keyPressEvent(event)

    def _walk(self, step: int) -> bool:
        """To the next object in reading order; False at either end."""
        boxes = self.picture.boxes() if self.picture else {}
        names = sorted(boxes, key=lambda name: (boxes[name].y, boxes[name].x))
        at = (
            names.index(self.selected)
            if self.selected in names
            else (-1 if step > 0 else len(names))
        )
        if not 0 <= at + step < len(names):
            return False
        self.select(names[at + step])
        box = boxes[names[at + step]]
        self.ensureVisible(box.x, box.y, box.w, box.h)
        self.setAccessibleDescription(box.tip)
        return True

    def _choose(self, name: str) -> None:
        self.select(name)
        self.object_selected.emit(name)


class _Drawing(QGraphicsItem):
    """All of a scene as one item: thousands of small ones would take longer to move."""

    def __init__(self, painter: ScenePainter) -> None:
        super().__init__()
        self.painter = painter
        self.picture: Scene | None = None
        self.old: Scene | None = None
        self.progress = 1.0
        self.found: list[Box] = []
        self.focus: Box | None = None
        self.accent = self.warning = painter.color("accent")

    def show(self, picture: Scene | None) -> None:  # type: ignore[override]
        self.prepareGeometryChange()
        self.picture = picture
        if picture is not None:
            self.painter.take_images(picture)
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802  Qt's name
        picture = self.picture
        return QRectF(0, 0, picture.width, picture.height) if picture else QRectF()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        del option, widget
        if self.picture is None:
            return
        painter.fillRect(self.boundingRect(), self.painter.color(self.picture.paper))
        items: list[tuple[Item, float]] = [(item, 1.0) for item in self.picture.items]
        if self.old is not None:
            items = between(self.old, self.picture, self.progress)
        self.painter.paint(painter, items)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box in self.found:
            painter.setPen(QPen(self.warning, 3))
            painter.drawRoundedRect(QRectF(box.x - 3, box.y - 3, box.w + 6, box.h + 6), 6, 6)
        if self.focus is not None:
            box = self.focus
            painter.setPen(QPen(self.accent, 2, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(QRectF(box.x - 4, box.y - 4, box.w + 8, box.h + 8), 6, 6)
