"""The oracles of a unit that compares them: each by itself.

They share nothing: what one says about a state depends neither on the others nor on their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from engine.campaign.findings import FindingUnit
from engine.campaign.oracle_answers import (
    BugCounts,
    OracleCounts,
    PoolState,
    Tested,
    answer_of,
    rivals_of,
)
from engine.oracles.solo import SoloOracle, Terms
from engine.records.events import OracleAnswer, OracleStatistics, PoolFlag, RivalStatistics
from engine.records.evidence import State
from engine.records.finding import Finding


class Contestants:
    """Oracles that share nothing. Every flag in the pool is verified by its own evidence."""

    def __init__(self, oracles: Sequence[str], terms: Terms, unit: FindingUnit) -> None:
        self._oracles = [SoloOracle(text, terms) for text in oracles]
        self._unit = unit
        self._pool: dict[State, int] = {}
        self._unsolved: set[int] = set()  # numbers of pool states
        self._proven: defaultdict[str, dict[State, Finding]] = defaultdict(dict)
        self._flagged: defaultdict[int, set[str]] = defaultdict(set)  # by pool number
        self._counts = OracleCounts()

    @property
    def touched(self) -> int:
        """States of their own tables."""
        return sum(oracle.touched for oracle in self._oracles)

    @property
    def policy_calls(self) -> int:
        """How often they called the policy."""
        return sum(oracle.policy_calls for oracle in self._oracles)

    @property
    def policy_states(self) -> int:
        """States that they put to the policy."""
        return sum(oracle.policy_states for oracle in self._oracles)

    @property
    def policy_errors(self) -> Iterator[str]:
        """What happened where policies gave them no answer."""
        for oracle in self._oracles:
            yield from oracle.policy_errors

    @property
    def weakened(self) -> Iterator[str]:
        """How limits weakened dominance functions, by oracle."""
        for oracle in self._oracles:
            if oracle.clock.weakened:
                yield f"{oracle.name}: {oracle.clock.weakened}"

    def examine(self, tested: PoolState) -> Tested:
        """Let all oracles examine a state, and report what they find."""
        self._pool.setdefault(tested.values, tested.number)
        if not tested.is_solved:
            self._unsolved.add(tested.number)
        answers: list[OracleAnswer] = []
        flags: list[PoolFlag] = []
        found: list[Finding] = []
        for oracle in self._oracles:
            examined = oracle.examine(tested.state)
            self._unit.look()
            if examined is None:
                continue
            for finding in examined.findings:
                confirmed = self._confirmed(oracle, finding)
                if confirmed is None:
                    continue
                found.append(confirmed)
                if (number := self._pool.get(confirmed.state)) is not None:
                    spent = oracle.clock.spent
                    flags.append(
                        PoolFlag(number, oracle.name, confirmed.bound, spent.cpu, spent.seconds)
                    )
            known = self._proven[oracle.name].get(tested.values)
            answers.append(answer_of(oracle.name, examined, known))
        # Only now: if an examination is stopped, none of the state's answers count.
        for flag in flags:
            self._flagged[flag.number].add(flag.oracle)
        self._report(found)
        self._counts.add_answers(answers, tested)
        return Tested(tuple(answers), tuple(flags))

    def statistics(self) -> tuple[OracleStatistics, ...]:
        bugs = BugCounts()
        for number, names in self._flagged.items():
            bugs.add(names, is_solved=number not in self._unsolved)
        first = self._unit.findings.first
        return tuple(
            self._counts.of(oracle.name, oracle.clock, first[oracle.name], bugs)
            for oracle in self._oracles
        )

    def rivals(self) -> Iterator[RivalStatistics]:
        for oracle in self._oracles:
            yield from rivals_of(oracle.name, oracle.oracle)

    def _confirmed(self, oracle: SoloOracle, finding: Finding) -> Finding | None:
        """Verify a finding, unless it is outside the pool and no better than a reported one."""
        reported = self._unit.findings.reported.get(finding.state)
        if finding.state not in self._pool and reported and reported.bound <= finding.bound:
            return None
        proven = self._proven[oracle.name]
        known = proven.get(finding.state)
        if finding == known:
            return known
        confirmed = self._unit.confirm(finding, known, oracle.withdraw)
        if confirmed is not None:
            proven[confirmed.state] = confirmed
        return confirmed

    def _report(self, found: Sequence[Finding]) -> None:
        """Report the best proof of each state, whatever the order of the oracles."""
        best: dict[State, Finding] = {}
        for finding in sorted(found, key=lambda finding: (finding.bound, finding.oracle)):
            best.setdefault(finding.state, finding)
        last = len(self._pool)
        order = sorted(best.values(), key=lambda one: (self._pool.get(one.state, last), one.state))
        for finding in order:
            known = self._unit.findings.reported.get(finding.state)
            if known is None or finding.bound < known.bound:
                self._unit.report(finding)
