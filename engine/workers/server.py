"""Where workers of other machines connect, and what runs there: a supervisor that reports to us.

A worker needs the address and the secret. Its processes know neither: they have a connection to
their supervisor, as on this machine.
"""

from __future__ import annotations

import resource
import secrets
import socket
import ssl
import threading
import time
from abc import abstractmethod
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from engine import __version__
from engine.records.events import ClusterSize
from engine.workers.channel import (
    Call,
    ChannelError,
    Command,
    Connection,
    End,
    Events,
    Order,
    Side,
    Take,
)
from engine.workers.encrypted import EncryptedSocket
from engine.workers.limits import ProcessLimits
from engine.workers.link import Failure
from engine.workers.supervisor import Report, Supervisor

MAX_STRANGERS = 500
"""Connections that have not shown yet that they know the secret; the oldest go first."""
MAX_BACKLOG = 4096
"""Simultaneous connection attempts: a whole cluster. Further ones would wait forever."""
REST_SECONDS = 0.1

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class WorkerAddress:
    """All that a worker of another machine has to know to make a call."""

    number: int
    address: Address
    secret: bytes = field(repr=False)
    version: str = __version__
    is_encrypted: bool = False

    def connect(self) -> Connection:
        """Both sides show that they know the secret, and their certificates if they have some."""
        context = cluster_certificate(server=False) if self.is_encrypted else None
        connection = _connection(socket.create_connection(self.address), context, server=False)
        try:
            with connection.greeting_timeout():
                connection.authenticate(self.secret, Side.WORKER)
        except BaseException:
            connection.close()
            raise
        return connection


def cluster_certificate(*, server: bool) -> ssl.SSLContext:
    """Return the certificate that Dask is configured with; clients need one of their own."""
    from distributed.security import Security

    settings: Any = Security()  # type: ignore[no-untyped-call]
    found = (
        settings.get_listen_args("client") if server else settings.get_connection_args("worker")
    )["ssl_context"]
    if not isinstance(found, ssl.SSLContext):
        raise ChannelError("Dask has no certificate on this machine (distributed.comm.tls)")
    return found


def _connection(
    underlying: socket.socket, context: ssl.SSLContext | None, *, server: bool
) -> Connection:
    if context is None:
        return Connection(underlying)
    return Connection(EncryptedSocket(underlying, context, server=server))


def make_call(address: WorkerAddress) -> str:
    """Make a call for another machine; returns why that is impossible, if it is."""
    if address.version != __version__:
        return (
            f"this machine runs Plumbline {__version__}, the campaign {address.version}; "
            "install the same version"
        )
    try:
        connection = address.connect()
    except (OSError, EOFError, ChannelError) as error:
        host, port = address.address
        return f"the campaign at {host}:{port} cannot be reached: {error}"
    with connection, suppress(OSError, EOFError):  # the campaign is gone
        connection.send(Take(address.number))
        call = connection.receive()
        if isinstance(call, Call):
            _supervise(call, connection)
    return ""


def _supervise(call: Call, connection: Connection) -> None:
    def report(message: Events | End) -> None:
        try:
            connection.send(message)
        except OSError:
            supervisor.kill()

    def obey() -> None:
        with suppress(OSError, EOFError, ChannelError):
            while isinstance(order := connection.receive(), Order):
                supervisor.order(order.command)
        supervisor.kill()

    supervisor = Supervisor(call, report, call.limits, fresh=True)
    orders = threading.Thread(target=obey, name="orders", daemon=True)
    orders.start()
    supervisor.run()
    connection.hang_up()
    orders.join()


class RemoteExecutor:
    """Calls that workers of other machines make."""

    def __init__(self, address: Address, certificate: ssl.SSLContext | None = None) -> None:
        self.lost = False
        self._stopping = False
        self._server = WorkerServer(address, certificate)
        self._futures: list[Future[str]] = []

    @property
    def size(self) -> ClusterSize | None:
        return None

    def submit(self, call: Call, limits: ProcessLimits, report: Report) -> None:
        address = self._server.add(msgspec.structs.replace(call, limits=limits), report)
        future = self._send_away(address)
        self._futures.append(future)
        future.add_done_callback(lambda done: self._settle(address.number, done))

    def order(self, command: Command) -> None:
        self._server.order(command)
        if command is Command.STOP:
            self._stopping = True
            for future in self._futures:
                future.cancel()

    def close(self) -> None:
        """Hang up; workers notice and end."""
        self._stopping = True
        for future in self._futures:
            future.cancel()
        self._server.close()

    @abstractmethod
    def _send_away(self, address: WorkerAddress) -> Future[str]:
        """Let `make_call` run on another machine."""

    def _settle(self, number: int, future: Future[str]) -> None:
        """Settle a call whose worker did not report its end."""
        if future.cancelled():
            if not self._stopping and not self._server.is_over(number):
                self.lost = True
            self._server.settle(number, End(stopped=True))
        elif problem := future.exception():
            message = f"its process could not be started or supervised: {problem}"
            self._server.settle(number, End(failure=Failure(message)))
        else:
            message = future.result() or "the connection to its worker was lost"
            self._server.settle(number, End(failure=Failure(message)))


