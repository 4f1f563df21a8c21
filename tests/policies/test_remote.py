import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import grpc
import numpy as np
import pytest

from engine.errors import CancelledError, PolicyError, PolicyLostError, UsageError
from engine.pddl.model import Action, And, Atom, Domain, Problem, Term
from engine.policies.remote import protocol as pheromone
from engine.policies.remote.encoding_map import EncodingMap
from engine.policies.remote.policy import RemoteSettings, open_remote
from engine.policies.remote.server import PolicyServer
from engine.policies.runs import PolicyRuns
from engine.records.finding import EndReason, RunOutcome
from engine.task.load import load_sas, load_task
from engine.task.sas import write_sas
from engine.task.states import StateTable
from engine.task.successors import applicable_operators, is_applicable, successor
from engine.task.task import Operator, PddlSource, Task, Variable
from engine.workers.link import giving_up_when

PATIENCE = 300.0
"""Seconds until something is surely broken: machines are slow at times."""
PATIENT = RemoteSettings(answer_seconds=PATIENCE, reconnect_seconds=PATIENCE)
HASTY = RemoteSettings(answer_seconds=0.4, in_flight=4)
FORGETFUL = RemoteSettings(answer_seconds=PATIENCE, reconnect_seconds=0.4)


def corridor() -> Task:
    """A row of four cells; a key lies in cell 1 and is wanted in cell 3."""
    cells = Variable("var0", tuple(f"Atom in(c{cell})" for cell in range(4)))
    key = Variable("var1", ("Atom lies(key, c1)", "NegatedAtom lies(key, c1)"))
    forward = [Operator(f"go c{i} c{i + 1}", ((0, i),), ((0, i + 1),), 1) for i in range(3)]
    take = Operator("take key", ((0, 1), (1, 0)), ((1, 1),), 1)
    return Task((cells, key), (*forward, take), (0, 0), ((0, 3), (1, 1)))


class Clever:
    """Solves the corridor."""

    def decide(self, states):
        return np.array([self.best(*state) for state in states.tolist()], dtype=np.int32)

    def best(self, cell: int, key: int) -> int:
        if cell == 3:
            return -1
        return 3 if cell == 1 and key == 0 else cell


STATES = np.array([[cell, key] for cell in range(4) for key in range(2)], dtype=np.int32)
ANSWERS = [0, 0, 3, 1, 2, 2, -1, -1]


@pytest.fixture(params=["tcp", "unix"])
def address(request: pytest.FixtureRequest, tmp_path) -> str:
    return "127.0.0.1:0" if request.param == "tcp" else f"unix:{tmp_path}/policy.sock"


@contextmanager
def fake_server(answer, task: str | None = None, address: str = "127.0.0.1:0") -> Iterator[str]:
    """A server whose operator call is `answer(values) -> int` and whose task is any text."""

    def get_task(request, context):
        if task is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no task")
        return pheromone.TASK.response(task=task)

    def get_operator(request, context):
        operator = answer(list(request.state.val))
        return pheromone.OPERATOR.response(operator=operator)

    behaviors = {pheromone.TASK: get_task, pheromone.OPERATOR: get_operator}
    handlers = {
        method.name: grpc.unary_unary_rpc_method_handler(
            behavior,
            request_deserializer=method.request.FromString,
            response_serializer=method.response.SerializeToString,
        )
        for method, behavior in behaviors.items()
    }
    threads = ThreadPoolExecutor(4)
    server = grpc.server(threads, options=[("grpc.so_reuseport", 0)])
    service = grpc.method_handlers_generic_handler(pheromone.SERVICE, handlers)
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port(address)
    server.start()
    try:
        yield address if address.startswith("unix:") else f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
        threads.shutdown()


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    patience = time.monotonic() + PATIENCE
    while (left := set(threading.enumerate()) - before) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not left


def test_the_messages_on_the_wire() -> None:
    """Bytes written down by hand from the protocol: repeated fields are not packed."""
    request = pheromone.state_request(pheromone.OPERATOR, [1, 0, 300])
    assert request.SerializeToString() == b"\x0a\x07\x08\x01\x08\x00\x08\xac\x02"
    assert pheromone.OPERATOR.response(operator=7).SerializeToString() == b"\x08\x07"
    none = pheromone.OPERATOR.response.FromString(b"\x08" + b"\xff" * 9 + b"\x01")
    assert none.operator == -1
    assert pheromone.TASK.response(task="x").SerializeToString() == b"\x0a\x01x"
    row = pheromone.PROBABILITIES.response(operator=[{"operator": 2, "prob": 0.5}])
    assert row.SerializeToString() == b"\x0a\x07\x08\x02\x15\x00\x00\x00\x3f"
    assert pheromone.OPERATOR.path == "/phrm.policy.Policy/GetFDRStateOperator"


