"""The contents of a torch file, read without unpickling and without torch.

A file of `torch.save` is a ZIP archive of plain records and of a pickle that says what they are. A
pickle is a program: here the few instructions that build plain values and tensors are carried out
and anything else is refused, so that nothing runs. Every instruction takes a bounded time, and all
tensors together are no larger than the file, so that a small file stays a small task.
"""

from __future__ import annotations

import io
import math
import pickletools
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""What a tensor becomes."""

MAX_RECORDS = 20_000
MAX_INSTRUCTIONS = 2_000_000
MAX_DIMENSIONS = 16
MAX_SHARING = 4
"""Values may occur several times, but all of them are no more than this many times the file."""

_DTYPES = {
    "HalfStorage": "<f2",
    "BFloat16Storage": "<u2",  # numpy has none; see `_Records.storage`
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "ComplexFloatStorage": "<c8",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "ShortStorage": "<i2",
    "IntStorage": "<i4",
    "LongStorage": "<i8",
    "BoolStorage": "?",
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NUMBERS_AND_TEXTS = {
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_LARGEST_INTEGER = 2**63
_DAMAGE = (
    *(ValueError, IndexError, KeyError, TypeError, RuntimeError, OverflowError, EOFError, OSError),
    *(struct.error, zipfile.BadZipFile),
)
"""What a broken archive or pickle leads to; NotImplementedError is a RuntimeError."""


class ForeignCodeError(Exception):
    """The file asks for more than values and tensors."""


class DamagedArchiveError(Exception):
    """The file is cut off, contradicts itself, or claims to hold more than it does."""


def read_archive(data: bytes) -> Any:
    """The value in a file: dictionaries, lists, tuples, plain values and tensors."""
    try:
        records = _Records(data)
        return _Machine(records).run(records.pickle())
    except _DAMAGE as error:
        raise DamagedArchiveError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Name:
    """Something of a Python module; only a few of them can be used, each in its way."""

    text: str


@dataclass(frozen=True, slots=True)
class _Storage:
    numbers: Array
    itemsize: int  # in the file


class _Records:
    """The archive; nothing in it may be compressed or larger than the file."""

    def __init__(self, data: bytes) -> None:
        # Each entry of its table of contents begins so; counted before the table is read.
        if data.count(b"PK\x01\x02") > MAX_RECORDS:
            raise DamagedArchiveError("it has too many records")
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        entries = self._archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise DamagedArchiveError("its records are compressed")
        self.room = MAX_SHARING * len(data)  # bytes that values may still take
        if sum(entry.file_size for entry in entries) > len(data):
            raise DamagedArchiveError("its records are larger than the file")
        found = [entry.filename for entry in entries if entry.filename.endswith("/data.pkl")]
        if len(found) != 1:
            raise DamagedArchiveError("it holds no checkpoint")
        self._folder = found[0].removesuffix("data.pkl")
        self._storages: dict[str, _Storage] = {}

    def pickle(self) -> bytes:
        is_told = f"{self._folder}byteorder" in self._archive.namelist()
        if is_told and self._read("byteorder") != b"little":
            raise DamagedArchiveError("its bytes are in another order")
        return self._read("data.pkl")

    def storage(self, kind: str, key: str, count: int) -> _Storage:
        if key not in self._storages:
            dtype, content = np.dtype(_DTYPES[kind]), self._read(f"data/{key}")
            if len(content) != count * dtype.itemsize:
                raise ValueError(f"record {key} is cut off")
            numbers = np.frombuffer(content, dtype)
            if kind == "BoolStorage":
                numbers = numbers.view(np.uint8) != 0
            elif kind == "BFloat16Storage":  # the upper half of a float of four bytes
                numbers = (numbers.astype("<u4") << 16).view("<f4")
            self._storages[key] = _Storage(numbers, dtype.itemsize)
        return self._storages[key]

    def make_room(self, size: int) -> None:
        """For a tensor or text: used twice, it counts twice, because its reader may copy it."""
        self.room -= size
        if self.room < 0:
            raise ValueError("its values are larger than the file")

    def _read(self, name: str) -> bytes:
        return self._archive.read(self._folder + name)


class _Machine:
    """Carries out the instructions of a pickle that make values, and no others."""

    def __init__(self, records: _Records) -> None:
        self._records = records
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # what was on the stack at each mark
        self._memo: dict[int, Any] = {}

    def run(self, program: bytes) -> Any:
        for number, (code, argument, _) in enumerate(pickletools.genops(program)):
            if number > MAX_INSTRUCTIONS:
                raise ValueError("it has too many parts")
            if code.name == "STOP":
                break
            self._step(code.name, argument)
        (value,) = self._stack
        return value

    def _step(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _NUMBERS_AND_TEXTS:
            if isinstance(argument, int) and abs(argument) > _LARGEST_INTEGER:
                raise ValueError("it contains a number without an end")
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _TUPLES:
            stack.append(tuple(self.taken(_TUPLES[name])))
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise ForeignCodeError

    def mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def keep(self, number: int | None) -> None:
        self._memo[len(self._memo) if number is None else number] = self._stack[-1]

    def recall(self, number: int) -> None:
        value = self._memo[number]
        if isinstance(value, np.ndarray):
            self._records.make_room(value.nbytes)
        elif isinstance(value, str):
            self._records.make_room(len(value))
        self.push(value)

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def taken(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise ValueError("it is cut off")
        taken = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return taken

    def marked(self) -> list[Any]:
        """Pop everything since the last mark, and the mark."""
        top, self._stack = self._stack, self._below.pop()
        return top

    def push_tuple(self) -> None:
        values = tuple(self.marked())
        self.push(values)

    def append(self, values: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise ForeignCodeError
        self._stack[-1].extend(values)

    def set(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict):
            raise ForeignCodeError
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int):  # hashing others can take forever
                raise ValueError("a key is neither a name nor a number")
            target[key] = value

    def persistent(self, reference: Any) -> _Storage:
        word, kind, key, _, count = reference
        if word != "storage" or not (isinstance(kind, _Name) and isinstance(key, str)):
            raise ValueError("it refers to something that is not a record")
        return self._records.storage(kind.text.removeprefix("torch."), key, count)

    def call(self, function: Any, arguments: Any) -> Any:
        match function:
            case _Name("collections.OrderedDict") if isinstance(arguments, tuple) and not arguments:
                return {}
            case _Name("torch._utils._rebuild_tensor_v2"):
                storage, offset, size, stride, *_ = arguments
                return self._tensor(storage, offset, size, stride)
            case _Name("torch._utils._rebuild_parameter"):
                return arguments[0]
        raise ForeignCodeError

    def build(self) -> None:
        """Attributes of a dictionary, which are never asked for."""
        self.taken(1)
        if not isinstance(self._stack[-1], dict):
            raise ForeignCodeError

    def _tensor(self, storage: Any, offset: Any, size: Any, stride: Any) -> Array:
        if (
            not isinstance(storage, _Storage)
            or max(len(size), len(stride)) > MAX_DIMENSIONS
            or any(type(number) is not int or number < 0 for number in (offset, *size, *stride))
        ):
            raise ValueError("a tensor has an unusable form")
        self._records.make_room(math.prod(size) * storage.itemsize)
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if math.prod(size) == 0:
            return np.empty(size, storage.numbers.dtype)
        if last >= storage.numbers.size:
            raise ValueError("a tensor is larger than its record")
        steps = [step * storage.numbers.itemsize for step in stride]
        return np.lib.stride_tricks.as_strided(storage.numbers[offset:], size, steps).copy()


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "MARK": lambda machine, _: machine.mark(),
    "BINPUT": _Machine.keep,
    "LONG_BINPUT": _Machine.keep,
    "MEMOIZE": _Machine.keep,
    "BINGET": _Machine.recall,
    "LONG_BINGET": _Machine.recall,
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "TUPLE": lambda machine, _: machine.push_tuple(),
    "APPEND": lambda machine, _: machine.append(machine.taken(1)),
    "APPENDS": lambda machine, _: machine.append(machine.marked()),
    "SETITEM": lambda machine, _: machine.set(machine.taken(2)),
    "SETITEMS": lambda machine, _: machine.set(machine.marked()),
    "GLOBAL": lambda machine, name: machine.push(_Name(name.replace(" ", "."))),
    "STACK_GLOBAL": lambda machine, _: machine.push(_Name(".".join(machine.taken(2)))),
    "BINPERSID": lambda machine, _: machine.push(machine.persistent(*machine.taken(1))),
    "REDUCE": lambda machine, _: machine.push(machine.call(*machine.taken(2))),
    "BUILD": lambda machine, _: machine.build(),
}
