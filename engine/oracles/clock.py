"""The clock of an oracle, and its limits.

The clock runs while the oracle is made, which is when dominance functions are computed, and while
it examines states. Whatever else a session needs, above all the verification of findings, is not
on it. A limit cuts off an examination without undoing it: bounds that were proven hold.
See docs/theory/oracles.md, "Clocks and limits".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from engine.dominance.function import DominanceFunction
from engine.errors import CancelledError
from engine.native.control import Control
from engine.records.config import UnitLimits
from engine.search.effort import NO_EFFORT, CpuLimit, Effort, effort_so_far

AT_LIMIT = "stopped at its limit of"


class Timed(Protocol):
    """What a clock sees of a session."""

    control: Control
    functions: list[tuple[DominanceFunction, Effort]]


@dataclass(slots=True)
class Lap:
    """What a piece of work took; known when it is over."""

    effort: Effort = NO_EFFORT
    limited: bool = False  # the limit was reached
    cut_off: bool = False  # before the work was done


class OracleClock:
    """Counts an oracle's time in its sessions; `alone`, work shared by others counts as its own."""

    def __init__(self, limits: UnitLimits | None = None, *, alone: bool = False) -> None:
        self.setup = Effort()
        self.spent = Effort()
        self.limit = ""  # the one that ended its work, in words
        self.factors = ""  # of its dominance function
        self.weakened = ""  # what a limit made of this function, in words
        self._limits, self._alone = limits or UnitLimits(), alone

    @contextmanager
    def making(self, session: Timed) -> Iterator[Lap]:
        """Time the making of the oracle; a limit ends the block without an error."""
        known = len(session.functions)
        with self._timed(session, self._left()) as lap:
            yield lap
        effort = lap.effort
        for function, fetched in session.functions[known:]:
            if self._alone:
                effort += function.effort.since(fetched)
            self._describe(function)
        self.setup += effort
        self._add(effort)

    @contextmanager
    def examining(self, session: Timed) -> Iterator[Lap]:
        """Time the examination of a state; a limit ends the block without an error."""
        limits = [
            limit for limit in (self._left(), self._limits.state_seconds) if limit is not None
        ]
        with self._timed(session, min(limits, default=None)) as lap:
            yield lap
        self._add(lap.effort)

    def _left(self) -> float | None:
        limit = self._limits.oracle_seconds
        return None if limit is None else max(limit - self.spent.cpu, 0.0)

    def _add(self, effort: Effort) -> None:
        self.spent += effort
        if self._left() == 0.0:
            self.limit = f"{AT_LIMIT} {self._limits.oracle_seconds:g} s"

    def _describe(self, function: DominanceFunction) -> None:
        merged = any(len(factor.variables) > 1 for factor in function.factors)
        self.factors = "merged" if merged else "atomic"
        if not function.complete and not function.is_trivial:
            what = "a part of the merged" if merged else "atomic"
            self.weakened = (
                f"its dominance function was not finished within its limit; it uses {what} factors"
            )

    @contextmanager
    def _timed(self, session: Timed, seconds: float | None) -> Iterator[Lap]:
        outer, before, lap = session.control, effort_so_far(), Lap()
        limit = None if seconds is None else CpuLimit(outer, before.cpu + seconds)
        if limit is not None:
            session.control = limit.control
        try:
            yield lap
        except CancelledError:
            if limit is None or not limit.reached:
                raise
            lap.cut_off = True
        finally:
            lap.effort = effort_so_far().since(before)
            if limit is not None:
                limit.close()
                lap.limited = limit.reached
                session.control = outer
