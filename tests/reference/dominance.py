"""Dominance functions straight from their definition: pruning, conditions (B), (G), (T), closures.

Slow and plain, for tiny tasks. `defects` breaks a rule on purpose: a check that is worth something
must notice. Values are integers; None is "nothing known".
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from random import Random

from engine.dominance.checker import UnprovenError, prove
from engine.dominance.function import DominanceFunction
from engine.task.task import Operator, Task
from reference import fdr
from reference.random_tasks import make_task

State = fdr.State
Arcs = dict[int, list[tuple[State, State]]]  # by label; one that is missing does not matter
Tables = list[dict[tuple[State, State], int]]  # per factor; a pair that is missing has no value

NOOP = -1


def find_proof_gap(function: DominanceFunction, task: Task) -> str | None:
    """Return what is wrong with a function of a task, or None if all of it is proven."""
    try:
        return prove(function, task).problem_with_tables()
    except UnprovenError as problem:
        return str(problem)


def random_task(random: Random) -> Task:
    """2-4 variables of 2-4 values, operators with and without preconditions, costs with zeros."""
    sizes = tuple(random.randint(2, 4) for _ in range(random.randint(2, 4)))
    costs = random.choice([(1,), (0, 1, 2, 3), (0, 0, 1), (1, 2, 3)])
    precise = random.random()
    operators = []
    for number in range(random.randint(3, 12)):
        effect = _facts(random, sizes, 1 if random.random() < 0.95 else 0, 2)
        precondition = _facts(random, sizes, 0, 2)
        if random.random() < precise:
            missing = {v: random.randrange(sizes[v]) for v in effect if v not in precondition}
            precondition |= missing
        facts = tuple(sorted(precondition.items())), tuple(sorted(effect.items()))
        operators.append(Operator(f"op {number}", *facts, random.choice(costs)))
    init = tuple(random.randrange(size) for size in sizes)
    goal = _facts(random, sizes, 0, len(sizes))
    return make_task(sizes, tuple(operators), init, tuple(sorted(goal.items())))


def _facts(random: Random, sizes: tuple[int, ...], least: int, most: int) -> dict[int, int]:
    chosen = random.sample(range(len(sizes)), random.randint(least, min(most, len(sizes))))
    return {v: random.randrange(sizes[v]) for v in chosen}


class Reference:
    """The tables of one task for a partition of its variables."""

    def __init__(
        self,
        task: Task,
        partition: Collection[tuple[int, ...]],
        truncation: int = 1000,
        defects: Collection[str] = (),
    ) -> None:
        self.task, self.partition, self.defects = task, list(partition), defects
        self.labels = set(range(len(task.operators)))
        self.states = [
            list(itertools.product(*(range(task.domain_sizes[v]) for v in part)))
            for part in self.partition
        ]
        self._prune()
        self.arcs = [self._relevant_arcs(i) for i in range(len(self.partition))]
        self.cost = {NOOP: 0, **{label: task.operators[label].cost for label in self.labels}}
        self.tables = self._fix_point(truncation)

    def D(self, s: State, t: State) -> int | None:  # noqa: N802 (the papers' name)
        total = 0
        for i, part in enumerate(self.partition):
            if "one-state-factor-is-dropped" in self.defects and len(self.states[i]) == 1:
                continue
            pair = tuple(s[v] for v in part), tuple(t[v] for v in part)
            if pair not in self.tables[i]:
                return None
            total += self.tables[i][pair]
        return total

    # The factored system.

    def _step(self, i: int, label: int, state: State) -> State | None:
        operator = self.task.operators[label]
        values = dict(zip(self.partition[i], state, strict=True))
        before, after = dict(operator.precondition), dict(operator.effect)
        if any(before.get(v, x) != x for v, x in values.items()):
            return None
        if "effect-only-is-self-loop" in self.defects:
            after = {v: x for v, x in after.items() if v in before}
        return tuple(after.get(v, x) for v, x in values.items())

    def _all_arcs(self, i: int, label: int) -> list[tuple[State, State]]:
        known = set(self.states[i])
        arcs = [(x, self._step(i, label, x)) for x in self.states[i]]
        return [(x, y) for x, y in arcs if y is not None and y in known]

    def _relevant_arcs(self, i: int) -> Arcs:
        loops = [(x, x) for x in self.states[i]]
        arcs = {label: self._all_arcs(i, label) for label in self.labels}
        return {label: found for label, found in arcs.items() if found and found != loops}

    def _goal(self, i: int, state: State) -> bool:
        values = dict(zip(self.partition[i], state, strict=True))
        return all(values.get(v, x) == x for v, x in self.task.goal)

    def _prune(self) -> None:
        before = None
        while before != (before := (set(self.labels), [list(states) for states in self.states])):
            for i, part in enumerate(self.partition):
                arcs = [arc for label in self.labels for arc in self._all_arcs(i, label)]
                init = tuple(self.task.init[v] for v in part)
                reached = _closed({init} & set(self.states[i]), arcs)
                goals = {x for x in reached if self._goal(i, x)}
                useful = _closed(goals, [(y, x) for x, y in arcs])
                self.states[i] = [x for x in self.states[i] if x in reached & useful]
            if "dead-label-is-irrelevant" not in self.defects:
                parts = range(len(self.partition))
                self.labels = {
                    label for label in self.labels if all(self._all_arcs(i, label) for i in parts)
                }

    def heights(self, i: int) -> dict[State, int]:
        height = {x: 0 for x in self.states[i] if self._goal(i, x)}
        arcs = [(x, y, self.cost[label]) for label in self.arcs[i] for x, y in self.arcs[i][label]]
        changed = True
        while changed:
            changed = False
            for x, y, cost in arcs:
                if y in height and height[y] + cost < height.get(x, 10**9):
                    height[x] = height[y] + cost
                    changed = True
        return height

    # The fix-point.

    def _fix_point(self, truncation: int) -> Tables:
        tables: Tables = []
        for i, states in enumerate(self.states):
            height = self.heights(i)
            pairs = itertools.product(states, states)
            tables.append({(s, t): height[s] - height[t] for s, t in pairs})
            if "no-goal-condition" not in self.defects:
                for s, t in list(tables[i]):
                    if self._goal(i, s) and not self._goal(i, t):
                        del tables[i][s, t]
        self.tables = tables
        while self._sweep(truncation) and "one-sweep" not in self.defects:
            pass
        return tables

    def _sweep(self, truncation: int) -> bool:
        """Lower every entry to what (T) allows with the tables before; whether any fell."""
        prices = {
            (j, label, answer): self._price(j, label, answer)
            for j in range(len(self.partition))
            for label in self.labels
            for answer in (*self.labels, NOOP)
        }
        lowered: Tables = []
        for i, table in enumerate(self.tables):
            lowered.append({})
            for (s, t), value in table.items():
                answers = [
                    self._best_answer(i, label, y, t, prices)
                    for label, arcs in self.arcs[i].items()
                    for x, y in arcs
                    if x == s and s != t
                ]
                allowed = None if None in answers else min([value, *answers])
                if allowed is not None and allowed >= -truncation:
                    lowered[i][s, t] = allowed
        fell = lowered != self.tables
        self.tables[:] = lowered
        return fell

    def _moves(self, i: int, label: int, state: State) -> State | None:
        if label not in self.arcs[i]:
            return state
        return dict(self.arcs[i][label]).get(state)

    def _price(self, j: int, label: int, answer: int) -> int | None:
        """Lam_j: at worst, what factor j gains when `answer` is executed instead of `label`."""
        worst: int | None = 10**9
        loops = [(x, x) for x in self.states[j]]
        for x, after in self.arcs[j].get(label, loops):
            landed = self._moves(j, answer, x)
            if landed is None and "prices-only-where-applicable" in self.defects:
                continue
            if landed is None or (after, landed) not in self.tables[j]:
                return None
            worst = min(worst, self.tables[j][after, landed])
        return worst

    def _best_answer(
        self, i: int, label: int, after: State, t: State, prices: dict[tuple[int, int, int], int]
    ) -> int | None:
        best: int | None = None
        for answer in (*self.labels, NOOP):
            landed = self._moves(i, answer, t)
            others = [prices[j, label, answer] for j in range(len(self.partition)) if j != i]
            if landed is None or None in others or (after, landed) not in self.tables[i]:
                continue
            cost = 0 if "answers-are-free" in self.defects else self.cost[answer]
            value = self.tables[i][after, landed] + self.cost[label] - cost + sum(others)
            best = value if best is None else max(best, value)
        return best

    # The closure.

    def close(self) -> None:
        """The R-closure, from below."""
        heights = [self.heights(i) for i in range(len(self.partition))]
        before = None
        while before != (before := [dict(table) for table in self.tables]):
            for table, states in zip(self.tables, self.states, strict=True):
                _max_plus(table, states)
            returns = {
                (j, label): self._return(j, label)
                for j in range(len(self.partition))
                for label in self.arcs[j]
            }
            for i, arcs in enumerate(self.arcs):
                for label, pairs in arcs.items():
                    others = [
                        value for (j, other), value in returns.items() if other == label and j != i
                    ]
                    if None in others:
                        continue
                    for x, y in pairs:
                        value = min(heights[i][y] - heights[i][x], sum(others) - self.cost[label])
                        if x != y and value > self.tables[i].get((y, x), -(10**9)):
                            self.tables[i][y, x] = value

    def _return(self, j: int, label: int) -> int | None:
        table, worst = self.tables[j], 10**9
        for x in self.states[j]:
            ways = [
                table[u, x] + table[x, after]
                for u, after in self.arcs[j][label]
                if (u, x) in table and (x, after) in table
            ]
            if not ways:
                return None
            worst = min(worst, max(ways))
        return worst


def _closed(found: set[State], arcs: list[tuple[State, State]]) -> set[State]:
    found = set(found)
    size = -1
    while size != len(found):
        size = len(found)
        found |= {y for x, y in arcs if x in found}
    return found


def _max_plus(table: dict[tuple[State, State], int], states: list[State]) -> None:
    for b in states:
        for a in states:
            for c in states:
                if (a, b) in table and (b, c) in table:
                    value = table[a, b] + table[b, c]
                    if value > table.get((a, c), -(10**9)):
                        table[a, c] = value
