from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.workers.program import Ending, run_process


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-u", "-c", code]


def is_running(number: int) -> bool:
    """Zombies do not count: they are dead, only not yet reaped by their new parent."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # gone before or while it was looked at
        return False


def gone_within(number: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(number):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_gives_return_code_and_lines(tmp_path: Path) -> None:
    heard: list[str] = []
    result = run_process(
        python(
            "import sys; print('one'); print('two', file=sys.stderr); print(end='x'); sys.exit(7)"
        ),
        folder=tmp_path,
        on_line=heard.append,
    )
    assert result.ending is Ending.EXITED
    assert result.return_code == 7
    assert sorted(result.output) == ["one", "two", "x"] == sorted(heard)


def test_what_it_prints_is_fit_for_a_terminal(tmp_path: Path) -> None:
    heard: list[str] = []
    code = "import sys; sys.stdout.buffer.write(b'\\x1b[31m one\\n\\xe2\\x80\\xae two')"
    result = run_process(python(code), folder=tmp_path, on_line=heard.append)
    assert list(result.output) == ["\\x1b[31m one", "\\u202e two"] == heard


def test_runs_in_the_folder_with_the_environment(tmp_path: Path) -> None:
    result = run_process(
        python("import os; print(os.getcwd()); print(os.environ['PLUMB'])"),
        folder=tmp_path,
        environment={"PLUMB": "line"},
    )
    assert result.output == (str(tmp_path), "line")


def test_time_limit_kills_children_too(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)\n"
        "time.sleep(600)"
    )
    for seconds in (1.0, 4.0, 16.0, 64.0):
        result = run_process(python(code), folder=tmp_path, time_limit=seconds)
        assert result.ending is Ending.TIME_LIMIT
        assert result.return_code == -signal.SIGKILL
        if result.output:  # a busy machine may not even come to the child
            break
    assert gone_within(int(result.output[0]), 30.0)


def test_cancel_works_even_when_the_program_floods_us(tmp_path: Path) -> None:
    started = time.monotonic()
    result = run_process(
        python("while True: print('x' * 1000)"),
        folder=tmp_path,
        cancelled=lambda: time.monotonic() - started > 0.3,
    )
    assert result.ending is Ending.CANCELLED


def test_a_program_that_closes_its_output_can_be_cancelled(tmp_path: Path) -> None:
    started = time.monotonic()
    result = run_process(
        python("import os, time; os.close(1); os.close(2); time.sleep(60)"),
        folder=tmp_path,
        cancelled=lambda: time.monotonic() - started > 0.3,
    )
    assert result.ending is Ending.CANCELLED


def test_memory_limit_holds(tmp_path: Path) -> None:
    result = run_process(
        python("x = b'x' * 500_000_000"), folder=tmp_path, memory_limit=200 * 2**20
    )
    assert result.return_code == 1
    assert "MemoryError" in result.output[-1]


def test_a_memory_limit_above_that_of_the_shell(tmp_path: Path) -> None:
    """It cannot be raised, but the program has to run."""
    code = (
        "import sys; from pathlib import Path; from engine.workers.program import run_process; "
        "command = [sys.executable, '-c', 'print(6 * 7)']; "
        f"print(run_process(command, folder=Path({str(tmp_path)!r}), memory_limit=2**40).output)"
    )
    shell = ["bash", "-c", 'ulimit -v 2000000; exec "$@"', "bash"]
    done = subprocess.run(
        [*shell, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "('42',)\n"


def test_an_error_in_a_callback_ends_the_program(tmp_path: Path) -> None:
    numbers: list[int] = []

    def on_line(line: str) -> None:
        numbers.append(int(line))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_process(
            python("import os, time; print(os.getpid()); time.sleep(60)"),
            folder=tmp_path,
            on_line=on_line,
        )
    assert gone_within(numbers[0], 30.0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    code = (
        "import sys; from pathlib import Path; from engine.workers.program import run_process\n"
        "run_process([sys.executable, '-u', '-c',"
        " 'import os, time; print(os.getpid()); time.sleep(60)'],"
        f" folder=Path({str(tmp_path)!r}), on_line=lambda line: print(line, flush=True))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root)
    assert parent.stdout is not None
    number = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert gone_within(number, 30.0)
