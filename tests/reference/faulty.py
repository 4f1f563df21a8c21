"""What tests of faults share: programs to hurt, limits to hit, and a look for what is left behind.

Everything that is started carries a mark in its environment, so that whatever outlives a test is
found, however it was started.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from engine.workers.channel import Call, End, Events
from engine.workers.supervisor import Supervisor
from engine.workspace.workspace import Workspace

PATIENCE = 300.0
"""Seconds until something surely hangs: machines are slow at times."""

MARK = "PLUMBLINE_TEST_MARK"


def wait_for(condition: Callable[[], object], what: str = "it") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


@contextmanager
def writer_elsewhere(workspace: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to the workspace, as a campaign does, until it is killed."""
    code = (
        "import time; from engine.workspace.workspace import Workspace\n"
        f"store = Workspace.create({str(workspace)!r})\n"
        "with store.writing():\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@dataclass(frozen=True)
class Said:
    """How a command ended, as a shell tells it, and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()


@dataclass
class Bench:
    """A folder to work in, and commands that run there."""

    folder: Path
    mark: str
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def plumbline(self, *words: object, **options: object) -> Said:
        """Run a command to its end."""
        return self.end_of(self.start(*words, **options))

    def start(
        self,
        *words: object,
        file_kilobytes: int | None = None,
        stdout: int | None = None,
        **environment: str,
    ) -> subprocess.Popen[str]:
        """Begin a command; with `file_kilobytes` no file may grow beyond this size."""
        command = [sys.executable, "-P", "-m", "engine.cli", *map(str, words)]
        if file_kilobytes:  # what a full disk looks like; nothing else needs rights
            limited = f'trap "" XFSZ; ulimit -f {file_kilobytes}; exec "$@"'
            command = ["bash", "-c", limited, "bash", *command]
            # Compiled modules would be cut off, and break every later test.
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, MARK: self.mark, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """End the commands that a failed test has left."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def end_of(self, process: subprocess.Popen[str]) -> Said:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert "Traceback" not in err, err
        return Said(as_a_shell_tells(process.returncode), out or "", err)

    def processes(self, *words: str) -> list[int]:
        """What was started here and still runs, if its name and command line have all the words."""
        return [
            pid
            for pid, command in _marked(self.mark)
            if all(word in command for word in words) and pid != os.getpid()
        ]

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def as_a_shell_tells(code: int) -> int:
    """128 and its number if a signal ended it. `python -m` itself chooses: interrupted within an
    import it ends by SIGINT, elsewhere with the code it was given."""
    return 128 - code if code < 0 else code


def _marked(mark: str) -> Iterator[tuple[int, str]]:
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            words = (entry / "cmdline").read_bytes().split(b"\0")
            command = b" ".join([(entry / "comm").read_bytes().strip(), *words]).decode()
        except OSError:
            continue  # it has just ended, or is not ours
        if state != "Z":
            yield int(entry.name), command


def workers_of(pid: int) -> list[int]:
    """Processes that run a unit or a job for this one, started by it or by its warm process."""
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            names[int(entry.name)] = (entry / "comm").read_text().strip()
            stat = (entry / "stat").read_text()
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    warm = {one for one in parents if parents[one] == pid and names[one] == "plumbline-warm"}
    return [
        one for one in parents if parents[one] in (pid, *warm) and names[one] == "plumbline-work"
    ]


class Supervised:
    """Work in a process of its own, started as a window does."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self._ends: SimpleQueue[End] = SimpleQueue()
        self.supervisor = Supervisor(Call.of(function, *arguments), self._report)
        self.supervisor.start()

    def _report(self, report: Events | End) -> None:
        if isinstance(report, End):
            self._ends.put(report)

    def end(self) -> End:
        end = self._ends.get(timeout=PATIENCE)
        self.supervisor.join()
        return end


def findings(path: Path) -> set[Any]:
    """What a campaign has found, except for when and in which order; the file must be whole."""
    with Workspace.open(path) as store:
        assert store.damage() == ""
        return {
            (
                row.problem,
                store.bug(row.id).finding.state,
                row.kind,
                row.policy_cost,
                row.bound,
                row.gap,
            )
            for row in store.bugs()
        }


EXPLODING_DOMAIN = """\
(define (domain explosion)
  (:requirements :strips :typing)
  (:types thing)
  (:predicates (near ?a ?b - thing) (seen ?a - thing))
  (:action look
    :parameters (?a ?b ?c ?d ?e ?f ?g ?h - thing)
    :precondition (and (near ?a ?b) (near ?b ?c) (near ?c ?d) (near ?d ?e) (near ?e ?f)
                       (near ?f ?g) (near ?g ?h))
    :effect (seen ?h))
  (:action move
    :parameters (?a ?b ?c - thing) :precondition (near ?a ?b)
    :effect (and (near ?b ?c) (not (near ?a ?b)))))
"""


def exploding_problem(things: int = 30) -> str:
    """Grounded, it has more actions than any machine can hold."""
    names = " ".join(f"t{number}" for number in range(things))
    return (
        f"(define (problem p) (:domain explosion) (:objects {names} - thing)"
        f" (:init (near t0 t1) (near t1 t2)) (:goal (seen t{things - 1})))"
    )


def many_loads(loads: int) -> str:
    """A problem of the carter on which a planner that wants the best plan is busy for long."""
    roads = [
        ("a", "b", 9),
        ("b", "c", 2),
        ("c", "a", 1),
        ("a", "c", 3),
        ("c", "d", 4),
        ("d", "c", 4),
    ]
    facts = " ".join(
        f"(road {a} {b}) (= (length {a} {b}) {n})" for a, b, n in (*roads, ("b", "a", 1))
    )
    names = [f"load{number}" for number in range(loads)]
    lie = " ".join(f"(lies {name} {'abcd'[i % 4]})" for i, name in enumerate(names))
    goal = " ".join(f"(lies {name} {'cdab'[i % 4]})" for i, name in enumerate(names))
    return (
        f"(define (problem many) (:domain carter)"
        f" (:objects a b c d - place {' '.join(names)} - load)"
        f" (:init (at a) (free) (= (total-cost) 0) {facts} {lie})"
        f" (:goal (and (at a) {goal})) (:metric minimize (total-cost)))"
    )
