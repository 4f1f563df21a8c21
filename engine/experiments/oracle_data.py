"""What compared oracles made of the pools of a campaign, unit by unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.records.finding import RunOutcome
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import OracleResultRow, PoolRow, UnitRow


@dataclass(frozen=True)
class UnitResults:
    """One problem, policy and seed. States go by their numbers in the pool."""

    row: UnitRow
    pool: Sequence[PoolRow]
    results: Sequence[OracleResultRow]

    @property
    def is_done(self) -> bool:
        return self.row.status == "finished"

    @cached_property
    def states(self) -> frozenset[int]:
        """Those that were run and put to oracles."""
        return frozenset(row.number for row in self.pool if row.tested)

    @cached_property
    def solved(self) -> frozenset[int]:
        """Those from which the policy reaches the goal."""
        return frozenset(
            row.number for row in self.pool if row.tested and row.outcome is RunOutcome.SOLVED
        )

    @property
    def unsolved(self) -> frozenset[int]:
        return self.states - self.solved

    @cached_property
    def _examined(self) -> Mapping[str, frozenset[int]]:
        return _by_oracle(self.results)

    @cached_property
    def _flagged(self) -> Mapping[str, frozenset[int]]:
        return _by_oracle(row for row in self.results if row.flag_bound is not None)

    def examined(self, oracle: str) -> frozenset[int]:
        return self._examined.get(oracle, frozenset())

    def flagged(self, oracle: str) -> frozenset[int]:
        """What the oracle proves to be bugs by itself, at once or later."""
        return self._flagged.get(oracle, frozenset())

    def flag_times(self, oracle: str) -> dict[int, float]:
        """When it proved them, on its own processor clock."""
        return {
            row.number: row.flag_cpu
            for row in self.results
            if row.oracle == oracle and row.flag_cpu is not None
        }

    def cpu(self, oracle: str) -> float:
        """What it took in all, so far."""
        statistics = {item.oracle: item for item in self.row.statistics.oracles}
        return statistics[oracle].cpu if oracle in statistics else 0.0

    @cached_property
    def fuzzing_clock(self) -> Mapping[int, float]:
        """When each state was there, had no oracle been at work before."""
        spent: defaultdict[int, float] = defaultdict(float)
        for result in self.results:
            spent[result.number] += result.seconds
        clock, waited = {}, 0.0
        for row in self.pool:
            clock[row.number] = max(row.seconds - waited, 0.0)
            waited += spent[row.number]
        return clock


def _by_oracle(rows: Iterable[OracleResultRow]) -> dict[str, frozenset[int]]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for row in rows:
        found[row.oracle].add(row.number)
    return {oracle: frozenset(numbers) for oracle, numbers in found.items()}


def unit_results(store: WorkspaceReader, campaign: int) -> list[UnitResults]:
    """The results of the units that have begun."""
    results: defaultdict[int, list[OracleResultRow]] = defaultdict(list)
    for row in store.oracle_results(campaign):
        results[row.unit].append(row)
    return [
        UnitResults(unit, store.pool(unit.id), results[unit.id])
        for unit in store.units(campaign)
        if unit.started is not None
    ]


def joint_states(unit: UnitResults, oracles: Sequence[str]) -> frozenset[int]:
    """The states that all of these oracles examined."""
    if not oracles:
        return frozenset()
    return frozenset.intersection(*(unit.examined(oracle) for oracle in oracles))
