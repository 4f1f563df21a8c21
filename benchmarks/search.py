"""Our searches against Fast Downward's on the same task files, one pinned core, runs in turn.

    python benchmarks/search.py FOLDER                  times, evaluations, memory
    python benchmarks/search.py FOLDER --mode costs     only: are the optimal costs the same?

FOLDER holds one folder per domain, with domain.pddl and problems/*.pddl. Ours is the command
line, `plumbline search --json`, so what is measured is what users get. Times are seconds of the
processor, ratios are ours divided by theirs: below 1 is better. Exit code 1: costs
differ, or a program broke.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from measurement import Row, Setting, compared, mistakes

from engine.search.planners import planner_path
from engine.task.translate import MODULE
from engine.workers.program import run_process

OUT_OF_TIME = (-signal.SIGXCPU, 23)
"""How programs end that have used up their time; the number is Fast Downward's."""

CONFIGURATIONS = {"blind": "astar(blind())", "lmcut": "astar(lmcut())"}
"""Our name of the heuristic, and what Fast Downward is asked to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one program did with one task; `cost` is None when there is no plan."""

    cost: int | None
    expanded: int
    evaluated: int
    seconds: float  # of the search, of the processor
    startup: float  # everything else, of the processor
    states: int
    bytes: int  # what the states and the open list take


class ProgramFailedError(Exception):
    """A program that broke, which is neither an answer nor a limit."""


@dataclass(frozen=True, slots=True)
class Comparison:
    domain: str
    problem: str
    theirs: Run | None
    ours: Run | None

    @property
    def both_answered(self) -> bool:
        return self.theirs is not None and self.ours is not None

    @property
    def costs_differ(self) -> bool:
        """A plan on one side only is a difference, too."""
        theirs, ours = self.theirs, self.ours
        return theirs is not None and ours is not None and theirs.cost != ours.cost

    def ratio(self, of: Callable[[Run], float]) -> float | None:
        if self.theirs is None or self.ours is None or not of(self.theirs) or not of(self.ours):
            return None
        return of(self.ours) / of(self.theirs)


# The two programs.


def run_fast_downward(sas: Path, heuristic: str, time_limit: float) -> Run | None:
    command = [str(planner_path()), "--search", CONFIGURATIONS[heuristic]]
    with tempfile.TemporaryDirectory() as folder, sas.open() as task:
        finished = _timed(command, time_limit, range(30), stdin=task, cwd=folder)
    if finished is None:
        return None
    output, total = finished

    def number(pattern: str) -> float:
        found = re.findall(pattern, output)
        return float(found[-1]) if found else 0.0

    seconds = number(r"Search time: ([0-9.]+)s")
    before = number(r", ([0-9]+) KB\] Conducting best first search")
    return Run(
        int(number(r"Plan cost: ([0-9]+)")) if "Solution found!" in output else None,
        int(number(r"Expanded ([0-9]+) state")),
        int(number(r"Evaluated ([0-9]+) state")),
        seconds,
        total - seconds,
        int(number(r"Number of registered states: ([0-9]+)")),
        int(number(r"Peak memory: ([0-9]+) KB") - before) * 1024,
    )


def run_plumbline(sas: Path, heuristic: str, time_limit: float) -> Run | None:
    command = [sys.executable, "-m", "engine.cli", "search", str(sas), "--json"]
    command += ["--algorithm", "astar", "--heuristic", heuristic]
    finished = _timed(command, time_limit, (0, 1, 3))
    if finished is None:
        return None
    output, total = finished
    answer = json.loads(output)
    return Run(
        answer["cost"],
        answer["expanded"],
        answer["evaluated"],
        answer["cpu_seconds"],  # as Fast Downward counts
        total - answer["cpu_seconds"],
        answer["evaluated"],  # each state once
        answer["peak_bytes"],
    )


def _timed(
    command: Sequence[str], time_limit: float, answers: Container[int], **options: Any
) -> tuple[str, float] | None:
    """Output and seconds of the processor; None when these are up.

    The limit is one of the processor: on a busy machine the clock would end what hardly began.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limited = ["/bin/sh", "-c", f'ulimit -c 0; ulimit -S -t {ceil(time_limit)}; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, *command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode in OUT_OF_TIME:
        return None
    if done.returncode not in answers:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise ProgramFailedError(f"{command[0]} ended with {done.returncode}: {last}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, seconds


# Tasks.


def problems(folder: Path, only: Sequence[str]) -> Iterator[Path]:
    for domain in sorted(folder.glob("*/domain.pddl")):
        for problem in sorted((domain.parent / "problems").glob("*.pddl"), key=natural_order):
            label = f"{domain.parent.name}/{problem.stem}"
            if not only or any(part in label for part in only):
                yield problem


def natural_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", path.stem)]


def write_task(problem: Path, out: Path) -> bool:
    """The translator's ordinary output: what Plumbline keeps for policies would slow the other."""
    domain = problem.parents[1] / "domain.pddl"
    files = [str(path.resolve()) for path in (domain, problem)]
    command = [sys.executable, "-P", "-m", MODULE, "--sas-file", str(out.resolve()), *files]
    result = run_process(command, folder=out.parent, environment={"PYTHONHASHSEED": "0"})
    if result.return_code != 0:
        print(f"left out: {problem}: the translator failed", file=sys.stderr)
    return result.return_code == 0


