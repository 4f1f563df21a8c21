"""Units on the machines of an existing Dask cluster.

Dask chooses a worker for each unit and chooses another one if that is lost; the unit itself runs in
a process of its own there, as on this machine, and connects back to the campaign. So what it finds
streams back while it runs, inputs travel as contents rather than as paths, and a unit can be
stopped although Dask cannot stop anything.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from engine import __version__
from engine.campaign.ticket import Address
from engine.errors import UsageError

PATIENCE = "10s"

Result = TypeVar("Result")


def installed_version() -> str:
    """Asked of every worker of a cluster."""
    return __version__


class ClusterExecutor(Executor):
    def __init__(self, address: str) -> None:
        self._client = _connect(address)
        try:
            self._refuse_strangers()
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)

    @property
    def hub_address(self) -> Address:
        """Where workers of other machines can reach this one; any port."""
        scheduler = self._client.scheduler.address.rpartition("://")[2]
        host, _, port = scheduler.rpartition(":")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host.strip("[]"), int(port)))  # sends nothing, chooses a way out
            return probe.getsockname()[0], 0

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        future: Future[Result] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Units that still run notice that their campaign is gone, and end."""
        del wait, cancel_futures
        self._executor.shutdown(wait=False)
        self._client.close()

    def _refuse_strangers(self) -> None:
        """Workers must have the same Plumbline."""
        try:
            versions = self._client.run(installed_version)
        except Exception as error:  # whatever went wrong over there
            raise UsageError(
                f"the workers of the cluster cannot run Plumbline: {error}",
                hint="install the same version on every machine of the cluster",
            ) from error
        if not versions:
            raise UsageError("the cluster has no workers", hint="start some, see docs/clusters.md")
        if others := sorted({name for name in versions.values() if name != __version__}):
            raise UsageError(
                f"the cluster has Plumbline {', '.join(others)}, here is {__version__}",
                hint="install the same version on every machine of the cluster",
            )


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            "campaigns on a cluster need the package 'distributed'",
            hint="install it with: pip install 'plumbline[cluster]'",
        ) from error
    try:
        make_client: Any = Client  # it has no types
        return make_client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at '{address}'",
            hint="start one, see docs/clusters.md, or use --executor local:N",
        ) from error
