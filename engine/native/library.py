"""The typed Python face of the C++ kernels: the only module that knows their C interface.

Arrays go in and come out as numpy arrays. What C cannot check (types, shapes, sizes) is checked
here; what it can (values, ids) it reports by a status. The GIL is released during every call.
"""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from engine.errors import PlumblineError

Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

ABI_VERSION = 6


class Status(IntEnum):
    DONE = 0
    OUT_OF_MEMORY = 1
    BAD_ARGUMENT = 2
    DEFECT = 3


_POINTER = ctypes.c_void_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64

_FUNCTIONS: dict[str, tuple[type[Any] | None, list[type[Any]]]] = {
    "plumbline_abi_version": (_INT32, []),
    "plumbline_task_create": (
        _INT32,
        [_INT32, _POINTER, _INT32, *[_POINTER] * 5, _INT32, _POINTER, _POINTER],
    ),
    "plumbline_task_destroy": (None, [_POINTER]),
    "plumbline_states_create": (_INT32, [_POINTER, _POINTER]),
    "plumbline_states_destroy": (None, [_POINTER]),
    "plumbline_states_size": (_INT64, [_POINTER]),
    "plumbline_states_bytes": (_INT64, [_POINTER]),
    "plumbline_states_add": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_find": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_values": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_is_goal": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_count_applicable": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_applicable": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_states_apply": (_INT32, [_POINTER, _INT64, _POINTER, _POINTER, _POINTER]),
    "plumbline_states_close": (_INT32, [_POINTER] * 4),
    "plumbline_states_optimal_costs": (_INT32, [_POINTER, _INT32, *[_POINTER] * 5]),
    "plumbline_search": (
        _INT32,
        [
            *(_POINTER, _INT32, _INT32, _INT32, _POINTER, _INT64),
            *(_POINTER, _INT32, _POINTER, _INT64),
            *[_POINTER] * 4,
        ],
    ),
    "plumbline_check_action": (
        _INT32,
        [
            *(_POINTER, _INT32, _POINTER, _INT64),
            *(_POINTER, _POINTER, _INT64, _INT32, _INT64),
            *[_POINTER] * 4,
        ],
    ),
    "plumbline_result_plan": (None, [_POINTER, _POINTER]),
    "plumbline_result_destroy": (None, [_POINTER]),
    "plumbline_evaluator_create": (_INT32, [_POINTER, _INT32, _INT32, _POINTER, _POINTER]),
    "plumbline_evaluator_destroy": (None, [_POINTER]),
    "plumbline_evaluator_values": (_INT32, [_POINTER, _POINTER, _INT64, _POINTER, _POINTER]),
    "plumbline_evaluator_successors": (
        _INT32,
        [_POINTER, _POINTER, _POINTER, _INT64, _POINTER, _POINTER],
    ),
    "plumbline_aras_create": (
        _INT32,
        [
            *(_POINTER, _POINTER, _INT32, _POINTER, _INT64, _POINTER),
            *(_INT64, _INT64, _POINTER, _POINTER, _POINTER),
        ],
    ),
    "plumbline_aras_destroy": (None, [_POINTER]),
    "plumbline_aras_improve": (_INT32, [_POINTER, _POINTER]),
    "plumbline_aras_plan": (None, [_POINTER, _POINTER]),
}


class Outcome(IntEnum):
    """How a kernel that can be limited ended."""

    SOLVED = 0
    UNSOLVABLE = 1
    NO_CHEAPER_PLAN = 2
    FAILED = 3
    TIME_LIMIT = 4
    MEMORY_LIMIT = 5
    EXPANSION_LIMIT = 6
    CANCELLED = 7
    ACTION_OPTIMAL = 8
    ACTION_NOT_OPTIMAL = 9

    @property
    def is_limit(self) -> bool:
        return self in {Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.EXPANSION_LIMIT}


class Algorithm(IntEnum):
    ASTAR = 0
    GBFS = 1
    EHC = 2


class Heuristic(IntEnum):
    TABLE = -1
    BLIND = 0
    GOAL_COUNT = 1
    HMAX = 2
    HADD = 3
    HFF = 4
    LMCUT = 5
    HADD_UNIT = 6
    LMCUT_BASE = 7
    LMCUT_GZBD = 8
    LMCUT_DELAY_OPEN = 9
    LMCUT_FGLOBAL = 10
    CARTESIAN = 11
    MERGE_AND_SHRINK = 12


