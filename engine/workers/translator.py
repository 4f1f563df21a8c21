"""A warm translator: a process that has imported the translator and forks for each problem.

Starting Python and importing takes most of the time of a small translation, so for several problems
this is done once. The output is byte for byte that of a process per problem.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine.workers.link import NULL_LINK
from engine.workers.program import (
    POLL_SECONDS,
    Chunk,
    Ending,
    MemoryWatch,
    Output,
    ProcessResult,
    kill_group,
)
from engine.workers.translator_host import OUTPUT

_HOST = Path(__file__).with_name("translator_host.py")


class Translator:
    """Translates problems one after the other; use it in one thread, and as a context manager.

    Its process starts with the first problem, dies with this one, and is replaced if it died.
    """

    def __init__(self, options: tuple[str, ...]) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The number of the process that waits for problems."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        kill_group(process)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def run(
        self,
        folder: Path,
        *,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    ) -> ProcessResult:
        """Translate `domain.pddl` and `problem.pddl` in a folder, as `run_process` would.

        A crash of the translator or of its process costs this problem alone.
        """
        started = time.monotonic()
        process = self._started()
        try:
            assert process.stdin is not None
            limits = f"{memory_limit or 0} {0 if time_limit is None else max(time_limit, 1e-3)}"
            process.stdin.write(limits.encode() + b" " + os.fsencode(folder.resolve()) + b"\n")
            answer = _answer(process, cancelled, memory_limit is not None)
        except OSError:
            answer = Ending.EXITED
        except BaseException:
            self.close()
            raise
        ending, code = Ending.EXITED, -signal.SIGKILL
        if isinstance(answer, Ending):  # then nothing is left that could answer the next question
            self.close()
            ending = answer
        else:
            code = os.waitstatus_to_exitcode(int(answer))
            if code == -signal.SIGALRM and time_limit is not None:
                ending = Ending.TIME_LIMIT
        return ProcessResult(ending, code, _printed(folder), time.monotonic() - started)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            # -P: modules of ours or of the user must not shadow the translator's
            command = [sys.executable, "-P", "-u", str(_HOST), str(os.getpid()), *self._options]
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "PYTHONHASHSEED": "0"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                process_group=0,
            )
        return self._process


def _answer(
    process: subprocess.Popen[bytes], cancelled: Callable[[], bool], watch_memory: bool
) -> bytes | Ending:
    """A line of its output, or why there will be none."""
    assert process.stdout is not None
    line, memory = b"", None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if selector.select(POLL_SECONDS):
                data = os.read(process.stdout.fileno(), 64)
                if not data:
                    return Ending.EXITED
                line += data
                continue
            if cancelled():
                return Ending.CANCELLED
            if watch_memory and memory is None and (child := _child(process.pid)):
                memory = MemoryWatch(child)
            if memory is not None and memory.is_stuck():
                with suppress(ProcessLookupError):
                    os.kill(memory.pid, signal.SIGKILL)
    return line


def _child(pid: int) -> int | None:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def _printed(folder: Path) -> tuple[str, ...]:
    output = Output()
    with suppress(OSError), open(folder / OUTPUT, "rb") as stream:
        while output.read(stream) is Chunk.DATA:
            pass
    return output.last_lines()