# Measuring.


@dataclass
class Results:
    """All comparisons by heuristic, and how many broke."""

    comparisons: dict[str, list[Comparison]]
    failures: int = 0

    @property
    def all(self) -> list[Comparison]:
        return [item for items in self.comparisons.values() for item in items]


def measure(heuristics: Sequence[str], options: argparse.Namespace) -> Results:
    if hasattr(os, "sched_setaffinity"):
        core = max(os.sched_getaffinity(0)) if options.core is None else options.core
        os.sched_setaffinity(0, {core})  # inherited by everything started here
    results = Results({heuristic: [] for heuristic in heuristics})
    done: set[tuple[str, str]] = set()  # domains and heuristics that are measured no further
    with tempfile.TemporaryDirectory() as folder:
        sas = Path(folder) / "task.sas"
        print(table_row(name for name, _ in COLUMNS))
        for problem in problems(options.folder, options.only):
            domain = problem.parents[1].name
            left = [heuristic for heuristic in heuristics if (domain, heuristic) not in done]
            if not left or not write_task(problem, sas):
                continue
            for heuristic in left:
                try:
                    comparison = compare(problem, sas, heuristic, options)
                except ProgramFailedError as failure:
                    results.failures += 1
                    print(f"FAILED: {problem}: {failure}", flush=True)
                    continue
                results.comparisons[heuristic].append(comparison)
                print(f"{describe(comparison)}  {heuristic}", flush=True)
                if options.to_the_limit and comparison.theirs is None:
                    done.add((domain, heuristic))
    return results


def compare(problem: Path, sas: Path, heuristic: str, options: argparse.Namespace) -> Comparison:
    """The runs of both, in turn, with the medians of their times; short ones are run once."""
    theirs: list[Run] = []
    ours: list[Run] = []
    for _ in range(options.repeat):
        for runs, program in ((theirs, run_fast_downward), (ours, run_plumbline)):
            run = program(sas, heuristic, options.time_limit)
            if run is not None:
                runs.append(run)
        if not theirs or not ours or theirs[0].seconds < options.shortest:
            break
    return Comparison(problem.parents[1].name, problem.stem, typical(theirs), typical(ours))


def typical(runs: Sequence[Run]) -> Run | None:
    """All runs do the same work; only their times differ."""
    if not runs:
        return None
    first = runs[0]
    return Run(
        first.cost,
        first.expanded,
        first.evaluated,
        median(run.seconds for run in runs),
        median(run.startup for run in runs),
        first.states,
        first.bytes,
    )


# Tables.

COLUMNS = (
    ("task", 34),
    ("cost", 6),
    ("theirs s", 9),
    ("ours s", 9),
    ("ratio", 6),
    ("evaluated", 10),
    ("ours", 10),
    ("ratio", 6),
    ("B/state", 8),
    ("ours", 6),
    ("start s", 8),
    ("ours", 6),
)


def table_row(cells: Iterable[str]) -> str:
    padded = [
        cell.ljust(width) if number == 0 else cell.rjust(width)
        for number, (cell, (_, width)) in enumerate(zip(cells, COLUMNS, strict=True))
    ]
    return "  ".join(padded)


def describe(comparison: Comparison) -> str:
    theirs, ours = comparison.theirs, comparison.ours

    def show(run: Run | None, of: Callable[[Run], str]) -> str:
        return "limit" if run is None else of(run)

    def ratio(of: Callable[[Run], float]) -> str:
        value = comparison.ratio(of)
        return "" if value is None else f"{value:.2f}"

    def cost(run: Run) -> str:
        return "none" if run.cost is None else str(run.cost)

    costs = show(theirs or ours, cost)
    if comparison.costs_differ:
        costs = f"{show(theirs, cost)}!={show(ours, cost)}"
    return table_row(
        (
            f"{comparison.domain}/{comparison.problem}"[:34],
            costs,
            show(theirs, lambda run: f"{run.seconds:.3f}"),
            show(ours, lambda run: f"{run.seconds:.3f}"),
            ratio(lambda run: run.seconds),
            show(theirs, lambda run: str(run.evaluated)),
            show(ours, lambda run: str(run.evaluated)),
            ratio(lambda run: run.evaluated),
            show(theirs, lambda run: f"{run.bytes / max(run.states, 1):.0f}"),
            show(ours, lambda run: f"{run.bytes / max(run.states, 1):.0f}"),
            show(theirs, lambda run: f"{run.startup:.2f}"),
            show(ours, lambda run: f"{run.startup:.2f}"),
        )
    )


