"""Serves one of our policies over the pheromone protocol, for the tools that speak it.

Calls that arrive while the policy is busy are answered together, by one decision batch. A state
that does not fit the task gets a gRPC error and does not affect other calls. The command line and
the window both serve by `serving`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import PlumblineError, PolicyError, UsageError
from engine.native.library import Int32Array
from engine.policies.policy import BoundPolicy, Probabilistic, bound_policy, notes_of
from engine.policies.remote import protocol as pheromone
from engine.policies.remote.protocol import grpc
from engine.records.policy_spec import is_address
from engine.task.sas import write_sas
from engine.task.task import Task

DEFAULT_ADDRESS = "localhost:50051"
CALLS_AT_ONCE = 32
STOP_SECONDS = 0.5
POLL_SECONDS = 0.2


@contextmanager
def serving(spec: str, task: Task, address: str) -> Iterator[PolicyServer]:
    """Serve the policy that a user names, for one task, as long as the context lasts."""
    if not is_address(address, lowest_port=0):
        raise UsageError(f"'{address}' is not an address", hint="write host:port or unix:path")
    with bound_policy(spec, task) as bound, PolicyServer(bound, task, address) as server:
        yield server


class PolicyServer:
    """A running server. Stop it, or use it as a context manager."""

    def __init__(self, policy: BoundPolicy, task: Task, address: str) -> None:
        self.notes = notes_of(policy)
        self._policy = _BatchedPolicy(policy, len(task.operators))
        self._threads = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="policy-server")
        options = [*pheromone.UNLIMITED_MESSAGES, ("grpc.so_reuseport", 0)]
        self._server: Any = grpc.server(self._threads, options=options)
        service = _Service(task, self._policy)
        self._server.add_generic_rpc_handlers((service.handlers(),))
        try:
            port = self._server.add_insecure_port(address)
        except RuntimeError:
            self.stop()
            raise UsageError(
                f"cannot serve at {address}",
                hint="another program may use this port, or the address does not belong to this "
                "machine; choose another one",
            ) from None
        host, colon, _ = address.rpartition(":")
        self.address = address if address.startswith("unix:") else f"{host}{colon}{port}"
        self._server.start()

    @property
    def answered(self) -> int:
        """How many questions about states were answered."""
        return self._policy.answered

    def stop(self) -> None:
        """Let the calls under way finish, but not for long."""
        self._server.stop(STOP_SECONDS).wait()
        self._policy.stop()
        self._threads.shutdown()

    def __enter__(self) -> PolicyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Ask(Enum):
    OPERATOR = auto()
    DISTRIBUTION = auto()


@dataclass(frozen=True, slots=True)
class _Question:
    ask: _Ask
    state: Int32Array
    answer: Future[Any] = field(default_factory=Future)


class _BatchedPolicy:
    """Asks the policy from one thread, always for all states that have gathered meanwhile."""

    def __init__(self, policy: BoundPolicy, operators: int) -> None:
        self._policy = policy
        self._operators = operators
        self._stopped = False
        self.answered = 0
        self._questions: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="policy-decisions", daemon=True)
        self._thread.start()

    def ask(self, ask: _Ask, state: Int32Array) -> Any:
        question = _Question(ask, state)
        self._questions.put(question)
        while True:
            try:
                return question.answer.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if self._stopped:
                    raise PolicyError("the server was stopped") from None

    def stop(self) -> None:
        """Stop without waiting for a decision that is under way."""
        self._stopped = True
        self._questions.put(None)
        self._thread.join(POLL_SECONDS)

    def _work(self) -> None:
        while batch := self._gather():
            for ask in _Ask:
                if same := [question for question in batch if question.ask is ask]:
                    self._answer(ask, same)

    def _gather(self) -> list[_Question]:
        """At least one question, or nothing when it is time to stop."""
        batch: list[_Question] = []
        question = self._questions.get()
        while question is not None:
            batch.append(question)
            try:
                question = self._questions.get_nowait()
            except queue.Empty:
                return batch
        if batch:  # answer these first and stop the next time
            self._questions.put(None)
        return batch

    def _answer(self, ask: _Ask, batch: list[_Question]) -> None:
        states = np.stack([question.state for question in batch])
        try:
            if ask is _Ask.OPERATOR:
                answers = list(self._policy.decide(states))
            else:
                answers = list(self._distribution(states))
        except Exception as error:  # of any kind: passed on to the waiting calls
            for question in batch:
                question.answer.set_exception(error)
            return
        self.answered += len(batch)
        for question, answer in zip(batch, answers, strict=True):
            question.answer.set_result(answer)

    def _distribution(self, states: Int32Array) -> NDArray[np.float64]:
        """A policy that only decides gives everything to one operator."""
        if isinstance(self._policy, Probabilistic):
            return self._policy.distribution(states)
        result = np.zeros((len(states), self._operators))
        operators = self._policy.decide(states)
        chosen = np.flatnonzero(operators >= 0)
        result[chosen, operators[chosen]] = 1.0
        return result


class _Service:
    """What the server does for each call of the protocol."""

    def __init__(self, task: Task, policy: _BatchedPolicy) -> None:
        self._policy = policy
        self._text = write_sas(task)
        self._sizes = np.array(task.domain_sizes, dtype=np.int32)

    def handlers(self) -> Any:
        behaviors = {
            pheromone.TASK: self.task,
            pheromone.OPERATOR: self.operator,
            pheromone.PROBABILITIES: self.probabilities,
        }
        return grpc.method_handlers_generic_handler(
            pheromone.SERVICE,
            {
                method.name: grpc.unary_unary_rpc_method_handler(
                    behavior,
                    request_deserializer=method.request.FromString,
                    response_serializer=method.response.SerializeToString,
                )
                for method, behavior in behaviors.items()
            },
        )

    def task(self, request: Any, context: Any) -> Any:
        del request, context
        return pheromone.TASK.response(task=self._text)

    def operator(self, request: Any, context: Any) -> Any:
        """Answer with an operator, or none for an action that does nothing, which the protocol
        lacks.
        """
        operator = self._ask(_Ask.OPERATOR, request, context)
        return pheromone.OPERATOR.response(operator=max(int(operator), pheromone.NO_OPERATOR))

    def probabilities(self, request: Any, context: Any) -> Any:
        row = self._ask(_Ask.DISTRIBUTION, request, context)
        choices = [{"operator": int(i), "prob": float(row[i])} for i in np.flatnonzero(row)]
        return pheromone.PROBABILITIES.response(operator=choices)

    def _ask(self, ask: _Ask, request: Any, context: Any) -> Any:
        state = self._state(request, context)
        try:
            return self._policy.ask(ask, state)
        except PlumblineError as error:
            context.abort(grpc.StatusCode.INTERNAL, str(error))
            raise

    def _state(self, request: Any, context: Any) -> Int32Array:
        """The state asked about; one that does not fit the task ends the call."""
        state = np.fromiter(request.state.val, dtype=np.int32)
        if len(state) != len(self._sizes):
            wanted = len(self._sizes)
            text = f"the state has {len(state)} values, the task has {wanted} variables"
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        wrong = np.flatnonzero((state < 0) | (state >= self._sizes))
        if len(wrong):
            variable = int(wrong[0])
            text = f"variable {variable} has no value {state[variable]}"
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        return state
