"""Random walks without a bias in plain Python: states are tuples, and `random` draws.

Which states are dead ends h_max says, whose values have tests of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from random import Random

from engine.fuzzing.fuzzer import FuzzOptions
from engine.fuzzing.pool_file import PoolEntry
from engine.search.heuristics import Evaluator
from engine.task.task import Fact, Task
from reference import fdr


@dataclass
class Walks:
    """A pool, and what came of the walks that filled it."""

    task: Task
    options: FuzzOptions
    entries: list[PoolEntry] = field(default_factory=list)
    walks: int = 0
    duplicates: int = 0
    filtered: int = 0
    failed_walks: int = 0

    def __post_init__(self) -> None:
        self._offered: dict[fdr.State, bool] = {}  # whether they are entries
        self._facts: set[tuple[Fact, ...]] = set()  # sets of them that entries have
        self._random = Random(self.options.seed)
        self._offer(self.task.init, -1, ())

    def grow(self, walks: int) -> None:
        """Make this many walks, unless the pool is full before."""
        while self.walks < walks and len(self.entries) < self.options.size:
            self._walk()

    def _walk(self) -> None:
        self.walks += 1
        reference = self._random.randrange(len(self.entries))
        state, operators = self.entries[reference].state, list[int]()
        for _ in range(self._random.randint(1, self.options.walk_length)):
            candidates = steps(self.task, state)
            self._random.shuffle(candidates)
            if not candidates:
                self.failed_walks += 1
                return
            ((operator, state),) = self._random.choices(candidates, [1.0] * len(candidates))
            operators.append(operator)
        self._offer(state, reference, tuple(operators))

    def _offer(self, state: fdr.State, reference: int, operators: tuple[int, ...]) -> None:
        if state in self._offered:
            self.duplicates += self._offered[state]
            self.filtered += not self._offered[state]
            return
        facts = [(variable, state[variable]) for variable in self.task.state_variables]
        level = min(self.options.novelty, len(facts))
        sets = set(combinations(facts, level))
        self._offered[state] = not self.options.novelty or not sets <= self._facts
        if not self._offered[state]:
            self.filtered += 1
            return
        self._facts |= sets
        self.entries.append(PoolEntry(state, reference, len(operators), operators))

    def is_exhausted(self) -> bool:
        """Whether all states within a walk's length of an entry were offered, by enumeration."""
        begin = {entry.state for entry in self.entries}
        seen = set(begin)
        for _ in range(self.options.walk_length):
            begin = {after for state in begin for _, after in steps(self.task, state)} - seen
            seen |= begin
        return seen <= self._offered.keys()


def steps(task: Task, state: fdr.State) -> list[tuple[int, fdr.State]]:
    """Operators and successors that with which a walk may continue."""
    hmax = Evaluator(task, "hmax")
    return [
        (operator, after)
        for operator, after in fdr.successors(task, state)
        if not fdr.holds(task.goal, after)
        and fdr.applicable(task, after)
        and hmax(after)[0] != fdr.INFINITY
    ]