class NativeLimits(ctypes.Structure):
    _fields_ = (
        ("seconds", ctypes.c_double),
        ("expansions", ctypes.c_int64),
        ("bytes", ctypes.c_uint64),
    )


@cache
def library() -> ctypes.CDLL:
    """The kernels, loaded once; the library lies beside this module."""
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = Path(__file__).with_name(f"libplumbline_native.{suffix}")
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as problem:
        message = f"the compiled kernels cannot be loaded ({problem})"
        raise PlumblineError(message, hint="build them with 'make setup'") from problem
    if loaded.plumbline_abi_version() != ABI_VERSION:
        raise PlumblineError(
            "the compiled kernels are of another version than the program",
            hint="build them again with 'make setup'",
        )
    return loaded


def declare(functions: Mapping[str, Any], *destroyers: str) -> None:
    """Tell ctypes the arguments of kernels that answer with a status, and what destroys objects."""
    try:
        for name, arguments in functions.items():
            function = getattr(library(), name)
            function.restype, function.argtypes = ctypes.c_int32, list(arguments)
        for name in destroyers:
            function = getattr(library(), name)
            function.restype, function.argtypes = None, [ctypes.c_void_p]
    except AttributeError as problem:
        message = "the compiled kernels are older than the program"
        raise PlumblineError(message, hint="build them again with 'make setup'") from problem


def call(name: str, *arguments: Any) -> None:
    """Call a kernel that answers with a status; arrays are passed as pointers to their data."""
    plain = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments]
    status = getattr(library(), name)(*plain)
    if status == Status.OUT_OF_MEMORY:
        raise MemoryError(f"{name}: out of memory")
    if status == Status.BAD_ARGUMENT:
        raise ValueError(f"{name}: a value, an id or an operator is out of range")
    if status != Status.DONE:
        raise RuntimeError(f"{name}: the kernel failed")


def as_int32(values: npt.ArrayLike, n_columns: int | None = None) -> Int32Array:
    """A contiguous int32 array of one dimension, or of two with that many columns."""
    array = np.asarray(values)
    if array.size == 0:
        if n_columns is None or array.shape[-1:] != (n_columns,):
            array = array.reshape((0,) if n_columns is None else (0, n_columns))
    elif array.dtype != np.int32:
        if not np.issubdtype(array.dtype, np.integer):
            raise TypeError(f"expected integers, got {array.dtype}")
        if array.min() < -(2**31) or array.max() >= 2**31:
            raise ValueError("a number does not fit into 32 bits")
    columns = () if n_columns is None else (n_columns,)
    if array.ndim != 1 + len(columns) or array.shape[1:] != columns:
        shape = "(n,)" if n_columns is None else f"(n, {n_columns})"
        raise ValueError(f"expected an array of shape {shape}, got {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int32)


def as_int64(values: npt.ArrayLike) -> Int64Array:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"expected integers that fit into 64 bits, got {array.dtype}")
    return np.ascontiguousarray(array.reshape(-1), dtype=np.int64)


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
        handle = _POINTER()
        call(
            "plumbline_task_create",
            self.n_variables,
            as_int32(domain_sizes),
            self.n_operators,
            as_int32(pre_begin),
            as_int32(preconditions, 2),
            as_int32(eff_begin),
            as_int32(effects, 2),
            as_int64(costs),
            len(goal),
            as_int32(goal, 2),
            ctypes.byref(handle),
        )
        self.handle = handle
        weakref.finalize(self, library().plumbline_task_destroy, handle)


