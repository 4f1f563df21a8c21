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


class GarbageCollector(QObject):
    """As long as it lives, Python does not collect by itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.collect()
        gc.freeze()  # what has been imported stays for good: no need to look through it again
        gc.disable()
        self._full_at = 0.0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(CHECK_MILLISECONDS)

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
