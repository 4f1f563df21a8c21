"""What the entry of an oracle is made of: a sentence, options, what it needs, how it is made.

Limits are counted in expansions by default, so that the same seed gives the same findings;
`seconds=` is for those who would rather wait no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.dominance.function import DominanceFunction
from engine.oracles.local_test import MODES
from engine.oracles.session import Oracle, OracleSession
from engine.records.config import Factorization
from engine.search.forward import SearchLimits

MEMORY = 4 * 2**30
"""What a search of an oracle may use, in bytes."""

Value = float | str | bool | Factorization | None
Values = Mapping[str, Any]
"""By the names of options."""


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e15:
        raise ValueError
    return value


def count(text: str) -> int:
    value = int(text)
    if not 0 <= value < 10**15:
        raise ValueError
    return value


def switch(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


def _mode(text: str) -> str:
    if text not in MODES:
        raise ValueError
    return text


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an oracle; `default` None means that there is no limit.

    `read` makes a value of a user's text, or raises ValueError if it is no `wanted`.
    """

    default: Value
    meaning: str
    read: Callable[[str], Value] = positive
    wanted: str = "positive number"
    example: str = "10"


@dataclass(frozen=True, slots=True)
class Needs:
    """What an oracle cannot do without."""

    portfolio: bool = False  # policies to compare with
    dominance: bool = False  # a dominance function, with the factors of its option

    def missing(self, *, portfolio: bool) -> str:
        """Why an oracle declines, to follow its name; empty if it has all it needs."""
        if self.portfolio and not portfolio:
            return "needs a portfolio of policies to compare with"
        return ""


@dataclass(frozen=True)
class OracleKind:
    name: str
    sentence: str  # what it does, for people
    options: Mapping[str, Option]
    make: Callable[[str, OracleSession, Values], Oracle]  # from the user's text and all values
    needs: Needs = Needs()


def search_options(expansions: float | None) -> dict[str, Option]:
    return {
        "expansions": Option(expansions, "states a search may expand"),
        "seconds": Option(None, "time a search may take"),
    }


def search_limits(values: Values) -> SearchLimits:
    expansions = values["expansions"]
    return SearchLimits(values["seconds"], MEMORY, int(expansions) if expansions else None)


DOMINANCE_OPTIONS = {
    "factors": Option(
        Factorization(),
        "atomic, or merged with at most this many transitions",
        Factorization.parse,
    ),
    "local": Option(
        "all", "how a run is compared with itself", _mode, "local test", "|".join(MODES)
    ),
    "seconds": Option(None, "time the dominance function may take"),
}


def dominance(session: OracleSession, values: Values) -> DominanceFunction:
    """The function that the `DOMINANCE_OPTIONS` ask for."""
    limits = replace(DEFAULT_LIMITS, seconds=values["seconds"])
    return dominance_function(
        session.task, values["factors"], limits=limits, control=session.control
    )
