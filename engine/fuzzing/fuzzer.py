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

FRUITLESS_WALKS = 100
"""After this many walks without a new state, and twice as many as there are entries, look whether
there are new states at all."""


def possible_choices(weights: Sequence[float]) -> tuple[list[int], list[float] | None]:
    """The indices of the candidates that can be drawn, and their shares (None: equal ones)."""
    candidates = [number for number, weight in enumerate(weights) if weight != -math.inf]
    infinite = [number for number in candidates if weights[number] == math.inf]
    if infinite:
        return infinite, None
    least = min([0.0, *(weights[number] for number in candidates)])
    drawn = [number for number in candidates if weights[number] > least]
    return (drawn, [weights[number] - least for number in drawn]) if drawn else (candidates, None)


def weighted_choice(weights: Sequence[float], random: Random) -> int | None:
    """The index of a candidate drawn in proportion to its weight, None when there is none."""
    candidates, shares = possible_choices(weights)
    if not candidates:
        return None
    return random.choice(candidates) if shares is None else random.choices(candidates, shares)[0]


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
        self.exhausted = False  # no walk can find another state
        self._random = Random(options.seed)
        self._ids: list[int] = []  # of the entries
        self._known: dict[int, bool] = {}  # states that were offered: whether they are entries
        self._filter = NoveltyFilter(table.task, options.novelty) if options.novelty else None
        self._dead_ends = Evaluator(table.task, "hmax") if options.prune_dead_ends else None

    def grow(self) -> Iterator[int]:
        """Add entries until the pool is full, a limit is reached or there are no new states."""
        deadline = math.inf
        if self.options.seconds is not None:
            deadline = time.monotonic() + self.options.seconds
        yield from self._offer(int(self.table.add(self.table.task.init)[0]), -1, ())
        known, fruitless, patience = 1, 0, FRUITLESS_WALKS
        while len(self.entries) < self.options.size and time.monotonic() < deadline:
            if self.statistics.walks == self.options.walks:
                return
            if fruitless >= max(patience, 2 * len(self.entries)):
                if self._is_exhausted(deadline):
                    self.exhausted = True
                    return
                patience = 2 * fruitless
            if self.cancelled():
                raise CancelledError
            yield from self._walk()
            fruitless = fruitless + 1 if len(self._known) == known else 0
            known = len(self._known)

    def _walk(self) -> Iterator[int]:
        self.statistics.walks += 1
        reference = self._random.randrange(len(self.entries))
        state, operators = self._ids[reference], list[int]()
        for _ in range(self._random.randint(1, self.options.walk_length)):
            candidates = self._candidates(state)
            self._random.shuffle(candidates)
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

    def _is_exhausted(self, deadline: float) -> bool:
        """Whether all walks end in states that were offered before: a search for another one."""
        begin, seen = self._ids, set(self._ids)
        for _ in range(self.options.walk_length):
            ends: list[int] = []
            for state in begin:
                if time.monotonic() >= deadline:
                    return False
                if self.cancelled():
                    raise CancelledError
                candidates = self._candidates(state)
                # One by one: the bias leaves some out when it is asked about many.
                judgments = [self._judge([candidate]) for candidate in candidates]
                possible, _ = possible_choices([judgment.weights[0] for judgment in judgments])
                for number, (_, successor) in enumerate(candidates):
                    offered = number in possible or judgments[number].failed[0]
                    if offered and successor not in self._known:
                        return False
                    if number in possible and successor not in seen:
                        seen.add(successor)
                        ends.append(successor)
            begin = ends
        return True

    def _candidates(self, state: int) -> list[tuple[int, int]]:
        """Operators and successors a walk may go on with."""
        operators, successors = self.table.successors(state)
        keep = ~self.table.is_goal(successors)
        keep &= np.diff(self.table.applicable_in(successors)[0]) > 0
        if self._dead_ends is not None:
            keep &= self._dead_ends(self.table.values(successors)) != INFINITY
        return list(zip(operators[keep].tolist(), successors[keep].tolist(), strict=True))

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
        if (is_entry := self._known.get(state)) is not None:
            self.statistics.duplicates += is_entry
            self.statistics.filtered += not is_entry
            return
        values = tuple(self.table.values([state])[0].tolist())
        if self._filter is not None:
            if not self._filter.is_novel(values):
                self.statistics.filtered += 1
                self._known[state] = False
                return
            self._filter.add(values)
        self._known[state] = True
        self._ids.append(state)
        self.entries.append(PoolEntry(values, reference, len(operators), operators))
        yield len(self.entries) - 1
