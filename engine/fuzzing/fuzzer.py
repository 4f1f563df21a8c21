"""The fuzzer: random walks from known pool states, biased toward trouble.

The same seed gives the same pool. Goal states, states without successors and states that h_max
knows to be dead ends are never entered. Walks without a bias are made by the kernel.
See docs/theory/fuzzing.md, "Random walks".
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from random import Random

import numpy as np

from engine.errors import CancelledError, UsageError
from engine.fuzzing.biases import Bias, Judgment
from engine.fuzzing.pool_file import PoolEntry
from engine.native.library import Int32Array
from engine.native.walks import NativeWalks
from engine.records.config import Unsolved
from engine.task.states import StateTable
from engine.task.task import Task
from engine.workers.limits import used_megabytes
from engine.workers.link import NULL_LINK

FRUITLESS_WALKS = 100
"""After this many walks without a new state, and twice as many as there are entries, look whether
there are new states at all that a bias lets walks go to."""

BLOCK = 64
LARGE_BLOCK = 1024
"""Entries that are made at once; the large one is for policies that are asked about what comes."""


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
    megabytes: int | None = None
    walks: int | None = None
    novelty: int = 0  # 0: no filter
    unsolved: Unsolved = Unsolved.INSERT_AND_AVOID
    block: int = BLOCK


@dataclass
class FuzzStatistics:
    walks: int = 0
    duplicates: int = 0
    filtered: int = 0
    failed_walks: int = 0


class Fuzzer:
    """Grows a pool; iterate over `grow` to get the index of each entry as it is added.

    Without a bias, every candidate is as good as any other.
    """

    def __init__(
        self,
        table: StateTable,
        bias: Bias | None,
        options: FuzzOptions,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> None:
        check_novelty(table.task, options.novelty)
        self.table = table
        self.bias = bias
        self.options = options
        self.cancelled = cancelled
        self.entries: list[PoolEntry] = []
        self.statistics = FuzzStatistics()
        self.exhausted = False  # no walk can find another state
        self.complete = False  # the pool has all states that any walk can reach
        self._random = Random(options.seed)
        self._walks = NativeWalks(
            table.native,
            self._random,
            size=options.size,
            walk_length=options.walk_length,
            novelty=options.novelty,
        )
        self._counts = self._walks.counts()
        self._ids: list[int] = []  # of the entries
        self._deadline = math.inf

    def grow(self) -> Iterator[int]:
        """Add entries until the pool is full, a limit is reached or there are no new states.

        What is done with an entry before the next one is asked for takes none of the time.
        """
        if self.options.seconds is not None:
            self._deadline = time.monotonic() + self.options.seconds
        for number in self._grow():
            before = time.monotonic()
            yield number
            self._deadline += time.monotonic() - before
        reached_all = self._has_reached_all()
        self.exhausted = self.exhausted or reached_all
        self.complete = reached_all and not self.statistics.filtered

    def _grow(self) -> Iterator[int]:
        self._walks.offer(int(self.table.add(self.table.task.init)[0]), -1, ())
        if self.bias is None:
            yield from self._even_walks()
        yield from self._new_entries()
        if self.bias is not None:
            yield from self._biased_walks(self.bias)

    def _goes_on(self) -> bool:
        if self.cancelled():
            raise CancelledError
        is_open = len(self.entries) < self.options.size and time.monotonic() < self._deadline
        return is_open and self.statistics.walks != self.options.walks and self._has_memory()

    def _has_memory(self) -> bool:
        megabytes = self.options.megabytes
        return megabytes is None or used_megabytes() < megabytes

    def _even_walks(self) -> Iterator[int]:
        while self._goes_on():
            wanted = min(len(self.entries) + self.options.block, self.options.size)
            seconds = self._deadline - time.monotonic()
            is_done = self._walks.grow(wanted, self.options.walks, seconds)
            for number in self._new_entries():
                yield number
                if number + 1 < self.options.size and self.cancelled():  # waits in a pause, too
                    raise CancelledError
            if is_done and len(self.entries) < wanted:
                return

    def _biased_walks(self, bias: Bias) -> Iterator[int]:
        offered, fruitless, patience = 1, 0, FRUITLESS_WALKS
        while self._goes_on() and not self._has_reached_all():
            if fruitless >= max(patience, 2 * len(self.entries)):
                if self._is_exhausted(bias):
                    self.exhausted = True
                    return
                patience = 2 * fruitless
            yield from self._walk(bias)
            fruitless = fruitless + 1 if self._counts.offered == offered else 0
            offered = self._counts.offered

    def _walk(self, bias: Bias) -> Iterator[int]:
        self.statistics.walks += 1
        reference = self._random.randrange(len(self.entries))
        state, operators = self._ids[reference], list[int]()
        for _ in range(self._random.randint(1, self.options.walk_length)):
            candidates = self._candidates(state)
            self._random.shuffle(candidates)
            judgment = self._judge(bias, candidates)
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

    def _has_reached_all(self) -> bool:
        """Whether all states that walks can end in, whatever the bias, were offered."""
        while (answer := self._walks.is_exhausted()) is None:
            if self.cancelled():
                raise CancelledError
        return answer

    def _is_exhausted(self, bias: Bias) -> bool:
        """Whether all walks end in states that were offered before: a search for another one."""
        begin, seen = self._ids, set(self._ids)
        for _ in range(self.options.walk_length):
            ends: list[int] = []
            for state in begin:
                if time.monotonic() >= self._deadline:
                    return False
                if self.cancelled():
                    raise CancelledError
                candidates = self._candidates(state)
                known = self._walks.is_known(_states(candidates)).tolist()
                # One by one: the bias leaves some out when it is asked about many.
                judgments = [self._judge(bias, [candidate]) for candidate in candidates]
                possible, _ = possible_choices([judgment.weights[0] for judgment in judgments])
                for number, (_, successor) in enumerate(candidates):
                    offered = number in possible or judgments[number].failed[0]
                    if offered and not known[number]:
                        return False
                    if number in possible and successor not in seen:
                        seen.add(successor)
                        ends.append(successor)
            begin = ends
        return True

    def _candidates(self, state: int) -> list[tuple[int, int]]:
        """Operators and successors with which a walk may continue."""
        operators, successors = self._walks.candidates(state)
        return list(zip(operators.tolist(), successors.tolist(), strict=True))

    def _judge(self, bias: Bias, candidates: list[tuple[int, int]]) -> Judgment:
        judgment = bias.judge(_states(candidates))
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
        self._walks.offer(state, reference, operators)
        yield from self._new_entries()

    def _new_entries(self) -> Iterator[int]:
        """What the kernel has added to its pool, and counted."""
        before, counts = self._counts, self._walks.counts()
        self._counts = counts
        statistics = self.statistics
        statistics.duplicates, statistics.filtered = counts.duplicates, counts.filtered
        if self.bias is None:
            statistics.walks, statistics.failed_walks = counts.walks, counts.failed_walks
        if counts.entries == before.entries:
            return
        new = self._walks.entries(before.entries, before.operators, counts)
        self._ids += new.states.tolist()
        values, operators = self.table.values(new.states).tolist(), new.operators.tolist()
        begin = 0
        for state, reference, length in zip(
            values, new.references.tolist(), new.lengths.tolist(), strict=True
        ):
            walk = tuple(operators[begin : begin + length])
            self.entries.append(PoolEntry(tuple(state), reference, length, walk))
            begin += length
        yield from range(before.entries, counts.entries)


def _states(candidates: Sequence[tuple[int, int]]) -> Int32Array:
    return np.array([state for _, state in candidates], np.int32)


MOST_SETS = 2**31
"""A filter needs one bit per possible set of facts."""


def check_novelty(task: Task, level: int) -> None:
    """Raise a usage error if a filter of this level (0: none) would need too much memory.

    A filter keeps the sets of exactly `level` facts: if a smaller set is new, so is one of these.
    See docs/theory/fuzzing.md, "Novelty filter".
    """
    variables = task.state_variables  # derived ones say nothing new
    size = min(level, len(variables))
    largest = max((task.domain_sizes[variable] for variable in variables), default=1)
    if comb(len(variables), size) * largest**size > MOST_SETS:
        raise UsageError(
            f"novelty level {level} needs too much memory for {len(variables)} variables",
            hint="choose a lower level",
        )
