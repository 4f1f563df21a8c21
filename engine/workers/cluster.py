"""Calls on the machines of an existing Dask cluster.

Dask chooses a worker for each call and chooses another one if that is lost; the call is made in a
process of its own there, as on this machine, and its supervisor connects back to us. So what a unit
finds streams back while it runs, inputs travel as contents rather than as paths, and a unit can be
stopped although Dask cannot stop anything.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from engine import __version__
from engine.errors import UsageError
from engine.records.events import ClusterSize
from engine.workers.server import (
    Address,
    RemoteExecutor,
    WorkerAddress,
    cluster_certificate,
    make_call,
)

PATIENCE = "10s"
ANSWER_SECONDS = 60.0
"""How long all workers together may take to answer: they may have to load Plumbline first."""
REACH_SECONDS = 5.0
CLOSE_SECONDS = 1.0
ASK_SECONDS = 1.0
INSTALL = "pip install 'plumbline[cluster]'"

_log = logging.getLogger(__name__)

Result = TypeVar("Result")


def problem_with_address(text: str) -> str:
    """Return what is wrong with a scheduler's address, without connecting, or an empty string."""
    if not text:
        return "name the address of the scheduler, such as tcp://host:8786"
    found = re.fullmatch(r"(?:(\w+)://)?(\[[0-9a-fA-F:]+\]|[\w.-]+)(?::(\d+))?", text)
    if found is None:
        return f"'{text}' is not an address; write tcp://host:8786"
    if found[1] not in (None, "tcp", "tls"):
        return f"'{found[1]}' is not a protocol of a scheduler; write tcp://host:8786"
    if found[3] is None:
        return f"'{text}' has no port; write {text}:8786"
    if not 0 < int(found[3]) < 2**16:
        return f"{found[3]} is not a port; ports go from 1 to 65535"
    return ""


def look_at(address: str) -> ClusterSize:
    """Return what is at an address; raise if a campaign cannot use it."""
    executor = ClusterExecutor(address)
    try:
        return executor.size
    finally:
        executor.close()


def installed_version() -> str:
    """Asked of every worker of a cluster."""
    return __version__


def can_reach(address: Address) -> bool:
    """Asked of every worker: units connect to the machine that runs the campaign."""
    try:
        socket.create_connection(address, timeout=REACH_SECONDS).close()
    except OSError:
        return False
    return True


class ClusterExecutor(RemoteExecutor):
    """Its futures are cancelled when the scheduler is lost."""

    def __init__(self, address: str) -> None:
        if problem := problem_with_address(address):
            raise UsageError(problem, hint="'dask scheduler' prints its address when it starts")
        self._client = _connect(address)
        self._question: Future[Any] | None = None
        self._asked = 0.0
        self._executor = self._client.get_executor(pure=False)
        try:
            self._require_version()
            scheduler = self._client.scheduler.address
            super().__init__((_own_host(scheduler), 0), _own_certificate(scheduler))
        except BaseException:
            self._client.close()
            raise
        try:
            self._require_reach()
            self._size = _size_in(self._client.scheduler_info(n_workers=0))
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> ClusterSize:
        """Return the size that the scheduler last reported; ask again without waiting."""
        question = self._question
        if question is not None and question.done():
            if not question.cancelled() and question.exception() is None:
                self._size = _size_in(question.result())
            question = None
        now = time.monotonic()
        if question is None and now > self._asked + ASK_SECONDS and self._is_connected:
            self._asked = now
            identity = self._client.scheduler.identity(n_workers=0)
            question = asyncio.run_coroutine_threadsafe(identity, self._client.loop.asyncio_loop)
        self._question = question
        return self._size

    def close(self) -> None:
        super().close()
        if self._question is not None:
            self._question.cancel()
        if self._is_connected:
            self._executor.shutdown(wait=False)
        with suppress(TimeoutError):  # of a scheduler that does not answer nothing is left to do
            self._client.close(timeout=CLOSE_SECONDS)

    def _send_away(self, address: WorkerAddress) -> Future[str]:
        future: Future[str] = self._executor.submit(make_call, address)
        return future

    @property
    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def _require_version(self) -> None:
        """Workers must have the same Plumbline."""
        versions = self._ask_workers(installed_version)
        if not versions:
            raise UsageError("the cluster has no workers", hint="start some, see docs/clusters.md")
        if others := sorted({name for name in versions.values() if name != __version__}):
            raise UsageError(
                f"the cluster runs Plumbline {', '.join(others)}, this machine runs {__version__}",
                hint="install the same version on every machine of the cluster",
            )

    def _require_reach(self) -> None:
        """Workers must be able to connect to us."""
        answers = self._ask_workers(can_reach, self._server.address)
        if far := sorted(name for name, reached in answers.items() if not reached):
            raise UsageError(
                f"{len(far)} of {len(answers)} workers, such as {far[0]}, cannot reach this "
                f"machine at {self._server.address[0]}",
                hint="let them connect to it: a firewall may be in between",
            )

    def _ask_workers(self, function: Callable[..., Result], *args: Any) -> dict[str, Result]:
        """What each worker answers; one that hangs must not block us forever."""
        try:
            answers: dict[str, Result] = self._client.run(
                function, *args, callback_timeout=ANSWER_SECONDS
            )
        except TimeoutError as error:
            raise UsageError(
                f"not all workers of the cluster answered within {ANSWER_SECONDS:g} s",
                hint="end the workers that hang, or wait until the scheduler drops them",
            ) from error
        except Exception as error:  # whatever went wrong over there
            raise UsageError(
                f"the workers of the cluster cannot run Plumbline: {error}",
                hint="install the same version on every machine of the cluster",
            ) from error
        return answers


def _own_host(scheduler: str) -> str:
    """Where workers of other machines can reach this one."""
    host, _, port = scheduler.rpartition("://")[2].rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((host.strip("[]"), int(port)))  # sends nothing, chooses a way out
        return str(probe.getsockname()[0])


def _own_certificate(scheduler: str) -> ssl.SSLContext | None:
    """Where the scheduler asks for certificates, so do we; without certificates, any client can run
    programs on its workers and read what they know.
    """
    if scheduler.startswith("tls://"):
        return cluster_certificate(server=True)
    _log.warning(
        "the scheduler %s does not ask for certificates; use it only in a trusted network",
        scheduler,
    )
    return None


def _size_in(identity: dict[str, Any]) -> ClusterSize:
    return ClusterSize(identity["n_workers"], identity["total_threads"])


def _calm_down() -> None:
    """Send Dask's messages about lost connections to our log; we report them ourselves."""
    handlers = logging.getLogger("engine").handlers or [logging.NullHandler()]
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).handlers[:] = handlers


def _connect(address: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            "campaigns on a cluster need the package 'distributed'",
            hint=f"install it with: {INSTALL}",
        ) from error
    _calm_down()
    untyped: Any = distributed.Client

    class Client(untyped):  # type: ignore[misc]
        """Dask waits forever for a peer that accepts the connection and says nothing."""

        def start(self, **options: Any) -> None:
            try:
                super().start(callback_timeout=PATIENCE, **options)
            except BaseException:
                with suppress(TimeoutError):
                    self.close(timeout=CLOSE_SECONDS)
                raise

    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at '{address}'",
            hint="start one (see docs/clusters.md), or run the units on this machine",
        ) from error
    except Exception as error:  # it wants certificates, or is of another version
        raise UsageError(
            f"the scheduler at '{address}' cannot be used: {error}",
            hint="ask the administrator of the cluster how to configure Dask on this machine",
        ) from error
