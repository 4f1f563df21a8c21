"""Collects garbage in the window's thread only.

Python may collect in whichever thread allocates, for example in one that watches a job. If a
widget or a timer is among the garbage Qt would be called from the wrong thread, and may crash.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer, Slot

CHECK_MILLISECONDS = 1000
FULL_SHARE = 200
"""A full collection looks at everything: it waits this many times the time the last one took."""
LONG_SECONDS = 0.03
"""What a full collection leaves that took longer, such as a hundred thousand bugs, is not looked
through again before a window is closed."""


class GarbageCollector(QObject):
    """As long as it lives, Python does not collect by itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._full_at = 0.0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(CHECK_MILLISECONDS)

    def keep(self) -> None:
        """What there is now, above all what has been imported, stays: it is not looked through."""
        gc.collect()
        gc.freeze()

    @Slot()
    def keep_nothing(self) -> None:
        """A window was closed: look through everything the next time."""
        gc.unfreeze()
        self._full_at = 0.0

    def close(self) -> None:
        self._timer.stop()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """What Python would do, by its own thresholds."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                self._collect(generation)
                return

    def _collect(self, generation: int) -> None:
        began = time.monotonic()
        if generation < 2 or began < self._full_at:
            gc.collect(min(generation, 1))
            return
        gc.collect()
        now = time.monotonic()
        self._full_at = now + FULL_SHARE * (now - began)
        if now - began > LONG_SECONDS:
            gc.freeze()
