"""The compiled kernels: loading, calling, passing arrays.

What C cannot check is checked here: every call against a signature that has the element types of
arrays, and their shapes by `as_array` and `check_shape`. Contents (values, ids) are checked by
the kernels, which answer with a status. The GIL is released during every call.
"""

from __future__ import annotations

import ctypes
import re
import sys
import weakref
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
Shape: TypeAlias = tuple[int | None, *tuple[int, ...]]
"""Rows (None: any number) and columns of an array."""

ABI_VERSION = 11
"""That of interface/abi.hpp, which the types below mirror."""


class Status(IntEnum):
    DONE = 0
    OUT_OF_MEMORY = 1
    BAD_ARGUMENT = 2
    DEFECT = 3


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
    GREEDY_BEST_FIRST = 1
    ENFORCED_HILL_CLIMBING = 2
    AOCA_STAR = 3


@dataclass(frozen=True, slots=True)
class Heuristic:
    number: int
    name: str
    is_admissible: bool


def _read_heuristics() -> dict[str, Heuristic]:
    """Read the lines from which the kernels are compiled, too."""
    text = Path(__file__).with_name("heuristics").joinpath("heuristics.def").read_text()
    lines = re.findall(r'^HEURISTIC\((\d+), "([^"]+)", (kAdmissible|kInadmissible),', text, re.M)
    return {name: Heuristic(int(n), name, traits == "kAdmissible") for n, name, traits in lines}


HEURISTICS = _read_heuristics()

TABLE_HEURISTIC = Heuristic(-1, "table", is_admissible=True)
"""One value per state of a small task, by rank: the last variable counts fastest."""


class NativeLimits(ctypes.Structure):
    """0 seconds or expansions: no limit."""

    _fields_ = (
        ("seconds", ctypes.c_double),
        ("expansions", ctypes.c_int64),
        ("bytes", ctypes.c_uint64),
    )


