"""Where workers connect: when the way to it is gone, and when workers do not do their part."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from reference.dask_cluster import wait_for

from engine.campaign.inputs import File, PolicyInput
from engine.campaign.unit import Unit
from engine.records.events import UnitEvent, UnitStarted, UnitStopped
from engine.workers.channel import Assignment, Command, Goodbye, Hello, Report, Ticket
from engine.workers.server import Hub

MakeUnit = Callable[..., Unit]


def in_time(action: Callable[[], object]) -> None:
    """Do something that must not take for ever."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def unit(make_unit: MakeUnit) -> Unit:
    return make_unit()


@pytest.fixture
def hub(unit: Unit) -> Iterator[Hub]:
    hub = Hub({unit.number: unit})
    yield hub
    in_time(hub.close)


def connect(hub: Hub, unit: Unit) -> Connection:
    """A worker that wants its unit."""
    connection = hub.ticket(unit).connect()
    connection.send(Hello(unit.number))
    return connection


def begin(hub: Hub, unit: Unit) -> Connection:
    """A worker that has it."""
    connection = connect(hub, unit)
    assert connection.recv() == Assignment(unit)
    return connection


def is_hung_up(connection: Connection) -> bool:
    try:
        connection.recv()
    except (EOFError, OSError):
        return True
    return False


def receive(hub: Hub, count: int) -> list[UnitEvent]:
    """So many events."""
    events: list[UnitEvent] = []

    def listen() -> None:
        while len(events) < count:
            events.extend(hub.receive(0.1))

    in_time(listen)
    return events


def started(unit: Unit, seed: int = 0) -> UnitStarted:
    return UnitStarted(unit.number, "p", "y", seed)


def test_a_hub_whose_socket_was_deleted_can_be_closed() -> None:
    """Whoever cleans up temporary files must not make a campaign wait for ever at its end."""
    hub = Hub({})
    address = hub._listener.address
    assert isinstance(address, str)
    Path(address).unlink()
    in_time(hub.close)


def test_all_workers_of_a_large_cluster_may_connect_at_once() -> None:
    hub = Hub({}, ("127.0.0.1", 0))
    ticket = Ticket(1, hub._address, hub._secret)
    workers = [
        threading.Thread(target=lambda: ticket.connect().close(), daemon=True) for _ in range(300)
    ]

    def start_all() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    in_time(start_all)
    in_time(hub.close)


def test_a_worker_that_falls_silent_in_the_middle_of_a_message_keeps_nobody_waiting(
    hub: Hub, unit: Unit
) -> None:
    with begin(hub, unit) as silent:
        with socket.socket(fileno=silent.fileno()) as half:
            half.sendall(struct.pack("!i", 1000) + b"the rest of it never comes")
            half.detach()
        in_time(lambda: hub.receive(0.1))
        with begin(hub, unit) as other:
            other.send(Report((started(unit),)))
            assert receive(hub, 1) == [started(unit)]
        assert is_hung_up(silent)


def test_a_worker_that_does_not_listen_keeps_nobody_waiting(make_unit: MakeUnit) -> None:
    unit = make_unit()
    policy = PolicyInput("large", "large", File("large", bytes(2**24), "large"))
    large = Unit(2, unit.problem, policy, 0, unit.fuzzing, unit.testing, unit.limits)
    hub = Hub({1: unit, 2: large})
    with connect(hub, large), begin(hub, unit) as other:
        other.send(Report((started(unit),)))
        wait_for(lambda: hub.has(2))
        in_time(lambda: hub.command(Command.PAUSE))
        assert other.recv() is Command.PAUSE
        assert receive(hub, 1) == [started(unit)]
        in_time(hub.close)


def test_what_a_worker_says_that_has_lost_its_unit_is_not_heard(hub: Hub, unit: Unit) -> None:
    with begin(hub, unit) as first:
        first.send(Report((started(unit, seed=1),)))
        assert receive(hub, 1) == [started(unit, seed=1)]
        with begin(hub, unit) as second:
            assert is_hung_up(first)
            second.send(Report((started(unit, seed=2),)))
            second.send(Goodbye())
            assert receive(hub, 1) == [started(unit, seed=2)]
            in_time(lambda: receive_until(hub, lambda: not hub.has(unit.number)))


def receive_until(hub: Hub, condition: Callable[[], bool]) -> None:
    while not condition():
        assert not hub.receive(0.1)


def test_a_unit_that_is_over_is_not_given_to_another_worker(hub: Hub, unit: Unit) -> None:
    """Dask runs it again if the machine is lost that could have told its end."""
    with begin(hub, unit) as first:
        first.send(Report((UnitStopped(unit.number),)))
        assert receive(hub, 1) == [UnitStopped(unit.number)]
    with connect(hub, unit) as second:
        assert is_hung_up(second)


def test_a_worker_that_comes_during_a_pause_hears_of_it(hub: Hub, unit: Unit) -> None:
    hub.command(Command.PAUSE)
    with begin(hub, unit) as late:
        assert late.recv() is Command.PAUSE
        hub.command(Command.RESUME)
        assert late.recv() is Command.RESUME
