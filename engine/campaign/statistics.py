"""Counts what the oracles do to pool states: examined, proven, and proven by no other oracle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from engine.campaign.events import Answer, OracleStatistics
from engine.oracles.bench import Verdict


class OracleCounts:
    def __init__(self, oracles: Sequence[str]) -> None:
        self._oracles = tuple(oracles)
        self._examined: Counter[str] = Counter()
        self._optimal: Counter[str] = Counter()
        self._bugs: Counter[str] = Counter()
        self._unique: Counter[str] = Counter()
        self._first: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add_answers(self, answers: Sequence[Answer]) -> None:
        """All answers about one state."""
        for answer in answers:
            self._examined[answer.oracle] += 1
            self._seconds[answer.oracle] += answer.seconds
            self._optimal[answer.oracle] += answer.verdict == Verdict.OPTIMAL.value
        successful = [answer.oracle for answer in answers if answer.verdict == Verdict.BUG.value]
        self._bugs.update(successful)
        if len(successful) == 1:
            self._unique[successful[0]] += 1

    def add_finding(self, oracle: str) -> None:
        self._first[oracle] += 1

    def result(self) -> tuple[OracleStatistics, ...]:
        return tuple(
            OracleStatistics(
                oracle=name,
                examined=self._examined[name],
                bugs=self._bugs[name],
                unique=self._unique[name],
                optimal=self._optimal[name],
                first=self._first[name],
                seconds=self._seconds[name],
            )
            for name in self._oracles
        )
