"""Where workers of other machines connect: unknown clients, silence, unreachable ports.

Workers and schedulers that are lost are in `tests/campaign/test_cluster_loss.py`.
"""

from __future__ import annotations

import os
import socket
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import InThreads
from reference.faulty import Bench, findings
from reference.ports import free_port
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import read_config
from engine.records.events import CampaignEvent, UnitFailed
from engine.usecases.campaign import run
from engine.workers.channel import ChannelError
from engine.workers.server import RemoteExecutor, WorkerAddress, make_call
from engine.workspace.workspace import Workspace


class Exposed(RemoteExecutor):
    """Units of a campaign that listens on the network, where others come first."""

    def __init__(self, host: str) -> None:
        super().__init__((host, 0))
        self.strangers: list[socket.socket] = []
        self._pool = ThreadPoolExecutor(1)

    def _send_away(self, address: WorkerAddress) -> Future[str]:
        for words in (None, None, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", os.urandom(500)):
            stranger = socket.create_connection(address.address)
            self.strangers.append(stranger)
            if words is not None:
                stranger.sendall(words)
        with pytest.raises((ChannelError, OSError, EOFError)):
            replace(address, secret=b"guessed").connect()
        return self._pool.submit(make_call, address)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6"))],
)
def test_unknown_clients_keep_no_worker_waiting(
    bench: Bench, expected: set[Any], host: str
) -> None:
    """Two that say nothing, a browser, noise, and one that does not know the secret."""
    path = bench.folder / "w.plumb"
    executor = Exposed(host)
    with Workspace.create(path) as store:
        assert run(read_config(bench.folder / "campaign.toml"), store, executor=executor).finished
    for stranger in executor.strangers:
        stranger.close()
    assert findings(path) == expected


class Unreachable(Exposed):
    """Workers behind a wall: the port of the campaign is closed for them."""

    def _send_away(self, address: WorkerAddress) -> Future[str]:
        elsewhere = replace(address, address=("127.0.0.1", free_port()))
        return self._pool.submit(make_call, elsewhere)


def test_a_campaign_that_cannot_be_reached_is_reported(bench: Bench) -> None:
    seen: list[CampaignEvent] = []
    path: Path = bench.folder / "w.plumb"
    with Workspace.create(path) as store:
        config = read_config(bench.folder / "campaign.toml")
        run(config, store, RecordingLink(hear=seen.append), executor=Unreachable("127.0.0.1"))
    (failure,) = [event for event in seen if isinstance(event, UnitFailed)]
    assert failure.lost  # so that resuming does it again
    assert "the campaign at 127.0.0.1:" in failure.error
    assert "cannot be reached: [Errno 111] Connection refused" in failure.error


def test_units_that_find_no_room_for_their_files(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[CampaignEvent] = []
    with Workspace.create(bench.folder / "w.plumb") as store:
        config = read_config(bench.folder / "campaign.toml")
        monkeypatch.setattr("tempfile.tempdir", "/proc/none")
        run(config, store, RecordingLink(hear=seen.append), executor=InThreads(1))
    (failure,) = [event for event in seen if isinstance(event, UnitFailed)]
    assert "temporary files cannot be written" in failure.error
    assert "set TMPDIR to another folder" in failure.error
