"""The fuzzer: random walks from known pool states, biased toward trouble.

The same seed gives the same pool. Goal states and states without successors are never entered,
nor, on request, states that h_max knows to be dead ends.
See docs/theory/fuzzing.md, "Random walks".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from engine.errors import CancelledError
from engine.fuzzing.biases import Bias, Judgment
from engine.fuzzing.novelty import NoveltyFilter
from engine.fuzzing.pool_file import PoolEntry
from engine.native.library import Int32Array
from engine.records.config import Unsolved
from engine.records.finding import INFINITY
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.workers.link import NULL_LINK


def weighted_choice(weights: Sequence[float], random: Random) -> int | None:
    """The index of a candidate drawn in proportion to its weight, None when there is none."""
    candidates = [number for number, weight in enumerate(weights) if weight != -math.inf]
    if not candidates:
        return None
    infinite = [number for number in candidates if weights[number] == math.inf]
    if infinite:
        return random.choice(infinite)
    least = min(0.0, *(weights[number] for number in candidates))
    shifted = [weights[number] - least for number in candidates]
    if not any(shifted):
        return random.choice(candidates)
    return random.choices(candidates, shifted)[0]


@dataclass(frozen=True, slots=True)
class FuzzOptions:
    size: int = 100
    walk_length: int = 5
    seed: int = 0
    seconds: float | None = None
    walks: int | None = None
    novelty: int = 0  # 0: no filter
    prune_dead_ends: bool = False
    unsolved: Unsolved = Unsolved.INSERT_AND_AVOID


@dataclass
class FuzzStatistics:
    walks: int = 0
    duplicates: int = 0
    filtered: int = 0
    failed_walks: int = 0


class Fuzzer:
    """Grows a pool; iterate over `grow` to get the index of each entry as it is added."""

    def __init__(
        self,
        table: StateTable,
        bias: Bias,
        options: FuzzOptions,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> None:
        self.table = table
        self.bias = bias
        self.options = options
        self.cancelled = cancelled
        self.entries: list[PoolEntry] = []
        self.statistics = FuzzStatistics()
        self._random = Random(options.seed)
        self._index: dict[int, int] = {}  # pool index by state id
        self._ids: list[int] = []
        self._filter = NoveltyFilter(table.task, options.novelty) if options.novelty else None
        self._dead_ends = Evaluator(table.task, "hmax") if options.prune_dead_ends else None

    def grow(self) -> Iterator[int]:
        """Add entries until the pool is full or the limits are reached."""
        deadline = math.inf
        if self.options.seconds is not None:
            deadline = time.monotonic() + self.options.seconds
        yield from self._offer(int(self.table.add(self.table.task.init)[0]), -1, ())
        while len(self.entries) < self.options.size and time.monotonic() < deadline:
            if self.statistics.walks == self.options.walks:
                return
            if self.cancelled():
                raise CancelledError
            yield from self._walk()

    def _walk(self) -> Iterator[int]:
        self.statistics.walks += 1
        reference = self._random.randrange(len(self.entries))
        state, operators = self._ids[reference], list[int]()
        for _ in range(self._random.randint(1, self.options.walk_length)):
            candidates = self._candidates(state)
            judgment = self._judge(candidates)
            for (operator, successor), failed in zip(candidates, judgment.failed, strict=True):
                if failed and self.options.unsolved is Unsolved.INSERT_AND_AVOID:
                    yield from self._offer(successor, reference, (*operators, operator))
            chosen = weighted_choice(judgment.weights, self._random)
            if chosen is None:
                self.statistics.failed_walks += 1
                return
            operator, state = candidates[chosen]
            operators.append(operator)
        yield from self._offer(state, reference, tuple(operators))

    def _candidates(self, state: int) -> list[tuple[int, int]]:
        """Operators and successors a walk may go on with, in random order."""
        operators, successors = self.table.successors(state)
        keep = ~self.table.is_goal(successors)
        keep &= np.diff(self.table.applicable_in(successors)[0]) > 0
        if self._dead_ends is not None:
            keep &= self._dead_ends(self.table.values(successors)) != INFINITY
        pairs = list(zip(operators[keep].tolist(), successors[keep].tolist(), strict=True))
        self._random.shuffle(pairs)
        return pairs

    def _judge(self, candidates: list[tuple[int, int]]) -> Judgment:
        states: Int32Array = np.array([state for _, state in candidates], np.int32)
        judgment = self.bias.judge(states)
        if self.options.unsolved is not Unsolved.INSERT_AND_AVOID:
            weights = [
                math.inf if failed else weight
                for weight, failed in zip(judgment.weights, judgment.failed, strict=True)
            ]
        else:
            weights = [
                0.0 if failed else weight
                for weight, failed in zip(judgment.weights, judgment.failed, strict=True)
            ]
        return Judgment(weights, judgment.failed)

    def _offer(self, state: int, reference: int, operators: tuple[int, ...]) -> Iterator[int]:
        """Add a state to the pool if it is new there and passes the filter."""
        if len(self.entries) >= self.options.size:
            return
        if state in self._index:
            self.statistics.duplicates += 1
            return
        values = tuple(self.table.values([state])[0].tolist())
        if self._filter is not None:
            if not self._filter.is_novel(values):
                self.statistics.filtered += 1
                return
            self._filter.add(values)
        self._index[state] = len(self.entries)
        self._ids.append(state)
        self.entries.append(PoolEntry(values, reference, len(operators), operators))
        yield len(self.entries) - 1
