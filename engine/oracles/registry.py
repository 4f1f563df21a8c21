"""Oracles by the name a user writes: `NAME` or `NAME:option=value,option=value`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from engine.errors import UsageError
from engine.oracles import (
    aras,
    bmo,
    combined,
    composite,
    inverse,
    lookahead,
    pco,
    planner,
    smo,
    undo,
)
from engine.oracles.clock import OracleClock
from engine.oracles.kind import Option, OracleKind, Value
from engine.oracles.session import ATOMIC, Oracle, OracleSession
from engine.records.config import Factorization

_KINDS = (
    *planner.KINDS,
    *aras.KINDS,
    lookahead.KIND,
    undo.KIND,
    inverse.KIND,
    *pco.KINDS,
    smo.KIND,
    bmo.KIND,
    combined.KIND,
    composite.KIND,
)

ORACLES = {kind.name: kind for kind in _KINDS}


def make_oracle(text: str, session: OracleSession) -> Oracle:
    """The oracle a user asked for, working on a session."""
    kind, values = parse_oracle(text)
    if missing := kind.needs.missing(portfolio=session.portfolio is not None):
        raise UsageError(
            f"{kind.name} {missing}",
            hint="name some with --portfolio, such as the directory of checkpoints of its training",
        )
    return kind.make(text, session, values)


def prepare_oracle(text: str, session: OracleSession, clock: OracleClock) -> Oracle | None:
    """Make an oracle on its clock; None if that takes longer than it may work."""
    with clock.making(session) as lap:
        oracle = make_oracle(text, session)
    return None if lap.cut_off else oracle


def parse_oracle(text: str) -> tuple[OracleKind, dict[str, Value]]:
    """What a user's text asks for, with the values of all options."""
    name, _, rest = text.partition(":")
    if name not in ORACLES:
        close = get_close_matches(name, ORACLES, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"choose one of {', '.join(ORACLES)}"
        raise UsageError(f"unknown oracle '{name}'", hint=hint)
    kind = ORACLES[name]
    values = {option: entry.default for option, entry in kind.options.items()}
    named: set[str] = set()
    for part in filter(None, rest.split(",")):
        option, _, value = part.partition("=")
        if option not in values:
            known = ", ".join(values) or "none"
            raise UsageError(f"{name} has no option '{option}'", hint=f"it has: {known}")
        if option in named:
            raise UsageError(f"{name}: '{option}' is given twice", hint="keep one of them")
        named.add(option)
        values[option] = _read(name, option, kind.options[option], value)
    return kind, values


def factorizations(
    oracles: Iterable[str], default: Factorization = ATOMIC
) -> tuple[Factorization, ...]:
    """Those of the dominance functions that these oracles use; the default where they name none."""
    parsed = map(parse_oracle, oracles)
    chosen = [
        values["factors"] or default
        for kind, values in parsed
        if kind.needs.asks_for_dominance(values)
    ]
    return tuple(dict.fromkeys(item for item in chosen if isinstance(item, Factorization)))


def _read(name: str, option: str, entry: Option, text: str) -> Value:
    try:
        return entry.read(text)
    except ValueError as problem:
        raise UsageError(
            f"{name}: '{text}' is not a {entry.wanted}", hint=f"write {option}={entry.example}"
        ) from problem