def _allow_connections() -> None:
    """Let this process have as many open files as the system allows: each worker needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class WorkerServer:
    """One thread waits for new connections, and each of them has its own.

    So nothing waits for a worker that falls silent in the middle of a message or does not listen.
    """

    def __init__(self, address: Address, certificate: ssl.SSLContext | None = None) -> None:
        self._certificate = certificate
        _allow_connections()
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._socket = socket.create_server(address, family=family, backlog=MAX_BACKLOG)
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._calls: dict[int, _RemoteCall] = {}
        self._connections: set[Connection] = set()
        self._strangers: dict[Connection, None] = {}  # the oldest first
        self._command = Command.RESUME
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="worker server", daemon=True)
        self._thread.start()

    @property
    def address(self) -> Address:
        host, port, *_ = self._socket.getsockname()  # what IPv6 adds is for others
        return host, port

    def add(self, call: Call, report: Report) -> WorkerAddress:
        """Let a worker make a call; `report` is called by the threads of connections."""
        with self._lock:
            number = len(self._calls)
            self._calls[number] = _RemoteCall(call, report)
        is_encrypted = self._certificate is not None
        return WorkerAddress(number, self.address, self._secret, is_encrypted=is_encrypted)

    def order(self, command: Command) -> None:
        """Tell all workers, those to come included."""
        with self._lock:
            self._command = command
            for call in self._calls.values():
                if call.connection is not None and call.is_open:
                    with suppress(OSError):  # its own thread notices
                        call.connection.send(Order(command))

    def is_over(self, number: int) -> bool:
        return self._calls[number].is_over

    def settle(self, number: int, end: End) -> None:
        """No worker will connect for a call anymore: end it, unless a worker reports its end."""
        self._calls[number].settle(end)

    def close(self) -> None:
        """Hang up; workers notice and end."""
        self._closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._socket.close()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                connection.hang_up()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection = _connection(self._socket.accept()[0], self._certificate, server=True)
            except OSError:
                if not self._closing:
                    time.sleep(REST_SECONDS)  # no file descriptors left, perhaps
                continue
            with self._lock:
                self._connections.add(connection)
                self._strangers[connection] = None
                if len(self._strangers) > MAX_STRANGERS:
                    oldest = next(iter(self._strangers))
                    del self._strangers[oldest]
                    oldest.hang_up()
            serve = partial(self._serve, connection)
            threading.Thread(target=serve, name="connection", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Serve a connection that knows the secret and asks for a call."""
        call: _RemoteCall | None = None
        try:
            with connection.greeting_timeout():
                connection.authenticate(self._secret, Side.SERVER)
                take = connection.receive()
            self._forget_stranger(connection)
            if isinstance(take, Take) and (call := self._adopt(connection, take.number)):
                connection.send(call.call)
                self._open(call, connection)
                while not self._closing and call.hear(connection, connection.receive()):
                    pass
        except (OSError, EOFError, ChannelError):
            pass  # a peer that has gone, or does not belong here
        finally:
            if call is not None:
                call.drop(connection)
            with self._lock:
                self._connections.discard(connection)
            self._forget_stranger(connection)
            connection.close()

    def _forget_stranger(self, connection: Connection) -> None:
        with self._lock:
            self._strangers.pop(connection, None)

    def _adopt(self, connection: Connection, number: int) -> _RemoteCall | None:
        """The call of a new worker, unless it is over or everything is."""
        if self._command is Command.STOP or self._closing:
            return None
        call = self._calls.get(number)
        return call if call is not None and call.adopt(connection) else None

    def _open(self, call: _RemoteCall, connection: Connection) -> None:
        """Send it orders from now on, and those it has missed."""
        with self._lock:
            call.is_open = call.connection is connection
            if call.is_open and self._command is not Command.RESUME:
                connection.send(Order(self._command))


class _RemoteCall:
    """A call and the worker that makes it now."""

    def __init__(self, call: Call, report: Report) -> None:
        self.call = call
        self.connection: Connection | None = None
        self.is_open = False  # for orders
        self.is_over = False
        self._report = report
        self._settled: End | None = None
        self._lock = threading.Lock()

    def adopt(self, connection: Connection) -> bool:
        """Let a worker make the call; the previous one ends when we hang up."""
        with self._lock:
            if self.is_over:
                return False
            if self.connection is not None:
                self.connection.hang_up()
            self.connection, self.is_open = connection, False
            return True

    def hear(self, connection: Connection, message: object) -> bool:
        """Pass on a message of the worker; return false if it was the last one."""
        with self._lock:
            if self.connection is not connection or self.is_over:
                return False  # the call was given to another worker
            if not isinstance(message, Events | End):
                raise ChannelError(f"a worker sent a {type(message).__name__}")
            self.is_over = isinstance(message, End)
            self._report(message)
            return not self.is_over

    def drop(self, connection: Connection) -> None:
        with self._lock:
            if self.connection is connection:
                self.connection, self.is_open = None, False
                if self._settled is not None:
                    self._end(self._settled)

    def settle(self, end: End) -> None:
        with self._lock:
            self._settled = end
            if self.connection is None:
                self._end(end)

    def _end(self, end: End) -> None:
        if not self.is_over:
            self.is_over = True
            self._report(end)
