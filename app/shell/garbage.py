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
"""A full collection waits this many times as long as the last one took."""
LONG_SECONDS = 0.03
"""After a collection that took longer, such as with 100,000 bugs, the survivors are ignored until a
window is closed.
"""


class GarbageCollector(QObject):
    """As long as it lives, Python does not collect by itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._full_at = 0.0
        self._keeps = False  # what is there when we look next
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(CHECK_MILLISECONDS)

    def keep(self) -> None:
        """Exclude what survives the next collection, above all imported modules, from others.

        Not at once: the window is to appear first.
        """
        self._keeps = True

    @Slot()
    def keep_nothing(self) -> None:
        """Collect everything the next time, because a window was closed."""
        gc.unfreeze()
        self._full_at = 0.0

    def close(self) -> None:
        self._timer.stop()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect as Python would, by its own thresholds."""
        if self._keeps:
            self._keeps = False
            gc.collect()
            gc.freeze()
            return
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
