"""Python and C++ mean the same: signatures, enumerations, structs, heuristics, arrays."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from reference.random_tasks import dials

from engine.errors import PlumblineError
from engine.native import library as native
from engine.native.library import as_array, call, check_shape
from engine.native.searches import NativeEvaluator
from engine.search.heuristics import BUILT_FOR_STATE
from engine.task.states import facts_array, native_task

FOLDER = Path(native.__file__).parent
ABI = (FOLDER / "interface" / "abi.hpp").read_text()
STRUCTS = {
    struct.__name__.removeprefix("Native"): struct
    for struct in (
        *(native.NativeLimits, native.NativeProgress, native.SearchAnswer),
        *(native.AbstractionSize, native.LaterParts),
    )
}
ENUMERATIONS = (native.Status, native.Outcome, native.Algorithm)
PARAMETERS = {
    "std::int32_t": native.INT32,
    "std::int64_t": native.INT64,
    "double": native.DOUBLE,
    "const std::int32_t*": native.INT32_IN,
    "std::int32_t*": native.INT32_OUT,
    "const std::int64_t*": native.INT64_IN,
    "std::int64_t*": native.INT64_OUT,
    "std::uint8_t*": native.BOOL_OUT,
    "const float*": native.FLOAT_IN,
    "float*": native.FLOAT_OUT,
    "Outcome*": native.OUTCOME_OUT,
    "const char*": ctypes.c_char_p,
    "void": None,
}


def declared(kind: str) -> object:
    """The type in Python of what C++ calls so."""
    if kind in PARAMETERS:
        return PARAMETERS[kind]
    name = re.sub(r"const |\*", "", kind)
    if kind.count("*") == 2:
        return native.OBJECT_OUT
    return ctypes.POINTER(STRUCTS[name]) if name in STRUCTS else native.OBJECT


def exported() -> dict[str, tuple[str, list[str]]]:
    """By function of the interface: what it returns, and its parameters, as C++ has them."""
    functions = {}
    for path in (FOLDER / "interface").glob("*.cpp"):
        found = re.findall(
            r"PLUMBLINE_API (.+?) ?plumbline_(\w+)\((.*?)\) \{", path.read_text(), re.S
        )
        for result, name, parameters in found:
            kinds = [
                " ".join(parameter.split()[:-1])
                for parameter in parameters.split(",")
                if parameter.strip()
            ]
            functions[name] = result, kinds
    return functions


def test_every_function_is_declared_as_cpp_has_it() -> None:
    functions = exported()
    assert functions.keys() == native.SIGNATURES.keys() | native.OTHER_SIGNATURES.keys()
    for name, (result, kinds) in functions.items():
        parameters = [declared(kind) for kind in kinds]
        if name in native.SIGNATURES:
            assert result == "Status", name
            assert parameters == list(native.SIGNATURES[name]), name
        else:
            expected, others = native.OTHER_SIGNATURES[name]
            assert (declared(result), parameters) == (expected, list(others)), name


def test_every_function_that_takes_arrays_is_fuzzed() -> None:
    """What a new interface is given has to be made up in `tests/fuzz_kernels.cpp`, too."""
    harness = (FOLDER / "tests" / "fuzz_kernels.cpp").read_text()
    harmless = {"abi_version", "heuristics", "states_bytes", "elu"}
    assert {name for name in exported() if f"plumbline_{name}(" not in harness} == harmless


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_enumerations_have_the_same_members(enumeration: type[native.Outcome]) -> None:
    body = re.search(rf"enum class {enumeration.__name__} : .*?\{{(.*?)\}};", ABI, re.S)
    assert body is not None
    members = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(): int(number)
        for name, number in re.findall(r"^\s*k(\w+) = (\d+),", body[1], re.M)
    }
    assert members == {member.name: member.value for member in enumeration}
    assert len(re.findall("enum class", ABI)) == len(ENUMERATIONS)


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_have_the_same_fields_and_size(name: str) -> None:
    struct = STRUCTS[name]
    body = re.search(
        rf"struct {name} \{{(.*?)\}};\nstatic_assert\(sizeof\({name}\) == (\d+)\)", ABI, re.S
    )
    assert body is not None
    kinds = {
        "double": ctypes.c_double,
        "std::int64_t": ctypes.c_int64,
        "std::uint64_t": ctypes.c_uint64,
        "Outcome": ctypes.c_int64,
        "const std::int32_t*": ctypes.c_void_p,
        "const std::int64_t*": ctypes.c_void_p,
    }
    fields = [
        (field, kinds[kind]) for kind, field in re.findall(r"^\s*(\S.*?) (\w+);", body[1], re.M)
    ]
    assert fields == list(struct._fields_)
    assert ctypes.sizeof(struct) == int(body[2])
    assert len(re.findall("^struct ", ABI, re.M)) == len(STRUCTS)


def test_every_line_of_the_definitions_is_a_heuristic() -> None:
    text = (FOLDER / "heuristics" / "heuristics.def").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    assert len(lines) == len(native.HEURISTICS)
    task = dials(2, 3)
    for heuristic in native.HEURISTICS.values():
        if heuristic.name in BUILT_FOR_STATE:
            with pytest.raises(ValueError, match="out of range"):
                NativeEvaluator.of(native_task(task), heuristic, facts_array(task.goal))
        else:
            evaluator = NativeEvaluator.of(native_task(task), heuristic, facts_array(task.goal))
            assert evaluator.values(np.array([task.init], np.int32)) > 0


def test_kernels_with_other_heuristics_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name: h for name, h in native.HEURISTICS.items() if name != "ms"}
    monkeypatch.setattr(native, "HEURISTICS", others)
    with pytest.raises(PlumblineError, match="another version"):
        native.library.__wrapped__()


def test_arrays_of_another_element_type_do_not_reach_a_kernel() -> None:
    handle = native_task(dials(2, 3)).handle
    count = np.zeros(1, np.int64)
    for wrong in (np.zeros(4, np.int64), np.zeros((4, 4), np.int32)[:, 0]):
        with pytest.raises(TypeError, match="contiguous array of int32"):
            call("evaluator_successors", handle, handle, wrong, 0, wrong, count)
    count.flags.writeable = False
    right = np.zeros(4, np.int32)
    with pytest.raises(TypeError, match="written"):
        call("evaluator_successors", handle, handle, right, 0, right, count)


def test_arrays_are_converted_only_if_nothing_is_lost() -> None:
    array = np.arange(6, dtype=np.int32).reshape(3, 2)
    assert as_array(array, np.int32, (None, 2)) is array
    assert as_array([[1, 2]], np.int64, (1, 2)).tolist() == [[1, 2]]
    assert as_array([], np.int32, (None, 2)).shape == (0, 2)
    assert as_array(np.array([2**31 - 1]), np.int32).dtype == np.int32
    for wrong in (2**31, -(2**31) - 1):
        with pytest.raises(ValueError, match="32 bits"):
            as_array([wrong], np.int32)
    with pytest.raises(ValueError, match="64 bits"):
        as_array(np.array([2**63], np.uint64), np.int64)
    with pytest.raises(TypeError, match="integers"):
        as_array([0.5], np.int32)
    for shape in ((None,), (None, 3), (2, 2)):
        with pytest.raises(ValueError, match="shape"):
            as_array(array, np.int32, shape)
    with pytest.raises(ValueError, match=r"expected shape \('any', 3\), got \(3, 2\)"):
        check_shape(array, (None, 3))
