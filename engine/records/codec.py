"""Whether an object that was made from a stored document is what its class says.

Annotations are promises that Python does not keep by itself. A document may come from a stranger,
and a number where a path should be must not get any further.
"""

from __future__ import annotations

import builtins
import types
import typing
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

LARGEST = 2**63
NOT_EMPTY = "not empty"
"""In an `Annotated` type: something has to be there."""
Object = TypeVar("Object")


def checked(value: Object) -> Object:
    """The dataclass itself, if all its fields hold what they should; ValueError otherwise."""
    for name, hint in _hints(cast("Hashable", type(value))).items():
        if not _fits(getattr(value, name), hint):
            raise ValueError(f"'{name}' cannot be {getattr(value, name)!r:.60}")
    return value


@cache
def _hints(kind: Hashable) -> Mapping[str, Any]:
    assert is_dataclass(kind)
    hints = _all_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _all_hints(kind: Hashable) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _fits(value: Any, hint: Any) -> bool:
    arguments = get_args(hint)
    match get_origin(hint):
        case typing.Union | types.UnionType:
            fits = any(_fits(value, each) for each in arguments)
        case typing.Annotated:
            fits = _fits(value, arguments[0]) and bool(NOT_EMPTY not in arguments or value)
        case typing.Literal:
            fits = value in arguments
        case builtins.tuple | builtins.list as kind:
            fits = isinstance(value, kind) and all(_fits(item, arguments[0]) for item in value)
        case builtins.dict:
            fits = isinstance(value, dict) and all(
                _fits(name, arguments[0]) and _fits(item, arguments[1])
                for name, item in value.items()
            )
        case _ if typing.is_typeddict(hint):
            fits = isinstance(value, dict) and _is_document(value, hint)
        case _ if is_dataclass(hint):
            fits = isinstance(value, hint) and checked(value) is value  # type: ignore[arg-type]
        case _:
            fits = _is_plain(value, hint)
    return fits


def _is_document(value: Mapping[str, Any], kind: Any) -> bool:
    hints = _all_hints(kind)
    return kind.__required_keys__ <= value.keys() and all(
        _fits(value[name], hint) for name, hint in hints.items() if name in value
    )


def _is_plain(value: Any, hint: Any) -> bool:
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
    if hint is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) < LARGEST and isfinite(value)
    if hint is str:
        return isinstance(value, str) and is_text(value)
    return hint is Any or isinstance(value, get_origin(hint) or hint)


def is_text(value: str) -> bool:
    """Whether it can be the name of a file and be written to one."""
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


_WIDTHS = (1, 2, 4)
LARGEST_CONTENT = 512 * 2**20
"""A few bytes can be made to unfold to more than any memory holds."""


def pack(numbers: Sequence[int]) -> bytes:
    """The width of an entry in bytes, then the entries, least significant byte first."""
    largest = max(numbers, default=0)
    width = next(width for width in _WIDTHS if largest < 256**width)
    return bytes([width]) + np.array(numbers, f"<u{width}").tobytes()


def unpack(data: bytes) -> tuple[int, ...]:
    if not data or data[0] not in _WIDTHS or (len(data) - 1) % data[0]:
        raise ValueError("these bytes are no sequence of numbers")
    return tuple(np.frombuffer(data, f"<u{data[0]}", offset=1).tolist())


def compress(content: bytes) -> bytes:
    return zlib.compress(content)


def expand(data: bytes) -> bytes:
    """What was compressed, if it is of a sensible size."""
    unfolding = zlib.decompressobj()
    try:
        content = unfolding.decompress(data, LARGEST_CONTENT)
    except zlib.error as error:
        raise ValueError(f"compressed content is broken: {error}") from error
    if not unfolding.eof:
        raise ValueError("compressed content is cut off or too large")
    return content
