"""Policy servers: something else on the port, and clients of ours that leave or send rubbish.

Servers that are missing, slow, wrong or gone are in `tests/policies/test_remote.py` and
`tests/campaign/test_lost_policy.py`.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from reference.faulty import Bench, wait_for

from engine.errors import PolicyError
from engine.policies.remote import protocol as pheromone
from engine.policies.remote.policy import RemoteSettings, open_remote
from engine.policies.remote.protocol import grpc
from engine.policies.remote.server import PolicyServer
from engine.task.load import load_task
from engine.task.task import Task

PATIENT = RemoteSettings(answer_seconds=60.0)


@pytest.fixture
def task(bench: Bench) -> Task:
    return load_task(bench.folder / "domain.pddl", bench.folder / "p2.pddl")


@contextmanager
def another_server(words: bytes) -> Iterator[str]:
    """A server that does not speak our protocol: it sends its words to every client."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while not done.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                taken.append(connection)
                connection.sendall(words)

        taken: list[socket.socket] = []
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in taken:
                connection.close()


@pytest.mark.parametrize(
    "words",
    [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", os.urandom(4000), b"SSH-2.0-OpenSSH_9.2\r\n"],
    ids=["silence", "http", "noise", "ssh"],
)
def test_another_server_on_that_port(words: bytes) -> None:
    with (
        another_server(words) as address,
        pytest.raises(PolicyError, match=rf"{address}.*is the server running|does not speak"),
    ):
        open_remote(address, RemoteSettings(answer_seconds=1.0, reconnect_seconds=0.3))


class Gated:
    """A policy that decides only when it may."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may = threading.Event()

    def decide(self, states: np.ndarray) -> np.ndarray:
        self.asked.set()
        self.may.wait()
        return np.full(len(states), 0, np.int32)


def test_clients_that_leave_send_rubbish_or_come_in_crowds(task: Task) -> None:
    policy = Gated()
    with PolicyServer(policy, task, "127.0.0.1:0") as server:
        leave_in_the_middle(server.address, task, policy)
        rubbish = socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2])))
        rubbish.sendall(os.urandom(10_000))
        with grpc.insecure_channel(server.address) as channel:
            call = channel.unary_unary(pheromone.OPERATOR.path)
            for bytes_sent in (b"", b"\xff" * 50, b"\x0a\x05hello"):
                with pytest.raises(grpc.RpcError):
                    call(bytes_sent, timeout=60)
        with ThreadPoolExecutor(20) as crowd:
            answers = crowd.map(lambda _: ask(server.address, task), range(40))
            assert set(answers) == {0}
        rubbish.close()


def leave_in_the_middle(address: str, task: Task, policy: Gated) -> None:
    """Ask, and be gone before there is an answer."""
    channel = grpc.insecure_channel(address)
    call = channel.unary_unary(
        pheromone.OPERATOR.path, request_serializer=pheromone.OPERATOR.request.SerializeToString
    ).future(pheromone.state_request(pheromone.OPERATOR, task.init))
    wait_for(policy.asked.is_set)
    call.cancel()
    channel.close()
    policy.may.set()


def ask(address: str, task: Task) -> int:
    with open_remote(address, PATIENT) as policy:
        return int(policy.bind(task).decide(np.array([task.init], np.int32))[0])
