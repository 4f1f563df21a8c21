import logging
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.errors import CancelledError, PlumblineError, PolicyError, UnreadableFileError
from engine.policies.plugin.policy import PluginSettings, open_plugin
from engine.policies.plugin.task_view import PluginTask
from engine.policies.policy import open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import EndReason, RunOutcome
from engine.task.sas import write_sas
from engine.task.states import StateTable
from engine.task.task import Operator, Task, Variable
from engine.workers.link import giving_up_when

GUIDE = Path(__file__).parents[2] / "docs" / "policy-plugins.md"
QUICK = PluginSettings(start_seconds=60.0, decide_seconds=2.0)
PATIENT = PluginSettings()


def corridor() -> Task:
    """A row of four cells; a key lies in cell 1 and is wanted in cell 3."""
    cells = Variable("cell", tuple(f"Atom in(c{cell})" for cell in range(4)))
    key = Variable("key", ("Atom lies(key, c1)", "<none of those>"))
    forward = [Operator(f"go c{i} c{i + 1}", ((0, i),), ((0, i + 1),), 1) for i in range(3)]
    take = Operator("take key", ((0, 1), (1, 0)), ((1, 1),), 2)
    return Task((cells, key), (*forward, take), (0, 0), ((0, 3), (1, 1)))


def write_plugin(folder: Path, code: str) -> Path:
    path = folder / "plugin.py"
    path.write_text(textwrap.dedent(code))
    return path


def bind(folder: Path, code: str, settings: PluginSettings = PATIENT):
    return open_plugin(write_plugin(folder, code), "factory", settings).bind(corridor())


def deciding(body: str) -> str:
    """A plug-in whose `decide` has the given body."""
    lines = textwrap.indent(textwrap.dedent(body), " " * 8)
    return f"class P:\n    def decide(self, states):\n{lines}\ndef factory(task):\n    return P()\n"


STATES = np.array([[0, 0], [1, 0], [3, 1]], dtype=np.int32)


def test_the_example_of_the_guide(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    policy = bind(tmp_path, code)
    try:
        assert policy.decide(STATES).tolist() == [0, 3, -1]
        assert policy.decide(STATES).dtype == np.int32
        assert policy.decide(STATES[:0]).tolist() == []
    finally:
        policy.close()


def test_what_a_plugin_sees_of_the_task() -> None:
    task = PluginTask(corridor(), ["(door c0 c1)"], {"key": "thing"})
    assert task.variables[1].atoms == ("(lies key c1)", None)
    assert task.operators[3].name == "(take key)"
    assert task.operators[3].cost == 2
    assert task.goal_atoms == {"(in c3)"}
    assert task.atoms((1, 0)) == {"(in c1)", "(lies key c1)", "(door c0 c1)"}
    assert task.applicable(np.array([1, 0])) == [1, 3]
    assert task.applicable((3, 1)) == []
    assert task.successor(np.array([1, 0]), 3) == (1, 1)
    assert task.is_goal((3, 1))
    assert not task.is_goal((3, 0))
    assert task.objects == {"key": "thing"}


def test_operators_without_a_precondition_are_always_applicable() -> None:
    free = Task(
        (Variable("v", ("Atom a()", "Atom b()")),), (Operator("x", (), ((0, 1),), 1),), (0,), ()
    )
    assert PluginTask(free).applicable((1,)) == [0]


NONSENSE = [
    ("1 / 0", "raised ZeroDivisionError: division by zero (line 1 of <string>)"),
    ("[0]", "returned 1 answers for 2 states"),
    ("[[0, 0]]", "an array of shape (1, 2)"),
    ("['go', 'go']", "returned values like 'go'"),
    ("[0.5, 1.0]", "returned values like 0.5"),
    ("[None, None]", "returned values like None"),
    ("[[1], [2, 3]]", "did not return a list of numbers"),
    ("None", "an array of shape ()"),
    ("[0, 4]", "operator 4, but they go from 0 to 3"),
    ("[0, -2]", "operator -2"),
    ("[0, 2**70]", "returned values like"),
    ("exit(3)", "raised SystemExit"),
]


def test_nonsense_is_named_and_does_not_end_the_plugin(tmp_path: Path) -> None:
    answers = [answer for answer, _ in NONSENSE]
    choose = f"return [2] if len(states) == 1 else eval({answers}[states[0][0]])"
    policy = bind(tmp_path, deciding(choose))
    process = policy.pid
    for number, (_, complaint) in enumerate(NONSENSE):
        with pytest.raises(PolicyError) as caught:
            policy.decide(np.array([[number, 0], [0, 0]], dtype=np.int32))
        assert complaint in str(caught.value)
        assert "plugin.py" in str(caught.value)
        assert policy.decide(STATES[:1]).tolist() == [2]
    assert policy.pid == process
    policy.close()


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            "import os; print('last words'); os._exit(7)",
            "ended with exit code 7; it last printed: last words",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("import time; time.sleep(60)", "did not answer within 2 s"),
        ("while True: print('x' * 1000)", "did not answer within 2 s"),
    ],
)
def test_a_plugin_that_dies_or_hangs_is_started_again(
    tmp_path: Path, body: str, complaint: str
) -> None:
    settings = QUICK if "2 s" in complaint else PATIENT
    policy = bind(tmp_path, deciding(f"if len(states) == 1:\n    return [2]\n{body}"), settings)
    try:
        with pytest.raises(PolicyError, match=complaint):
            policy.decide(STATES)
        assert policy.decide(STATES[:1]).tolist() == [2]
    finally:
        policy.close()


