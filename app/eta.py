"""How long something will still take, from how it got on so far."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 30.0
"""What was longer ago does not say much about what comes."""
EARLY_SECONDS, EARLY_SHARE = 5.0, 0.05
"""Before both of them nobody knows: work begins with what it does only once."""


class Eta:
    """Told of progress now and then; knows nothing before there was some."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()
        self._total: float | None = None

    def update(self, now: float, done: float, total: float | None) -> None:
        self._total = total
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()  # a new stage counts from the start
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] > WINDOW_SECONDS:
            self._seen.popleft()

    def seconds(self, now: float) -> float | None:
        if self._total is None or len(self._seen) < 2:
            return None
        (first, before), (_, done) = self._seen[0], self._seen[-1]
        if done <= before or now <= first:
            return None
        if now - first < EARLY_SECONDS and done - before < EARLY_SHARE * self._total:
            return None
        return (self._total - done) * (now - first) / (done - before)


def in_words(seconds: float) -> str:
    """As short as it is exact: `8 s`, `3 min`, `2 h 10 min`."""
    if seconds < 59.5:
        return f"{max(1, round(seconds))}\u202fs"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes}\u202fmin"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}\u202fh {minutes}\u202fmin" if minutes else f"{hours}\u202fh"
