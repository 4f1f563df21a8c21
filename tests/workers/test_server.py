"""Where workers of other machines connect: when they do not do their part."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

import pytest
from reference.dask_cluster import wait_for

from engine.records.events import Warned
from engine.records.inputs import File
from engine.usecases.compare import compare
from engine.workers import channel
from engine.workers.channel import (
    Call,
    ChannelError,
    Command,
    Connection,
    End,
    Events,
    Order,
    Take,
    frame,
    pack,
    unpack,
)
from engine.workers.server import MAX_STRANGERS, WorkerAddress, WorkerServer, make_call

CALL = Call.of(compare)


def in_time(action: Callable[[], object]) -> None:
    """Do something that must not take forever."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


class Heard:
    """What a server reports of one call."""

    def __init__(self, server: WorkerServer, call: Call = CALL) -> None:
        self._messages: SimpleQueue[Events | End] = SimpleQueue()
        self.address = server.add(call, self._messages.put)

    def message(self) -> Events | End:
        return self._messages.get(timeout=30)

    def text(self) -> str:
        """Of a warning."""
        message = self.message()
        assert isinstance(message, Events)
        (event,) = message.events
        return unpack(event, [Warned]).text

    def is_silent(self) -> bool:
        try:
            self._messages.get_nowait()
        except Empty:
            return True
        return False


@pytest.fixture
def server() -> Iterator[WorkerServer]:
    server = WorkerServer(("127.0.0.1", 0))
    yield server
    in_time(server.close)


def connect(address: WorkerAddress) -> Connection:
    """A worker that wants its call."""
    connection = address.connect()
    connection.send(Take(address.number))
    return connection


def begin(address: WorkerAddress) -> Connection:
    """A worker that has it."""
    connection = connect(address)
    assert connection.receive() == CALL
    return connection


def is_hung_up(connection: Connection) -> bool:
    try:
        connection.receive()
    except (EOFError, OSError):
        return True
    return False


def warning(text: str) -> Events:
    return Events((pack(Warned(1, text)),))


def test_all_workers_of_a_large_cluster_may_connect_at_once(server: WorkerServer) -> None:
    address = server.add(CALL, lambda message: None)
    workers = [
        threading.Thread(target=lambda: address.connect().close(), daemon=True) for _ in range(300)
    ]

    def start_all() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    in_time(start_all)


@pytest.mark.parametrize("number", [200, MAX_STRANGERS + 20])
def test_silent_connections_do_not_starve_workers(server: WorkerServer, number: int) -> None:
    heard = Heard(server)
    strangers = [socket.create_connection(server.address) for _ in range(number)]
    workers: list[Connection] = []
    in_time(lambda: workers.append(begin(heard.address)))
    for connection in (*workers, *strangers):
        connection.close()
    assert workers


