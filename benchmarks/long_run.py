"""Hours of campaigning in the window: do memory, throughput and the event loop stay as they are?

    python benchmarks/long_run.py CONFIG.toml [--seconds 7200] [--every 60] [--from FILE.plumb]

Takes a configuration with more seeds than the time suffices for; with `--from` its campaign
continues from a copy of a workspace, such as one of an earlier run. The window runs its campaign as
a user does and goes through all screens meanwhile; every minute a line tells what has been tested,
what the processes take and how late the event loop was. At the end the second hour is compared with
the first: states by the processor's time of the workers, since others may use the machine as well.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from window import LOOK_SECONDS, Beat, Tick, open_window, probe, wait_for, workspace_path

if TYPE_CHECKING:
    from app.shell.main_window import MainWindow

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of things at one time; sizes in megabytes."""

    seconds: float
    units: int
    states: int
    bugs: int
    cpu: float  # of the workers
    workers: float
    window: float
    workspace: float
    late_p99: float
    late_most: float
    machine: tuple[float, float]  # the same of a process that does nothing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", type=Path)
    parser.add_argument("--seconds", type=float, default=7200.0)
    parser.add_argument("--every", type=float, default=60.0)
    parser.add_argument("--from", dest="origin", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as home:
        os.environ |= {f"XDG_{name}_HOME": home for name in ("CONFIG", "DATA", "STATE")}
        if not os.environ.get("DISPLAY"):
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        if options.origin is not None:
            take_copy(options.origin)
        samples = run(options.config, options.seconds, options.every)
    compare(samples)
    return 0


def take_copy(origin: Path) -> None:
    from engine.workspace.workspace import Workspace

    with Workspace.open(origin) as store:
        store.save_copy(workspace_path())


def run(config: Path, seconds: float, every: float) -> list[Sample]:
    application, window = open_window(config)
    window.show_page("campaign")
    (start, *_) = window.page("campaign").page_actions()
    start.trigger()
    (job,) = window.context.jobs.running
    ended: list[float] = []
    job.failed.connect(print)
    job.ended.connect(lambda: ended.append(time.monotonic()))
    samples: list[Sample] = []
    began = time.monotonic()
    while time.monotonic() < began + seconds and not ended:
        beat = Beat()
        ticks = probe(lambda: look_around(window, every), lambda: window.current_page.name)
        samples.append(take_sample(window, time.monotonic() - began, ticks, beat.end()))
        print(line(samples[-1]), flush=True)
        for tick in sorted(ticks)[-2:]:
            if tick.late > 150:
                print(
                    f"    {tick.late:.0f} ms late, {tick.busy:.0f} busy: {tick.screen} {tick.where}"
                )
    if ended:
        print("the campaign ended before its time: give it more seeds")
    job.stop()
    wait_for(lambda: bool(ended))
    application.quit()
    return samples


def look_around(window: MainWindow, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for page in window.pages:
            window.show_page(page.name)
            wait_for(lambda: time.monotonic() > until, LOOK_SECONDS)


def processor_time() -> float:
    """Of all processes below this one and, since they were waited for, of those that have ended."""
    ticks = 0
    for process in descendants(os.getpid()):
        fields = known(f"{process}/stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICK


def megabytes(process: int) -> float:
    _, resident, *_ = (known(f"{process}/statm") or "0 0").split()
    return int(resident) * PAGE / 2**20


def descendants(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*"):
        for child in map(int, known(f"{process}/task/{task.name}/children").split()):
            found += [child, *descendants(child)]
    return found


def known(name: str) -> str:
    """What the system tells about a process; nothing of one that has just ended."""
    try:
        return Path("/proc", name).read_text()
    except OSError:
        return ""


def take_sample(
    window: MainWindow, seconds: float, ticks: Sequence[Tick], machine: tuple[float, float]
) -> Sample:
    store = window.context.document.store
    units = sum(unit.status == "finished" for unit in store.units())
    states = store.pool_states()
    bugs = sum(counts.bugs for counts in store.counts().values())
    late = sorted(tick.late for tick in ticks)
    return Sample(
        seconds=seconds,
        units=units,
        states=states,
        bugs=bugs,
        cpu=processor_time(),
        workers=sum(map(megabytes, descendants(os.getpid()))),
        window=megabytes(os.getpid()),
        workspace=store.path.stat().st_size / 2**20,
        late_p99=late[int(len(late) * 0.99)],
        late_most=late[-1],
        machine=machine,
    )


def line(sample: Sample) -> str:
    return (
        f"{sample.seconds / 60:6.1f} min  {sample.units:4} units  {sample.states:7} states  "
        f"{sample.bugs:7} bugs  {sample.cpu:7.0f} s processor  workers {sample.workers:5.0f} MB  "
        f"window {sample.window:5.0f} MB  workspace {sample.workspace:6.1f} MB  "
        f"late {sample.late_p99:5.1f} ms (p99) {sample.late_most:6.1f} ms (most), "
        f"the machine {sample.machine[0]:.1f} and {sample.machine[1]:.1f} ms"
    )


def compare(samples: Sequence[Sample]) -> None:
    """The second half with the first."""
    half = len(samples) // 2
    if half < 2:
        print("too short to compare anything")
        return
    for name, part in (("first half", samples[: half + 1]), ("second half", samples[half:])):
        first, last = part[0], part[-1]
        states, bugs = last.states - first.states, last.bugs - first.bugs
        size = last.workspace - first.workspace
        print(
            f"{name}: {states / max(1e-9, last.cpu - first.cpu):.2f} states per second of "
            f"processor time, workers {statistics.median(item.workers for item in part):.0f} MB "
            f"(median), {max(item.workers for item in part):.0f} MB (most), "
            f"window {last.window - first.window:+.0f} MB for {bugs} bugs, "
            f"workspace {1000 * size / max(1, bugs):.2f} MB per 1,000 bugs, "
            f"late {statistics.median(item.late_p99 for item in part):.1f} ms (median p99), "
            f"{max(item.late_most for item in part):.0f} ms (most)"
        )


if __name__ == "__main__":
    sys.exit(main())
