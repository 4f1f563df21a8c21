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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from search import problems, write_task

from engine.native.library import INFINITY
from engine.search.cartesian import build_cartesian
from engine.search.forward import Outcome, SearchLimits, search
from engine.search.merge_and_shrink import build_merge_and_shrink
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

BUILD = {"cartesian": build_cartesian, "ms": build_merge_and_shrink}

SPREAD = 20
"""Tasks that are taken when none are asked for, evenly from all."""


@dataclass(frozen=True, slots=True)
class Value:
    """`h` is None for a start that is recognised as a dead end."""

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
    parser.add_argument("--configs", nargs="+", choices=CONFIGURATIONS, default=[*CONFIGURATIONS])
    parser.add_argument("--time-limit", type=float, default=120, metavar="S", help="for theirs")
    parser.add_argument("--expansions", type=int, default=20_000, metavar="N", help="for h*")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    listed = list(problems(options.folder, options.only))
    if not options.only:
        listed = [listed[i * len(listed) // SPREAD] for i in range(SPREAD)]
    too_large = 0
    totals = {heuristic: [0, 0, 0, 0.0, 0.0] for heuristic in options.configs}
    print(row("task", "", "ours", "theirs", "h*", "ours s", "theirs s"))
    with tempfile.TemporaryDirectory() as folder:
        sas = Path(folder) / "task.sas"
        for problem in listed:
            if not write_task(problem, sas):
                continue
            task = parse_sas(sas.read_text())
            truth = plan_cost(task, options.expansions)
            for heuristic in options.configs:
                mine, other = ours(task, heuristic), theirs(sas, heuristic, options.time_limit)
                (h, seconds), (their_h, their_seconds) = show(mine), show(other)
                wrong = truth is not None and (mine.h is None or mine.h > truth)
                too_large += wrong
                name = f"{problem.parents[1].name}/{problem.stem}"[:35]
                known = "?" if truth is None else str(truth)
                line = row(name, heuristic, h, their_h, known, seconds, their_seconds)
                print(line + "  TOO LARGE" * wrong, flush=True)
                if other is not None and mine.h is not None and other.h is not None:
                    count = totals[heuristic]
                    count[((mine.h > other.h) - (mine.h < other.h)) % 3] += 1
                    count[3] += mine.seconds
                    count[4] += other.seconds
    for heuristic, (equal, larger, smaller, mine_s, other_s) in totals.items():
        print(
            f"{heuristic}: ours is equal {equal}, larger {larger}, smaller {smaller} times; "
            f"{mine_s:.1f} s, theirs {other_s:.1f} s"
        )
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
