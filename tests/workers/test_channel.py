"""Messages: in any pieces, and never more than they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.records.events import Warned
from engine.records.inputs import File
from engine.workers.channel import (
    Call,
    ChannelError,
    Command,
    End,
    FrameReader,
    Order,
    Packed,
    Take,
    frame,
    pack,
    unpack,
)
from engine.workers.link import Failure


def test_messages_come_in_any_pieces() -> None:
    messages = [
        Take(3),
        Call("engine.x:y", (b"1",)),
        Order(Command.PAUSE),
        End(failure=Failure("no")),
    ]
    reader, found = FrameReader(), []
    for byte in b"".join(map(frame, messages)):
        reader.feed(bytes([byte]))
        if message := reader.take():
            found.append(message)
    assert found == messages


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x81\xa4type\xa7Nothing",
        b"\x91" * 100_000,
        b"\x80",
        frame(Take(1))[4:] + b"x",
    ],
)
def test_what_is_not_a_message_is_refused(data: bytes) -> None:
    reader = FrameReader()
    reader.feed(len(data).to_bytes(4, "little") + data)
    with pytest.raises(ChannelError):
        reader.take()


def test_a_message_that_is_too_long_is_refused_before_it_comes() -> None:
    reader = FrameReader()
    reader.feed(b"\xff" * 4)
    with pytest.raises(ChannelError, match="a message of 4294967295 bytes"):
        reader.take()


@pytest.mark.parametrize(
    "value", [Warned(1, "text"), File("name", b"\0\xff", "hash"), 3, "text", None, [1, 2]]
)
def test_values_come_back_as_they_were(value: object) -> None:
    assert unpack(pack(value)) == value


def test_types_that_messages_do_not_know() -> None:
    path = Path("/tmp", b"\xff".decode("utf-8", "surrogateescape"))
    assert unpack(pack(path), plain=Path) == path
    assert unpack(pack(np.int64(3))) == 3
    with pytest.raises(TypeError, match="a function cannot be sent to another process"):
        pack(lambda: 3)


@pytest.mark.parametrize(
    "kind",
    [
        "builtins:int",
        "os:system",
        "engine.workers.channel:Connection",  # not a record
        "engine.never.imported:Anything",
        "engine.workers.channel:Nothing",
        "pathlib:Path",
    ],
)
def test_only_known_records_are_made(kind: str) -> None:
    with pytest.raises(ChannelError, match="an unknown kind of record"):
        unpack(Packed(kind, b"\x80"))


def test_only_wanted_records_are_made() -> None:
    with pytest.raises(ChannelError, match="where none belongs"):
        unpack(pack(Warned(1, "text")), kinds=[File])


def test_fields_of_a_wrong_type_are_refused() -> None:
    packed = pack(Warned(1, "text"))
    other = pack({"unit": "one", "text": "text"})
    with pytest.raises(ChannelError):
        unpack(Packed(packed.kind, other.data))
