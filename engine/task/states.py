"""States as integer ids: one `StateTable` per task interns states and knows their successors.

The states lie bit-packed in the native kernel; ids count from 0 in the order of insertion, so
that whatever is known about a state is an array indexed by its id.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

from engine.errors import UsageError
from engine.native.library import (
    BoolArray,
    Int32Array,
    Int64Array,
    NativeLimits,
    NativeProgress,
    Outcome,
)
from engine.native.states import NativeAxioms, NativeConditional, NativeStates, NativeTask, Rows
from engine.task.task import Fact, Task

_compiled: dict[int, NativeTask] = {}


def native_task(task: Task) -> NativeTask:
    """The kernels' copy of a task, made once and kept as long as the task lives."""
    key = id(task)
    if key not in _compiled:
        _compiled[key] = _compile(task)
        weakref.finalize(task, _compiled.pop, key, None)
    return _compiled[key]


def _compile(task: Task) -> NativeTask:
    return NativeTask(
        domain_sizes=np.array(task.domain_sizes, np.int32),
        preconditions=_rows([operator.precondition for operator in task.operators]),
        effects=_rows([operator.effect for operator in task.operators]),
        costs=np.array(task.costs, np.int64),
        goal=facts_array(task.goal),
        conditional=_conditional(task) if task.n_conditional_effects else None,
        axioms=_axioms(task) if task.derived_variables else None,
    )


def _conditional(task: Task) -> NativeConditional:
    by_operator = [operator.conditional for operator in task.operators]
    return NativeConditional(
        effects=_rows([tuple(fact for _, fact in effects) for effects in by_operator]),
        conditions=_rows([condition for effects in by_operator for condition, _ in effects]),
    )


def _axioms(task: Task) -> NativeAxioms:
    layers = sorted({variable.layer for variable in task.variables} | {-1})
    rank = {layer: number - 1 for number, layer in enumerate(layers)}  # a file's may be too large
    return NativeAxioms(
        layer=np.array([rank[variable.layer] for variable in task.variables], np.int32),
        default_value=np.array(
            [task.defaults.get(number, 0) for number in range(len(task.variables))], np.int32
        ),
        heads=np.array([axiom.head for axiom in task.axioms], np.int32),
        bodies=_rows([axiom.body for axiom in task.axioms]),
    )


def require_state(task: Task, values: Sequence[int]) -> tuple[int, ...]:
    """A state that a user has written down; UsageError if the task has no such state.

    Derived values are computed, whatever is written.
    """
    sizes = task.domain_sizes
    if len(values) != len(sizes):
        raise UsageError(
            f"the state has {len(values)} values, the task {len(sizes)} variables",
            hint="`plumbline task` shows the variables and the initial state",
        )
    for variable, (value, size) in enumerate(zip(values, sizes, strict=True)):
        if not 0 <= value < size:
            raise UsageError(
                f"the state has the value {value} for variable {variable}, which has {size} values",
                hint="`plumbline task` shows the variables and the initial state",
            )
    return task.extend(values)


def facts_array(facts: Sequence[Fact]) -> Int32Array:
    """Facts as rows (variable, value), the form in which kernels take a goal."""
    return np.array(facts, np.int32).reshape(-1, 2)


def _rows(facts_by_operator: Sequence[tuple[Fact, ...]]) -> Rows:
    begin = np.array([0, *accumulate(map(len, facts_by_operator))], np.int32)
    facts = np.fromiter(
        chain.from_iterable(chain.from_iterable(facts_by_operator)), np.int32, 2 * int(begin[-1])
    )
    return Rows(begin, facts.reshape(-1, 2))


def state_ids(states: npt.ArrayLike) -> Int32Array:
    """One or many states as an array of ids."""
    return np.atleast_1d(np.asarray(states, np.int32))


class StateTable:
    """All states of a task seen so far. Not for use by two threads at once."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._states = NativeStates(native_task(task))

    def __len__(self) -> int:
        return len(self._states)

    @property
    def native(self) -> NativeStates:
        """The table as kernels use it."""
        return self._states

    @property
    def bytes(self) -> int:
        return self._states.bytes

    def add(self, states: npt.ArrayLike) -> Int32Array:
        """Ids of states given as rows of values (a single state is one row)."""
        return self._states.add(np.atleast_2d(np.asarray(states)))

    def find(self, states: npt.ArrayLike) -> Int32Array:
        """Ids of states given as rows of values, -1 for those that are not in the table."""
        return self._states.find(np.atleast_2d(np.asarray(states)))

    def values(self, ids: npt.ArrayLike) -> Int32Array:
        """One row of values per id."""
        return self._states.values(np.atleast_1d(np.asarray(ids)))

    def is_goal(self, ids: npt.ArrayLike) -> BoolArray:
        return self._states.is_goal(np.atleast_1d(np.asarray(ids)))

    def successors(self, state: int) -> tuple[Int32Array, Int32Array]:
        """(operators, states): what is applicable in one state and where it leads."""
        _, operators, successors = self.successors_of(np.array([state]))
        return operators, successors

    def successors_of(self, ids: npt.ArrayLike) -> tuple[Int64Array, Int32Array, Int32Array]:
        """(row_begin, operators, states): those from row_begin[i] on belong to ids[i]."""
        ids = np.atleast_1d(np.asarray(ids))
        row_begin, operators = self._states.applicable(ids)
        sources = np.repeat(ids, np.diff(row_begin))
        return row_begin, operators, self._states.apply(sources, operators)

    def close(self, limits: NativeLimits, progress: NativeProgress) -> Outcome:
        """Add every state that can be reached from those in the table, breadth first."""
        return self._states.close(limits, progress)

    def optimal_costs(
        self, goal: Sequence[Fact], limits: NativeLimits, progress: NativeProgress
    ) -> tuple[Outcome, Int64Array]:
        """h* by id; the table must be closed."""
        return self._states.optimal_costs(facts_array(goal), limits, progress)

    def apply(self, ids: npt.ArrayLike, operators: npt.ArrayLike) -> Int32Array:
        """The successor of ids[i] by operators[i], -1 where it is not applicable."""
        return self._states.apply(
            np.atleast_1d(np.asarray(ids)), np.atleast_1d(np.asarray(operators))
        )
