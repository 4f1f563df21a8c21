"""Policies that die, hang, lie or flood, in processes of their own: the campaign continues.

How a single plug-in fares is in `tests/policies/test_plugin.py`; limits of units are in
`tests/campaign`. Here whole commands meet such policies.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from reference.faulty import Bench, wait_for

from engine.workspace.workspace import Workspace

PLUGIN = """\
import ctypes, os, re, signal, subprocess, sys, time

class Policy:
    def __init__(self, task):
        self.task = task
        self.asked = 0

    def decide(self, states):
        self.asked += 1
        {decide}
        return [(self.task.applicable(state) or [-1])[0] for state in states]

def make(task):
    {make}
    return Policy(task)
"""

MISDEEDS = {
    "good": "pass",
    "loud": "os.write(1, os.urandom(300000)); print('x' * 300000)",
    "leaves": "os._exit(0)",
    "crashes": "ctypes.string_at(0)",
    "nan": "return [float('nan')] * len(states)",
    "impossible": "return [len(self.task.operators) - 1] * len(states)",
}

WORDS = {
    "leaves": "the plug-in's process ended with exit code 0",
    "crashes": "the plug-in's process ended by SIGSEGV",
    "nan": "decide(states) returned values like nan; operator ids are integers",
}


def add_plugins(bench: Bench, **bodies: str) -> None:
    for name, body in bodies.items():
        bench.write(f"{name}.py", PLUGIN.format(decide=body, make="pass"))


def configure(bench: Bench, names: list[str], more: str = "") -> str:
    policies = ", ".join(f'"{name}.py:make"' for name in names)
    bench.write(
        "plugins.toml",
        f'domain = "domain.pddl"\nproblems = ["p1.pddl"]\npolicies = [{policies}]\n'
        f'fuzzing.size = 2\ntesting.oracles = ["astar"]\n{more}',
    )
    return "plugins.toml"


def findings(path: Path) -> dict[str, list[Any]]:
    """What was found about each policy."""
    with Workspace.open(path) as store:
        found: dict[str, list[Any]] = {}
        for row in store.bugs():
            bug = store.bug(row.id)
            found.setdefault(row.policy, []).append(
                (bug.finding.state, row.kind, row.bound, row.gap)
            )
        return found


def test_bad_policies_do_not_harm_other_units(bench: Bench) -> None:
    add_plugins(bench, **MISDEEDS)
    config = configure(bench, list(MISDEEDS))
    said = bench.plumbline("campaign", config, "--out", "w.plumb", "--json")
    assert said.code == 0
    units = {unit["policy"]: unit for unit in json.loads(said.out)["units"]}
    assert {unit["status"] for unit in units.values()} == {"finished"}
    for name, words in WORDS.items():
        line = next(line for line in said.lines if words in line)
        assert line.endswith("see docs/policy-plugins.md")
        assert f"{name}.py" in line
    found = findings(bench.folder / "w.plumb")
    assert found["good.py:make"] == found["loud.py:make"]
    # What it says cannot be done is a failure of the policy; where it is gone nothing is known.
    assert {kind for _, kind, _, _ in found["impossible.py:make"]} == {"qualitative"}
    assert not {"crashes.py:make", "nan.py:make"} & set(found)
    said = bench.plumbline("verify", "w.plumb")
    assert said.code == 3  # the user has not agreed to run the plug-ins again
    assert "8 of 8 bugs verified" in said.out


def test_policies_that_hang_meet_the_limit_of_their_unit(bench: Bench) -> None:
    add_plugins(bench, hangs="time.sleep(1e6)")
    bench.write("sleeps.py", PLUGIN.format(decide="pass", make="time.sleep(1e6)"))
    config = configure(bench, ["hangs", "sleeps"], "limits.unit_seconds = 1\n")
    said = bench.plumbline("campaign", config, "--out", "w.plumb", "--executor", "local:2")
    assert said.code in (0, 3)  # a busy machine may not even come to a state
    for unit in (1, 2):
        assert [line for line in said.lines if f"unit {unit}: stopped at its limit of 1 s" in line]


def test_processes_of_units_die(bench: Bench) -> None:
    """These units are lost, the other is done, and resuming does what is missing."""
    signals = {"a": signal.SIGKILL, "b": signal.SIGSEGV, "c": signal.SIGTERM}
    wait = f"while not os.path.exists({str(bench.folder / 'go')!r}): time.sleep(0.05)"
    files = {name: bench.folder / f"{name}.parent" for name in signals}
    for name, file in files.items():
        tell = f"print(os.getppid(), file=open({str(file)!r}, 'w'), flush=True)"
        add_plugins(bench, **{name: f"{tell}\n        {wait}"})
    add_plugins(bench, good="pass")
    config = configure(bench, [*signals, "good"])
    command = ("campaign", config, "--out", "w.plumb", "--json", "--executor", "local:3")
    process = bench.start(*command)
    for name, number in signals.items():
        wait_for(lambda file=files[name]: file.exists() and file.read_text())
        os.kill(int(files[name].read_text()), number)
    said = bench.end_of(process)
    assert said.code == 3
    assert "unit 1: the worker was killed from outside, or the machine" in said.err
    assert "unit 2: the worker was terminated by SIGSEGV" in said.err
    assert "unit 3: the worker was terminated by SIGTERM" in said.err
    units = [unit["status"] for unit in json.loads(said.out)["units"]]
    assert units == ["lost", "lost", "lost", "finished"]
    bench.write("go", "")
    said = bench.plumbline(*command, "--resume")
    assert {unit["status"] for unit in json.loads(said.out)["units"]} == {"finished"}
    found = findings(bench.folder / "w.plumb")
    assert all(found[f"{name}.py:make"] == found["good.py:make"] for name in signals)


HANGING_BELOW_PYTHON = "re.match('(a+)+b', 'a' * 60)"
"""Holds the interpreter for years: no thread of the process gets a turn."""


def test_a_policy_that_lets_no_python_run_dies_with_us(bench: Bench) -> None:
    """And so does what it has started."""
    add_plugins(
        bench,
        stuck=f"subprocess.Popen(['sleep', '1000']); {HANGING_BELOW_PYTHON}",
    )
    process = bench.start("run", "stuck.py:make", "domain.pddl", "p1.pddl")
    wait_for(lambda: bench.processes("sleep 1000"))
    process.kill()
    process.communicate()
    wait_for(lambda: not bench.processes())


def test_a_policy_process_that_cannot_be_started(bench: Bench) -> None:
    """No file descriptors are left for its pipes."""
    add_plugins(bench, good="pass")
    bench.write(
        "modules/sitecustomize.py",
        "import sys\n"
        "if 'run' in sys.orig_argv:\n"
        "    import os, subprocess\n"
        "    start = subprocess.Popen.__init__\n"
        "    def starve(self, command, *arguments, **options):\n"
        "        if 'engine.workers.worker' in command:\n"
        "            import resource\n"
        "            used = len(os.listdir('/proc/self/fd'))\n"
        "            resource.setrlimit(resource.RLIMIT_NOFILE, (used, used))\n"
        "        start(self, command, *arguments, **options)\n"
        "    subprocess.Popen.__init__ = starve\n",
    )
    said = bench.plumbline(
        *("run", "good.py:make", "domain.pddl", "p1.pddl"),
        PYTHONPATH=str(bench.folder / "modules"),
    )
    assert said.code == 2
    assert "the plug-in's process could not be started: Too many open files" in said.err


HANGING = {"deciding": "Policy(task)", "beginning": "time.sleep(600)"}
ASKING = {
    "run": ["run", "hangs.py:make", "domain.pddl", "p2.pddl"],
    "test": [
        *("test", "domain.pddl", "p2.pddl", "--policy", "hangs.py:make"),
        *("--pool", "two.pool", "--oracle", "lookahead"),
    ],
    "fuzz": [
        *("fuzz", "domain.pddl", "p2.pddl", "--policy", "hangs.py:make", "--bias", "plan-length"),
        *("--size", "4", "--out", "biased.pool"),
    ],
}


@pytest.mark.parametrize("when", HANGING)
@pytest.mark.parametrize("name", ASKING)
def test_a_policy_that_hangs_does_not_move_a_time_limit(bench: Bench, name: str, when: str) -> None:
    """Without its limit the command would wait longer and end otherwise."""
    source = PLUGIN.replace("return Policy(task)", f"return {HANGING[when]}")
    bench.write("hangs.py", source.format(decide="time.sleep(600)", make="pass"))
    fuzzed = bench.plumbline("fuzz", "domain.pddl", "p2.pddl", "--size", "2", "--out", "two.pool")
    assert fuzzed.code == 0
    said = bench.plumbline(*ASKING[name], "--time-limit", "2")
    assert said.code == 3
    assert "did not answer" not in said.err
