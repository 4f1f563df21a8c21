"""What comes over the network and over pipes: policy servers, those who ask ours, and plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.errors import PlumblineError
from engine.policies.builtin import open_builtin
from engine.policies.remote import protocol as pheromone
from engine.policies.remote.policy import RemoteSettings, open_remote
from engine.policies.remote.protocol import grpc
from engine.policies.remote.server import PolicyServer
from engine.records.codec import Record
from engine.task.task import Task
from engine.workers.channel import ChannelError, FrameReader, Take, frame

hostile = settings.get_profile("hostile")


@pytest.fixture(scope="module")
def server(task: Task) -> Iterator[PolicyServer]:
    with PolicyServer(open_builtin("gc", 0).bind(task), task, "127.0.0.1:0") as running:
        yield running


@pytest.fixture(scope="module")
def channel(server: PolicyServer) -> Iterator[Any]:
    with grpc.insecure_channel(server.address) as opened:
        yield opened


requests = st.one_of(
    st.binary(max_size=40),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=12).map(
        lambda values: pheromone.state_request(pheromone.OPERATOR, values).SerializeToString()
    ),
)


@settings(hostile, max_examples=amount(60, 20))
@given(request=requests, method=st.sampled_from((pheromone.OPERATOR, pheromone.PROBABILITIES)))
def test_our_server_answers_or_refuses_whatever_it_is_sent(
    channel: Any, task: Task, request: bytes, method: pheromone.Method
) -> None:
    code = channel.unary_unary(method.path).future(request, timeout=60).code()
    assert code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    sound = pheromone.state_request(pheromone.OPERATOR, task.init).SerializeToString()
    answer = channel.unary_unary(pheromone.OPERATOR.path)(sound, timeout=60)
    assert 0 <= pheromone.OPERATOR.response.FromString(answer).operator < len(task.operators)


class _Stranger:
    """A server that answers with what it likes."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.task = self.operator = b""
        self.threads = ThreadPoolExecutor(1)
        self.server = grpc.server(self.threads)
        answers = {
            pheromone.TASK.name: lambda request, context: self.task,
            pheromone.OPERATOR.name: lambda request, context: self.operator,
        }
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(answer) for name, answer in answers.items()
        }
        self.server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(pheromone.SERVICE, handlers),)
        )
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()


@pytest.fixture(scope="module")
def stranger() -> Iterator[_Stranger]:
    found = _Stranger()
    yield found
    found.server.stop(0).wait()
    found.threads.shutdown()


@settings(hostile, max_examples=amount(40, 14))
@given(
    task_answer=st.binary(max_size=30),
    operator=st.integers(-(2**31), 2**31 - 1) | st.binary(max_size=6),
)
def test_a_server_of_others_can_only_be_wrong(
    stranger: _Stranger, task: Task, task_answer: bytes, operator: int | bytes
) -> None:
    from engine.task.sas import write_sas

    waiting = RemoteSettings(answer_seconds=60.0)
    stranger.task = task_answer
    with pytest.raises(PlumblineError):
        open_remote(stranger.address, waiting)
    stranger.task = pheromone.TASK.response(task=write_sas(task)).SerializeToString()
    if isinstance(operator, int):
        response = pheromone.OPERATOR.response(operator=operator)
        stranger.operator = response.SerializeToString()
    else:
        stranger.operator = operator
    with open_remote(stranger.address, waiting) as policy:
        import numpy as np

        states = np.array([task.init], dtype=np.int32)
        try:
            (decision,) = policy.bind(task).decide(states)
        except PlumblineError:
            return
        assert -2 <= decision < len(task.operators)


@settings(hostile, max_examples=amount(100, 25))
@given(pieces=st.lists(st.binary(max_size=20), max_size=5))
def test_messages_of_a_plug_in(pieces: list[bytes]) -> None:
    reader = FrameReader()
    for piece in (*pieces, b"\xff" * 16, b"\0" * 64):
        reader.feed(piece)
        try:
            message = reader.take()
        except ChannelError:
            break
        assert message is None or isinstance(message, Record)
    sound = FrameReader()
    sound.feed(frame(Take(3)))
    assert sound.take() == Take(3)
