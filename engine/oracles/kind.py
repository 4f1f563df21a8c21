"""What the entry of an oracle is made of: a sentence, options, what it needs, how it is made.

Limits are counted in expansions by default, so that the same seed gives the same findings;
`seconds=` limits the time instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.dominance.function import DominanceFunction
from engine.oracles.local_test import MODES
from engine.oracles.session import Oracle, OracleSession
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization
from engine.records.evidence import Evidence
from engine.search.effort import effort_so_far
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


def one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return read


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an oracle; `unset` says what happens by default if `default` is None.

    `read` reads a value from a user's text, or raises ValueError if it is not a `wanted`.
    """

    default: Value
    meaning: str
    read: Callable[[str], Value] = positive
    wanted: str = "positive number"
    example: str = "10"
    unset: str = "no limit"

    @property
    def default_text(self) -> str:
        """Return the default as a user would write it."""
        if self.default is None:
            return self.unset
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.default, float) and self.default.is_integer():
            return str(int(self.default))
        return str(self.default)


@dataclass(frozen=True, slots=True)
class Needs:
    """What an oracle cannot do without."""

    portfolio: bool = False  # policies to compare with
    dominance: bool = False  # a dominance function, with the factors of its option
    dominance_option: str = ""  # the one that asks for it, where the oracle can do without

    def asks_for_dominance(self, values: Values) -> bool:
        return self.dominance or bool(self.dominance_option and values[self.dominance_option])

    def missing(self, *, portfolio: bool) -> str:
        """Why an oracle declines, to follow its name; empty if it has all it needs."""
        if self.portfolio and not portfolio:
            return "needs a portfolio of policies to compare with"
        return ""


@dataclass(frozen=True, slots=True)
class Screened:
    """What an oracle that remembers nothing proves in a state, and the work that this took."""

    bound: int  # what it showed to suffice; INFINITY: nothing
    evidence: Evidence | None  # for the best bound of the state, which may be lower
    touched: int  # states


class Screen(Protocol):
    """Does fast what an oracle that remembers nothing would do in a session of its own."""

    @property
    def asked(self) -> int:
        """How many states were put to the policy."""
        ...

    def is_vain(
        self, state: int, limit: int, step_limit: int | None, cancelled: Callable[[], bool]
    ) -> bool:
        """Whether no bound below the limit would be found in a pool state; if in doubt, not."""
        ...

    def examine(
        self,
        state: int,
        reference: int | None,
        step_limit: int | None,
        cancelled: Callable[[], bool],
    ) -> Screened:
        """What is proven in the last state that was not vain, on which the policy's run ended.

        The walk to it may have begun in a `reference`.
        """
        ...


class OracleGroup(Enum):
    """Where an oracle looks for something better than the policy's run, in words."""

    PLANS = "Better plans"
    STATES = "Other states"
    POLICIES = "Other policies"


@dataclass(frozen=True)
class OracleKind:
    name: str
    sentence: str  # what it does, for users
    options: Mapping[str, Option]
    make: Callable[[str, OracleSession, Values], Oracle]  # from the user's text and all values
    needs: Needs = Needs()
    remembers: bool = True  # what it learned about one state may help it with another one
    screen: Callable[[str, PolicyRuns, Values], Screen | None] = lambda _text, _runs, _values: None
    """Made for the policy's runs in pool states, if there is one for such a policy."""
    group: OracleGroup = OracleGroup.STATES


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
        None,
        "atomic (default in a hunt), or merged with at most this many transitions",
        Factorization.parse,
        unset="automatic",
    ),
    "local": Option(
        "all", "how a run is compared with itself", one_of(*MODES), "local test", "|".join(MODES)
    ),
    "seconds": Option(None, "time the dominance function may take"),
}


def dominance(session: OracleSession, values: Values) -> DominanceFunction:
    """The function that the `DOMINANCE_OPTIONS` ask for."""
    limits = replace(DEFAULT_LIMITS, seconds=values["seconds"])
    factors, before = values["factors"] or session.factors, effort_so_far()
    function = dominance_function(session.task, factors, limits=limits, control=session.control)
    session.functions.append((function, effort_so_far().since(before)))
    return function
