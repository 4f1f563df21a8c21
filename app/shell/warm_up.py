"""Creates screens in advance, step by step while the user is idle.

The window appears first; its other screens, and the slow packages they import, follow in steps
between which the event loop runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Slot

from app.shell.main_window import MainWindow

IDLE_MILLISECONDS = 250
"""The user is idle after this time without a key, a click or a mouse movement."""
SLOW_PACKAGES = ("pyqtgraph",)

Step = Callable[[], object]
_INPUT = (
    *(QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove),
    *(QEvent.Type.Wheel, QEvent.Type.ShortcutOverride),
)


def steps_for(window: MainWindow) -> Iterator[Step]:
    for name in SLOW_PACKAGES:
        yield partial(import_module, name)
    for entry in window.pages:
        yield partial(import_module, entry.module)
        yield partial(window.page, entry.name)
        yield window.page(entry.name).prepare


class WarmUp(QObject):
    """Does one step after the other; lives as long as its window."""

    def __init__(self, steps: Iterator[Step], window: QObject) -> None:
        super().__init__(window)
        self._steps = steps
        self._timer = QTimer(self)
        self._timer.setInterval(IDLE_MILLISECONDS)
        self._timer.timeout.connect(self._take_step)
        self._timer.start()
        application = QCoreApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if event.type() in _INPUT and self._timer.isActive():
            self._timer.start()  # from the beginning
        return super().eventFilter(watched, event)

    @property
    def done(self) -> bool:
        return not self._timer.isActive()

    @Slot()
    def _take_step(self) -> None:
        step = next(self._steps, None)
        if step is not None:
            step()
            return
        self.stop()

    @Slot()
    def stop(self) -> None:
        self._timer.stop()
        application = QCoreApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
