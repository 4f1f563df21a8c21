"""Oracles by the name a user writes: `NAME` or `NAME:option=value,option=value`.

Limits are counted in expansions by default, so that the same seed gives the same findings;
`seconds=` is for those who would rather wait no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.dominance.function import DominanceFunction
from engine.errors import UsageError
from engine.oracles.aras import ArasOracle, SolvedOrNot
from engine.oracles.bmo import BoundOracle
from engine.oracles.combined import CombinedOracle
from engine.oracles.composite import CompositeOracle
from engine.oracles.inverse import InverseOracle
from engine.oracles.local_test import MODES
from engine.oracles.lookahead import LookaheadOracle
from engine.oracles.pco import Contest, PcoE, PcoP
from engine.oracles.planner import LamaOracle, SearchOracle
from engine.oracles.session import Oracle, OracleSession
from engine.oracles.smo import MorphOracle
from engine.records.config import Factorization
from engine.search.forward import SearchLimits
from engine.task.translate import Limits

MEMORY = 4 * 2**30
"""What a search of an oracle may use, in bytes."""


Value = float | str | bool | Factorization | None


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e15:
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an oracle; `default` None means that there is no limit.

    `read` makes a value of a user's text, or raises ValueError if it is no `wanted`.
    """

    default: Value
    meaning: str
    read: Callable[[str], Value] = _positive
    wanted: str = "positive number"
    example: str = "10"


@dataclass(frozen=True)
class OracleKind:
    name: str
    proves: str  # one sentence for people
    options: Mapping[str, Option]
    make: Callable[[str, OracleSession, Mapping[str, Any]], Oracle]
    needs_portfolio: bool = False


def make_oracle(text: str, session: OracleSession) -> Oracle:
    """The oracle a user asked for, working on a session."""
    kind, values = parse_oracle(text)
    if kind.needs_portfolio and session.portfolio is None:
        raise UsageError(
            f"{kind.name} compares the policy with others, and there is no portfolio of them",
            hint="name some with --portfolio, such as the directory of checkpoints of its training",
        )
    return kind.make(text, session, values)