class NativeProgress(ctypes.Structure):
    """Written by the kernel and read by any thread; `cancel` the other way round."""

    _fields_ = (
        ("cancel", ctypes.c_int64),
        ("expanded", ctypes.c_int64),
        ("evaluated", ctypes.c_int64),
        ("generated", ctypes.c_int64),
        ("best", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
    )


class SearchAnswer(ctypes.Structure):
    _fields_ = (
        ("outcome", ctypes.c_int64),
        ("cost", ctypes.c_int64),
        ("lower_bound", ctypes.c_int64),
        ("plan_length", ctypes.c_int64),
    )


class AbstractionSize(ctypes.Structure):
    _fields_ = (
        ("abstractions", ctypes.c_int64),
        ("states", ctypes.c_int64),
        ("transitions", ctypes.c_int64),
    )


class LaterParts(ctypes.Structure):
    _fields_ = (
        ("n_conditional", ctypes.c_int64),
        ("conditional_begin", ctypes.c_void_p),
        ("conditional_facts", ctypes.c_void_p),
        ("condition_begin", ctypes.c_void_p),
        ("conditions", ctypes.c_void_p),
        ("layer", ctypes.c_void_p),
        ("default_value", ctypes.c_void_p),
        ("n_rules", ctypes.c_int64),
        ("heads", ctypes.c_void_p),
        ("body_begin", ctypes.c_void_p),
        ("bodies", ctypes.c_void_p),
    )


_AnyBytes = ctypes.c_char * 0


class ArrayParameter:
    """A parameter that takes contiguous arrays of one element type.

    Checked before the call: ctypes would turn a Ctrl-C in a converter of its own into an error.
    """

    def __init__(self, element: type[np.generic], *, writable: bool) -> None:
        self.element = np.dtype(element)
        self.writable = writable

    def pointer(self, array: npt.NDArray[Any]) -> int:
        if array.dtype != self.element or not array.flags.c_contiguous:
            raise TypeError(f"expected a contiguous array of {self.element}")
        if array.flags.writeable:
            return ctypes.addressof(_AnyBytes.from_buffer(array.data))
        if self.writable:
            raise TypeError("expected an array that may be written to")
        return int(array.ctypes.data)  # takes ten times as long


INT32, INT64, DOUBLE = ctypes.c_int32, ctypes.c_int64, ctypes.c_double
OBJECT = ctypes.c_void_p  # a handle
INT32_IN = ArrayParameter(np.int32, writable=False)
INT32_OUT = ArrayParameter(np.int32, writable=True)
INT64_IN = ArrayParameter(np.int64, writable=False)
INT64_OUT = ArrayParameter(np.int64, writable=True)
BOOL_OUT = ArrayParameter(np.bool_, writable=True)
FLOAT_IN = ArrayParameter(np.float32, writable=False)
FLOAT_OUT = ArrayParameter(np.float32, writable=True)
OBJECT_OUT = ctypes.POINTER(ctypes.c_void_p)
OUTCOME_OUT = ctypes.POINTER(ctypes.c_int64)
LIMITED = (ctypes.POINTER(NativeLimits), ctypes.POINTER(NativeProgress))
ANSWER_OUT = ctypes.POINTER(SearchAnswer)
SIZE_OUT = ctypes.POINTER(AbstractionSize)
LATER_PARTS = ctypes.POINTER(LaterParts)
GOAL = (INT32, INT32_IN)
BATCH = (OBJECT, INT64, INT32_IN)

SIGNATURES: dict[str, tuple[Any, ...]] = {
    # Tasks and states
    "task_create": (
        *(INT32, INT32_IN, INT32, INT32_IN, INT32_IN, INT32_IN, INT32_IN, INT64_IN),
        *(*GOAL, LATER_PARTS, OBJECT_OUT),
    ),
    "states_create": (OBJECT, OBJECT_OUT),
    "states_add": (*BATCH, INT32_OUT),
    "states_find": (*BATCH, INT32_OUT),
    "states_values": (*BATCH, INT32_OUT),
    "states_is_goal": (*BATCH, BOOL_OUT),
    "states_count_applicable": (*BATCH, INT64_OUT),
    "states_applicable": (*BATCH, INT32_OUT),
    "states_apply": (*BATCH, INT32_IN, INT32_OUT),
    "states_close": (OBJECT, *LIMITED, OUTCOME_OUT),
    "states_optimal_costs": (OBJECT, *GOAL, *LIMITED, INT64_OUT, OUTCOME_OUT),
    # Searches
    "search": (
        *(OBJECT, INT32, INT32, INT64_IN, INT64, INT32_IN, *GOAL, INT64),
        *(*LIMITED, ANSWER_OUT, OBJECT_OUT),
    ),
    "check_action": (
        *(OBJECT, INT32, INT64_IN, INT64, INT32_IN, INT32_IN, INT64, INT32, INT64),
        *(*LIMITED, ANSWER_OUT, OBJECT_OUT),
    ),
    "evaluator_create": (OBJECT, INT32, *GOAL, OBJECT_OUT),
    "evaluator_values": (OBJECT, OBJECT, INT64, INT32_IN, INT64_OUT),
    "evaluator_successors": (OBJECT, OBJECT, INT32_IN, INT64, INT32_IN, INT64_OUT),
    "aras_create": (
        *(OBJECT, INT32_IN, *GOAL, INT64, INT32_IN, INT64, INT64),
        *(*LIMITED, OBJECT_OUT),
    ),
    "aras_improve": (OBJECT, ANSWER_OUT),
    "lookahead_create": (OBJECT, OBJECT_OUT),
    "lookahead_begin": (OBJECT, INT32),
    "lookahead_resume": (OBJECT, INT64, INT64_OUT),
    "lookahead_visits": (OBJECT, INT32_OUT, INT64_OUT, INT32_OUT, INT32_OUT),
    "first_steps_create": (OBJECT, OBJECT_OUT),
    "first_steps_begin": (OBJECT, INT32),
    "first_steps_extend": (OBJECT, INT64_OUT),
    "first_steps_level": (OBJECT, INT32_OUT, INT64_OUT),
    "first_steps_way": (OBJECT, INT32, INT64, INT32_OUT, INT32_OUT),
    "screen_create": (OBJECT, OBJECT, OBJECT_OUT),
    "screen_begin": (OBJECT, OBJECT, INT32, INT32, INT64),
    "screen_resume": (OBJECT, INT64, DOUBLE, INT64_OUT),
    "screen_begin_proof": (OBJECT, OBJECT, INT32, INT32),
    "screen_prove": (OBJECT, INT64, DOUBLE, INT64_OUT),
    "screen_chain": (OBJECT, INT64, INT32_OUT, INT32_OUT, INT64_OUT),
    # Random walks
    "walks_create": (OBJECT, INT64_IN, INT64, INT64, INT32, OBJECT_OUT),
    "walks_offer": (OBJECT, INT32, INT32, INT64, INT32_IN),
    "walks_grow": (OBJECT, INT64, INT64, *LIMITED, OUTCOME_OUT),
    "walks_exhausted": (OBJECT, *LIMITED, OUTCOME_OUT),
    "walks_counts": (OBJECT, INT64_OUT),
    "walks_entries": (OBJECT, INT64, INT32_OUT, INT32_OUT, INT32_OUT, INT32_OUT),
    "walks_candidates": (OBJECT, INT32, *LIMITED, INT64_OUT),
    "walks_steps": (OBJECT, INT32_OUT, INT32_OUT),
    "walks_known": (*BATCH, BOOL_OUT),
    # Heuristics that are built for one state
    "cartesian_create": (
        *(OBJECT, INT32_IN, *GOAL, INT64, INT32, INT32),
        *(*LIMITED, SIZE_OUT, OUTCOME_OUT, OBJECT_OUT),
    ),
    "merge_and_shrink_create": (
        *(OBJECT, INT32_IN, *GOAL, INT64, INT64),
        *(*LIMITED, SIZE_OUT, OUTCOME_OUT, OBJECT_OUT),
    ),
    # Dominance
    "dominance_create": (
        *(INT32, INT32_IN, INT32_IN, INT64_IN, INT32_IN, INT32_IN, INT32_IN),
        *(INT32, INT64_IN, INT32_IN, OBJECT_OUT),
    ),
    "dominance_fix_point": (OBJECT, INT32_OUT, INT32, INT32, *LIMITED, OUTCOME_OUT),
    "dominance_closure": (OBJECT, INT32_OUT, INT32_IN, *LIMITED, OUTCOME_OUT),
    "tables_create": (
        *(INT32, INT32_IN, INT32_IN, INT32_IN, INT32_IN, INT32_IN, INT64_IN, INT32_IN),
        OBJECT_OUT,
    ),
    "tables_find": (OBJECT, INT64, INT32, INT32_IN, INT32_OUT),
    "tables_values": (OBJECT, INT64, INT32_IN, INT64, INT32_IN, INT64_OUT),
    # Bounds
    "bounds_create": (OBJECT, OBJECT, OBJECT_OUT),
    "bounds_all": (*BATCH, INT64_OUT),
    "bounds_by_state": (OBJECT, INT64, INT64_OUT),
    "bounds_add_path": (*BATCH, INT32_IN, INT32, INT32),
    "bounds_add_plan": (OBJECT, INT32, INT64, INT32_IN, INT32),
    "bounds_add_morph": (OBJECT, INT32, INT32, INT64, INT32),
    "bounds_changed": (OBJECT, INT64, INT32_OUT, INT64_OUT),
    "bounds_chain": (
        *(OBJECT, INT32, INT64, INT32_OUT, INT32_OUT, INT64_OUT, INT32_OUT),
        INT64_OUT,
    ),
    "maintenance_create": (OBJECT, OBJECT, INT32, OBJECT_OUT),
    "maintenance_compare": BATCH,
    "maintenance_infer": (*BATCH, INT32_OUT, INT64_OUT, INT64_OUT),
    # Networks
    "asnets_create": (*(INT32_IN,) * 16, INT64, FLOAT_IN, INT64, FLOAT_IN, OBJECT_OUT),
    "asnets_logits": (*BATCH, FLOAT_OUT, BOOL_OUT),
    "elu": (INT64, FLOAT_OUT),
    # Policies and their runs
    "policy_greedy": (OBJECT, OBJECT, OBJECT_OUT),
    "policy_random": (OBJECT, INT64_IN, OBJECT_OUT),
    "policy_network": (OBJECT, OBJECT, INT32_IN, INT32_IN, DOUBLE, OBJECT_OUT),
    "policy_decide": (OBJECT, OBJECT, INT64, INT32_IN, INT32_OUT),
    "runs_create": (OBJECT, OBJECT_OUT),
    "runs_run": (OBJECT, OBJECT, INT64, INT32_IN, INT32, INT64, DOUBLE, INT64_OUT),
    "runs_bounded": (
        *(OBJECT, OBJECT, INT64, INT32_OUT, INT64_IN, INT64_OUT, INT64_OUT, INT64_OUT, BOOL_OUT),
        *(INT64, INT64, INT64_IN, DOUBLE, INT64_OUT),
    ),
    "runs_missing": (OBJECT, INT32_OUT),
    "runs_tell": (*BATCH, INT32_IN),
    "runs_adopt": (OBJECT, OBJECT, INT32, INT64_OUT),
    "runs_fail": (OBJECT, INT32),
    "runs_decide": (OBJECT, *BATCH, INT32_OUT, INT64_OUT),
    "runs_results": (*BATCH, INT32_OUT, INT32_OUT, INT64_OUT),
    "runs_trace": (OBJECT, INT32, INT64, INT32_OUT, INT32_OUT, INT64_OUT),
    "runs_parents": (OBJECT, INT32, INT64, INT32_OUT, INT32_OUT, INT64_OUT),
}
"""The parameters of the kernels that answer with a status."""

OTHER_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "abi_version": (INT32, ()),
    "heuristics": (ctypes.c_char_p, ()),
    "states_size": (INT64, (OBJECT,)),
    "states_bytes": (INT64, (OBJECT,)),
    "bounds_u": (INT64, (OBJECT, INT32)),
    "bounds_plans": (OBJECT, (OBJECT,)),
    "result_plan": (None, (OBJECT, INT32_OUT)),
    "aras_plan": (None, (OBJECT, INT32_OUT)),
    **{
        f"{name}_destroy": (None, (OBJECT,))
        for name in (
            *("task", "states", "result", "evaluator", "aras", "lookahead", "first_steps"),
            *("dominance", "tables", "bounds", "maintenance", "asnets", "policy", "runs", "walks"),
            "screen",
        )
    },
}
"""Result and parameters of the others, which cannot fail."""


