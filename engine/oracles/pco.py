"""Policy comparison oracles: is another policy better? (Sievers et al. 2026)

`pco-p` runs policies of a portfolio on the examined state, those first that proved most bugs per
run. `pco-e` also starts them along the policy's own run and puts pieces of all runs together by
their bounds. Different from the paper: a run ends as soon as the bound of a state it meets is good
enough, along runs that were stopped bugs are looked for as well, and what runs from states along a
run prove does not count when policies are chosen for an examined state. A failing run is mostly
beyond help, so these say little, and the first policy that won there would be run ever after.
See docs/theory/oracles.md, "Policy comparison".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random

import numpy as np

from engine.oracles.kind import (
    Needs,
    Option,
    OracleGroup,
    OracleKind,
    Values,
    count,
    one_of,
    switch,
)
from engine.oracles.session import NOTHING_PROVEN, Oracle, OracleSession, Proof
from engine.policies.portfolio import Member, Portfolio
from engine.policies.runs import PolicyRun
from engine.records.finding import INFINITY, EndReason


@dataclass
class Score:
    """N and B of one policy: how often it was run, and the states in which that proved a bug."""

    member: Member
    runs: int = 0
    beaten: list[int] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """R; 1 before the first run, so that every policy is tried."""
        return len(self.beaten) / self.runs if self.runs else 1.0

    @property
    def hope(self) -> float:
        """R as if there had been one success more: 1 at first, and never 0."""
        return (len(self.beaten) + 1) / (self.runs + 1)


class Contest:
    """Algorithm 1: which policy to run next, by what its runs have proved so far."""

    def __init__(self, portfolio: Portfolio) -> None:
        self._examined = [Score(member) for member in portfolio.members]
        self._along = [Score(member) for member in portfolio.members]

    @property
    def scores(self) -> list[Score]:
        """The scores of all runs, by policy."""
        pairs = zip(self._examined, self._along, strict=True)
        return [Score(a.member, a.runs + b.runs, [*a.beaten, *b.beaten]) for a, b in pairs]

    def run(self, state: int, most: int, beats: Callable[[Member], bool]) -> bool:
        """Run at most `most` policies, each once, until one beats the policy under test."""
        untried = list(self._examined)
        for _ in range(min(most, len(untried))):
            # Ties are common, most of all at 0: those run least then get their chance.
            score = max(untried, key=lambda score: (score.ratio, -score.runs))
            untried.remove(score)
            if _tries(score, state, beats):
                return True
        return False

    def run_along(self, state: int, most: int, beats: Callable[[Member], bool]) -> bool:
        """Run at most `most` policies on a state of a run, ranked by scores of their own."""
        by_hope = sorted(self._along, key=lambda score: (-score.hope, score.runs))
        return any(_tries(score, state, beats) for score in by_hope[:most])


def _tries(score: Score, state: int, beats: Callable[[Member], bool]) -> bool:
    score.runs += 1
    if not beats(score.member):
        return False
    score.beaten.append(state)
    return True


def contest_of(oracle: Oracle) -> Contest | None:
    """The scores of the portfolio, if the oracle keeps any."""
    contest = getattr(oracle, "contest", None)
    return contest if isinstance(contest, Contest) else None


@dataclass(frozen=True)
class PcoP:
    """Compares whole runs on the examined state."""

    name: str
    session: OracleSession
    contest: Contest
    runs: int = 5
    bounds: bool = True

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        if self.bounds and self.session.trusted_bounds.u(state) < limit:
            return _proof(self.session, state, limit)
        beats = partial(_run_beats, session=self.session, state=state, limit=limit)
        if self.contest.run(state, self.runs, beats) or self.bounds:
            return _proof(self.session, state, limit)
        return NOTHING_PROVEN


@dataclass(frozen=True)
class PcoE:
    """Algorithm 2 with maintained bounds: all policies together against the one under test."""

    name: str
    session: OracleSession
    contest: Contest
    runs: int = 5
    probability: float = 0.3
    seed: int = 0
    along: int = 1
    ranking: str = "apart"
    bounds: bool = True

    def examine(self, state: int) -> Proof:
        session = self.session
        limit = session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        run = session.trace(state)
        random = Random(f"{self.seed} {session.values(state)}")
        shown = False
        for where, needed in reversed(self._along(run, limit)):
            if shown := self._is_shown(where, needed):
                break  # the fall was passed back to all states before this one
            if where == state:
                shown = self._contest(where, needed)
            elif random.random() < self.probability and self._contest_along(where, needed):
                shown = True
                break
        return _proof(session, state, limit) if shown or self.bounds else NOTHING_PROVEN

    def _is_shown(self, state: int, limit: int) -> bool:
        """Whether a bound is good enough, or without bounds, whether the state is a known bug."""
        if self.bounds:
            return self.session.trusted_bounds.u(state) < limit
        return state in self.session.findings

    def _along(self, run: PolicyRun, limit: int) -> list[tuple[int, int]]:
        """The states of a run, each with the bound below which the first one is a bug."""
        if limit == INFINITY:
            return [(where, INFINITY) for where in run.states]
        costs = self.session.operator_costs[np.array(run.operators, np.int64)]
        needed = limit - np.append(0, np.cumsum(costs))
        pairs = zip(run.states, needed.tolist(), strict=True)
        return [(where, left) for where, left in pairs if left > 0]

    def _contest(self, state: int, limit: int) -> bool:
        beats = partial(self._beats, state=state, limit=limit)
        return self.contest.run(state, self.runs, beats)

    def _contest_along(self, state: int, limit: int) -> bool:
        beats = partial(self._beats, state=state, limit=limit)
        let = self.contest.run if self.ranking == "together" else self.contest.run_along
        return let(state, self.along, beats)

    def _beats(self, member: Member, state: int, limit: int) -> bool:
        session = self.session
        if not self.bounds:
            return _run_beats(member, session, state, limit)

        member.runs.run_bounded(
            [state],
            limit,
            max_steps=session.step_limit,
            cancelled=session.cancelled,
            bounds=session.trusted_bounds.by_id(),
        )
        states, operators = self._walked(member, state, limit)
        session.bounds.add_path(states, operators, member.name, register=True)
        return session.trusted_bounds.u(state) < limit

    def _walked(self, member: Member, state: int, limit: int) -> tuple[list[int], list[int]]:
        """Return the part of a run that matters here, even if it is known further."""
        session, run = self.session, member.runs.trace(state)
        states, operators, spent = [state], list[int](), 0
        for operator, following in zip(run.operators, run.states[1:], strict=True):
            if spent >= limit or len(operators) == session.step_limit:
                return states, operators
            states.append(following)
            operators.append(operator)
            spent += int(session.operator_costs[operator])
            known = session.trusted_bounds.u(following)
            if known != INFINITY and known < limit - spent:
                return states, operators
        if run.reason is EndReason.LOOP:
            # A result for any state of the loop applies to all of them.
            (decision,) = member.runs.decisions([states[-1]]).tolist()
            if decision >= 0:
                operators.append(decision)
                states += session.table.apply([states[-1]], [decision]).tolist()
        return states, operators


def _run_beats(member: Member, session: OracleSession, state: int, limit: int) -> bool:
    """Whether a whole run of the policy stays below the limit; if so, it is a plan."""
    (cost,) = member.runs.run_bounded(
        [state], limit, max_steps=session.step_limit, cancelled=session.cancelled
    )
    if cost == INFINITY:
        return False
    run = member.runs.trace(state)
    session.bounds.add_path(run.states, run.operators, member.name)
    return True


def _proof(session: OracleSession, state: int, limit: int) -> Proof:
    bound = session.trusted_bounds.u(state)
    return Proof(bound) if bound < limit else NOTHING_PROVEN


def _pco_p(text: str, session: OracleSession, values: Values) -> PcoP:
    return PcoP(text, session, _contest(session), int(values["runs"]), values["bounds"])


def pco_e(text: str, session: OracleSession, values: Values) -> PcoE:
    return PcoE(
        text,
        session,
        _contest(session),
        runs=int(values["runs"]),
        probability=values["probability"],
        seed=values["seed"],
        along=int(values["along"]),
        ranking=values["ranking"],
        bounds=values["bounds"],
    )


def _contest(session: OracleSession) -> Contest:
    assert session.portfolio is not None  # the oracle declines without one
    return Contest(session.portfolio)


def _probability(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError
    return value


RANKINGS = ("apart", "together")
_PCO_P_OPTIONS = {
    "runs": Option(5, "policies that are run on a state of the pool"),
    "bounds": Option(
        True, "use what is known of states that runs meet", switch, "switch", "true|false"
    ),
}
PCO_E_OPTIONS = {
    **_PCO_P_OPTIONS,
    "probability": Option(
        0.3, "of running a policy on a state of the run", _probability, "probability", "0.3"
    ),
    "along": Option(1, "policies that are run on a state of the run"),
    "ranking": Option(
        "apart",
        "whether successes on states of the pool and of runs are counted apart or together",
        one_of(*RANKINGS),
        "ranking",
        "|".join(RANKINGS),
    ),
    "seed": Option(0, "of the choice of these states", count, "whole number", "1"),
}

KINDS = (
    OracleKind(
        "pco-p",
        "Runs the other policies of the portfolio from the same state.",
        _PCO_P_OPTIONS,
        make=_pco_p,
        needs=Needs(portfolio=True),
        group=OracleGroup.POLICIES,
    ),
    OracleKind(
        "pco-e",
        "Combines parts of the runs of all policies in the portfolio.",
        PCO_E_OPTIONS,
        make=pco_e,
        needs=Needs(portfolio=True),
        group=OracleGroup.POLICIES,
    ),
)
