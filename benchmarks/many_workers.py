"""A campaign with very many workers: python benchmarks/many_workers.py [--workers 200]

A real unit is run once and what it tells is kept. Then a campaign of as many units as there are
workers is run by simulated workers, threads of a few other processes: they connect to the campaign
as those of a cluster do, take a unit, and tell the same as fast as the campaign listens. Measured
are the events per second that end in the workspace, the CPU time that the campaign spends on one,
and the shares of the workers when half of all events were stored: no worker may starve.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from measurement import EXAMPLES, Row, Setting

from engine.campaign.config_reader import parse_config
from engine.campaign.unit import run_unit
from engine.records.config import CampaignConfig
from engine.records.events import CampaignFinished, CampaignStarted, ClusterChanged, ClusterSize
from engine.usecases.campaign import run
from engine.workers.channel import Call, End, Events, Packed, Take, pack, unpack
from engine.workers.link import Link
from engine.workers.server import RemoteExecutor, WorkerAddress
from engine.workspace.workspace import Workspace

CAMPAIGN = """\
domain = "domain.pddl"
problems = ["problems/p05.pddl"]
policies = ["builtin:hadd"]
seeds = {seeds}
fuzzing.size = {states}
testing.oracles = ["lookahead:depth=2"]
"""
PROCESSES = 2
CONNECT_SECONDS = 10.0
"""After that all workers begin to speak."""
BATCH = 50
"""Events in a message; a worker sends ten messages a second."""
_SPEAKING = threading.Lock()
_OF_THE_CAMPAIGN = (CampaignStarted, CampaignFinished, ClusterChanged)


def config(units: int, states: int) -> CampaignConfig:
    text = CAMPAIGN.format(seeds=list(range(units)), states=states)
    return parse_config(text, EXAMPLES / "ferry" / "campaign.toml")


class Listener(Link):
    """Keeps what a campaign tells, or how much of it by unit."""

    def __init__(self, *, keeps: bool) -> None:
        self.kept: list[Any] = []
        self.counts: Counter[int] = Counter()
        self.times: list[float] = []
        self.shares: list[Counter[int]] = []  # after each hundredth of a second or so
        self._keeps = keeps

    def emit(self, event: object) -> None:
        if isinstance(event, _OF_THE_CAMPAIGN):
            return
        if self._keeps:
            self.kept.append(event)
            return
        unit = getattr(event, "unit", 0)
        self.counts[unit] += 1
        self.times.append(time.monotonic())
        if len(self.times) % 1000 == 0:
            self.shares.append(self.counts.copy())


class SimulatedCluster(RemoteExecutor):
    """Its workers are threads of other processes."""

    def __init__(self, workers: int, told: Path) -> None:
        super().__init__(("127.0.0.1", 0))
        self._size = ClusterSize(workers, workers)
        self._awaited: dict[int, Future[str]] = {}
        self._sent = 0
        self._begin = time.time() + CONNECT_SECONDS
        command = [sys.executable, __file__, "--simulate", str(told)]
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        for process in self._processes:
            threading.Thread(target=self._hear, args=(process,), daemon=True).start()

    @property
    def size(self) -> ClusterSize:
        return self._size

    def close(self) -> None:
        super().close()
        for process in self._processes:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            process.wait()

    def _send_away(self, address: WorkerAddress) -> Future[str]:
        future = self._awaited[address.number] = Future()
        process = self._processes[self._sent % PROCESSES]
        self._sent += 1
        assert process.stdin is not None
        host, port = address.address
        line = json.dumps([address.number, host, port, address.secret.hex(), self._begin])
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return future

    def _hear(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._awaited[int(line)].set_result("")


def simulate(told: Path) -> None:
    """A process with a thread for every worker that it is told to be."""
    packed = [Packed(kind, bytes.fromhex(data)) for kind, data in json.loads(told.read_text())]
    events = [unpack(item) for item in packed]
    threads = []
    for line in sys.stdin:
        number, host, port, secret, begin = json.loads(line)
        address = WorkerAddress(number, (host, port), bytes.fromhex(secret))
        thread = threading.Thread(target=work, args=(address, events, begin))
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()


def work(address: WorkerAddress, events: list[Any], begin: float) -> None:
    """Take a unit, wait for the others, and tell of it what is known."""
    with address.connect() as connection:
        connection.send(Take(address.number))
        call = connection.receive()
        assert isinstance(call, Call)
        (unit,) = call.arguments_for(run_unit)
        packed = [pack(msgspec.structs.replace(event, unit=unit.number)) for event in events]
        time.sleep(max(0.0, begin - time.time()))
        for first in range(0, len(packed), BATCH):
            connection.send(Events(tuple(packed[first : first + BATCH])))
        connection.send(End())
    with _SPEAKING:
        print(address.number, flush=True)


@dataclass(frozen=True, slots=True)
class Measured:
    workers: int
    events: int
    seconds: float  # from the first event that was stored to the last
    cpu: float  # of the campaign's process
    shares: tuple[float, float, float]  # least, median, most, when half was stored; 1 is fair
    megabytes: int
    bytes_per_event: float


def measure(workers: int, states: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="plumbline-workers-") as folder:
        told = Path(folder) / "events"
        events, size = record(Path(folder), states, told)
        listener = Listener(keeps=False)
        with Workspace.create(Path(folder) / "w.plumb") as store:
            executor = SimulatedCluster(workers, told)
            cpu = time.process_time()
            end = run(config(workers, states), store, listener, executor=executor)
            cpu = time.process_time() - cpu
            assert end.finished
            assert {unit.status for unit in store.units()} == {"finished"}
    total = sum(listener.counts.values())
    assert total == workers * events, (total, workers * events)
    half = min(listener.shares, key=lambda counts: abs(sum(counts.values()) - total / 2))
    fair = sum(half.values()) / workers
    shares = sorted(half[unit] / fair for unit in listener.counts)
    return Measured(
        workers,
        total,
        listener.times[-1] - listener.times[0],
        cpu,
        (shares[0], median(shares), shares[-1]),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        size / events,
    )


def record(folder: Path, states: int, told: Path) -> tuple[int, int]:
    """Run one unit and keep what it tells; how many events there are, and their size."""
    listener = Listener(keeps=True)
    with Workspace.create(folder / "one.plumb") as store:
        assert run(config(1, states), store, listener).finished
    packed = [pack(event) for event in listener.kept]
    told.write_text(json.dumps([[item.kind, item.data.hex()] for item in packed]))
    return len(packed), sum(len(item.data) for item in packed)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--states", type=int, default=400, help="of a unit")
    parser.add_argument("--simulate", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.simulate is not None:
        simulate(args.simulate)
        return 0
    for workers in args.workers:
        found = measure(workers, args.states)
        least, middle, most = found.shares
        print(
            f"{found.workers} workers: {found.events:,} events of {found.bytes_per_event:.0f} "
            f"bytes in {found.seconds:.1f} s, {found.events / found.seconds:,.0f} per second; "
            f"{1e6 * found.cpu / found.events:.0f} us of CPU time each; shares at half time "
            f"{least:.2f} / {middle:.2f} / {most:.2f} of a fair one; {found.megabytes} MB; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return 0


def rows(setting: Setting) -> Iterator[Row]:
    found = measure(*setting.choose((200, 400), (10, 30)))
    least, _, most = found.shares
    yield Row(
        f"CPU time for an event, {found.workers} workers",
        1e6 * found.cpu / found.events,
        "us",
        remark=f"{found.events / found.seconds:,.0f} events per second by the clock",
    )
    remark = f"when half of {found.events:,} events was stored; the largest is {most:.2f}"
    yield Row("smallest share of a worker, 1 is fair", least, "", remark=remark, wrong=least == 0)


if __name__ == "__main__":
    sys.exit(main())
