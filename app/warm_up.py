"""Imports what the screens need before they are asked for, piece by piece while nothing happens.

The window appears first; a screen, or the first plot, then does not have to wait for its modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from PySide6.QtCore import QObject, QTimer, Slot

PAUSE_MILLISECONDS = 150
"""Between two imports, for whatever the user does meanwhile."""
SLOW_PACKAGES = ("pyqtgraph",)


class WarmUp(QObject):
    def __init__(self, modules: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._modules = list(modules)
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE_MILLISECONDS)
        self._timer.timeout.connect(self._import_next)
        self._timer.start()

    @property
    def done(self) -> bool:
        return not self._modules

    @Slot()
    def _import_next(self) -> None:
        if self._modules:
            import_module(self._modules.pop(0))
        else:
            self._timer.stop()