def long_enough(comparisons: Sequence[Comparison], shortest: float) -> list[Comparison]:
    """What both answered and can be measured."""
    return [
        item
        for item in comparisons
        if item.ours is not None
        and item.theirs is not None
        and shortest <= item.theirs.seconds <= 30
    ]


def summary(heuristic: str, comparisons: Sequence[Comparison], shortest: float) -> str:
    """Geometric means over the tasks that are long enough to be measured."""
    chosen = long_enough(comparisons, shortest)
    if not chosen:
        return f"{heuristic}: no task where theirs takes {shortest:g} to 30 s"

    def mean(of: Callable[[Run], float]) -> float:
        return geometric_mean(value for item in chosen if (value := item.ratio(of)) is not None)

    slowest = max(chosen, key=lambda item: item.ratio(lambda run: run.seconds) or 0)
    worst = slowest.ratio(lambda run: run.seconds) or 0
    return (
        f"{heuristic}: {len(chosen)} tasks where theirs takes {shortest:g} to 30 s: "
        f"time {mean(lambda run: run.seconds):.3f}, "
        f"evaluated {mean(lambda run: run.evaluated):.3f}, "
        f"time per evaluation {mean(lambda run: run.seconds / max(run.evaluated, 1)):.3f}, "
        f"bytes per state {mean(lambda run: run.bytes / max(run.states, 1)):.3f}; "
        f"slowest {worst:.2f} ({slowest.domain}/{slowest.problem})"
    )


def report(comparisons: Sequence[Comparison], failures: int) -> int:
    """What the costs say; the exit code."""
    compared = [item for item in comparisons if item.both_answered]
    different = [item for item in compared if item.costs_differ]
    domains = {item.domain for item in compared}
    print(
        f"costs: {len(compared) - len(different)} of {len(compared)} comparisons equal, "
        f"{len({(item.domain, item.problem) for item in compared})} tasks "
        f"of {len(domains)} domains"
    )
    for item in different:
        print(f"DIFFERENT: {item.domain}/{item.problem}")
    if failures:
        print(f"FAILED: {failures} comparisons, see above")
    return 1 if different or failures else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mode", choices=("times", "costs"), default="times")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="tasks named so")
    parser.add_argument("--repeat", type=int, default=3, help="runs per program and task")
    parser.add_argument("--time-limit", type=float, default=60, metavar="S", help="per run")
    parser.add_argument(
        "--configs", nargs="+", choices=CONFIGURATIONS, help="default: all; lmcut for the costs"
    )
    parser.add_argument("--shortest", type=float, default=0.2, metavar="S", help="in the means")
    parser.add_argument("--core", type=int, help="the core to use (default: the last one)")
    parser.add_argument(
        "--to-the-limit", action="store_true", help="no larger tasks of a domain after a limit"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.mode == "costs":
        options.repeat = 1
    heuristics = options.configs or (["lmcut"] if options.mode == "costs" else [*CONFIGURATIONS])
    results = measure(heuristics, options)
    print()
    if options.mode == "times":
        for heuristic, items in results.comparisons.items():
            print(summary(heuristic, items, options.shortest))
    return report(results.all, results.failures)


def rows(setting: Setting) -> Iterator[Row]:
    shortest = 0.2 if setting.data else 0.02  # the examples are small
    limit, repeat = setting.choose((2, 3), (1, 1))
    words = f"--time-limit {limit} --repeat {repeat} --shortest {shortest} --to-the-limit".split()
    results = measure([*CONFIGURATIONS], parse([str(setting.tasks), *words]))
    both = [item for item in results.all if item.both_answered]
    different = sum(item.costs_differ for item in both)
    yield mistakes("optimal costs unlike Fast Downward's", different, len(both))
    yield mistakes("programs that broke", results.failures, results.failures + len(results.all))
    for heuristic, comparisons in results.comparisons.items():
        chosen = long_enough(comparisons, shortest)
        for what, unit, of in (
            ("time", "s", lambda run: run.seconds),
            ("states evaluated", "states", lambda run: run.evaluated),
            ("memory per state", "bytes", lambda run: run.bytes / max(run.states, 1)),
        ):
            pairs = [(of(item.ours), of(item.theirs)) for item in chosen if item.ratio(of)]
            remark = f"tasks for which theirs takes {shortest:g} to {limit:g} s"
            yield compared(f"A* with {heuristic}: {what}", "Fast Downward", pairs, unit, remark)


if __name__ == "__main__":
    sys.exit(main())