@cache
def library() -> ctypes.CDLL:
    """The kernels, loaded once; the library lies beside this module."""
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = Path(__file__).with_name(f"libplumbline_native.{suffix}")
    signatures = {name: (INT32, parameters) for name, parameters in SIGNATURES.items()}
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, parameters) in (OTHER_SIGNATURES | signatures).items():
            function = getattr(loaded, f"plumbline_{name}")
            function.restype = result
            function.argtypes = [OBJECT if isinstance(p, ArrayParameter) else p for p in parameters]
    except (OSError, AttributeError) as problem:
        message = f"the compiled kernels cannot be loaded ({problem})"
        raise PlumblineError(message, hint="build them with 'make setup'") from problem
    heuristics = "".join(
        f"{h.number} {h.name} {'kAdmissible' if h.is_admissible else 'kInadmissible'}\n"
        for h in HEURISTICS.values()
    )
    compiled = loaded.plumbline_abi_version(), loaded.plumbline_heuristics().decode()
    if compiled != (ABI_VERSION, heuristics):
        raise PlumblineError(
            "the compiled kernels are of another version than the program",
            hint="build them again with 'make setup'",
        )
    return loaded


def call(name: str, *arguments: Any) -> None:
    """Call a kernel that answers with a status."""
    function, arrays, n_parameters = _kernel(name)
    if len(arguments) != n_parameters:
        raise TypeError(f"{name} takes {n_parameters} arguments, not {len(arguments)}")
    plain = list(arguments)
    for place, parameter in arrays:
        plain[place] = parameter.pointer(plain[place])
    status = function(*plain)
    if status == _DONE:
        return
    if status == Status.OUT_OF_MEMORY:
        raise MemoryError(f"{name}: out of memory")
    if status == Status.BAD_ARGUMENT:
        raise ValueError(f"{name}: a value, an id or an operator is out of range")
    raise RuntimeError(f"{name}: the kernel failed")


