"""Costs-to-go by plain searches of the verifier's own, within a limit of states.

Where everything that can be reached from the states in question is few enough, it is laid out and
h* of all of it is known. Elsewhere A* is asked about single states; its heuristic is the distance
of each variable from its goal, looked at alone. No kernel and no search of the finders takes part.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.records.evidence import State
from engine.records.finding import INFINITY
from engine.task.successors import is_applicable, is_goal, successor
from engine.task.task import Fact, Operator, Task
from engine.workers.link import NULL_LINK

STATES = 50_000
"""How many states may be laid out, and how many all searches of a task may expand."""
PARTS = 10
"""One search may expand this part of it."""


class CostToGo:
    """What is known of h* of the states of one task."""

    def __init__(
        self,
        task: Task,
        states: int = STATES,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> None:
        self._task = task
        self._operators = _Applicable(task)
        self._heuristic = _GoalDistances(task)
        self._limit = self._left = states
        self._cancelled = cancelled
        self._known: dict[State, tuple[int, int]] = {}  # low <= h* <= high
        self._tried: dict[State, int] = {}  # what was wanted where a search met its limit
        self._reachable: frozenset[State] | None = None

    def explore(self, roots: Iterable[State], others: Iterable[State] = ()) -> None:
        """Lay out all that can be reached from the roots, then from others, if there is room."""
        graph = _Graph(self._operators, self._limit, self._cancelled)
        if not graph.grow(roots):
            return
        self._reachable = frozenset(graph.numbers)
        if graph.grow(others):
            costs = graph.distances([is_goal(self._task, state) for state in graph.numbers])
            self._known = {
                state: (cost, cost) for state, cost in zip(graph.numbers, costs, strict=True)
            }

    def is_reachable(self, state: State) -> bool | None:
        """Whether the roots lead to a state; None if there was no room to find out."""
        return None if self._reachable is None else state in self._reachable

    def low(self, state: State, wanted: int = INFINITY) -> int:
        """A lower bound of h*, of at least `wanted` if that is true and can be shown."""
        return self._bounds(state, wanted)[0]

    def high(self, state: State) -> int:
        """An upper bound of h*: INFINITY if no plan is known."""
        return self._bounds(state, INFINITY)[1]

    def _bounds(self, state: State, wanted: int) -> tuple[int, int]:
        low, high = self._known.get(state, (0, INFINITY))
        if low >= min(wanted, high) or self._tried.get(state, -1) >= wanted:
            return low, high
        found, high = self._search(state, wanted)
        low = max(low, found)
        self._known[state] = low, high
        if low < min(wanted, high):
            self._tried[state] = wanted
        return low, high

    def _search(self, start: State, wanted: int) -> tuple[int, int]:
        """A* until no plan can be cheaper than `wanted`, or an optimal one is there."""
        task, heuristic = self._task, self._heuristic
        best = {start: 0}
        queue = [(heuristic(start), 0, start)] if heuristic(start) < INFINITY else []
        expanded = 0
        while queue:
            estimate, cost, state = heapq.heappop(queue)
            cost = -cost
            if cost > best[state]:
                continue
            if is_goal(task, state):
                return estimate, estimate
            if estimate >= wanted or expanded >= self._limit // PARTS or self._left <= 0:
                return estimate, INFINITY
            if expanded % 1024 == 0 and self._cancelled():
                return estimate, INFINITY
            expanded += 1
            self._left -= 1
            for operator in self._operators.of(state):
                following, total = successor(operator, state), cost + operator.cost
                if total < best.get(following, INFINITY):
                    best[following] = total
                    if (rest := heuristic(following)) < INFINITY:
                        heapq.heappush(queue, (total + rest, -total, following))
        return INFINITY, INFINITY


class _Graph:
    """States by number, and the steps between them."""

    def __init__(self, operators: _Applicable, limit: int, cancelled: Callable[[], bool]) -> None:
        self.numbers: dict[State, int] = {}
        self._operators, self._limit, self._cancelled = operators, limit, cancelled
        self._sources, self._targets, self._costs = array("i"), array("i"), array("q")

    def grow(self, states: Iterable[State]) -> bool:
        """Add what can be reached from some states; whether that is all of it."""
        waiting = [state for state in states if self._is_new(state)]
        for done, state in enumerate(waiting):  # grows
            if len(self.numbers) > self._limit or (done % 1024 == 0 and self._cancelled()):
                return False
            for operator in self._operators.of(state):
                following = successor(operator, state)
                if self._is_new(following):
                    waiting.append(following)
                self._sources.append(self.numbers[state])
                self._targets.append(self.numbers[following])
                self._costs.append(operator.cost)
        return True

    def distances(self, goals: Sequence[bool]) -> list[int]:
        """What it costs to come from each state to the nearest goal."""
        ends = [number for number, is_end in enumerate(goals) if is_end]
        return _distances(len(goals), ends, self._targets, self._sources, self._costs)

    def _is_new(self, state: State) -> bool:
        before = len(self.numbers)
        return self.numbers.setdefault(state, before) == before


def _distances(
    size: int, goals: Iterable[int], heads: array[int], tails: array[int], costs: array[int]
) -> list[int]:
    """Dijkstra backwards: what it costs to come from each node to the nearest goal."""
    arriving: list[list[int]] = [[] for _ in range(size)]
    for edge, head in enumerate(heads):
        arriving[head].append(edge)
    found = [INFINITY] * size
    queue = [(0, goal) for goal in goals]
    for _, goal in queue:
        found[goal] = 0
    while queue:
        cost, node = heapq.heappop(queue)
        if cost > found[node]:
            continue
        for edge in arriving[node]:
            tail, total = tails[edge], cost + costs[edge]
            if total < found[tail]:
                found[tail] = total
                heapq.heappush(queue, (total, tail))
    return found


class _GoalDistances:
    """The largest distance of a variable from its goal value: admissible and consistent."""

    def __init__(self, task: Task) -> None:
        self._tables = [
            (variable, _value_distances(task, variable, goal)) for variable, goal in task.goal
        ]

    def __call__(self, state: State) -> int:
        return max((table[state[variable]] for variable, table in self._tables), default=0)


def _value_distances(task: Task, variable: int, goal: int) -> list[int]:
    heads, tails, costs = array("i"), array("i"), array("q")
    values = range(len(task.variables[variable].values))
    for operator in task.operators:
        target = dict(operator.effect).get(variable)
        if target is None:
            continue
        before = dict(operator.precondition).get(variable)
        for value in values if before is None else (before,):
            heads.append(target)
            tails.append(value)
            costs.append(operator.cost)
    return _distances(len(values), (goal,), heads, tails, costs)


class _Applicable:
    """Finds applicable operators by one fact of each precondition, the rarest."""

    def __init__(self, task: Task) -> None:
        count = Counter(fact for operator in task.operators for fact in operator.precondition)
        self._always = [operator for operator in task.operators if not operator.precondition]
        self._by_fact: dict[Fact, list[Operator]] = defaultdict(list)
        for operator in task.operators:
            if operator.precondition:
                self._by_fact[min(operator.precondition, key=count.__getitem__)].append(operator)

    def of(self, state: State) -> Iterator[Operator]:
        yield from self._always
        for fact in enumerate(state):
            for operator in self._by_fact.get(fact, ()):
                if is_applicable(operator, state):
                    yield operator
