"""Costs-to-go by plain searches of the verifier's own, within a limit of states.

Where everything that can be reached from the states in question is few enough, it is explored
completely and h* of all of it is known. Elsewhere A* is asked about single states; its heuristic
looks at the distance of each variable from its goal alone. No kernel and no search of the finders
takes part.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.records.evidence import State
from engine.records.finding import INFINITY
from engine.task.task import Fact, Operator, Task
from engine.verify.semantics import is_applicable, is_goal, successor
from engine.workers.link import NULL_LINK

STATES = 50_000
"""States that may be explored, and that all searches of a task may expand."""
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
        """Explore all states that can be reached from the roots, then from others, within the
        limit.
        """
        graph = _Graph(self._task, self._operators, self._limit, self._cancelled)
        if not graph.grow(roots):
            return
        self._reachable = frozenset(graph.numbers)
        if graph.grow(others):
            costs = graph.distances([is_goal(self._task, state) for state in graph.numbers])
            self._known = {
                state: (cost, cost) for state, cost in zip(graph.numbers, costs, strict=True)
            }

    @property
    def too_many(self) -> str:
        """Why something is not known."""
        return (
            f"the search would need more than {self._limit // PARTS:,} states for one plan, "
            f"or {self._limit:,} for all"
        )

    def is_reachable(self, state: State) -> bool | None:
        """Whether the roots lead to a state; None if the limit was reached first."""
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
                following, total = successor(task, operator, state), cost + operator.cost
                if total < best.get(following, INFINITY):
                    best[following] = total
                    if (rest := heuristic(following)) < INFINITY:
                        heapq.heappush(queue, (total + rest, -total, following))
        return INFINITY, INFINITY


class _Graph:
    """States by number, and the steps between them."""

    def __init__(
        self,
        task: Task,
        operators: _Applicable,
        limit: int,
        cancelled: Callable[[], bool],
    ) -> None:
        self.numbers: dict[State, int] = {}
        self._task, self._operators = task, operators
        self._limit, self._cancelled = limit, cancelled
        self._sources, self._targets, self._costs = array("i"), array("i"), array("q")

    def grow(self, states: Iterable[State]) -> bool:
        """Add what can be reached from some states; whether that is all of it."""
        waiting = [state for state in states if self._is_new(state)]
        for done, state in enumerate(waiting):  # grows
            if len(self.numbers) > self._limit or (done % 1024 == 0 and self._cancelled()):
                return False
            for operator in self._operators.of(state):
                following = successor(self._task, operator, state)
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
    """Dijkstra backward: what it costs to come from each node to the nearest goal."""
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
    """How far variables are from their goal values, each looked at alone.

    The largest distance is admissible and consistent. So is the sum of all, if an operator that
    changes several of them costs something for the first one only.
    """

    def __init__(self, task: Task) -> None:
        self._tables: list[tuple[int, list[int], list[int]]] = []
        paid: set[int] = set()  # operators that cost something for a variable before
        for variable, goal in task.goal:
            if variable in task.derived_variables:  # these follow others for nothing
                continue
            steps = list(_steps(task, variable))
            size = len(task.variables[variable].values)
            costs = [task.operators[number].cost for number, _, _ in steps]
            rest = [
                0 if number in paid else cost
                for (number, _, _), cost in zip(steps, costs, strict=True)
            ]
            alone, added = (_value_distances(size, goal, steps, part) for part in (costs, rest))
            self._tables.append((variable, alone, added))
            paid.update(number for number, _, _ in steps)

    def __call__(self, state: State) -> int:
        largest = total = 0
        for variable, alone, added in self._tables:
            value = state[variable]
            largest = max(largest, alone[value])
            total += added[value]
        return largest if largest == INFINITY else max(largest, total)


def _steps(task: Task, variable: int) -> Iterator[tuple[int, int, int]]:
    """Operators that may change a variable: their number, a value before and one after."""
    values = range(len(task.variables[variable].values))
    for number, operator in enumerate(task.operators):
        effects = [((), fact) for fact in operator.effect] + list(operator.conditional)
        for condition, (changed, target) in effects:
            if changed == variable:
                before = dict((*condition, *operator.precondition)).get(variable)
                for value in values if before is None else (before,):
                    yield number, value, target


def _value_distances(
    size: int, goal: int, steps: Sequence[tuple[int, int, int]], costs: Sequence[int]
) -> list[int]:
    tails = array("i", (before for _, before, _ in steps))
    heads = array("i", (after for _, _, after in steps))
    return _distances(size, (goal,), heads, tails, array("q", costs))


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
