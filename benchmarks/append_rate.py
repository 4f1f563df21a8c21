"""How fast a campaign's findings are stored, in an empty and in a full workspace.

    python benchmarks/append_rate.py [W.plumb ...]

What real units tell (`many_workers.py` records one) is stored again and again as further units of a
campaign: into a new workspace, and into copies of others, such as those of `many_findings.py`.
Events per second of CPU time must not depend on how much is there already.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from many_findings import make
from many_workers import Listener, config
from measurement import Row, Setting

from engine.campaign.inputs import policy_inputs, problem_inputs
from engine.records.events import FindingReported
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

UNITS, STATES = 20, 200
"""Units whose events are stored, and the pool states of each."""
COMMIT = 500  # events in a transaction


@dataclass(frozen=True, slots=True)
class Rate:
    findings: int  # that were there
    events: float  # per second of CPU time
    added: float  # findings, in the same way
    wall: float  # events per second of the clock


def recorded() -> list[object]:
    """What one unit tells."""
    listener = Listener(keeps=True)
    with tempfile.TemporaryDirectory() as folder, Workspace.create(Path(folder) / "w.plumb") as one:
        assert run(config(1, STATES), one, listener).finished
    return listener.kept


def measure(path: Path, told: Sequence[object]) -> Rate:
    """Store events in a workspace, which is changed by that."""
    settings = config(UNITS, STATES)
    with Workspace.open(path) if path.exists() else Workspace.create(path) as store:
        before = store.count_bugs()
        campaign = store.begin(
            settings, problem_inputs(settings), policy_inputs(settings), resume=False
        )
        units = [unit.number for unit in store.pending(campaign)]
        events = [
            msgspec.structs.replace(event, unit=unit)  # type: ignore[type-var]
            for unit in units
            for event in told
        ]
        cpu, wall = time.process_time(), time.perf_counter()
        for first in range(0, len(events), COMMIT):
            store.apply(events[first : first + COMMIT])  # type: ignore[arg-type]
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        added = sum(isinstance(event, FindingReported) for event in events)
    return Rate(before, len(events) / cpu, added / cpu, len(events) / wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("workspaces", type=Path, nargs="*")
    args = parser.parse_args()
    told = recorded()
    with tempfile.TemporaryDirectory(prefix="plumbline-append-") as folder:
        tell(measure(Path(folder) / "new.plumb", told))
        for path in args.workspaces:
            copy = Path(folder) / "copy.plumb"
            shutil.copy(path, copy)
            tell(measure(copy, told))
    return 0


def tell(rate: Rate) -> None:
    print(
        f"{rate.findings:>9,} findings: {rate.events:,.0f} events and {rate.added:,.0f} findings "
        f"per second of CPU time, {rate.wall:,.0f} events per second of the clock",
        flush=True,
    )


def rows(setting: Setting) -> Iterator[Row]:
    told = recorded()
    with tempfile.TemporaryDirectory(prefix="plumbline-append-") as folder:
        empty = measure(Path(folder) / "new.plumb", told)
        full = Path(folder) / "full.plumb"
        make(full, *setting.choose((100_000, 10**6), (1000, 10_000)))
        filled = measure(full, told)
    yield Row(
        f"events stored per second of CPU time, {filled.findings:,} findings there",
        filled.events,
        "1/s",
        "none there",
        empty.events,
        filled.events / empty.events,
    )


if __name__ == "__main__":
    sys.exit(main())
