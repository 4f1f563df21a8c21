"""low <= h* <= high for the states of one table, with everything known edges say about them.

A transition from s to t by an action of cost c says h*(s) <= c + h*(t), both ways: a fall of
high(t) is passed back to s, a rise of low(s) on to t. So what a search proves about one state
serves all states on runs and plans that are connected with it. Every finite `high` has a plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.records.finding import INFINITY
from engine.task.states import StateTable

Edge = tuple[int, int]
"""An operator and the state at its other end."""


class CostBounds:
    """Indexed by state ids. Nothing is ever forgotten: bounds only become tighter."""

    def __init__(self, table: StateTable) -> None:
        self.table = table
        self._costs = table.task.costs
        self._low: dict[int, int] = {}
        self._high: dict[int, int] = {}
        self._step: dict[int, Edge] = {}  # where the plan behind `high` begins
        self._before: dict[int, dict[Edge, None]] = {}
        self._after: dict[int, dict[Edge, None]] = {}

    def low(self, state: int) -> int:
        """INFINITY: the goal cannot be reached."""
        return self._low.get(state, 0)

    def high(self, state: int) -> int:
        """INFINITY: no plan is known."""
        return self._high.get(state, INFINITY)

    def is_exact(self, state: int) -> bool:
        return self.low(state) == self.high(state)

    def is_settled(self, state: int) -> bool:
        """Whether it is known if there is a plan."""
        return self.high(state) != INFINITY or self.low(state) == INFINITY

    def raise_low(self, state: int, value: int) -> None:
        """A proof that no plan from `state` costs less than `value`."""
        if value > self.low(state):
            self._low[state] = value
            self._refuse_contradiction(state)
            self._pass_on(state)

    def add_path(self, states: Sequence[int], operators: Sequence[int]) -> None:
        """operators[k] leads from states[k] to states[k + 1]."""
        self._recognize_goal(states[-1])
        for k in range(len(operators) - 1, -1, -1):
            operator, state, successor = operators[k], states[k], states[k + 1]
            self._before.setdefault(successor, {})[operator, state] = None
            self._after.setdefault(state, {})[operator, successor] = None
            self._pass_back(successor)
        self._pass_on(states[0])
        for state in states[1:]:
            self._pass_on(state)

    def add_plan(self, state: int, operators: Sequence[int], optimal: bool) -> None:
        """A plan; if it is optimal, h* is known of all its states."""
        states = [state]
        for operator in operators:
            states += self.table.apply([states[-1]], [operator]).tolist()
        self.add_path(states, operators)
        if optimal:
            for passed in states:
                self.raise_low(passed, self.high(passed))

    def plan(self, state: int) -> tuple[int, ...] | None:
        """A plan that costs `high`."""
        if self.high(state) == INFINITY:
            return None
        operators: list[int] = []
        while state in self._step:
            operator, state = self._step[state]
            operators.append(operator)
        return tuple(operators)

    def _recognize_goal(self, state: int) -> None:
        if self.high(state) > 0 and bool(self.table.is_goal([state])[0]):
            self._high[state] = 0
            self._step.pop(state, None)
            self._refuse_contradiction(state)
            self._pass_back(state)

    def _pass_back(self, state: int) -> None:
        """high(s) <= c + high(t) for all known predecessors, until nothing falls anymore."""
        queue = deque([state] if self.high(state) != INFINITY else [])
        while queue:
            successor = queue.popleft()
            for operator, before in self._before.get(successor, ()):
                bound = self._high[successor] + self._costs[operator]
                if bound < self.high(before):
                    self._high[before] = bound
                    self._step[before] = operator, successor
                    self._refuse_contradiction(before)
                    queue.append(before)

    def _pass_on(self, state: int) -> None:
        """low(t) >= low(s) - c for all known successors, until nothing rises anymore."""
        queue = deque([state])
        while queue:
            before = queue.popleft()
            low = self.low(before)
            for operator, successor in self._after.get(before, ()):
                bound = low if low == INFINITY else low - self._costs[operator]
                if bound > self.low(successor):
                    self._low[successor] = bound
                    self._refuse_contradiction(successor)
                    queue.append(successor)

    def _refuse_contradiction(self, state: int) -> None:
        if self.low(state) > self.high(state):
            raise RuntimeError("a lower bound of a cost-to-go is above an upper one")