def test_who_gives_up_does_not_wait_for_a_plugin(tmp_path: Path) -> None:
    policy = bind(tmp_path, deciding("import time; time.sleep(60)"), QUICK)
    asked = iter([False, False, True])
    try:
        with giving_up_when(lambda: next(asked)), pytest.raises(CancelledError):
            policy.decide(STATES)
        assert policy.pid is None
    finally:
        policy.close()


def test_a_plugin_that_always_dies_is_given_up_until_it_is_restarted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.policies.plugin.policy.MAX_LOSSES", 2)
    policy = bind(tmp_path, deciding("import os; os._exit(5)"))
    for _ in range(2):
        with pytest.raises(PolicyError, match="exit code 5"):
            policy.decide(STATES)
    with pytest.raises(PolicyError, match="2 times in a row"):
        policy.decide(STATES)
    policy.restart()
    with pytest.raises(PolicyError, match="exit code 5"):
        policy.decide(STATES)


def test_a_run_of_a_plugin_that_fails_on_some_states(tmp_path: Path) -> None:
    """Its other runs end as they should."""
    body = """
        if (states[:, 0] == 2).any():
            raise ValueError('two')
        return [3 if cell == 1 and key == 0 else cell for cell, key in states.tolist()]
    """
    policy = bind(tmp_path, deciding(body))
    table = StateTable(corridor())
    starts = table.add([[0, 0], [3, 1]])
    results = PolicyRuns(policy, table).run(starts)
    assert results.outcome.tolist() == [RunOutcome.ABORTED, RunOutcome.SOLVED]
    assert results.reason.tolist() == [EndReason.POLICY_ERROR, EndReason.GOAL]
    policy.close()


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import nothing_of_this_name", "loading plugin.py raised ModuleNotFoundError"),
        ("x = 1", "plugin.py has no function 'factory'"),
        (
            "def factory(task): return 3",
            "returned an object of type int, which has no method decide",
        ),
        ("def factory(task): raise KeyError('k')", "factory(task) raised KeyError"),
        ("import os; os._exit(0)", "ended with exit code 0"),
    ],
)
def test_a_factory_that_fails(tmp_path: Path, code: str, complaint: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(complaint)):
        bind(tmp_path, code)


def test_a_plugin_that_forges_answers_is_caught(tmp_path: Path) -> None:
    """Its code shares a process with the worker's checks, so ours must hold alone."""
    forge = """
        from engine.policies.plugin import host
        host._operator_ids = lambda answer, count, operators: answer
        return __import__('numpy').array([0, 99, 0])
    """
    policy = bind(tmp_path, deciding(forge))
    with pytest.raises(PolicyError, match="not a decision"):
        policy.decide(STATES)
    garbage = """
        import os
        for number in range(3, 100):
            try:
                os.write(number, b'\\xff' * 64)
            except OSError:
                pass
        return [0, 0, 0]
    """
    policy = bind(tmp_path, deciding(garbage))
    with pytest.raises(PolicyError, match="sent a message of"):
        policy.decide(STATES)


