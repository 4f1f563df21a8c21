"""Searches and heuristics in the kernels: forward searches, AOCA*, Aras, short look-ahead."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from engine.native.library import (
    INT32_OUT,
    TABLE_HEURISTIC,
    Algorithm,
    Heuristic,
    Int32Array,
    Int64Array,
    NativeLimits,
    NativeProgress,
    Outcome,
    SearchAnswer,
    as_array,
    call,
    create,
    destroy_with,
    library,
)
from engine.native.states import NativeStates, NativeTask

CHUNK = 64
"""States evaluated per call: between calls Ctrl-C is noticed."""


class NativeEvaluator:
    """A heuristic for one goal, made by a kernel. Not for use by two threads at once."""

    def __init__(self, task: NativeTask, handle: ctypes.c_void_p) -> None:
        self.task = task
        self.handle = handle
        destroy_with(self, "evaluator_destroy", handle, task)

    @classmethod
    def of(cls, task: NativeTask, heuristic: Heuristic, goal: Int32Array) -> NativeEvaluator:
        goal = as_array(goal, np.int32, (None, 2))
        arguments = (task.handle, heuristic.number, len(goal), goal)
        return cls(task, create("evaluator_create", *arguments))

    def values(self, states: Int32Array) -> Int64Array:
        states = as_array(states, np.int32, (None, self.task.n_variables))
        values = np.empty(len(states), np.int64)
        for begin in range(0, len(states), CHUNK):
            part, found = states[begin : begin + CHUNK], values[begin : begin + CHUNK]
            call("evaluator_values", self.handle, self.task.handle, len(part), part, found)
        return values

    def successor_values(self, state: Int32Array, operators: Int32Array) -> Int64Array:
        state = as_array(state, np.int32, (self.task.n_variables,))
        operators = as_array(operators, np.int32)
        values = np.empty(len(operators), np.int64)
        call(
            *("evaluator_successors", self.handle, self.task.handle, state),
            *(len(operators), operators, values),
        )
        return values


@dataclass(frozen=True, slots=True)
class NativeAnswer:
    outcome: Outcome
    cost: int
    lower_bound: int
    plan: tuple[int, ...]


def native_search(
    task: NativeTask,
    algorithm: Algorithm,
    heuristic: Heuristic,
    *,
    table: Int64Array,
    start: Int32Array,
    goal: Int32Array,
    bound: int,
    limits: NativeLimits,
    progress: NativeProgress,
) -> NativeAnswer:
    """Run a search; `table` is read if the heuristic is TABLE_HEURISTIC."""
    start = as_array(start, np.int32, (task.n_variables,))
    goal = as_array(goal, np.int32, (None, 2))
    table = _checked_table(task, heuristic, table)
    return _answered(
        *("search", task.handle, algorithm, heuristic.number, table, len(table)),
        *(start, len(goal), goal, bound, limits, progress),
    )


def native_check_action(
    task: NativeTask,
    heuristic: Heuristic,
    *,
    table: Int64Array,
    start: Int32Array,
    successor: Int32Array,
    action_cost: int,
    is_solvable: bool,
    plan_cost: int,
    limits: NativeLimits,
    progress: NativeProgress,
) -> NativeAnswer:
    """Run AOCA*; the plan, if one was found, comes after the action if that is optimal."""
    start = as_array(start, np.int32, (task.n_variables,))
    successor = as_array(successor, np.int32, (task.n_variables,))
    table = _checked_table(task, heuristic, table)
    return _answered(
        *("check_action", task.handle, heuristic.number, table, len(table)),
        *(start, successor, action_cost, is_solvable, plan_cost, limits, progress),
    )


def _checked_table(task: NativeTask, heuristic: Heuristic, table: Int64Array) -> Int64Array:
    n_values = task.n_product_states if heuristic is TABLE_HEURISTIC else None
    return as_array(table, np.int64, (n_values,))


def _answered(name: str, *arguments: object) -> NativeAnswer:
    """Call a search and fetch what it found."""
    answer = SearchAnswer()
    handle = create(name, *arguments, answer)
    plan = np.empty(answer.plan_length, np.int32)
    library().plumbline_result_plan(handle, INT32_OUT.pointer(plan))
    library().plumbline_result_destroy(handle)
    return _native_answer(answer, plan)


def _native_answer(answer: SearchAnswer, plan: Int32Array) -> NativeAnswer:
    steps = tuple(plan.tolist())
    return NativeAnswer(Outcome(answer.outcome), answer.cost, answer.lower_bound, steps)


class NativeAras:
    """A plan that becomes cheaper call by call. Not for use by two threads at once."""

    def __init__(
        self,
        task: NativeTask,
        *,
        start: Int32Array,
        goal: Int32Array,
        plan: Int32Array,
        first_size: int,
        max_states: int,
        limits: NativeLimits,
        progress: NativeProgress,
    ) -> None:
        start = as_array(start, np.int32, (task.n_variables,))
        goal, plan = as_array(goal, np.int32, (None, 2)), as_array(plan, np.int32)
        self._handle = create(
            *("aras_create", task.handle, start, len(goal), goal, len(plan), plan),
            *(first_size, max_states, limits, progress),
        )
        destroy_with(self, "aras_destroy", self._handle, task, progress)

    def improve(self) -> NativeAnswer:
        """Work until the plan is cheaper (SOLVED), proved optimal, or a limit is reached."""
        answer = SearchAnswer()
        call("aras_improve", self._handle, answer)
        plan = np.empty(answer.plan_length, np.int32)
        library().plumbline_aras_plan(self._handle, INT32_OUT.pointer(plan))
        return _native_answer(answer, plan)


@dataclass(frozen=True)
class Visits:
    """Visited states in order, the start first."""

    states: Int32Array
    costs: Int64Array
    before: Int32Array  # rows; -1 for the start
    operators: Int32Array

    def way_to(self, row: int) -> tuple[list[int], list[int]]:
        """The states from the start to a visited one, and the operators between them."""
        states, operators = [int(self.states[row])], list[int]()
        while (before := int(self.before[row])) >= 0:
            operators.append(int(self.operators[row]))
            states.append(int(self.states[before]))
            row = before
        return states[::-1], operators[::-1]


class NativeLookahead:
    """Short greedy searches with h_FF on the states of a table. Not for two threads at once."""

    def __init__(self, states: NativeStates) -> None:
        self._handle = create("lookahead_create", states.handle)
        self._count = np.zeros(1, np.int64)
        destroy_with(self, "lookahead_destroy", self._handle, states)

    def begin(self, start: int) -> None:
        call("lookahead_begin", self._handle, start)

    def resume(self, size: int) -> int:
        """Search until this number of states is visited; return how many are."""
        call("lookahead_resume", self._handle, size, self._count)
        return int(self._count[0])

    def visits(self) -> Visits:
        n = int(self._count[0])
        found = Visits(
            np.empty(n, np.int32),
            np.empty(n, np.int64),
            np.empty(n, np.int32),
            np.empty(n, np.int32),
        )
        call(
            *("lookahead_visits", self._handle),
            *(found.states, found.costs, found.before, found.operators),
        )
        return found


class NativeFirstSteps:
    """All states that sequences of operators lead to, level by level. Not for two threads at once.

    A level has each state once, with the cheapest way there, in the order of their ids.
    """

    def __init__(self, states: NativeStates) -> None:
        self._handle = create("first_steps_create", states.handle)
        self._answer = np.zeros(3, np.int64)
        destroy_with(self, "first_steps_destroy", self._handle, states)

    def begin(self, start: int) -> None:
        call("first_steps_begin", self._handle, start)
        self._answer[0] = 1

    def extend(self) -> tuple[int, int] | None:
        """Expand all states of the last level that are not goal states.

        Return the row of the cheapest goal on the new level and the cost of the way to it.
        """
        call("first_steps_extend", self._handle, self._answer)
        _, row, cost = self._answer.tolist()
        return None if row < 0 else (row, cost)

    def level(self) -> tuple[Int32Array, Int64Array]:
        """The states of the last level and the costs of the ways to them."""
        n = int(self._answer[0])
        states, costs = np.empty(n, np.int32), np.empty(n, np.int64)
        call("first_steps_level", self._handle, states, costs)
        return states, costs

    def way(self, level: int, row: int) -> tuple[list[int], list[int]]:
        """The states on the way to a row of a level, and the operators between them."""
        states, operators = np.empty(level + 1, np.int32), np.empty(level, np.int32)
        call("first_steps_way", self._handle, level, row, states, operators)
        return states.tolist(), operators.tolist()