def test_a_served_policy_decides_as_at_home(address: str) -> None:
    task = corridor()
    with PolicyServer(Clever(), task, address) as server, open_remote(server.address) as policy:
        assert policy.task == task
        assert policy.describe().details["operators"] == 4
        bound = policy.bind(task)
        assert bound.decide(STATES).tolist() == ANSWERS
        assert bound.decide(STATES[:0]).tolist() == []
        many = np.tile(STATES, (40, 1))
        assert bound.decide(many).tolist() == ANSWERS * 40


def test_calls_are_in_flight_together() -> None:
    """No client gets an answer before four have asked."""
    meeting = threading.Barrier(4, timeout=PATIENCE)

    def wait_for_the_others(values: list[int]) -> int:
        meeting.wait()
        return 0

    with (
        fake_server(wait_for_the_others, write_sas(corridor())) as address,
        open_remote(address, PATIENT) as policy,
    ):
        assert policy.bind(corridor()).decide(STATES).tolist() == [0] * 8


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (4, "answered with operator 4, but its task has 4 operators"),
        (2**31 - 1, "but its task has 4 operators"),
        (-2, r"reports an error \(code -2\)"),
    ],
)
def test_a_server_that_answers_nonsense(answer: int, complaint: str) -> None:
    with (
        fake_server(lambda values: answer, write_sas(corridor())) as address,
        open_remote(address) as policy,
        pytest.raises(PolicyError, match=complaint),
    ):
        policy.bind(corridor()).decide(STATES)


def test_a_server_that_cheats_does_not_pass() -> None:
    """It claims to jump to the goal from anywhere, by an operator that is not applicable."""
    with (
        fake_server(lambda values: 2, write_sas(corridor())) as address,
        open_remote(address) as policy,
    ):
        table = StateTable(corridor())
        runs = PolicyRuns(policy.bind(corridor()), table)
        results = runs.run(table.add([[0, 0], [2, 1], [3, 1]]))
    assert results.outcome.tolist() == [RunOutcome.FAILED, RunOutcome.SOLVED, RunOutcome.SOLVED]
    assert results.reason.tolist()[0] == EndReason.INAPPLICABLE


def test_a_server_that_dies_during_a_run(tmp_path) -> None:
    address = f"unix:{tmp_path}/policy.sock"
    table = StateTable(corridor())
    with fake_server(lambda values: 0, write_sas(corridor()), address):
        policy = open_remote(address, FORGETFUL)
        runs = PolicyRuns(policy.bind(corridor()), table)
    with policy:
        results = runs.run(table.add(corridor().init))
        assert isinstance(runs.lost, PolicyLostError)
        calls = runs.statistics.calls
        runs.run(table.add((1, 0)))
        assert runs.statistics.calls == calls  # a server that is gone is not asked again
    assert results.outcome.tolist() == [RunOutcome.ABORTED]
    assert results.reason.tolist() == [EndReason.POLICY_ERROR]
    assert "was lost" in runs.statistics.errors[0]


def test_a_server_that_never_answers() -> None:
    finish = threading.Event()

    def wait(values: list[int]) -> int:
        finish.wait(PATIENCE)
        return 0

    with (
        fake_server(wait, write_sas(corridor())) as address,
        open_remote(address, PATIENT) as policy,
    ):
        policy.settings = HASTY
        with pytest.raises(PolicyError, match=r"no answer from .* within 0\.4 s; is the server"):
            policy.bind(corridor()).decide(STATES)
        asked = iter([False, False, True])
        with giving_up_when(lambda: next(asked)), pytest.raises(CancelledError):
            policy.bind(corridor()).decide(STATES)
        finish.set()


def test_a_server_that_fails_on_a_state() -> None:
    def fail(values: list[int]) -> int:
        raise ValueError("no such state")

    with (
        fake_server(fail, write_sas(corridor())) as address,
        open_remote(address) as policy,
        pytest.raises(PolicyError, match="no such state"),
    ):
        policy.bind(corridor()).decide(STATES)


