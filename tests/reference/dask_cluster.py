"""A Dask cluster on the loopback: a scheduler and workers that can be killed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 300.0


class Cluster:
    """A scheduler, and workers as soon as they are added, each a process of its own.

    Its files are in a folder of its own; a context manager that ends all processes.
    """

    def __init__(self, folder: Path, certificates: Certificates | None = None) -> None:
        folder.mkdir()
        self._scheduler_file = folder / "scheduler.json"
        self._folder, self._certificates = folder, certificates
        host = "127.0.0.1" if certificates is None else "tls://127.0.0.1"
        options = ["--host", host, "--port", "0"]
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

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        command += ["--no-dashboard", "--scheduler-file", str(self._scheduler_file)]
        log = (self._folder / "cluster.log").open("ab")
        settings = {} if self._certificates is None else self._certificates.environment
        with log:
            return subprocess.Popen(
                command, cwd=self._folder, env=os.environ | settings, stdout=log, stderr=log
            )


@dataclass(frozen=True)
class Certificates:
    """An authority of a cluster, and a certificate that it has signed."""

    authority: Path
    certificate: Path
    key: Path

    @classmethod
    def make(cls, folder: Path) -> Certificates:
        def openssl(*words: str) -> None:
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

        folder.mkdir()
        fresh = ["req", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        openssl(*fresh, "-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
        openssl(*fresh, "-subj", "/CN=cluster", "-keyout", "own.key", "-out", "own.csr")
        signed = ["x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key"]
        openssl(*signed, "-CAcreateserial", "-days", "2", "-out", "own.pem")
        return cls(folder / "ca.pem", folder / "own.pem", folder / "own.key")

    @property
    def settings(self) -> dict[str, str]:
        """Of Dask."""
        prefix = "distributed.comm.tls"
        both = {
            f"{prefix}.{role}.{name}": str(path)
            for role in ("scheduler", "worker", "client")
            for name, path in (("cert", self.certificate), ("key", self.key))
        }
        return {f"{prefix}.ca-file": str(self.authority), **both}

    def used_here(self) -> AbstractContextManager[object]:
        """By Dask in this process."""
        import dask

        importlib.import_module("distributed")  # its settings would be undone with ours
        return dask.config.set(self.settings)

    @property
    def environment(self) -> dict[str, str]:
        return {
            f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": value
            for name, value in self.settings.items()
        }


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
