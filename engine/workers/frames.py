"""What a plug-in's process and ours say to each other: a JSON header and plain bytes per message.

Nothing is ever unpickled. Each frame is two little-endian lengths, the header and the payload;
lengths are checked before anything is read, because the other side may be defective.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

_LENGTHS = struct.Struct("<II")
MAX_HEADER = 2**24
MAX_PAYLOAD = 2**31


class FrameError(Exception):
    """Bytes that are no frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    header: dict[str, Any]
    payload: bytes = b""

    @property
    def kind(self) -> str:
        return str(self.header.get("kind", ""))

    def encode(self) -> bytes:
        header = json.dumps(self.header).encode()
        return _LENGTHS.pack(len(header), len(self.payload)) + header + self.payload


class FrameReader:
    """Puts frames together from whatever pieces arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def take(self) -> Frame | None:
        """The next frame, if all of it is there."""
        if len(self._bytes) < _LENGTHS.size:
            return None
        header_size, payload_size = _LENGTHS.unpack_from(self._bytes)
        if header_size > MAX_HEADER or payload_size > MAX_PAYLOAD:
            raise FrameError(f"a message of {header_size} + {payload_size} bytes")
        begin = _LENGTHS.size + header_size
        end = begin + payload_size
        if len(self._bytes) < end:
            return None
        header = _header(bytes(self._bytes[_LENGTHS.size : begin]))
        payload = bytes(self._bytes[begin:end])
        del self._bytes[:end]
        return Frame(header, payload)


def _header(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FrameError("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise FrameError("a header that is not an object")
    return header
