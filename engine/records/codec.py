"""The only place that turns records into bytes and back.

Bytes may come from a stranger: what does not fit the types of a record is refused, with the name
of the field. Long sequences of numbers are packed, contents of files compressed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Hashable, Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import PurePath
from threading import Lock
from typing import Annotated, Any, TypeVar, cast, dataclass_transform

import msgspec

from engine.errors import DamagedRecordError

learning = Lock()
"""Held while msgspec learns a type. A thread that needs records of which another one has learned
only half crashes the process."""

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
Seconds = Amount
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


def check(record: Kind) -> Kind:
    """The record itself, if its fields hold what they should; DamagedRecordError otherwise."""
    _decoder(cast("Hashable", type(record)))  # from now on the type is known
    try:
        return msgspec.convert(msgspec.to_builtins(record, builtin_types=(bytes,)), type(record))
    except msgspec.ValidationError as error:
        raise DamagedRecordError(_reason(str(error))) from None


def to_json(value: object) -> JsonValue:
    """Return JSON without tags, for people and their scripts."""
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
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    with learning:
        return msgspec.json.Decoder(kind)


def _reason(text: str) -> str:
    """Field first: "steps[3].gain: expected int, got str"."""
    text, _, place = text.replace("`", "").partition(" - at $")
    reason = re.sub("^[A-Z]", lambda first: first[0].lower(), text)
    return f"{place.removeprefix('.')}: {reason}" if place else reason


_WIDTHS = (1, 2, 4)
LARGEST_CONTENT = 512 * 2**20
MAX_UNFOLDING, FREE_CONTENT = 100, 2**20
"""A few bytes can be made to unfold to a thousand times as many: content may be a hundred times
as large as what is stored, and a megabyte at least. What would be larger is stored as it is.
"""


def pack(numbers: Sequence[int]) -> bytes:
    """The width of an entry in bytes, then the entries, least significant byte first."""
    import numpy as np  # not every start packs numbers

    largest = max(numbers, default=0)
    width = next(width for width in _WIDTHS if largest < 256**width)
    return bytes([width]) + np.array(numbers, f"<u{width}").tobytes()


def unpack(data: bytes) -> tuple[int, ...]:
    import numpy as np

    if not data or data[0] not in _WIDTHS or (len(data) - 1) % data[0]:
        raise ValueError("these bytes are not a sequence of numbers")
    return tuple(np.frombuffer(data, f"<u{data[0]}", offset=1).tolist())


def compress(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return packed if len(content) <= _largest(packed) else zlib.compress(content, 0)


def expand(data: bytes) -> bytes:
    """What was compressed, if it is of a sensible size."""
    unfolding = zlib.decompressobj()
    try:
        content = unfolding.decompress(data, _largest(data))
    except zlib.error as error:
        raise ValueError(f"compressed content is broken: {error}") from error
    if not unfolding.eof:
        raise ValueError("compressed content is cut off or too large")
    return content


def _largest(data: bytes) -> int:
    return min(FREE_CONTENT + MAX_UNFOLDING * len(data), LARGEST_CONTENT)
