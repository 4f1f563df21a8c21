"""A campaign on a Dask cluster of this machine against the same campaign on local processes.

    python benchmarks/cluster.py [--rounds 3] [--units 2] [--tiny 4]

The cluster is on the loopback. All must find the same. Measured by the clock, executors in turn:
what two workers gain over one, what the cluster adds to a unit that does next to nothing, and how
long it takes when one of two workers is killed in the middle.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import EXAMPLES, Row, Setting, compared, mistakes
from reference.dask_cluster import Cluster

from engine.campaign.config_reader import parse_config
from engine.records.config import CampaignConfig
from engine.records.events import StateTested
from engine.usecases.campaign import run
from engine.workers.link import NULL_LINK, Link
from engine.workers.supervisor import make_executor
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

CAMPAIGN = """\
domain = "domain.pddl"
problems = ["problems/p04.pddl"]
policies = ["policies/policy.pt"]
seeds = {seeds}
fuzzing.size = 30
testing.oracles = ["bmo", "astar:expansions=20000"]
testing.skip_known_bugs = false
"""
TINY = """\
domain = "domain.pddl"
problems = ["problems/p01.pddl"]
policies = ["builtin:gc"]
seeds = {seeds}
fuzzing.size = 1
testing.oracles = ["lookahead:depth=1"]
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where units run: the executor as users write it, and the processes that belong to it."""

    executor: str
    processes: tuple[int, ...] = ()

    @classmethod
    def of(cls, cluster: Cluster) -> Place:
        processes = (cluster.scheduler, *cluster.workers)
        return cls(f"dask:{cluster.address}", tuple(process.pid for process in processes))

    def processor_seconds(self) -> float:
        """Of this process and of those of the place, with all that they started."""
        times = [psutil.Process(pid).cpu_times() for pid in (os.getpid(), *self.processes)]
        return sum(t.user + t.system + t.children_user + t.children_system for t in times)


LOCAL = {1: Place("local:1"), 2: Place("local:2")}


@dataclass(frozen=True, slots=True)
class Run:
    """What a campaign left behind, except for times and numbers, and how long it took."""

    units: tuple[tuple[str, str, int, str], ...]  # problem, policy, seed, status
    bugs: tuple[tuple[Any, ...], ...]
    clock: float  # seconds, from when its executor was there
    processor: float  # seconds of all processes of the place

    @property
    def unfinished(self) -> int:
        return sum(status != "finished" for *_, status in self.units)

    def differs(self, other: Run) -> bool:
        return (self.units, self.bugs) != (other.units, other.bugs)


@dataclass(frozen=True, slots=True)
class Rounds:
    """Runs of one campaign, by executor and number of workers, one per round."""

    first: Run  # on this machine, all others must find the same
    local: dict[int, list[Run]] = field(default_factory=lambda: {1: [], 2: []})
    dask: dict[int, list[Run]] = field(default_factory=lambda: {1: [], 2: []})

    @property
    def all(self) -> list[Run]:
        return [run for kind in (self.local, self.dask) for runs in kind.values() for run in runs]

    def mistaken(self, *more: Run) -> Row:
        runs = [*self.all, *more]
        what = f"runs of {len(self.first.units)} units that find something else"
        remark = f"{len(self.first.bugs)} bugs, local and on the cluster"
        return mistakes(what, sum(run.differs(self.first) for run in runs), len(runs), remark)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--units", type=int, default=2, help="units of a campaign")
    parser.add_argument("--tiny", type=int, default=4, help="units that do next to nothing")
    options = parser.parse_args()
    found = []
    for row in measure(options.rounds, options.units, options.tiny):
        found.append(row)
        ratio = "" if row.ratio is None else f", ratio {row.ratio:.2f}"
        print(f"{row.what}: {row.ours:.3g} {row.unit}, {row.against} {row.theirs:.3g}{ratio}")
        print(f"    {row.remark}", flush=True)
    return 1 if any(row.wrong for row in found) else 0


def rows(setting: Setting) -> Iterator[Row]:
    yield from measure(*setting.choose((3, 2, 4), (1, 2, 2)))


def measure(rounds: int, units: int, tiny: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="plumbline-cluster-") as name:
        folder = Path(name)
        with started(folder / "one", 1) as one, started(folder / "two", 2) as two:
            places = {1: Place.of(one), 2: Place.of(two)}
            small = alternate(config(TINY, tiny), places, folder, rounds)
            yield small.mistaken()
            yield from overhead(small)
            whole = alternate(config(CAMPAIGN, units), places, folder, rounds)
            killed = kill_a_worker(config(CAMPAIGN, units), two, folder)
    yield whole.mistaken(killed)
    yield speed_up("2 processes", "1 process", whole.local)
    yield speed_up("cluster of 2 workers", "cluster of 1", whole.dask)
    undisturbed = median(run.clock for run in whole.dask[2])
    what = "units unfinished after one of 2 workers was killed"
    yield mistakes(what, killed.unfinished, len(killed.units))
    yield Row(
        "campaign in which one of 2 workers is killed",
        killed.clock,
        "s",
        "undisturbed",
        undisturbed,
        killed.clock / undisturbed,
        remark="clock; one worker has to do what two did",
    )


def config(text: str, units: int) -> CampaignConfig:
    """One unit per seed."""
    return parse_config(text.format(seeds=list(range(units))), EXAMPLES / "ferry" / "campaign.toml")


@contextmanager
def started(folder: Path, workers: int) -> Iterator[Cluster]:
    """A cluster, once all its workers are there."""
    with Cluster(folder) as cluster:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster


def alternate(
    config: CampaignConfig, clusters: dict[int, Place], folder: Path, rounds: int
) -> Rounds:
    """The same campaign at all places, in turn; before that once, to warm the caches up."""
    found = Rounds(timed(config, LOCAL[1], folder))
    for _ in range(rounds):
        for kind, places in ((found.local, LOCAL), (found.dask, clusters)):
            for workers, place in places.items():
                kind[workers].append(timed(config, place, folder))
    return found


def timed(config: CampaignConfig, place: Place, folder: Path, link: Link = NULL_LINK) -> Run:
    executor = make_executor(place.executor)
    with (
        tempfile.TemporaryDirectory(dir=folder) as name,
        Workspace.create(Path(name) / "w.plumb") as store,
    ):
        before = place.processor_seconds()
        end = run(config, store, link, executor=executor)
        processor = place.processor_seconds() - before
        units = [(unit.problem, unit.policy, unit.seed, unit.status) for unit in store.units()]
        bugs = [(*described(row), store.bug(row.id).finding.state) for row in store.bugs()]
    return Run(tuple(sorted(units)), tuple(sorted(bugs, key=repr)), end.seconds, processor)


def described(row: BugRow) -> tuple[Any, ...]:
    where = row.problem, row.policy, row.seed, row.pool_number, row.retrospective
    return *where, row.kind, row.policy_cost, row.bound, row.gap, row.found_by, row.evidence_kind


def overhead(small: Rounds) -> Iterator[Row]:
    """What a cluster of one worker adds to a unit."""
    units = len(small.first.units)
    for name in ("clock", "processor"):
        pairs = [
            (1000 * getattr(dask, name) / units, 1000 * getattr(local, name) / units)
            for dask, local in zip(small.dask[1], small.local[1], strict=True)
        ]
        added = median(dask - local for dask, local in pairs)
        remark = f"{name}; {added:+.0f} ms per unit; {units} units that do next to nothing"
        yield compared("a unit on a cluster of 1 worker", "1 process", pairs, "ms", remark)


def speed_up(what: str, against: str, runs: dict[int, list[Run]]) -> Row:
    pairs = [(b.clock, a.clock) for a, b in zip(runs[1], runs[2], strict=True)]
    gain = median(one / two for two, one in pairs)
    return compared(f"campaign, {what}", against, pairs, "s", f"clock; {gain:.2f} times as fast")


def kill_a_worker(config: CampaignConfig, cluster: Cluster, folder: Path) -> Run:
    """Kill one of the workers as soon as a state has been tested."""
    victim = cluster.workers[0]

    class Killing(Link):
        def emit(self, event: object) -> None:
            if isinstance(event, StateTested) and victim.poll() is None:
                os.kill(victim.pid, signal.SIGKILL)
                victim.wait()

    found = timed(config, Place(f"dask:{cluster.address}"), folder, Killing())
    assert victim.poll() is not None, "the campaign ended before a worker could be killed"
    return found


if __name__ == "__main__":
    sys.exit(main())
