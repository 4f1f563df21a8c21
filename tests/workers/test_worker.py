"""The process of a worker, as far as it can be seen from inside."""

from __future__ import annotations

import socket
import threading

import pytest

from engine.records.codec import Record
from engine.records.events import Warned
from engine.workers.channel import Call, ChannelError, Connection, End, Events, unpack
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.worker import ProcessLink, find_function, serve


class Refusing(Connection):
    """A connection for which there is no memory the first time."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        super().__init__(ours)
        self.refused = threading.Event()
        self.sent: list[Warned] = []

    def send(self, message: Record) -> None:
        if not self.refused.is_set():
            self.refused.set()
            raise MemoryError
        if isinstance(message, Events):
            self.sent += [unpack(event) for event in message.events]


def test_what_there_was_no_memory_to_send_is_sent_later() -> None:
    """A unit at its limit must not say that it is done when half of what it found is missing."""
    connection = Refusing()
    link = ProcessLink(connection, NO_LIMITS)
    link.emit(Warned(1, "first"))
    assert connection.refused.wait(30)
    link.emit(Warned(1, "second"))
    link.finish(End())
    assert connection.sent == [Warned(1, "first"), Warned(1, "second")]
    connection.theirs.close()
    connection.close()


def test_a_link_leaves_no_thread_behind() -> None:
    before = set(threading.enumerate())
    ours, theirs = socket.socketpair()
    link = ProcessLink(Connection(ours), ProcessLimits(seconds=1000.0))
    own = [thread for thread in threading.enumerate() if thread not in before]
    assert len(own) == 4
    link.finish(End())
    theirs.close()
    for thread in own:
        thread.join(30)
        assert not thread.is_alive(), thread.name
    ours.close()


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "engine.files:write_text",
        "engine.usecases.campaign:_work",  # its first parameter is not a link
        "engine.usecases.campaign:Path",
        "engine.usecases.export:shutil.rmtree",
        "engine.usecases.nothing:run",
        "reference.background_work:count",  # takes a link, but is not one of ours
        "engine.usecases.campaign:make_executor",  # imported there
        "",
    ],
)
def test_only_declared_functions_may_be_called(name: str) -> None:
    with pytest.raises(ChannelError):
        find_function(name)


@pytest.mark.parametrize(
    "name",
    ["engine.usecases.campaign:run_campaign", "engine.campaign.unit:run_unit"],
)
def test_declared_functions(name: str) -> None:
    function = find_function(name)
    assert f"{function.__module__}:{function.__name__}" == name


def test_a_call_that_does_not_fit_its_function_is_refused() -> None:
    for arguments in ((), (b"\x01",), (b"\x01", b"\xc1", b"", b"")):
        ours, theirs = socket.socketpair()
        with Connection(ours) as caller, Connection(theirs) as worker:
            caller.send(Call("engine.usecases.campaign:run_campaign", arguments))
            serve(worker)
            end = caller.receive()
            assert isinstance(end, End)
            assert end.failure is not None
            assert "the call cannot be made" in end.failure.message