def test_a_server_that_dies_in_the_middle(tmp_path) -> None:
    address = f"unix:{tmp_path}/policy.sock"
    with fake_server(lambda values: 0, write_sas(corridor()), address):
        policy = open_remote(address, FORGETFUL)
        bound = policy.bind(corridor())
        assert bound.decide(STATES).tolist() == [0] * 8
    with policy, pytest.raises(PolicyError, match=r"was lost.* within 0\.4 s"):
        bound.decide(STATES)


def test_a_server_that_comes_back(tmp_path) -> None:
    address = f"unix:{tmp_path}/policy.sock"
    text = write_sas(corridor())
    with fake_server(lambda values: 0, text, address):
        policy = open_remote(address, PATIENT)
        bound = policy.bind(corridor())
        bound.decide(STATES)
    looks_for_it = threading.Event()
    reconnect = policy._reconnect

    def look_for_it(losses: int) -> None:
        looks_for_it.set()
        reconnect(losses)

    policy._reconnect = look_for_it
    with policy, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(bound.decide, STATES)
        assert looks_for_it.wait(PATIENCE)
        with fake_server(lambda values: 1, text, address):
            assert waiting.result().tolist() == [1] * 8
        looks_for_it.clear()
        waiting = thread.submit(bound.decide, STATES)
        assert looks_for_it.wait(PATIENCE)
        other = write_sas(replace(corridor(), init=(1, 0)))
        with (
            fake_server(lambda values: 1, other, address),
            pytest.raises(PolicyError, match="came back with another task"),
        ):
            waiting.result()


@contextmanager
def long_way_to(address: str) -> Iterator[str]:
    """Another address of the server, at which it takes half a second until it says a word."""
    host, _, port = address.rpartition(":")
    with socket.create_server(("127.0.0.1", 0)) as near, ThreadPoolExecutor(2) as threads:
        ends: list[socket.socket] = []

        def pass_on(source: socket.socket, target: socket.socket) -> None:
            with suppress(OSError):
                while data := source.recv(2**16):
                    target.sendall(data)
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        def connect() -> None:
            with suppress(OSError):
                ours, _ = near.accept()
                time.sleep(0.5)
                theirs = socket.create_connection((host, int(port)))
                ends.extend((ours, theirs))
                threads.submit(pass_on, ours, theirs)
                pass_on(theirs, ours)

        threads.submit(connect)
        try:
            yield f"127.0.0.1:{near.getsockname()[1]}"
        finally:
            for end in (near, *ends):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
    for end in ends:
        end.close()


def test_a_server_that_takes_its_time_is_there() -> None:
    with (
        fake_server(lambda values: 0, write_sas(corridor())) as address,
        long_way_to(address) as far,
        open_remote(far, PATIENT) as policy,
    ):
        assert policy.bind(corridor()).decide(STATES).tolist() == [0] * 8


def test_no_server_at_the_address(tmp_path) -> None:
    with pytest.raises(PolicyError, match=r"no server answers at .*is the server running"):
        open_remote(f"unix:{tmp_path}/nobody.sock")


@pytest.mark.parametrize("address", ["", "host", "host:", ":1", "host:0", "host:99999", "unix:"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(PolicyError, match="is not the address"):
        open_remote(address)


@pytest.mark.parametrize(
    ("task", "complaint"),
    [("begin_version\n2\n", "has no usable task"), (None, "does not speak the pheromone protocol")],
)
def test_a_server_without_a_task(task: str | None, complaint: str) -> None:
    with (
        fake_server(lambda values: 0, task) as address,
        pytest.raises(PolicyError, match=complaint),
    ):
        open_remote(address)


def call(address: str, method: pheromone.Method, values: list[int]):
    with grpc.insecure_channel(address) as channel:
        stub = channel.unary_unary(
            method.path, method.request.SerializeToString, method.response.FromString
        )
        return stub(pheromone.state_request(method, values), timeout=PATIENCE, wait_for_ready=True)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([0], "the state has 1 values, the task has 2 variables"),
        ([], "the state has 0 values"),
        ([0, 0, 0], "the state has 3 values"),
        ([4, 0], "variable 0 has no value 4"),
        ([0, -1], "variable 1 has no value -1"),
    ],
)
def test_bad_states_get_an_error_and_the_server_continues(
    values: list[int], complaint: str
) -> None:
    with PolicyServer(Clever(), corridor(), "127.0.0.1:0") as server:
        with pytest.raises(grpc.RpcError) as caught:
            call(server.address, pheromone.OPERATOR, values)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert complaint in caught.value.details()
        assert call(server.address, pheromone.OPERATOR, [1, 0]).operator == 3