class NativeStates:
    """A table of states in the kernels' memory. Not for use by two threads at once."""

    def __init__(self, task: NativeTask) -> None:
        self.task = task
        handle = _POINTER()
        call("plumbline_states_create", task.handle, ctypes.byref(handle))
        self.handle = handle
        # The table looks into the task: the callback's argument keeps the task alive.
        weakref.finalize(self, _destroy_states, handle, task)

    def __len__(self) -> int:
        return int(library().plumbline_states_size(self.handle))

    @property
    def bytes(self) -> int:
        return int(library().plumbline_states_bytes(self.handle))

    def add(self, values: Int32Array) -> Int32Array:
        values = as_int32(values, self.task.n_variables)
        ids = np.empty(len(values), np.int32)
        call("plumbline_states_add", self.handle, len(values), values, ids)
        return ids

    def find(self, values: Int32Array) -> Int32Array:
        values = as_int32(values, self.task.n_variables)
        ids = np.empty(len(values), np.int32)
        call("plumbline_states_find", self.handle, len(values), values, ids)
        return ids

    def values(self, ids: Int32Array) -> Int32Array:
        ids = as_int32(ids)
        values = np.empty((len(ids), self.task.n_variables), np.int32)
        call("plumbline_states_values", self.handle, len(ids), ids, values)
        return values

    def is_goal(self, ids: Int32Array) -> BoolArray:
        ids = as_int32(ids)
        answers = np.empty(len(ids), np.bool_)
        call("plumbline_states_is_goal", self.handle, len(ids), ids, answers)
        return answers

    def applicable(self, ids: Int32Array) -> tuple[Int64Array, Int32Array]:
        """Operators by state in compressed rows: those of ids[i] lie from row_begin[i] on."""
        ids = as_int32(ids)
        row_begin = np.empty(len(ids) + 1, np.int64)
        call("plumbline_states_count_applicable", self.handle, len(ids), ids, row_begin)
        operators = np.empty(int(row_begin[-1]), np.int32)
        call("plumbline_states_applicable", self.handle, len(ids), ids, operators)
        return row_begin, operators

    def apply(self, ids: Int32Array, operators: Int32Array) -> Int32Array:
        ids, operators = as_int32(ids), as_int32(operators)
        if len(ids) != len(operators):
            raise ValueError(f"{len(ids)} states but {len(operators)} operators")
        successors = np.empty(len(ids), np.int32)
        call("plumbline_states_apply", self.handle, len(ids), ids, operators, successors)
        return successors

    def close(self, limits: NativeLimits, progress: Int64Array) -> Outcome:
        """Add every state that can be reached from those in the table."""
        outcome = np.empty(1, np.int64)
        call("plumbline_states_close", self.handle, ctypes.byref(limits), progress, outcome)
        return Outcome(int(outcome[0]))

    def optimal_costs(
        self, goal: Int32Array, limits: NativeLimits, progress: Int64Array
    ) -> tuple[Outcome, Int64Array]:
        """h* by id; the table must be closed."""
        outcome = np.empty(1, np.int64)
        costs = np.empty(len(self), np.int64)
        call(
            "plumbline_states_optimal_costs",
            self.handle,
            len(goal),
            as_int32(goal, 2),
            ctypes.byref(limits),
            progress,
            costs,
            outcome,
        )
        return Outcome(int(outcome[0])), costs


def _destroy_states(handle: ctypes.c_void_p, _task: NativeTask) -> None:
    library().plumbline_states_destroy(handle)


CHUNK = 64
"""States evaluated per call: between calls Ctrl-C is noticed."""


class NativeEvaluator:
    """A heuristic for one goal, made by a kernel. Not for use by two threads at once."""

    def __init__(self, task: NativeTask, handle: ctypes.c_void_p) -> None:
        self.task = task
        self.handle = handle
        weakref.finalize(self, _destroy_evaluator, handle, task)

    @classmethod
    def of(cls, task: NativeTask, heuristic: Heuristic, goal: Int32Array) -> NativeEvaluator:
        handle = _POINTER()
        goal = as_int32(goal, 2)
        call(
            "plumbline_evaluator_create",
            task.handle,
            int(heuristic),
            len(goal),
            goal,
            ctypes.byref(handle),
        )
        return cls(task, handle)

    def values(self, states: Int32Array) -> Int64Array:
        states = as_int32(states, self.task.n_variables)
        values = np.empty(len(states), np.int64)
        for begin in range(0, len(states), CHUNK):
            part, found = states[begin : begin + CHUNK], values[begin : begin + CHUNK]
            call(
                "plumbline_evaluator_values", self.handle, self.task.handle, len(part), part, found
            )
        return values

    def successor_values(self, state: Int32Array, operators: Int32Array) -> Int64Array:
        state, operators = as_int32(state), as_int32(operators)
        if len(state) != self.task.n_variables:
            raise ValueError(f"{self.task.n_variables} variables, but {len(state)} values")
        values = np.empty(len(operators), np.int64)
        call(
            "plumbline_evaluator_successors",
            self.handle,
            self.task.handle,
            state,
            len(operators),
            operators,
            values,
        )
        return values