def test_the_oldest_silent_connections_are_closed(
    server: WorkerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that they take neither all threads nor all open files."""
    monkeypatch.setattr(channel, "GREETING_SECONDS", 3600.0)
    strangers = [socket.create_connection(server.address) for _ in range(MAX_STRANGERS + 1)]

    def read_to_the_end() -> None:
        with suppress(ConnectionError):
            while strangers[0].recv(2**16):
                pass

    try:
        in_time(read_to_the_end)
    finally:
        for stranger in strangers:
            stranger.close()


def test_who_does_not_know_the_secret_stays_outside(server: WorkerServer) -> None:
    heard = Heard(server)
    with pytest.raises((ChannelError, OSError, EOFError)):
        replace(heard.address, secret=b"guessed").connect()
    assert "guessed" not in repr(replace(heard.address, secret=b"guessed"))


@pytest.mark.parametrize("greeting", [b"", bytes(64), None], ids=["none", "invented", "echo"])
def test_who_shows_no_proof_gets_no_call(server: WorkerServer, greeting: bytes | None) -> None:
    """Without a greeting, with an invented one, and with the server's own words."""
    heard = Heard(server)
    with socket.create_connection(server.address, timeout=30) as stranger:
        if greeting is None:
            for _ in range(2):  # its number, then its proof
                stranger.sendall(stranger.recv(64))
        else:
            stranger.sendall(greeting)
        answer = b""
        with suppress(OSError):  # it hangs up, perhaps before all is sent or read
            stranger.sendall(frame(Take(heard.address.number)))
            stranger.shutdown(socket.SHUT_WR)
            while data := stranger.recv(2**16):
                answer += data
    assert b"compare" not in answer
    assert b"compare" in frame(CALL)


def test_a_worker_that_falls_silent_in_the_middle_of_a_message_does_not_block_others(
    server: WorkerServer,
) -> None:
    heard = Heard(server)
    with begin(heard.address) as silent:
        silent.socket.sendall(struct.pack("<I", 1000) + b"the rest of it never comes")
        with begin(heard.address) as other:
            other.send(warning("heard"))
            assert heard.text() == "heard"
        assert is_hung_up(silent)


def test_a_worker_that_does_not_listen_does_not_block_others(server: WorkerServer) -> None:
    file = File("large", bytes(2**24), "large")
    large, heard = Heard(server, Call.of(compare, file)), Heard(server)
    with connect(large.address), begin(heard.address) as other:
        other.send(warning("heard"))
        wait_for(lambda: server._calls[0].connection is not None)
        in_time(lambda: server.order(Command.PAUSE))
        assert other.receive() == Order(Command.PAUSE)
        assert heard.text() == "heard"
        in_time(server.close)


def test_what_a_worker_says_that_has_lost_its_call_is_not_heard(server: WorkerServer) -> None:
    heard = Heard(server)
    with begin(heard.address) as first:
        first.send(warning("first"))
        assert heard.text() == "first"
        with begin(heard.address) as second:
            assert is_hung_up(first)
            second.send(warning("second"))
            second.send(End())
            assert heard.text() == "second"
            assert heard.message() == End()


def test_a_call_that_is_over_is_not_given_to_another_worker(server: WorkerServer) -> None:
    """Dask runs it again if the machine is lost that could have told its end."""
    heard = Heard(server)
    with begin(heard.address) as first:
        first.send(End(stopped=True))
        assert heard.message() == End(stopped=True)
    with connect(heard.address) as second:
        assert is_hung_up(second)
    server.settle(heard.address.number, End())
    assert heard.is_silent()


def test_the_end_of_a_worker_that_does_not_tell_it(server: WorkerServer) -> None:
    heard = Heard(server)
    with begin(heard.address) as worker:
        server.settle(heard.address.number, End(stopped=True))
        worker.send(warning("before the end"))
        assert heard.text() == "before the end"
    assert heard.message() == End(stopped=True)


def test_a_worker_that_comes_during_a_pause_hears_of_it(server: WorkerServer) -> None:
    heard = Heard(server)
    server.order(Command.PAUSE)
    with begin(heard.address) as late:
        assert late.receive() == Order(Command.PAUSE)
        server.order(Command.RESUME)
        assert late.receive() == Order(Command.RESUME)


@pytest.mark.parametrize("message", [Take(0), Order(Command.STOP), CALL])
def test_a_worker_that_talks_nonsense_is_hung_up_on(
    server: WorkerServer, message: Take | Order | Call
) -> None:
    heard = Heard(server)
    with begin(heard.address) as worker:
        worker.send(message)
        assert is_hung_up(worker)
    assert heard.is_silent()


def test_a_machine_with_another_version_makes_no_call() -> None:
    """It may have come to the cluster after all others were asked for theirs."""
    problem = make_call(WorkerAddress(1, ("127.0.0.1", 1), b"secret", version="0.1"))
    assert problem.endswith("the campaign 0.1; install the same version")


def test_a_server_that_cannot_be_reached_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = gone.getsockname()
    problem = make_call(WorkerAddress(1, address, b"secret"))
    assert problem.startswith(f"the campaign at 127.0.0.1:{address[1]} cannot be reached: [Errno")