def parse_oracle(text: str) -> tuple[OracleKind, dict[str, Value]]:
    """What a user's text asks for, with the values of all options."""
    name, _, rest = text.partition(":")
    if name not in ORACLES:
        close = get_close_matches(name, ORACLES, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"choose one of {', '.join(ORACLES)}"
        raise UsageError(f"there is no oracle '{name}'", hint=hint)
    kind = ORACLES[name]
    values = {option: entry.default for option, entry in kind.options.items()}
    for part in filter(None, rest.split(",")):
        option, _, value = part.partition("=")
        if option not in values:
            known = ", ".join(values) or "none"
            raise UsageError(f"{name} has no option '{option}'", hint=f"it has: {known}")
        values[option] = _read(name, option, kind.options[option], value)
    return kind, values


def _read(name: str, option: str, entry: Option, text: str) -> Value:
    try:
        return entry.read(text)
    except ValueError as problem:
        raise UsageError(
            f"{name}: '{text}' is no {entry.wanted}", hint=f"write {option}={entry.example}"
        ) from problem


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value < 10**15:
        raise ValueError
    return value


def _mode(text: str) -> str:
    if text not in MODES:
        raise ValueError
    return text


def _switch(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


def _limits(values: Mapping[str, float | None]) -> SearchLimits:
    expansions = values["expansions"]
    return SearchLimits(values["seconds"], MEMORY, int(expansions) if expansions else None)


def _search(algorithm: str, heuristic: str) -> Callable[..., Oracle]:
    def make(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
        return SearchOracle(text, session, algorithm, heuristic, _limits(values))

    return make


def _aras(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    return ArasOracle(text, session, _limits(values))


def _aras_ehc(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    ehc = SearchOracle(text, session, "ehc", "ff", _limits(values))
    return SolvedOrNot(text, session, _aras(text, session, values), ehc)


def _lama(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    return LamaOracle(text, session, Limits(values["seconds"], MEMORY // 2**20))


def _lookahead(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    return LookaheadOracle(text, session, int(values["depth"] or 0))


def _inverse(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    del values
    return InverseOracle(text, session)


def _undo(text: str, session: OracleSession, values: Mapping[str, float | None]) -> Oracle:
    return InverseOracle(text, session, _limits(values))


def _pco_p(text: str, session: OracleSession, values: Mapping[str, Any]) -> Oracle:
    return PcoP(text, session, _contest(session), int(values["runs"]))


def _pco_e(text: str, session: OracleSession, values: Mapping[str, Any]) -> PcoE:
    return PcoE(
        text,
        session,
        _contest(session),
        runs=int(values["runs"]),
        probability=values["probability"],
        seed=values["seed"],
    )


def _contest(session: OracleSession) -> Contest:
    assert session.portfolio is not None  # `make_oracle` refuses
    return Contest(session.portfolio)


def _probability(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError
    return value


_PCO_P_OPTIONS = {"runs": Option(5, "policies that are run on a state of the pool")}
_PCO_E_OPTIONS = {
    **_PCO_P_OPTIONS,
    "probability": Option(
        0.3, "of running a policy on a state of the run", _probability, "probability", "0.3"
    ),
    "seed": Option(0, "of the choice of these states", _count, "whole number", "1"),
}


def _searching(expansions: float | None) -> dict[str, Option]:
    return {
        "expansions": Option(expansions, "states a search may expand"),
        "seconds": Option(None, "time a search may take"),
    }


def _function(session: OracleSession, values: Mapping[str, Any]) -> DominanceFunction:
    limits = replace(DEFAULT_LIMITS, seconds=values["seconds"])
    return dominance_function(
        session.task, values["factors"], limits=limits, control=session.control
    )


def _smo(text: str, session: OracleSession, values: Mapping[str, Any]) -> Oracle:
    function = _function(session, values)
    return MorphOracle(text, session, function, int(values["maxsize"]), values["local"])


def _bmo(text: str, session: OracleSession, values: Mapping[str, Any]) -> BoundOracle:
    return BoundOracle(
        text,
        session,
        _function(session, values),
        lookahead=values["lookahead"],
        local=values["local"],
        intermediate=values["intermediate"],
    )


def _combined(text: str, session: OracleSession, values: Mapping[str, Any]) -> CombinedOracle:
    external = _aras_ehc(text, session, {"expansions": values["expansions"], "seconds": None})
    return CombinedOracle(text, session, _bmo(text, session, values), external)


def _composite(text: str, session: OracleSession, values: Mapping[str, Any]) -> Oracle:
    combined = _combined("combined", session, values)
    return CompositeOracle(text, session, combined, _pco_e("pco-e", session, values))


_DOMINANCE_OPTIONS = {
    "factors": Option(
        Factorization(),
        "atomic, or merged with at most so many transitions",
        Factorization.parse,
    ),
    "local": Option(
        "all", "how a run is compared with itself", _mode, "local test", "|".join(MODES)
    ),
    "seconds": Option(None, "time the dominance function may take"),
}
_BMO_OPTIONS = {
    "lookahead": Option(100, "states to look ahead; 0: none", _count, "whole number", "100"),
    "intermediate": Option(True, "also compare states on runs", _switch, "switch", "true|false"),
    **_DOMINANCE_OPTIONS,
}

_COMBINED_OPTIONS = {"expansions": Option(10_000, "states a search may expand"), **_BMO_OPTIONS}

_KINDS = (
    OracleKind(
        "astar",
        "Finds an optimal plan; proves every bug with its exact gap, or the policy optimal.",
        _searching(1_000_000),
        _search("astar", "lmcut"),
    ),
    OracleKind(
        "gbfs",
        "Searches for a better plan with greedy best-first search.",
        _searching(1000),
        _search("gbfs", "ff"),
    ),
    OracleKind(
        "ehc",
        "Searches for a better plan with enforced hill climbing.",
        _searching(100_000),
        _search("ehc", "ff"),
    ),
    OracleKind(
        "lama",
        "Searches for a better plan with LAMA within its time limit.",
        {"seconds": Option(10, "time LAMA may take")},
        _lama,
    ),
    OracleKind(
        "aras",
        "Improves the policy's own plan to show that it is too expensive.",
        _searching(10_000),
        _aras,
    ),
    OracleKind(
        "aras-ehc",
        "Uses aras if the policy reaches the goal, else enforced hill climbing.",
        _searching(10_000),
        _aras_ehc,
    ),
    OracleKind(
        "lookahead",
        "Tries other first steps, then follows the policy.",
        {"depth": Option(2, "number of steps before the policy takes over")},
        _lookahead,
    ),
    OracleKind(
        "undo",
        "Undoes the walk, then follows the policy's plan from its start.",
        _searching(1000),
        _undo,
    ),
    OracleKind(
        "inverse",
        "Undoes the walk step by step, one action each.",
        {},
        _inverse,
    ),
    OracleKind(
        "pco-p",
        "Runs the other policies of the portfolio from the same state.",
        _PCO_P_OPTIONS,
        _pco_p,
        needs_portfolio=True,
    ),
    OracleKind(
        "pco-e",
        "Combines parts of the runs of all policies in the portfolio.",
        _PCO_E_OPTIONS,
        _pco_e,
        needs_portfolio=True,
    ),
    OracleKind(
        "smo",
        "Runs the policy from a dominated state, where it may cost less.",
        {"maxsize": Option(10, "states to compare with"), **_DOMINANCE_OPTIONS},
        _smo,
    ),
    OracleKind(
        "bmo",
        "Compares what is known about all tested states with each other.",
        _BMO_OPTIONS,
        _bmo,
    ),
    OracleKind(
        "combined",
        "Uses bmo, then aras-ehc if bmo finds nothing.",
        _COMBINED_OPTIONS,
        _combined,
    ),
    OracleKind(
        "composite",
        "Uses the combined oracle, then pco-e if it finds nothing.",
        {**_COMBINED_OPTIONS, **_PCO_E_OPTIONS},
        _composite,
        needs_portfolio=True,
    ),
)

ORACLES = {kind.name: kind for kind in _KINDS}
