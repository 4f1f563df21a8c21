"""The typed Python face of the C++ kernels: the only module that knows their C interface.

Arrays go in and come out as numpy arrays. What C cannot check (types, shapes, sizes) is checked
here; what it can (values, ids) it reports by a status. The GIL is released during every call.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
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

ABI_VERSION = 2


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
}


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
    elif not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"expected integers, got {array.dtype}")
    elif array.dtype != np.int32 and (array.min() < -(2**31) or array.max() >= 2**31):
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


def _destroy_states(handle: ctypes.c_void_p, _task: NativeTask) -> None:
    library().plumbline_states_destroy(handle)
