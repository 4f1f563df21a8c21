"""Work functions for tests of jobs: worker processes must be able to import them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from os import system  # noqa: F401  imported, but not of this module
from pathlib import Path

from engine.errors import Location, PddlError
from engine.records.events import Warned
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def count(link: Link, numbers: int) -> int:
    for number in range(numbers):
        link.emit(number)
        link.progress(number + 1, numbers, f"{number + 1} of {numbers}")
    return numbers


def wait_to_be_stopped(link: Link) -> None:
    link.emit("started")
    while not link.cancelled():
        time.sleep(0.01)


def count_until_stopped(link: Link, total: int) -> None:
    """Half the way, and no further."""
    for number in range(total // 2):
        link.progress(number, total, f"{number} of {total}")
    while not link.cancelled():
        time.sleep(0.01)


def stall_half_way(link: Link) -> None:
    """Until it is stopped."""
    begin = time.monotonic()
    while not link.cancelled():
        link.progress(min(50, int(100 * (time.monotonic() - begin))), 100, "half")
        time.sleep(0.01)


def wait_while_paused(link: Link) -> None:
    """Once it was paused: counts that, and ends when it may continue."""
    while not link.paused():
        time.sleep(0.01)
    link.progress(1, 2, "half")
    link.emit("waits")
    while link.paused():
        time.sleep(0.01)


def never_listen(link: Link) -> None:
    """With a child of its own."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(1000)"],
    )
    link.emit(child.pid)
    time.sleep(1000)


LITTER = """
import os, shutil, sys, time
folder, end = sys.argv[1], time.monotonic() + 3
while time.monotonic() < end:
    for number in range(50):
        try:
            os.makedirs(f"{folder}/{number}/below", exist_ok=True)
        except OSError:
            pass
shutil.rmtree(folder, ignore_errors=True)
"""


def leave_somebody_behind(link: Link) -> str:
    """A process that keeps writing temporary files, out of reach."""
    del link
    folder = tempfile.gettempdir()
    command = [sys.executable, "-I", "-S", "-c", LITTER, folder]
    subprocess.Popen(command, start_new_session=True)
    while not os.listdir(folder):
        time.sleep(0.01)
    return "done"


def use_wrong_pddl(link: Link) -> None:
    del link
    raise PddlError("unknown predicate 'onn'", Location("domain.pddl", 3, 7), "did you mean 'on'?")


def meet_a_defect(link: Link) -> None:
    del link
    raise ZeroDivisionError("a defect")


def return_a_function(link: Link) -> object:
    del link
    return lambda: None


def emit_a_function(link: Link) -> None:
    link.emit(lambda: None)
    while not link.cancelled():
        time.sleep(0.01)


def print_and_die(link: Link) -> None:
    del link
    print("my last words", flush=True)
    os._exit(7)


def threads_of_torch(link: Link) -> int:
    del link
    import torch

    return int(torch.get_num_threads())


def fill_the_disk(link: Link, workspace: Path) -> None:
    """Files may not grow anymore: what a full disk looks like to SQLite."""
    del link
    with Workspace.open(workspace) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))
        store.apply([Warned(None, f"{number} {'long ' * 1000}") for number in range(100)])