_DONE = int(Status.DONE)


@cache
def _kernel(name: str) -> tuple[Any, tuple[tuple[int, ArrayParameter], ...], int]:
    """A function of the library, the places of its arrays, and its number of parameters."""
    parameters = SIGNATURES[name]
    arrays = [(n, each) for n, each in enumerate(parameters) if isinstance(each, ArrayParameter)]
    return getattr(library(), f"plumbline_{name}"), tuple(arrays), len(parameters)


def create(name: str, *arguments: object) -> ctypes.c_void_p:
    """Call a kernel that makes an object; return its handle, null if a limit was reached first."""
    handle = ctypes.c_void_p()
    call(name, *arguments, handle)
    return handle


def destroy_with(owner: object, name: str, handle: ctypes.c_void_p, *used: object) -> None:
    """Destroy a kernel's object together with its owner; what it uses lives at least as long."""
    weakref.finalize(owner, _destroy, name, handle, used)


def _destroy(name: str, handle: ctypes.c_void_p, _used: object) -> None:
    getattr(library(), f"plumbline_{name}")(handle)


def as_array(
    values: npt.ArrayLike,
    element: type[Scalar],
    shape: Shape = (None,),
) -> npt.NDArray[Scalar]:
    """Return integers as a contiguous array of this type and shape."""
    array = np.asarray(values)
    if array.size == 0:
        if array.shape[1:] != shape[1:]:
            array = array.reshape(0, *shape[1:])
    elif array.dtype.type is not element:
        if not np.issubdtype(array.dtype, np.integer):
            raise TypeError(f"expected integers, got {array.dtype}")
        limits = np.iinfo(np.dtype(element))
        if array.min() < limits.min or array.max() > limits.max:
            raise ValueError(f"a number does not fit into {limits.bits} bits")
    array = np.ascontiguousarray(array, dtype=element)
    check_shape(array, shape)
    return array


def check_shape(array: npt.NDArray[Any], shape: Shape) -> None:
    """Raise ValueError if an array that a kernel is to work on has another shape."""
    found, n_rows = array.shape, shape[0]
    if len(found) != len(shape) or found[1:] != shape[1:] or n_rows not in (None, found[0]):
        expected = ("any" if n_rows is None else n_rows, *shape[1:])
        raise ValueError(f"expected shape {expected}, got {found}")
