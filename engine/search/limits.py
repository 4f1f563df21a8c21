"""What a search, or the construction of a heuristic, may use."""

from __future__ import annotations

from dataclasses import dataclass

from engine.native.library import INFINITY, NativeLimits


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search may use; None is no limit."""

    seconds: float | None = None
    bytes: int | None = None
    expansions: int | None = None

    def native(self) -> NativeLimits:
        """The kernels' form, where 0 is no limit: less than that ends at the first look."""
        seconds = 0.0 if self.seconds is None else max(self.seconds, 1e-9)
        memory = INFINITY if self.bytes is None else min(max(self.bytes, 0), INFINITY)
        expansions = 0 if self.expansions is None else min(max(self.expansions, 1), INFINITY)
        return NativeLimits(seconds, expansions, memory)


NO_LIMITS = SearchLimits()
