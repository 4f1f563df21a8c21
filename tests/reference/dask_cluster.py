"""A Dask cluster on the loopback: a scheduler and workers that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 300.0


class Cluster:
    """A scheduler, and workers as soon as they are added, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._scheduler_file = folder / "scheduler.json"
        self._folder = folder
        options = ["--host", "127.0.0.1", "--port", "0"]
        self.scheduler = self._start("dask_scheduler", *options)
        wait_for(self._is_announced)
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return str(json.loads(self._scheduler_file.read_text())["address"])

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Without a nanny, so that a worker that is killed stays dead."""
        return self._start("dask_worker", "--nthreads", "1", "--no-nanny")

    def add_worker(self) -> None:
        """One that is part of the cluster when this returns."""
        before = self._registered()
        self.workers.append(self.start_worker())
        wait_for(lambda: self._registered() > before)

    def _registered(self) -> int:
        return (self._folder / "cluster.log").read_text().count("Register worker")

    def _is_announced(self) -> bool:
        """The file is there before it is written."""
        try:
            return bool(self.address)
        except (FileNotFoundError, json.JSONDecodeError):
            return False

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        command += ["--no-dashboard", "--scheduler-file", str(self._scheduler_file)]
        log = (self._folder / "cluster.log").open("ab")
        with log:
            return subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
