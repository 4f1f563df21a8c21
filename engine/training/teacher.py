"""The teachers that a policy is trained to imitate.

For a small task h* of every state is known and each action that keeps a plan optimal is right.
For a larger one a planner is asked, and the actions of its plan are right along the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from engine.errors import LimitReachedError
from engine.native.library import Int32Array, Int64Array
from engine.pddl.unsupported import MAX_COST
from engine.records.finding import INFINITY
from engine.records.training import TeacherKind
from engine.search.exhaustive import hstar_all
from engine.search.forward import SearchLimits, search
from engine.search.planners import Planner, run_planner
from engine.task.states import StateTable
from engine.task.successors import State, is_goal, successor
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import NULL_LINK

TABLE_STATES = 100_000
"""Up to this many states a task is small."""

ASTAR_EXPANSIONS = 20_000  # not seconds: the same seed must give the same lessons
LAMA_SECONDS = 60.0
PLANS_PER_REQUEST = 20

_STEPS_PER_COST = 10_000  # fewer where costs are so large that the product would be too large


@dataclass(frozen=True, slots=True)
class Lesson:
    """The operators that are right in a state; there is at least one."""

    state: State
    right: tuple[int, ...]


class Teacher(Protocol):
    method: str

    def lessons(self, states: Int32Array) -> list[Lesson]:
        """For every state on the teacher's way from each of these states to the goal."""
        ...


def make_teacher(
    kind: TeacherKind, task: Task, cancelled: Callable[[], bool] = NULL_LINK.cancelled
) -> Teacher | None:
    """Return a teacher for the task, or None if it cannot solve the task."""
    teacher = _optimal_teacher(task) if kind is TeacherKind.OPTIMAL else _lama(task, cancelled)
    start = np.array([task.init], dtype=np.int32)
    return teacher if is_goal(task, task.init) or teacher.lessons(start) else None


def _optimal_teacher(task: Task) -> Teacher:
    task = _with_short_plans(task)
    try:
        return TableTeacher(*hstar_all(task, limits=SearchLimits(expansions=TABLE_STATES)))
    except LimitReachedError:
        return PlanTeacher("A* with LM-cut", task, lambda state: _astar(task, state))


def _with_short_plans(task: Task) -> Task:
    """Among plans of equal cost the shorter is better: free actions must not go in circles."""
    costs = [operator.cost for operator in task.operators]
    if all(costs):
        return task
    factor = min(_STEPS_PER_COST, MAX_COST // max(1, *costs))
    operators = tuple(
        replace(operator, cost=operator.cost * factor + 1) for operator in task.operators
    )
    return replace(task, operators=operators)


def _astar(task: Task, state: State) -> tuple[int, ...] | None:
    return search(task, state=state, limits=SearchLimits(expansions=ASTAR_EXPANSIONS)).plan


def _lama(task: Task, cancelled: Callable[[], bool]) -> Teacher:
    def first_plan(state: State) -> tuple[int, ...] | None:
        found: list[tuple[int, ...]] = []
        run_planner(
            Planner.LAMA,
            task,
            state,
            limits=Limits(LAMA_SECONDS),
            cancelled=lambda: bool(found) or cancelled(),
            on_plan=lambda plan: found.append(plan.operators),
        )
        return found[0] if found else None

    return PlanTeacher("LAMA", task, first_plan)


class TableTeacher:
    """Knows h* of every state that can be reached."""

    def __init__(self, table: StateTable, costs_to_go: Int64Array) -> None:
        self.method = f"optimal costs of all {len(table)} states"
        self._table = table
        self._costs_to_go = costs_to_go
        self._costs = np.array(table.task.costs, np.int64)

    def lessons(self, states: Int32Array) -> list[Lesson]:
        lessons: list[Lesson] = []
        seen: set[int] = set()
        waiting = self._worthwhile(self._table.find(states).tolist(), seen)
        while waiting:
            following = []
            values = self._table.values(waiting).tolist()
            for state, (right, successors) in zip(values, self._right(waiting), strict=True):
                lessons.append(Lesson(tuple(state), tuple(right)))
                following.append(successors[0])
            waiting = self._worthwhile(following, seen)
        return lessons

    def _worthwhile(self, ids: Sequence[int], seen: set[int]) -> list[int]:
        """Return the new states in which there is something to learn, in order."""
        new = [number for number in dict.fromkeys(ids) if number >= 0 and number not in seen]
        seen.update(new)
        solvable = self._costs_to_go[new] != INFINITY
        useful = solvable & ~self._table.is_goal(new) if new else solvable
        return [number for number, keep in zip(new, useful.tolist(), strict=True) if keep]

    def _right(self, ids: list[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Per state the operators that begin an optimal plan, and where they lead."""
        begin, operators, successors = self._table.successors_of(ids)
        source = np.repeat(self._costs_to_go[ids], np.diff(begin))
        # Subtracting cannot overflow as adding to INFINITY would.
        right = source - self._costs[operators] == self._costs_to_go[successors]
        for first, last in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):
            mask = right[first:last]
            yield operators[first:last][mask].tolist(), successors[first:last][mask].tolist()


class PlanTeacher:
    """Asks a planner, and remembers its plans."""

    def __init__(
        self, name: str, task: Task, plan: Callable[[State], tuple[int, ...] | None]
    ) -> None:
        self.method = f"plans of {name}"
        self._task = task
        self._plan = plan
        self._right: dict[State, int | None] = {}

    def lessons(self, states: Int32Array) -> list[Lesson]:
        """Planning is slow: of the states without a plan only the first few get one."""
        lessons: dict[State, Lesson] = {}
        plans = 0
        for state in map(tuple, states.tolist()):
            if state not in self._right and not is_goal(self._task, state):
                if plans == PLANS_PER_REQUEST:
                    continue
                plans += 1
                self._learn(state)
            for lesson in self._way(state):
                lessons.setdefault(lesson.state, lesson)
        return list(lessons.values())

    def _learn(self, state: State) -> None:
        """Where plans meet, the first one counts: one answer per state, and never a circle."""
        plan = self._plan(state)
        if plan is None:
            self._right[state] = None
            return
        steps: dict[State, int | None] = {}
        for operator in plan:
            if self._right.get(state) is not None:
                break
            steps[state] = operator
            state = successor(self._task, self._task.operators[operator], state)
        self._right.update(steps)

    def _way(self, state: State) -> Iterator[Lesson]:
        while (operator := self._right.get(state)) is not None:
            yield Lesson(state, (operator,))
            state = successor(self._task, self._task.operators[operator], state)
