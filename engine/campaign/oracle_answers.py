"""What the oracles of a unit say about pool states, and how often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from engine.oracles.clock import OracleClock
from engine.oracles.pco import contest_of
from engine.oracles.session import Examination, Oracle
from engine.records.events import (
    OracleAnswer,
    OracleStatistics,
    OracleVerdict,
    PoolFlag,
    RivalStatistics,
)
from engine.records.evidence import State
from engine.records.finding import INFINITY, Finding
from engine.search.effort import Effort


@dataclass(frozen=True, slots=True)
class PoolState:
    """A state to examine: its place in the pool, its id, its values, what the policy does."""

    number: int
    state: int
    values: State
    is_solved: bool


@dataclass(frozen=True, slots=True)
class Tested:
    answers: tuple[OracleAnswer, ...]
    flags: tuple[PoolFlag, ...] = ()


class BugCounts:
    """The numbers of pool states in which oracles prove a bug."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.unsolved: Counter[str] = Counter()
        self.unique: Counter[str] = Counter()

    def add(self, oracles: Collection[str], *, is_solved: bool) -> None:
        """Count the oracles that prove a bug in the same state."""
        self.all.update(oracles)
        if not is_solved:
            self.unsolved.update(oracles)
        if len(oracles) == 1:
            self.unique.update(oracles)


class OracleCounts:
    """What oracles said about pool states."""

    def __init__(self) -> None:
        self._examined: Counter[str] = Counter()
        self._unsolved: Counter[str] = Counter()
        self._optimal: Counter[str] = Counter()
        self._bugs = BugCounts()
        self._spent: defaultdict[str, Effort] = defaultdict(Effort)

    def add_answers(self, answers: Sequence[OracleAnswer], tested: PoolState) -> None:
        """Count all answers about one state."""
        for answer in answers:
            self._examined[answer.oracle] += 1
            self._unsolved[answer.oracle] += not tested.is_solved
            self._optimal[answer.oracle] += answer.verdict is OracleVerdict.OPTIMAL
            self._spent[answer.oracle] += Effort(answer.cpu, answer.seconds)
        successful = [answer.oracle for answer in answers if answer.verdict is OracleVerdict.BUG]
        self._bugs.add(successful, is_solved=tested.is_solved)

    def of(
        self, name: str, clock: OracleClock, first: int, bugs: BugCounts | None = None
    ) -> OracleStatistics:
        """Return the statistics of an oracle; `bugs` replaces the numbers of bugs counted here."""
        spent = self._spent[name] + clock.setup
        bugs = bugs or self._bugs
        return OracleStatistics(
            oracle=name,
            examined=self._examined[name],
            examined_unsolved=self._unsolved[name],
            bugs=bugs.all[name],
            bugs_unsolved=bugs.unsolved[name],
            unique=bugs.unique[name],
            optimal=self._optimal[name],
            first=first,
            seconds=spent.seconds,
            cpu=spent.cpu,
            setup_seconds=clock.setup.seconds,
            setup_cpu=clock.setup.cpu,
            limit=clock.limit,
            factors=clock.factors,
        )


def answer_of(oracle: str, examined: Examination, known: Finding | None) -> OracleAnswer:
    """Return what the oracle showed about a state, as far as `known` confirms it."""
    verdict, bound = examined.verdict, examined.bound
    if verdict is OracleVerdict.BUG:
        if known is not None:
            bound = max(bound, known.bound)
        else:
            verdict, bound = OracleVerdict.NOT_REFUTED, INFINITY
    return OracleAnswer(
        oracle,
        verdict,
        None if bound == INFINITY else bound,
        examined.effort.seconds,
        examined.effort.cpu,
        examined.limited,
    )


def rivals_of(name: str, oracle: Oracle | None) -> Iterator[RivalStatistics]:
    """Return how the other policies did that the oracle ran."""
    if oracle is not None and (contest := contest_of(oracle)) is not None:
        for score in contest.scores:
            yield RivalStatistics(name, score.member.name, score.runs, len(score.beaten))
