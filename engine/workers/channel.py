"""Messages between processes: records in MessagePack behind a length, never pickles.

A message names the functions and the kinds of records that are in it; the receiver decides what a
name stands for. Lengths are checked before anything is read, because the other side may be
defective or hostile.
"""

from __future__ import annotations

import hmac
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from enum import Enum, StrEnum
from functools import cache
from pathlib import PurePath
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import msgspec

from engine.records.codec import Record, learning
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import Failure, JobProgress

if TYPE_CHECKING:
    from engine.workers.encrypted import EncryptedSocket  # only clusters need TLS

MAX_MESSAGE = 2**31
GREETING_SECONDS = 30.0
"""How long the other side may take to show that it knows the secret."""
_LENGTH = struct.Struct("<I")
_CHUNK = 2**20
_NONCE = 32

Kind = TypeVar("Kind")


class ChannelError(Exception):
    """Bytes that are not a message, or a message that does not belong here."""


class Side(Enum):
    """Which end of a connection this is."""

    SERVER = b"server"
    WORKER = b"worker"


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """A value on its way; `kind` names the class of a record and is empty for plain data."""

    kind: str
    data: bytes


class Call(Record):
    """A message to a worker: what to do. The function decides the types of its arguments."""

    function: str  # module:name
    arguments: tuple[bytes, ...] = ()
    limits: ProcessLimits = NO_LIMITS

    @classmethod
    def of(cls, function: Callable[..., object], *arguments: object) -> Call:
        return cls(function_name(function), tuple(map(_encode, arguments)))

    def arguments_for(self, function: FunctionType) -> list[Any]:
        """After the first one, which is the worker's link or connection."""
        hints = list(parameter_types(function).values())[1:]
        if len(hints) != len(self.arguments):
            raise ChannelError(f"{len(self.arguments)} arguments instead of {len(hints)}")
        return [_decode(*item) for item in zip(self.arguments, hints, strict=True)]


class Take(Record):
    """A message from a worker of another machine: which call it is to make."""

    number: int


class Events(Record):
    """What happened since the last message."""

    events: tuple[Packed, ...] = ()
    progress: JobProgress | None = None


class End(Record):
    """How a call ended: with a result, a failure, or because it was stopped."""

    result: Packed | None = None
    failure: Failure | None = None
    stopped: bool = False


class Command(StrEnum):
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"


class Order(Record):
    """A message to a worker that is at work."""

    command: Command


AnyMessage = Call | Take | Events | End | Order


def function_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def parameter_types(function: FunctionType) -> dict[str, Any]:
    """The types of the parameters that a call passes; keywords keep their defaults."""
    hints, code = get_type_hints(function), function.__code__
    return {name: hints[name] for name in code.co_varnames[: code.co_argcount]}


def pack(value: object) -> Packed:
    kind = type(value)
    name = f"{kind.__module__}:{kind.__qualname__}" if _is_record(kind) else ""
    return Packed(name, _encode(value))


def unpack(packed: Packed, kinds: Iterable[type] | None = None, plain: Any = Any) -> Any:
    """A record of one of `kinds` (default: of those that this process knows), or plain data."""
    if not packed.kind:
        return _decode(packed.data, plain)
    kind = _record_kind(packed.kind)
    if kinds is not None and kind not in kinds:
        raise ChannelError(f"a {packed.kind} where none belongs")
    return _decode(packed.data, kind)


def _record_kind(name: str) -> type:
    """Nothing is imported because a message names it."""
    module, _, qualname = name.partition(":")
    kind = getattr(sys.modules.get(module), qualname, None)
    if not (isinstance(kind, type) and module.startswith("engine.") and _is_record(kind)):
        raise ChannelError(f"an unknown kind of record, {name!r:.60}")
    return kind


def _is_record(kind: type) -> bool:
    return issubclass(kind, msgspec.Struct) or is_dataclass(kind)


def _encode(value: object) -> bytes:
    return msgspec.msgpack.encode(value, enc_hook=_plain)


def _decode(data: bytes, kind: Any) -> Any:
    try:
        return _decoder(kind).decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ChannelError(f"data that is not a {kind}: {error}") from None


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    with learning:
        return msgspec.msgpack.Decoder(kind, dec_hook=_restore)


def _plain(value: object) -> object:
    if isinstance(value, PurePath):
        return os.fsencode(value)  # names of files need not be text
    numpy = sys.modules.get("numpy")  # who has none of it sends none
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be sent to another process")


def _restore(kind: type, value: Any) -> Any:
    if issubclass(kind, PurePath) and isinstance(value, bytes):
        return kind(os.fsdecode(value))
    raise ChannelError(f"a {kind.__name__} that is a {type(value).__name__}")


def frame(message: Record) -> bytes:
    data = _encode(message)
    return _LENGTH.pack(len(data)) + data


class FrameReader:
    """Puts messages together from whatever pieces arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def take(self) -> AnyMessage | None:
        """The next message, if all of it is there."""
        if len(self._bytes) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self._bytes)
        if size > MAX_MESSAGE:
            raise ChannelError(f"a message of {size} bytes")
        end = _LENGTH.size + size
        if len(self._bytes) < end:
            return None
        data = bytes(memoryview(self._bytes)[_LENGTH.size : end])
        del self._bytes[:end]
        message: AnyMessage = _decode(data, AnyMessage)
        return message


class Connection:
    """A socket that carries messages; may be used by several threads, one of which receives."""

    def __init__(self, underlying: socket.socket | EncryptedSocket) -> None:
        self.socket = underlying
        self._reader = FrameReader()
        self._sending = threading.Lock()

    def send(self, message: Record) -> None:
        data = frame(message)
        with self._sending:
            self.socket.sendall(data)

    def receive(self) -> AnyMessage:
        """Wait for the next message; EOFError if there will be none."""
        while (message := self._reader.take()) is None:
            data = self.socket.recv(_CHUNK)
            if not data:
                raise EOFError
            self._reader.feed(data)
        return message

    @contextmanager
    def greeting_timeout(self) -> Iterator[None]:
        """TimeoutError if the other side falls silent."""
        self.socket.settimeout(GREETING_SECONDS)
        yield
        self.socket.settimeout(None)

    def authenticate(self, secret: bytes, side: Side) -> None:
        """Show that we know the secret; ChannelError if the other side does not.

        An encrypted connection begins with certificates; OSError if one is not trusted.
        """
        if not isinstance(self.socket, socket.socket):
            self.socket.greet()
        ours = os.urandom(_NONCE)
        self.socket.sendall(ours)
        theirs = self._receive_exactly(_NONCE)
        other = Side.WORKER if side is Side.SERVER else Side.SERVER
        self.socket.sendall(_proof(secret, side, ours, theirs))
        wanted = _proof(secret, other, theirs, ours)
        if not hmac.compare_digest(self._receive_exactly(len(wanted)), wanted):
            raise ChannelError("the other side does not know the secret")

    def hang_up(self) -> None:
        """End all waiting on either side of the connection."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive_exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data


def _proof(secret: bytes, side: Side, ours: bytes, theirs: bytes) -> bytes:
    return hmac.digest(secret, side.value + ours + theirs, "sha256")
