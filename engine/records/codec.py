"""The only place that turns records into bytes and back.

Bytes may come from a stranger: what does not fit the types of a record is refused, with the name
of the field. Long sequences of numbers are packed, contents of files compressed.
"""

from __future__ import annotations

import builtins
import re
import types
import typing
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from pathlib import PurePath
from typing import (
    Annotated,
    Any,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import numpy as np

from engine.errors import DamagedRecordError

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
Text = Annotated[str, msgspec.Meta(pattern=r"\A[^\0]*\Z")]
"""What can be the name of a file and be written to one."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class _RecordMeta(msgspec.StructMeta):
    """Tells type checkers that records are frozen."""


class Record(
    msgspec.Struct, metaclass=_RecordMeta, frozen=True, tag=True, forbid_unknown_fields=True
):
    """What is stored, sent or shown: frozen, tagged with the name of its class."""


Kind = TypeVar("Kind")


def encode(record: Record) -> bytes:
    """JSON with tags, as it is kept in the workspace and sent between processes."""
    return msgspec.json.encode(record)


def decode(data: bytes | str, kind: type[Kind]) -> Kind:
    """The record of a type (or union of types) that `data` encodes.

    DamagedRecordError names the field that does not fit.
    """
    try:
        return cast("Kind", _decoder(cast("Hashable", kind)).decode(data))
    except msgspec.ValidationError as error:
        raise DamagedRecordError(_reason(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedRecordError(f"not a record: {error}") from None


def to_json(value: object) -> JsonValue:
    """For people and their scripts: without tags."""
    match value:
        case msgspec.Struct():
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            return {shown: to_json(getattr(value, name)) for name, shown in names}
        case Enum():
            return to_json(value.value)
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case PurePath():
            return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _reason(text: str) -> str:
    """Field first: "steps[3].gain: expected int, got str"."""
    text, _, place = text.replace("`", "").partition(" - at $")
    reason = re.sub("^[A-Z]", lambda first: first[0].lower(), text)
    return f"{place.removeprefix('.')}: {reason}" if place else reason


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
