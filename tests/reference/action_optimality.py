"""Whether actions are optimal, by looking at every state of small random tasks, and AOCA* in plain
Python from its pseudo-code (Eisenhut et al. 2025, section 5).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from engine.search.exhaustive import hstar_all
from engine.task.task import Fact, Operator, Task

from . import fdr
from .fdr import INFINITY, State
from .random_tasks import make_task

COSTS = ((1,), (0, 1, 2), (0, 0, 1), (1, 2, 5))


def question_task(seed: int) -> Task:
    """At most 48 states, with free actions, self-loops, twins of other costs, and dead ends."""
    random = Random(f"question {seed}")
    sizes = tuple(random.randint(2, 4) for _ in range(random.randint(1, 3)))
    costs = random.choice(COSTS)

    def facts(least: int, most: int) -> tuple[Fact, ...]:
        count = random.randint(least, min(most, len(sizes)))
        chosen = sorted(random.sample(range(len(sizes)), count))
        return tuple((v, random.randrange(sizes[v])) for v in chosen)

    operators: list[Operator] = []
    for number in range(random.randint(4, 12)):
        precondition, effect = facts(0, 2), facts(1, 2)
        if operators and random.random() < 0.15:
            twin = random.choice(operators)
            precondition, effect = twin.precondition, twin.effect
        operators.append(Operator(f"op {number}", precondition, effect, random.choice(costs)))
    init = tuple(random.randrange(size) for size in sizes)
    return make_task(sizes, tuple(operators), init, facts(1, 3))


@dataclass(frozen=True, slots=True)
class Question:
    """`optimal` is None where there is no plan: then nothing can be said of an action."""

    state: State
    operator: int
    cost: int  # h* of the state
    optimal: bool | None


def questions(task: Task) -> Iterator[Question]:
    """All actions that are applicable in states before the goal, with the truth about them."""
    table, hstar = hstar_all(task, "product")
    costs = hstar.tolist()
    row_begin, operators, successors = table.successors_of(range(len(table)))
    goals = table.is_goal(range(len(table)))
    for number, values in enumerate(table.values(range(len(table))).tolist()):
        if goals[number]:
            continue
        row = slice(row_begin[number], row_begin[number + 1])
        for o, after in zip(operators[row].tolist(), successors[row].tolist(), strict=True):
            optimal = None
            if costs[number] < INFINITY:
                step = task.operators[o].cost
                optimal = costs[after] < INFINITY and costs[number] == step + costs[after]
            yield Question(tuple(values), o, costs[number], optimal)


def admissible_values(task: Task, random: Random) -> npt.NDArray[np.int64]:
    """An admissible heuristic by rank of states, inconsistent as can be."""
    values = [
        random.choice((0, cost, random.randint(0, cost)))
        if cost < INFINITY
        else random.choice((0, 7, INFINITY))
        for cost in hstar_all(task, "product")[1].tolist()
    ]
    return np.array(values, np.int64)


@dataclass
class Node:
    g: int
    tag: bool
    is_open: bool = True


@dataclass
class AocaStar:
    """Decides by one search; `h` has a value for every state. A flag switches off each rule."""

    task: Task
    h: Mapping[State, int]
    reopens_for_tags: bool = True
    prefers_tags: bool = True
    ignores_stale_entries: bool = True
    reopens: bool = True

    def decide(self, state: State, operator: int, solvable: bool) -> bool | None:
        """None: there is no plan from the state."""
        self.nodes: dict[State, Node] = {}
        self.queue: list[tuple[int, bool, int, int, State]] = []
        self.counter = itertools.count()
        self.n_open = {False: 0, True: 0}
        action = self.task.operators[operator]
        successor = fdr.apply(self.task, action, state)
        self.reach(state, 0, successor == state and action.cost == 0)
        if successor != state:
            self.reach(successor, action.cost, True)
        while self.queue:
            if solvable and self.n_open[False] == 0:
                return True
            if solvable and self.n_open[True] == 0:
                return False
            x = heapq.heappop(self.queue)[-1]
            node = self.nodes[x]
            if not node.is_open:
                if not self.ignores_stale_entries:
                    self.n_open[node.tag] -= 1
                continue
            node.is_open = False
            self.n_open[node.tag] -= 1
            if fdr.holds(self.task.goal, x):
                return node.tag
            for o, y in fdr.successors(self.task, x):
                self.reach(y, node.g + self.task.operators[o].cost, node.tag)
        return None

    def reach(self, state: State, g: int, tag: bool) -> None:
        h = self.h[state]
        if h == INFINITY:
            return
        known = self.nodes.get(state)
        if known is not None:
            has_new_tag = self.reopens_for_tags and g == known.g and tag and not known.tag
            if g >= known.g and not has_new_tag:
                return
            if known.is_open:
                self.n_open[known.tag] -= 1
            elif not self.reopens:
                return
        self.nodes[state] = Node(g, tag)
        self.n_open[tag] += 1
        order = not tag if self.prefers_tags else False
        heapq.heappush(self.queue, (g + h, order, h, next(self.counter), state))
