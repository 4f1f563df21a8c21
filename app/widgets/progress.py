"""Progress in a bar as its reader expects it: full only when the work has ended."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar

STEPS = 1000
_LAST = 0.99
"""The largest share shown while work runs, because uncounted work follows."""


def running_share(done: float, total: float) -> float:
    """Return the share of running work, from 0 to less than 1."""
    return min(max(done / total, 0.0), _LAST) if total > 0 else 0.0


def show_running(bar: QProgressBar, done: float, total: float | None) -> None:
    """Show running work: its share, or a moving bar if the total is unknown."""
    if not total:
        bar.setRange(0, 0)
        return
    bar.setRange(0, STEPS)
    bar.setValue(int(STEPS * running_share(done, total)))