def _destroy_evaluator(handle: ctypes.c_void_p, _task: NativeTask) -> None:
    library().plumbline_evaluator_destroy(handle)


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
    is_admissible: bool,
    table: Int64Array,
    start: Int32Array,
    goal: Int32Array,
    bound: int,
    limits: NativeLimits,
    progress: Int64Array,
) -> NativeAnswer:
    """Run a search; `table` has a value for every state if the heuristic is TABLE."""
    start, goal, table = as_int32(start), as_int32(goal, 2), as_int64(table)
    if len(start) != task.n_variables:
        raise ValueError(f"the task has {task.n_variables} variables, the state {len(start)}")
    _check_table(task, heuristic, table)
    return _answered(
        "plumbline_search",
        task.handle,
        int(algorithm),
        int(heuristic),
        int(is_admissible),
        table,
        len(table),
        start,
        len(goal),
        goal,
        bound,
        ctypes.byref(limits),
        progress,
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
    progress: Int64Array,
) -> NativeAnswer:
    """Run AOCA*; the plan, if one was found, comes after the action if that is optimal."""
    start, successor, table = as_int32(start), as_int32(successor), as_int64(table)
    if not len(start) == len(successor) == task.n_variables:
        raise ValueError(f"the task has {task.n_variables} variables, a state {len(start)}")
    _check_table(task, heuristic, table)
    return _answered(
        "plumbline_check_action",
        task.handle,
        int(heuristic),
        table,
        len(table),
        start,
        successor,
        action_cost,
        int(is_solvable),
        plan_cost,
        ctypes.byref(limits),
        progress,
    )


def _check_table(task: NativeTask, heuristic: Heuristic, table: Int64Array) -> None:
    if heuristic == Heuristic.TABLE and len(table) != task.n_product_states:
        raise ValueError(f"{len(table)} heuristic values for {task.n_product_states} states")


def _answered(name: str, *arguments: object) -> NativeAnswer:
    """Call a search and fetch what it found."""
    answer, handle = np.empty(4, np.int64), _POINTER()
    call(name, *arguments, answer, ctypes.byref(handle))
    outcome, cost, lower_bound, length = answer.tolist()
    plan = np.empty(length, np.int32)
    library().plumbline_result_plan(handle, plan.ctypes.data)
    library().plumbline_result_destroy(handle)
    return NativeAnswer(Outcome(outcome), cost, lower_bound, tuple(plan.tolist()))


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
        progress: Int64Array,
    ) -> None:
        start, goal, plan = as_int32(start), as_int32(goal, 2), as_int32(plan)
        if len(start) != task.n_variables:
            raise ValueError(f"the task has {task.n_variables} variables, the state {len(start)}")
        handle = _POINTER()
        call(
            "plumbline_aras_create",
            task.handle,
            start,
            len(goal),
            goal,
            len(plan),
            plan,
            first_size,
            max_states,
            ctypes.byref(limits),
            progress,
            ctypes.byref(handle),
        )
        self.handle = handle
        weakref.finalize(self, _destroy_aras, handle, task, progress)

    def improve(self) -> NativeAnswer:
        """Work until the plan is cheaper (SOLVED), proved optimal, or a limit is reached."""
        answer = np.empty(3, np.int64)
        call("plumbline_aras_improve", self.handle, answer)
        outcome, cost, length = answer.tolist()
        plan = np.empty(length, np.int32)
        library().plumbline_aras_plan(self.handle, plan.ctypes.data)
        return NativeAnswer(Outcome(outcome), cost, 0, tuple(plan.tolist()))


def _destroy_aras(handle: ctypes.c_void_p, _task: NativeTask, _progress: Int64Array) -> None:
    library().plumbline_aras_destroy(handle)