def test_probabilities_of_policies_with_and_without_them() -> None:
    class Unsure(Clever):
        def distribution(self, states):
            return np.tile([0.25, 0.0, 0.75, 0.0], (len(states), 1))

    def served(policy, values: list[int]) -> list[tuple[int, float]]:
        with PolicyServer(policy, corridor(), "127.0.0.1:0") as server:
            answer = call(server.address, pheromone.PROBABILITIES, values)
        return [(choice.operator, choice.prob) for choice in answer.operator]

    assert served(Unsure(), [0, 0]) == [(0, 0.25), (2, 0.75)]
    assert served(Clever(), [1, 0]) == [(3, 1.0)]
    assert served(Clever(), [3, 0]) == []


class Failing:
    def decide(self, states):
        raise PolicyError("the policy broke")


class DoingNothing:
    def decide(self, states):
        return np.full(len(states), -2, dtype=np.int32)  # NO_OPERATION


def test_policies_that_fail_or_do_nothing_behind_the_server() -> None:
    with (
        PolicyServer(Failing(), corridor(), "127.0.0.1:0") as server,
        open_remote(server.address) as policy,
        pytest.raises(PolicyError, match="the policy broke"),
    ):
        policy.bind(corridor()).decide(STATES)
    with PolicyServer(DoingNothing(), corridor(), "127.0.0.1:0") as server:
        assert call(server.address, pheromone.OPERATOR, [0, 0]).operator == -1


def test_calls_that_arrive_together_are_decided_together() -> None:
    sizes: list[int] = []

    class Slow(Clever):
        """Is busy until the other calls have arrived."""

        def decide(self, states):
            sizes.append(len(states))
            patience = time.monotonic() + PATIENCE
            while sum(sizes) + server._policy._questions.qsize() < 8:
                assert time.monotonic() < patience
                time.sleep(0.005)
            return super().decide(states)

    with (
        PolicyServer(Slow(), corridor(), "127.0.0.1:0") as server,
        open_remote(server.address, PATIENT) as policy,
    ):
        assert policy.bind(corridor()).decide(STATES).tolist() == ANSWERS
    assert sum(sizes) == 8
    assert len(sizes) <= 2


def test_an_address_that_is_taken() -> None:
    with (
        PolicyServer(Clever(), corridor(), "127.0.0.1:0") as server,
        pytest.raises(UsageError, match="cannot serve at"),
    ):
        PolicyServer(Clever(), corridor(), server.address)


# Encodings that differ.


def other_corridor() -> Task:
    """The same corridor as another translator might write it: order, and a fact that is static."""
    key = Variable("var0", ("NegatedAtom lies(key, c1)", "Atom lies(key, c1)"))
    cells = Variable("var1", tuple(f"Atom in(c{cell})" for cell in (3, 2, 1, 0)))
    lamp = Variable("var2", ("Atom lamp()", "<none of those>"))
    ghost = Variable("var3", ("Atom ghost()", "<none of those>"))
    forward = [Operator(f"go c{i} c{i + 1}", ((1, 3 - i),), ((1, 2 - i),), 1) for i in range(3)]
    take = Operator("take key", ((0, 1), (1, 2)), ((0, 0),), 1)
    return Task(
        (key, cells, lamp, ghost), (take, *reversed(forward)), (1, 3, 0, 1), ((0, 0), (1, 0))
    )


def with_source(task: Task) -> Task:
    atoms = (Atom("lamp"), Atom("in", (Term("c0"),)))
    problem = Problem("p", "corridor", init=atoms, goal=And())
    actions = tuple(Action(name) for name in ("go", "take"))
    return replace(task, source=PddlSource(Domain("corridor", actions=actions), problem))


def test_another_encoding_of_the_same_task() -> None:
    mapping = EncodingMap(with_source(corridor()), other_corridor())
    assert not mapping.identical
    states = np.array([[0, 0], [2, 1]], dtype=np.int32)
    assert mapping.to_theirs(states).tolist() == [[1, 3, 0, 1], [0, 1, 0, 1]]
    assert [mapping.to_ours(operator, [0, 0]) for operator in range(4)] == [3, 2, 1, 0]


