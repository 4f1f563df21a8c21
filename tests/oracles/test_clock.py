"""The clock of an oracle: what counts, what a limit cuts off, and what is kept then."""

from __future__ import annotations

import pytest
from reference.oracle_sessions import ROAD, road

from engine.errors import CancelledError
from engine.oracles.clock import OracleClock
from engine.oracles.registry import prepare_oracle
from engine.oracles.session import OracleSession, Proof
from engine.records.config import UnitLimits
from engine.records.events import OracleVerdict

WALK, ON, HOME = (list(ROAD).index(name) for name in ("walk", "on", "home"))


class Endless:
    """Proves something, then works until it is stopped."""

    name = "endless"

    def __init__(self, session: OracleSession, *, proves: bool = True) -> None:
        self._session, self._proves = session, proves

    def examine(self, state: int) -> Proof:
        if self._proves:
            self._session.bounds.add_plan(state, [WALK, ON, HOME], self.name)
        while not self._session.cancelled():
            pass
        raise CancelledError


def test_what_was_proven_before_a_limit_holds() -> None:
    session, clock = road("direct"), OracleClock(UnitLimits(state_seconds=0.01))
    outer = session.control
    found = session.test(0, Endless(session), clock)
    assert (found.verdict, found.bound, found.limited) == (OracleVerdict.BUG, 6, True)
    assert [(finding.state, finding.bound) for finding in found.findings] == [((0,), 6)]
    assert clock.spent.cpu == found.effort.cpu >= 0.01
    assert not clock.limit  # the next state may be easier
    assert session.control is outer
    assert not outer.cancelled


def test_a_limit_that_leaves_nothing_proven_refutes_nothing() -> None:
    session, clock = road("direct"), OracleClock(UnitLimits(oracle_seconds=0.01))
    found = session.test(0, Endless(session, proves=False), clock)
    assert (found.verdict, found.findings) == (OracleVerdict.NOT_REFUTED, ())
    assert clock.limit == "stopped at its limit of 0.01 s"


def test_a_stop_from_outside_is_no_limit() -> None:
    session, clock = road("direct"), OracleClock(UnitLimits(state_seconds=60.0))
    session.control.cancel()
    with pytest.raises(CancelledError):
        session.test(0, Endless(session), clock)
    assert not clock.limit


def test_set_up_is_on_the_clock_and_names_the_factors() -> None:
    session, clock = road("direct"), OracleClock()
    oracle = prepare_oracle("bmo", session, clock)
    assert oracle is not None
    assert clock.factors == "atomic"
    assert clock.setup == clock.spent
    before = clock.spent.seconds
    assert session.test(0, oracle, clock).effort.seconds > 0
    assert clock.spent.seconds > before == clock.setup.seconds


def test_who_works_alone_pays_for_what_others_have_computed() -> None:
    first = road("direct")
    prepare_oracle("bmo", first, OracleClock())
    (function, _), *_ = first.functions
    session, clock = OracleSession(first.runs, first.objective), OracleClock(alone=True)
    prepare_oracle("bmo", session, clock)
    assert session.functions[0][0] is function  # remembered with the task
    assert clock.setup.cpu >= function.effort.cpu
    assert clock.setup.seconds >= function.effort.seconds > 0
