import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine import cli
from engine.errors import ExitCode
from engine.policies.remote.policy import open_remote
from engine.task.sas import write_sas
from engine.task.task import Operator, Task, Variable

PATIENCE = 300.0
"""Seconds until something is surely broken: machines are slow at times."""
LAMP = Task(
    (Variable("lamp", ("Atom off()", "Atom on()")),),
    (Operator("switch on", ((0, 0),), ((0, 1),), 1), Operator("wait", (), ((0, 0),), 1)),
    (0,),
    ((0, 1),),
)
ALWAYS_FIRST = """
class First:
    def decide(self, states):
        {delay}
        return [0 if state[0] == 0 else -1 for state in states]

def factory(task):
    return First()
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.sas"
    path.write_text(write_sas(LAMP))
    return path


def plugin(folder: Path, delay: str = "pass") -> str:
    path = folder / "first.py"
    path.write_text(ALWAYS_FIRST.format(delay=delay))
    return f"{path}:factory"


@contextmanager
def serving(policy: str, task: Path, address: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "engine.cli", "serve", policy, str(task), "--json"]
    process = subprocess.Popen(
        [*command, "--address", address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], PATIENCE)[0], "it does not start"
        yield process, json.loads(process.stdout.readline())["address"]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    ("where", "ending"), [("127.0.0.1:0", signal.SIGINT), ("unix:", signal.SIGTERM)]
)
def test_it_serves_until_it_is_interrupted(
    tmp_path: Path, lamp: Path, where: str, ending: signal.Signals
) -> None:
    address = f"unix:{tmp_path}/serve.sock" if where == "unix:" else where
    with serving(plugin(tmp_path), lamp, address) as (process, served_at):
        with open_remote(served_at) as policy:
            assert policy.task == LAMP
            states = np.array([[0], [1]], dtype=np.int32)
            assert policy.bind(LAMP).decide(states).tolist() == [0, -1]
        process.send_signal(ending)
        output, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == ExitCode.INTERRUPTED
        assert output == ""
        assert errors == "stopped\n"


def test_an_interrupt_does_not_wait_for_a_slow_policy(tmp_path: Path, lamp: Path) -> None:
    asked = tmp_path / "asked"
    policy = plugin(tmp_path, f"import time; open({str(asked)!r}, 'w').close(); time.sleep(600)")
    with serving(policy, lamp, f"unix:{tmp_path}/slow.sock") as (process, address):
        with open_remote(address) as remote:
            call = remote._ask(np.array([0], dtype=np.int32))
            deadline = time.monotonic() + PATIENCE
            while not asked.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            assert asked.exists()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=25)  # a plug-in may take 30 s
            call.cancel()
        assert process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("address", ["nonsense", "host:x", "unix:", ":5"])
def test_bad_addresses(tmp_path: Path, lamp: Path, address: str, capsys) -> None:
    code = cli.main(["serve", plugin(tmp_path), str(lamp), "--address", address])
    assert code == ExitCode.BAD_INPUT
    assert f"error: '{address}' is not an address" in capsys.readouterr().err


def test_an_address_of_another_machine(tmp_path: Path, lamp: Path, capsys) -> None:
    code = cli.main(["serve", plugin(tmp_path), str(lamp), "--address", "192.0.2.1:5005"])
    assert code == ExitCode.BAD_INPUT
    assert "cannot serve at 192.0.2.1:5005" in capsys.readouterr().err