def test_a_policy_served_in_another_encoding() -> None:
    theirs = other_corridor()

    def best(values: list[int]) -> int:
        key, cell = values[0], 3 - values[1]
        if cell == 3:
            return -1
        return 0 if cell == 1 and key == 1 else 3 - cell

    with (
        fake_server(best, write_sas(theirs)) as address,
        open_remote(address) as policy,
    ):
        task = with_source(corridor())
        assert task.source is not None
        assert policy.misfits(task.source.domain) == ()
        assert policy.misfits(Domain("other", actions=(Action("go"),))) == (
            "the domain has no action 'take'",
        )
        assert policy.bind(task).decide(STATES).tolist() == ANSWERS


def test_only_names_and_costs_differ() -> None:
    ours = corridor()
    renamed = tuple(replace(variable, name="x") for variable in ours.variables)
    dearer = tuple(replace(operator, cost=5) for operator in ours.operators)
    theirs = replace(ours, variables=renamed, operators=dearer, init=(1, 1))
    assert EncodingMap(ours, theirs).identical


def test_a_task_translated_without_invariants(tmp_path: Path) -> None:
    """One variable per fact instead of a few large ones: walks agree step by step."""
    example = Path(__file__).parents[2] / "resources" / "examples" / "ferry"
    files = example / "domain.pddl", example / "problems" / "p01.pddl"
    command = [sys.executable, "-m", "fast_downward.translate", *map(str, files)]
    options = ["--invariant-generation-max-candidates", "0"]
    subprocess.run([*command, *options], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    ours, theirs = load_task(*files), load_sas(tmp_path / "output.sas")
    mapping = EncodingMap(ours, theirs)
    assert len(theirs.variables) > len(ours.variables)
    random = Random(1)
    mine, other = ours.init, theirs.init
    for _ in range(100):
        rewritten = mapping.to_theirs(np.array([mine], dtype=np.int32))
        assert rewritten.tolist() == [list(other)]
        chosen = random.choice(list(applicable_operators(theirs, other)))
        same = mapping.to_ours(chosen, mine)
        assert is_applicable(ours.operators[same], mine)
        mine = successor(ours, ours.operators[same], mine)
        other = successor(theirs, theirs.operators[chosen], other)


def test_of_operators_with_one_name_the_applicable_one() -> None:
    base = corridor()
    twice = replace(
        base, operators=(*base.operators, Operator("go c0 c1", ((0, 1),), ((0, 2),), 1))
    )
    mapping = EncodingMap(twice, base)
    assert mapping.to_ours(0, [0, 0]) == 0
    assert mapping.to_ours(0, [1, 0]) == 4
    assert mapping.to_ours(0, [3, 0]) == 0


def test_tasks_that_are_not_the_same() -> None:
    base = corridor()
    elsewhere = replace(base, goal=((0, 2), (1, 1)))
    with pytest.raises(PolicyError, match=r"\(in c2\) is in the server's goal only"):
        EncodingMap(base, elsewhere)
    stay = replace(base, goal=((0, 3), (1, 0)))
    with pytest.raises(PolicyError, match=r"has another goal: \(not \(lies key c1\)\)"):
        EncodingMap(base, stay)
    foreign = replace(base, operators=(Operator("fly", (), ((0, 3),), 1),))
    with pytest.raises(PolicyError, match=r"none of its operators, such as \(fly\)"):
        EncodingMap(base, foreign)
    with pytest.raises(PolicyError, match=r"\(lamp\), which is not a fact of this task"):
        EncodingMap(base, other_corridor())


def test_an_operator_and_a_state_the_other_side_does_not_have() -> None:
    base = corridor()
    more = replace(base, operators=(*base.operators, Operator("fly", (), ((0, 3),), 1)))
    with pytest.raises(PolicyError, match=r"the server chose \(fly\)"):
        EncodingMap(base, more).to_ours(4, [0, 0])
    short = Variable("var0", ("Atom in(c3)", "Atom in(c1)"))
    go = Operator("go c0 c1", ((0, 0),), ((0, 1),), 1)
    fewer = replace(
        base, variables=(short, base.variables[1]), operators=(go,), goal=((0, 0), (1, 1))
    )
    mapping = EncodingMap(base, fewer)
    with pytest.raises(PolicyError, match="variable 0 would have no value"):
        mapping.to_theirs(np.array([[2, 0]], dtype=np.int32))
