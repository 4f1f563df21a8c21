"""Small pictures of bugs' states: drawn one after another beside the window, the latest kept.

They are drawn where the workspace is read. Only one is asked for at a time, so that whatever else
is asked meanwhile waits for one picture at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from PySide6.QtCore import QObject, QRectF, QTimer, Signal, Slot
from PySide6.QtGui import QImage

from app.services.reader import QueryThread
from app.services.theme import Theme
from app.widgets.scene_painter import ScenePainter, scene_image, theme_painter
from engine.errors import PlumblineError, UnsupportedError
from engine.pictures.picture import require_drawable, state_picture
from engine.pictures.scene import Scene
from engine.task.task import Task
from engine.verify.claims import require_fit
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow

WIDTH, HEIGHT = 128, 72
MAX_OBJECTS = 250
"""More objects are a blur, and slow to lay out."""
MARGIN = 4
MAX_KEPT = 300
MAX_TASKS = 4
Key = tuple[int, float]


def key_of(row: BugRow) -> Key:
    """The number of a deleted bug is given to another one, which was found at another time."""
    return row.id, row.seconds


class Thumbnails(QObject):
    drawn = Signal()
    """A picture has arrived."""

    def __init__(
        self,
        theme: Theme,
        reader: QueryThread,
        in_sight: Callable[[], Sequence[BugRow]],
        scale: Callable[[], float],
        parent: QObject | None = None,
    ) -> None:
        """`in_sight`: whose pictures are wanted now; `scale`: pixels per point of the screen."""
        super().__init__(parent)
        self._theme, self._reader = theme, reader
        self._in_sight, self._scale = in_sight, scale
        self.kept: dict[Key, QImage | None] = {}  # the most recently used are the last
        self._task_of = lru_cache(MAX_TASKS)(WorkspaceReader.task)  # for the other thread only
        self._is_drawing = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._draw_next)
        theme.changed.connect(self._restyle)
        self._restyle()

    def get(self, row: BugRow) -> QImage | None:
        """The picture, if it is there and there is one; else it comes later."""
        key = key_of(row)
        if key in self.kept:
            self.kept[key] = image = self.kept.pop(key)
            return image
        if not self._is_drawing and not self._soon.isActive():
            self._soon.start(0)
        return None

    @Slot()
    def _restyle(self) -> None:
        self.kept.clear()
        self._painter = theme_painter(self._theme)

    @Slot()
    def _draw_next(self) -> None:
        row = next((row for row in self._in_sight() if key_of(row) not in self.kept), None)
        if row is None:
            return
        self._is_drawing = True
        painter = self._painter
        self._reader.ask(
            self,
            partial(_draw, self._task_of, row.id, painter, self._scale()),
            partial(self._keep, key_of(row), painter),
            partial(self._on_failed, key_of(row), painter),
        )

    def _on_failed(self, key: Key, painter: ScenePainter, error: PlumblineError) -> None:
        del error  # reported when the bug is selected
        self._keep(key, painter, None)

    def _keep(self, key: Key, painter: ScenePainter, image: QImage | None) -> None:
        self._is_drawing = False
        if painter is self._painter:  # else it has the colors of another theme
            self.kept[key] = image
        while len(self.kept) > MAX_KEPT:
            del self.kept[next(iter(self.kept))]
        self.drawn.emit()
        self._soon.start(0)


def _draw(
    task_of: Callable[[WorkspaceReader, int], Task],
    number: int,
    painter: ScenePainter,
    scale: float,
    store: WorkspaceReader,
) -> QImage:
    bug = store.bug(number)
    task = task_of(store, bug.problem_id)
    require_drawable(task)
    require_fit(bug, task, None)
    if task.source is not None and len(task.source.problem.objects) > MAX_OBJECTS:
        raise UnsupportedError("too many objects for a small picture")
    scene = state_picture(task, bug.finding.state)
    part = _objects_of(scene)
    fit = min(WIDTH / part.width(), HEIGHT / part.height(), 1.0)
    image = scene_image(scene, painter, fit * scale, part)
    image.setDevicePixelRatio(scale)
    return image


def _objects_of(scene: Scene) -> QRectF:
    """The part without title and legend, which cannot be read anyway."""
    part = QRectF()
    for box in scene.boxes().values():
        part = part.united(QRectF(box.x, box.y, box.w, box.h))
    if part.isEmpty():
        return QRectF(0, 0, scene.width, scene.height)
    return part.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
