"""What every benchmark offers to the table of all: rows, and the setting they are measured in.

A benchmark is a module with `rows(setting)`. It yields a row as soon as it is known, so that what
was measured before a failure is kept. Ratios are ours divided by theirs, the median over instances
that both answered: below 1 is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "resources" / "examples"

Value = TypeVar("Value")


class MissingDataError(Exception):
    """A benchmark needs published data that was not given."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `wrong` if it must not be so."""

    what: str
    ours: float | None
    unit: str
    against: str = ""  # what ours is compared with
    theirs: float | None = None
    ratio: float | None = None
    spread: tuple[float, float] | None = None  # the least and the largest ratio
    instances: int = 1
    remark: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """What there is to measure on, and for how long."""

    data: Path | None = None
    quick: bool = False

    def published(self, name: str) -> Path:
        """A folder of the published data."""
        if self.data is None or not (self.data / name).is_dir():
            raise MissingDataError(f"needs the folder '{name}' of DATA")
        return self.data / name

    @property
    def tasks(self) -> Path:
        """Domains with problems: those of competitions, or the examples if there are none."""
        try:
            return self.published("ipc")
        except MissingDataError:
            return EXAMPLES

    def choose(self, usual: Value, quick: Value) -> Value:
        return quick if self.quick else usual


def compared(
    what: str,
    against: str,
    pairs: Sequence[tuple[float, float]],
    unit: str,
    remark: str = "",
) -> Row:
    """Ours with theirs, for each instance: medians of both, and of the ratios."""
    if not pairs:
        return Row(what, None, unit, against, instances=0, remark=f"no such instance: {remark}")
    ratios = [ours / theirs for ours, theirs in pairs]
    return Row(
        what,
        median(ours for ours, _ in pairs),
        unit,
        against,
        median(theirs for _, theirs in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        len(pairs),
        remark,
    )


def mistakes(what: str, count: int, instances: int, remark: str = "") -> Row:
    """What must not be: 0 are expected, of some instances."""
    if not instances:
        raise ValueError(f"{what}: nothing was examined")
    wrong = count > 0
    return Row(
        what, count, "mistakes", "expected", 0, instances=instances, remark=remark, wrong=wrong
    )