def test_files_that_are_no_plugins(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError):
        open_plugin(tmp_path / "missing.py", "factory")
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ndef f(:\n")
    with pytest.raises(PolicyError, match=r"broken\.py:2: not Python"):
        open_plugin(broken, "f")
    with pytest.raises(PlumblineError, match="not the name of a function"):
        open_policy(f"{write_plugin(tmp_path, 'x = 1')}:a-b")


def test_what_it_prints_goes_to_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="engine"):
        policy = bind(tmp_path, deciding("print('thinking')\nreturn [0] * len(states)"))
        policy.decide(STATES)
        policy.close()
    assert "plugin.py: thinking" in caplog.text


def test_large_batches_and_neighboring_modules(tmp_path: Path) -> None:
    (tmp_path / "neighbor.py").write_text("def pick(state): return int(state[0]) % 3\n")
    code = "from neighbor import pick\n" + deciding("return [pick(state) for state in states]")
    policy = bind(tmp_path, code)
    states = np.tile(STATES, (50_000, 1))
    try:
        assert (policy.decide(states) == states[:, 0] % 3).all()
    finally:
        policy.close()


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # gone before or while it was looked at
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    patience = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.01)


@pytest.mark.parametrize("ending", ["import time; time.sleep(600)", "import os; os._exit(1)"])
def test_the_whole_process_group_ends(tmp_path: Path, ending: str) -> None:
    starting = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"print(child.pid, file=open({str(tmp_path / 'child')!r}, 'w'))\n"
    )
    policy = bind(tmp_path, starting + deciding(ending), QUICK)
    with pytest.raises(PolicyError):
        policy.decide(STATES)
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: not is_running(child))


def test_a_policy_that_is_let_go_takes_its_process_along(tmp_path: Path) -> None:
    policy = bind(tmp_path, deciding("import os\nreturn [0] * len(states)"))
    process = policy.pid
    assert is_running(process)
    del policy
    assert not is_running(process)


def test_a_plugin_does_not_outlive_a_program_that_is_killed(tmp_path: Path) -> None:
    sleeping = f"""
        import os, time
        print(os.getpid(), file=open({str(tmp_path / "worker")!r}, 'w'), flush=True)
        time.sleep(600)
    """
    path = write_plugin(tmp_path, deciding(sleeping))
    (tmp_path / "task.sas").write_text(write_sas(corridor()))
    program = f"""
import numpy as np
from engine.policies.plugin.policy import open_plugin
from engine.task.load import load_sas
policy = open_plugin({str(path)!r}, "factory").bind(load_sas({str(tmp_path / "task.sas")!r}))
policy.decide(np.zeros((1, 2), np.int32))
"""
    process = subprocess.Popen([sys.executable, "-c", program])
    wait_until(lambda: (tmp_path / "worker").exists() and (tmp_path / "worker").read_text() != "")
    worker = int((tmp_path / "worker").read_text())
    assert is_running(worker)
    process.kill()
    process.wait()
    wait_until(lambda: not is_running(worker))


def test_the_thread_that_started_a_plugin_may_end(tmp_path: Path) -> None:
    code = deciding("return [2] * len(states)")
    with ThreadPoolExecutor(1) as thread:
        policy = thread.submit(bind, tmp_path, code).result()
    process = policy.pid
    assert policy.decide(STATES).tolist() == [2, 2, 2]
    assert policy.pid == process
    policy.close()


def test_it_sees_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "hush")
    tell = f"""
        import os
        print(sorted(os.environ), open('/proc/self/environ').read(),
              file=open({str(tmp_path / "seen")!r}, 'w'), flush=True)
        return [0] * len(states)
    """
    policy = bind(tmp_path, deciding(tell))
    policy.decide(STATES)
    policy.close()
    seen = (tmp_path / "seen").read_text()
    assert "'PATH'" in seen
    assert "TOKEN" not in seen
    assert "hush" not in seen
