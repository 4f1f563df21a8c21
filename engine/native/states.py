"""Tasks and tables of states in the kernels' memory."""

from __future__ import annotations

import ctypes
import math

import numpy as np

from engine.native.library import (
    BoolArray,
    Int32Array,
    Int64Array,
    NativeLimits,
    NativeProgress,
    Outcome,
    as_array,
    call,
    create,
    destroy_with,
    library,
)


class NativeTask:
    """A grounded task in the kernels' memory. Facts are rows (variable, value)."""

    def __init__(
        self,
        *,
        domain_sizes: Int32Array,
        pre_begin: Int32Array,
        preconditions: Int32Array,
        eff_begin: Int32Array,
        effects: Int32Array,
        costs: Int64Array,
        goal: Int32Array,
    ) -> None:
        self.n_variables = len(domain_sizes)
        self.n_product_states = math.prod(domain_sizes.tolist())
        self.n_operators = len(costs)
        for begin, facts in ((pre_begin, preconditions), (eff_begin, effects)):
            if len(begin) != self.n_operators + 1 or begin[0] != 0 or begin[-1] != len(facts):
                raise ValueError("operator rows do not fit the facts")
            if (np.diff(begin) < 0).any():
                raise ValueError("operator rows must follow each other")
        self.handle = create(
            "task_create",
            self.n_variables,
            as_array(domain_sizes, np.int32),
            self.n_operators,
            as_array(pre_begin, np.int32),
            as_array(preconditions, np.int32, (None, 2)),
            as_array(eff_begin, np.int32),
            as_array(effects, np.int32, (None, 2)),
            as_array(costs, np.int64),
            len(goal),
            as_array(goal, np.int32, (None, 2)),
        )
        destroy_with(self, "task_destroy", self.handle)


class NativeStates:
    """A table of states in the kernels' memory. Not for use by two threads at once."""

    def __init__(self, task: NativeTask) -> None:
        self.task = task
        self.handle = create("states_create", task.handle)
        destroy_with(self, "states_destroy", self.handle, task)

    def __len__(self) -> int:
        return int(library().plumbline_states_size(self.handle))

    @property
    def bytes(self) -> int:
        return int(library().plumbline_states_bytes(self.handle))

    def add(self, values: Int32Array) -> Int32Array:
        values = as_array(values, np.int32, (None, self.task.n_variables))
        ids = np.empty(len(values), np.int32)
        call("states_add", self.handle, len(values), values, ids)
        return ids

    def find(self, values: Int32Array) -> Int32Array:
        values = as_array(values, np.int32, (None, self.task.n_variables))
        ids = np.empty(len(values), np.int32)
        call("states_find", self.handle, len(values), values, ids)
        return ids

    def values(self, ids: Int32Array) -> Int32Array:
        ids = as_array(ids, np.int32)
        values = np.empty((len(ids), self.task.n_variables), np.int32)
        call("states_values", self.handle, len(ids), ids, values)
        return values

    def is_goal(self, ids: Int32Array) -> BoolArray:
        ids = as_array(ids, np.int32)
        answers = np.empty(len(ids), np.bool_)
        call("states_is_goal", self.handle, len(ids), ids, answers)
        return answers

    def applicable(self, ids: Int32Array) -> tuple[Int64Array, Int32Array]:
        """Operators by state in compressed rows: those of ids[i] lie from row_begin[i] on."""
        ids = as_array(ids, np.int32)
        row_begin = np.empty(len(ids) + 1, np.int64)
        call("states_count_applicable", self.handle, len(ids), ids, row_begin)
        operators = np.empty(int(row_begin[-1]), np.int32)
        call("states_applicable", self.handle, len(ids), ids, operators)
        return row_begin, operators

    def apply(self, ids: Int32Array, operators: Int32Array) -> Int32Array:
        ids, operators = as_array(ids, np.int32), as_array(operators, np.int32)
        if len(ids) != len(operators):
            raise ValueError(f"{len(ids)} states but {len(operators)} operators")
        successors = np.empty(len(ids), np.int32)
        call("states_apply", self.handle, len(ids), ids, operators, successors)
        return successors

    def close(self, limits: NativeLimits, progress: NativeProgress) -> Outcome:
        """Add every state that can be reached from those in the table."""
        outcome = ctypes.c_int64()
        call("states_close", self.handle, limits, progress, outcome)
        return Outcome(outcome.value)

    def optimal_costs(
        self, goal: Int32Array, limits: NativeLimits, progress: NativeProgress
    ) -> tuple[Outcome, Int64Array]:
        """h* by id; the table must be closed."""
        goal = as_array(goal, np.int32, (None, 2))
        costs, outcome = np.empty(len(self), np.int64), ctypes.c_int64()
        call(
            *("states_optimal_costs", self.handle, len(goal), goal),
            *(limits, progress, costs, outcome),
        )
        return Outcome(outcome.value), costs
