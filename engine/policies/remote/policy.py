"""A policy that runs somewhere else and answers over the pheromone protocol.

The server's task decides what operator ids mean; states of our task are rewritten when ours is
encoded differently. No answer is trusted: a wrong id or a silent server end in a `PolicyError`, a
vanished one in a `PolicyLostError`. A batch keeps several calls in flight, since one at a time
waits for the network and not for the policy.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import PlumblineError, PolicyError, PolicyLostError
from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.policy import NO_ACTION, PolicyInfo
from engine.policies.remote import protocol as pheromone
from engine.policies.remote.encoding_map import EncodingMap
from engine.policies.remote.protocol import grpc
from engine.records.policy_spec import require_address
from engine.task.sas import parse_sas
from engine.task.task import Task
from engine.workers.link import LOOK_SECONDS, check_given_up

MAX_LOSSES = 3
_RUNNING = "is the server running?"


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    answer_seconds: float = 10.0  # how long to wait for one answer
    reconnect_seconds: float = 5.0  # how long to wait for a server that disconnected
    in_flight: int = 16  # calls under way at the same time


class _ConnectionLostError(Exception):
    """The server disconnected during a call; the call may be repeated."""


def open_remote(address: str, settings: RemoteSettings | None = None) -> RemotePolicy:
    """The policy at `address`: `host:port` or `unix:path`."""
    require_address(address)
    policy = RemotePolicy(address, settings or RemoteSettings())
    try:
        policy.connect()
    except BaseException:
        policy.close()
        raise
    return policy


class RemotePolicy:
    """A connection to a policy server. Close it, or use it as a context manager."""

    def __init__(self, address: str, settings: RemoteSettings) -> None:
        self.address = address
        self.settings = settings
        self._channel: Any = grpc.insecure_channel(
            address,
            options=[
                *pheromone.UNLIMITED_MESSAGES,
                ("grpc.enable_http_proxy", 0),  # policy servers are near, proxies are not
                ("grpc.initial_reconnect_backoff_ms", 100),
                # Despite its name, this limits a single attempt.
                ("grpc.min_reconnect_backoff_ms", int(1000 * settings.answer_seconds)),
                ("grpc.max_reconnect_backoff_ms", 2000),
            ],
        )
        self._get_task = self._call(pheromone.TASK)
        self._get_operator = self._call(pheromone.OPERATOR)
        self._task_text = ""
        self._task: Task | None = None

    def _call(self, method: pheromone.Method) -> Any:
        return self._channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )

    def connect(self) -> None:
        """Fetch the server's task."""
        try:
            self._task_text = self._fetch_task(self.settings.answer_seconds, wait=False)
        except _ConnectionLostError:
            raise PolicyLostError(f"no server answers at {self.address}; {_RUNNING}") from None
        try:
            self._task = parse_sas(self._task_text, f"task of {self.address}")
        except PlumblineError as error:
            raise PolicyError(
                f"the server at {self.address} has no usable task: {error}"
            ) from error

    @property
    def task(self) -> Task:
        """The server's own task: in it, operator ids are the server's."""
        assert self._task is not None, "connect() comes first"
        return self._task

    def describe(self) -> PolicyInfo:
        size = {"variables": len(self.task.variables), "operators": len(self.task.operators)}
        return PolicyInfo("remote", None, {"address": self.address, **size})

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        known = {action.name for action in domain.actions}
        served = {operator.name.partition(" ")[0] for operator in self.task.operators}
        return tuple(f"the domain has no action '{name}'" for name in sorted(served - known))

    def bind(self, task: Task) -> BoundRemotePolicy:
        return BoundRemotePolicy(self, EncodingMap(task, self.task))

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> RemotePolicy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def operators(self, states: Int32Array) -> list[int]:
        """The server's operator for each state in its own encoding, checked to be in range."""
        answers: list[int] = []
        under_way: deque[Any] = deque()
        losses = 0  # since the last answer
        try:
            while len(answers) < len(states):
                asked = len(answers) + len(under_way)
                for state in states[asked : len(answers) + self.settings.in_flight]:
                    under_way.append(self._ask(state))
                try:
                    answers.append(self._checked(self._result(under_way.popleft())))
                    losses = 0
                except _ConnectionLostError:
                    _cancel(under_way)
                    losses += 1
                    self._reconnect(losses)
        finally:
            _cancel(under_way)
        return answers

    def _ask(self, state: Int32Array) -> Any:
        return self._get_operator.future(
            pheromone.state_request(pheromone.OPERATOR, state.tolist())
        )

    def _checked(self, answer: Any) -> int:
        operator = int(answer.operator)
        if operator < pheromone.NO_OPERATOR:
            raise PolicyError(f"the server at {self.address} reports an error (code {operator})")
        count = len(self.task.operators)
        if operator >= count:
            raise PolicyError(
                f"the server at {self.address} answered with operator {operator}, "
                f"but its task has {count} operators",
                hint="the server is faulty, or does not serve the task that it describes",
            )
        return operator

    def _reconnect(self, losses: int) -> None:
        """Wait until the server is back; gRPC tries again and again, at growing intervals."""
        if losses > MAX_LOSSES:
            raise PolicyError(
                f"the server at {self.address} keeps breaking the connection",
                hint="check its output: it may crash on one of the states",
            )
        seconds = self.settings.reconnect_seconds
        try:
            text = self._fetch_task(seconds, wait=True)
        except _ConnectionLostError:
            return  # gone again; the next call notices
        except PolicyError:
            raise PolicyLostError(
                f"the connection to {self.address} was lost, and the server did not come back "
                f"within {seconds:g} s; is it still running?"
            ) from None
        if text != self._task_text:
            raise PolicyLostError(
                f"the server at {self.address} came back with another task",
                hint="start it again with the task it served before",
            )

    def _fetch_task(self, seconds: float, wait: bool) -> str:
        call = self._get_task.future(pheromone.TASK.request(), timeout=seconds, wait_for_ready=wait)
        return str(self._result(call, seconds).task)

    def _result(self, call: Any, seconds: float | None = None) -> Any:
        """What the server answered, or why it did not."""
        seconds = self.settings.answer_seconds if seconds is None else seconds
        silence = PolicyError(f"no answer from {self.address} within {seconds:g} s; {_RUNNING}")
        end = time.monotonic() + seconds
        try:
            while (left := end - time.monotonic()) > 0:
                check_given_up()
                with suppress(grpc.FutureTimeoutError):
                    return call.result(timeout=min(left, LOOK_SECONDS))
            raise silence
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise _ConnectionLostError from error
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise silence from None
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise PolicyError(
                    f"the server at {self.address} does not speak the pheromone protocol"
                ) from error
            raise PolicyError(
                f"the server at {self.address} failed: {error.details() or error.code().name}"
            ) from error


def _cancel(calls: deque[Any]) -> None:
    while calls:
        calls.pop().cancel()


class BoundRemotePolicy:
    """The remote policy for one of our tasks."""

    def __init__(self, policy: RemotePolicy, encoding: EncodingMap) -> None:
        self._policy = policy
        self._encoding = encoding

    def decide(self, states: Int32Array) -> Int32Array:
        answers = self._policy.operators(self._encoding.to_theirs(states))
        rows = zip(answers, states, strict=True)
        operators = (
            NO_ACTION if answer < 0 else self._encoding.to_ours(answer, state.tolist())
            for answer, state in rows
        )
        return np.fromiter(operators, dtype=np.int32, count=len(answers))
