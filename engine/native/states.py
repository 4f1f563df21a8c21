"""Tasks and tables of states in the kernels' memory."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

import numpy as np

from engine.native.library import (
    BoolArray,
    Int32Array,
    Int64Array,
    LaterParts,
    NativeLimits,
    NativeProgress,
    Outcome,
    as_array,
    call,
    create,
    destroy_with,
    library,
)


@dataclass(frozen=True)
class Rows:
    """Facts in rows that follow each other: row i is facts[begin[i]:begin[i + 1]]."""

    begin: Int32Array
    facts: Int32Array  # (variable, value)

    def require_fit(self, n_rows: int) -> None:
        if len(self.begin) != n_rows + 1 or self.begin[0] != 0 or self.begin[-1] != len(self.facts):
            raise ValueError("operator rows do not fit the facts")
        if (np.diff(self.begin) < 0).any():
            raise ValueError("operator rows must follow each other")

    def arrays(self) -> tuple[Int32Array, Int32Array]:
        return as_array(self.begin, np.int32), as_array(self.facts, np.int32, (None, 2))


@dataclass(frozen=True)
class NativeConditional:
    """Conditional effects: by operator the facts, by effect the conditions."""

    effects: Rows
    conditions: Rows


@dataclass(frozen=True)
class NativeAxioms:
    """By variable a layer (-1: not derived) and a default; by rule a head and a body."""

    layer: Int32Array
    default_value: Int32Array
    heads: Int32Array
    bodies: Rows


class NativeTask:
    """A grounded task in the kernels' memory. Facts are rows (variable, value)."""

    def __init__(
        self,
        *,
        domain_sizes: Int32Array,
        preconditions: Rows,
        effects: Rows,
        costs: Int64Array,
        goal: Int32Array,
        conditional: NativeConditional | None = None,
        axioms: NativeAxioms | None = None,
    ) -> None:
        self.n_variables = len(domain_sizes)
        self.n_facts = int(np.sum(domain_sizes, dtype=np.int64))
        self.n_operators = len(costs)
        is_state_variable = np.ones(self.n_variables, bool) if axioms is None else axioms.layer < 0
        self.n_product_states = math.prod(domain_sizes[is_state_variable].tolist())
        preconditions.require_fit(self.n_operators)
        effects.require_fit(self.n_operators)
        later = _LaterParts(self.n_variables, self.n_operators, conditional, axioms)
        self.handle = create(
            "task_create",
            self.n_variables,
            as_array(domain_sizes, np.int32),
            self.n_operators,
            *preconditions.arrays(),
            *effects.arrays(),
            as_array(costs, np.int64),
            len(goal),
            as_array(goal, np.int32, (None, 2)),
            later.parts,
        )
        destroy_with(self, "task_destroy", self.handle)


class _LaterParts:
    """The parts of a task beyond preconditions and effects; keeps the arrays it points to."""

    def __init__(
        self,
        n_variables: int,
        n_operators: int,
        conditional: NativeConditional | None,
        axioms: NativeAxioms | None,
    ) -> None:
        self.parts = LaterParts()
        self._arrays: list[Int32Array] = []
        if conditional is not None:
            conditional.effects.require_fit(n_operators)
            conditional.conditions.require_fit(len(conditional.effects.facts))
            self.parts.n_conditional = len(conditional.effects.facts)
            self._point_rows("conditional_begin", "conditional_facts", conditional.effects)
            self._point_rows("condition_begin", "conditions", conditional.conditions)
        if axioms is not None:
            axioms.bodies.require_fit(len(axioms.heads))
            if not len(axioms.layer) == len(axioms.default_value) == n_variables:
                raise ValueError("every variable needs a layer and a default")
            self.parts.n_rules = len(axioms.heads)
            self._point("layer", as_array(axioms.layer, np.int32))
            self._point("default_value", as_array(axioms.default_value, np.int32))
            self._point("heads", as_array(axioms.heads, np.int32))
            self._point_rows("body_begin", "bodies", axioms.bodies)

    def _point_rows(self, begin: str, facts: str, rows: Rows) -> None:
        for name, array in zip((begin, facts), rows.arrays(), strict=True):
            self._point(name, array)

    def _point(self, name: str, array: Int32Array) -> None:
        self._arrays.append(array)
        setattr(self.parts, name, array.ctypes.data)


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
