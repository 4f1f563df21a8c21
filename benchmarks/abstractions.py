"""Initial values of the abstraction heuristics against Fast Downward's, and the time to build them.

    python benchmarks/abstractions.py FOLDER [--only TEXT ...] [--configs cartesian ms]

FOLDER holds one folder per domain, with domain.pddl and problems/*.pddl; without --only a spread of
20 tasks is taken. Times are seconds of the processor, of theirs with what it needs to start. Where
a size limit is reached values may differ either way, since ties are broken in other ways. Exit
code 1: one of our values is above the cost of a plan that A* finds within --expansions.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measurement import Row, Setting, compared, mistakes
from search import problems, write_task

from engine.records.finding import INFINITY
from engine.search.forward import Outcome, SearchLimits, search
from engine.search.heuristics import build_cartesian, build_merge_and_shrink
from engine.search.planners import planner_path
from engine.task.sas import parse_sas
from engine.task.task import Task

CONFIGURATIONS = {
    "cartesian": (
        "cegar(subtasks=[landmarks(order=hadd_down,combine_facts=true),goals(order=hadd_down)],"
        "max_states=infinity,max_transitions=1M,max_time=infinity,pick=max_refined,"
        "use_general_costs=true)"
    ),
    "ms": (
        "merge_and_shrink(merge_strategy=merge_sccs(order_of_sccs=topological,"
        "merge_selector=score_based_filtering(scoring_functions=[goal_relevance(),dfp(),"
        "total_order()])),shrink_strategy=shrink_bisimulation(greedy=false),"
        "label_reduction=exact(before_shrinking=true,before_merging=false),"
        "max_states=50000,threshold_before_merge=1)"
    ),
}
"""Our name of the heuristic, and what Fast Downward is asked for."""

LONG = 0.05
"""Seconds from which on starting a program does not matter much."""

BUILD = {"cartesian": build_cartesian, "ms": build_merge_and_shrink}


@dataclass(frozen=True, slots=True)
class Value:
    """`h` is None for a start that is recognized as a dead end."""

    h: int | None
    seconds: float


def ours(task: Task, heuristic: str) -> Value:
    began = time.process_time()
    built = BUILD[heuristic](task)
    (value,) = built([task.init]).tolist()
    return Value(None if value == INFINITY else value, time.process_time() - began)


def theirs(sas: Path, heuristic: str, time_limit: float) -> Value | None:
    """None when the time is up."""
    command = [str(planner_path()), "--search", f"astar({CONFIGURATIONS[heuristic]},bound=0)"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder, sas.open() as task:
        try:
            done = subprocess.run(
                command,
                stdin=task,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=time_limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.findall(r"Initial heuristic value for .*: ([0-9]+|infinity)", done.stdout)
    if not found and "Initial state is a dead end" not in done.stdout:
        raise SystemExit(f"Fast Downward said nothing of its value: {done.stdout[-500:]}")
    return Value(int(found[-1]) if found and found[-1] != "infinity" else None, seconds)


def plan_cost(task: Task, expansions: int) -> int | None:
    result = search(task, "astar", "lmcut", limits=SearchLimits(expansions=expansions))
    return result.cost if result.outcome is Outcome.SOLVED else None


@dataclass(frozen=True, slots=True)
class Pair:
    """Both values of one task; `theirs` is None when their time was up."""

    heuristic: str
    ours: Value
    theirs: Value | None
    truth: int | None  # the cost of an optimal plan, where it is known

    @property
    def too_large(self) -> bool:
        return self.truth is not None and (self.ours.h is None or self.ours.h > self.truth)

    @property
    def order(self) -> int | None:
        """-1, 0 or 1: our value is smaller, equal or larger; None where one has none."""
        if self.theirs is None or self.ours.h is None or self.theirs.h is None:
            return None
        return (self.ours.h > self.theirs.h) - (self.ours.h < self.theirs.h)


def show(value: Value | None) -> tuple[str, str]:
    if value is None:
        return "limit", ""
    return "dead end" if value.h is None else str(value.h), f"{value.seconds:.2f}"


def row(*cells: str) -> str:
    return cells[0].ljust(36) + "".join(cell.rjust(10) for cell in cells[1:])


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="tasks named so")
    parser.add_argument("--spread", type=int, default=20, metavar="N", help="tasks, else")
    parser.add_argument("--configs", nargs="+", choices=CONFIGURATIONS, default=[*CONFIGURATIONS])
    parser.add_argument("--time-limit", type=float, default=120, metavar="S", help="for theirs")
    parser.add_argument("--expansions", type=int, default=20_000, metavar="N", help="for h*")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    pairs = measure(options)
    for heuristic in options.configs:
        print(f"{heuristic}: {summary([pair for pair in pairs if pair.heuristic == heuristic])}")
    return 1 if any(pair.too_large for pair in pairs) else 0


def rows(setting: Setting) -> Iterator[Row]:
    spread = setting.choose("12", "3")
    pairs = measure(parse([str(setting.tasks), "--time-limit", "20", "--spread", spread]))
    known = [pair for pair in pairs if pair.truth is not None]
    what = "initial values above the cost of an optimal plan"
    yield mistakes(what, sum(pair.too_large for pair in known), len(known))
    for heuristic in CONFIGURATIONS:
        mine = [pair for pair in pairs if pair.heuristic == heuristic]
        seconds = [
            (pair.ours.seconds, pair.theirs.seconds)
            for pair in mine
            if pair.theirs is not None and pair.theirs.seconds >= LONG
        ]
        remark = f"where theirs takes {LONG:g} s; of all {len(mine)} tasks {summary(mine)}"
        yield compared(f"building {heuristic}", "Fast Downward", seconds, "s", remark)


def summary(pairs: Sequence[Pair]) -> str:
    orders = [pair.order for pair in pairs]
    both = [(pair.ours.seconds, pair.theirs.seconds) for pair in pairs if pair.theirs is not None]
    return (
        f"our value is equal {orders.count(0)}, larger {orders.count(1)}, smaller "
        f"{orders.count(-1)} times; in all {sum(ours for ours, _ in both):.1f} s, "
        f"theirs {sum(theirs for _, theirs in both):.1f} s"
    )


def measure(options: argparse.Namespace) -> list[Pair]:
    listed = list(problems(options.folder, options.only))
    if not options.only:
        listed = [listed[i * len(listed) // options.spread] for i in range(options.spread)]
    pairs = []
    print(row("task", "", "ours", "theirs", "h*", "ours s", "theirs s"))
    with tempfile.TemporaryDirectory() as folder:
        sas = Path(folder) / "task.sas"
        for problem in listed:
            if not write_task(problem, sas):
                continue
            task = parse_sas(sas.read_text())
            truth = plan_cost(task, options.expansions)
            for heuristic in options.configs:
                other = theirs(sas, heuristic, options.time_limit)
                pair = Pair(heuristic, ours(task, heuristic), other, truth)
                pairs.append(pair)
                (h, seconds), (their_h, their_seconds) = show(pair.ours), show(other)
                name = f"{problem.parents[1].name}/{problem.stem}"[:35]
                known = "?" if truth is None else str(truth)
                line = row(name, heuristic, h, their_h, known, seconds, their_seconds)
                print(line + "  TOO LARGE" * pair.too_large, flush=True)
    return pairs


if __name__ == "__main__":
    sys.exit(main())
