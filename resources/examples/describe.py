"""Measures the example problems and writes the table of README.md: `describe.py [--write]`.

Every reachable state is counted, and the optimal cost is found by A* with LM-cut of Fast
Downward, whose plan is replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.search.planners import Planner, run_planner
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
BEGIN, END = "<!-- table: made by describe.py -->\n", "<!-- end of table -->\n"


def reachable_states(task: Task) -> int:
    table = StateTable(task)
    fringe = table.add(task.init)
    while fringe.size:
        known = len(table)
        table.successors_of(fringe)
        fringe = np.arange(known, len(table), dtype=np.int32)
    return len(table)


def rows() -> Iterator[str]:
    yield "| problem | variables | operators | states | optimal cost | steps |\n"
    yield "|---|--:|--:|--:|--:|--:|\n"
    for domain in sorted(HERE.glob("*/domain.pddl")):
        for problem in sorted((domain.parent / "problems").glob("*.pddl")):
            task = load_task(domain, problem)
            plan = run_planner(Planner.ASTAR_LMCUT, task).plan
            if plan is None:
                raise SystemExit(f"{problem} has no plan")
            cells = (
                f"{domain.parent.name}/{problem.stem}",
                len(task.variables),
                len(task.operators),
                reachable_states(task),
                plan.cost,
                len(plan.operators),
            )
            yield f"| {' | '.join(map(str, cells))} |\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the example problems.")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args(arguments)
    table = "".join(rows())
    if not options.write:
        sys.stdout.write(table)
        return 0
    head, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    README.write_text(head + BEGIN + table + END + tail, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
