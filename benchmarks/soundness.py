"""The long soundness run: many random tasks, policies of all qualities, every oracle.

    python benchmarks/soundness.py --tasks 2000
    python benchmarks/soundness.py --kind axioms --first 500 --tasks 250

Every oracle examines a policy of every task, by turns one of each quality. Prints what was
examined and flagged per oracle, and every false word an oracle said. Dominance values in evidence
are checked again, and policies are compared with other imperfect ones. A task has a number and is
always the same, so that a long run can be cut into slices.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import Row, Setting, mistakes
from reference.adl_tasks import axiom_task, conditional_task, eventful_task
from reference.soundness import Truth, check, comparing, imperfect, policies, random_task

from engine.dominance.checker import DominanceChecker
from engine.records.config import Factorization
from engine.task.task import Task

ORACLES = (
    *("astar", "gbfs", "gbfs:expansions=3", "ehc", "aras", "aras:expansions=5", "aras-ehc"),
    *("lookahead:depth=1", "lookahead", "lookahead:depth=3"),
    *("undo", "undo:dominance=true", "inverse", "inverse:plan=policy"),
    *("smo", "smo:factors=merged:40,local=none", "bmo", "bmo:lookahead=0,intermediate=false"),
    *("bmo:factors=merged:40,lookahead=5", "combined:lookahead=3", "combined:factors=merged:40"),
    *("pco-p", "pco-e", "pco-e:runs=2,probability=1", "composite:lookahead=2,expansions=3"),
)
FACTORIZATIONS = (Factorization(), Factorization(40))
KINDS: dict[str, Callable[[int], Task]] = {
    "plain": lambda number: random_task(Random(number)),
    "conditional": lambda number: eventful_task(conditional_task, number),
    "axioms": lambda number: eventful_task(axiom_task, number),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="plain")
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first task")
    parser.add_argument("--oracle", action="append", help="default: all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PLUMBLINE_CACHE_DIR"] = cache
        numbers = range(options.first, options.first + options.tasks)
        found = run(options.oracle or ORACLES, numbers, options.kind)
    return 1 if found.violations or found.missed else 0


@dataclass
class Found:
    """By oracle what was examined and flagged; all that was false, and what A* missed."""

    examined: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    missed: int = 0


def rows(setting: Setting) -> Iterator[Row]:
    for kind in KINDS:
        numbers = range(setting.choose(40, 6))
        found = run(ORACLES, numbers, kind)
        remark = f"{len(ORACLES)} oracles on {len(numbers)} tasks, {found.flagged.total()} flagged"
        yield mistakes(
            f"states with a false word of an oracle ({kind} tasks)",
            found.violations,
            found.examined.total(),
            remark,
        )
        yield mistakes(f"bugs that A* missed ({kind} tasks)", found.missed, found.examined["astar"])


def run(oracles: Sequence[str], numbers: range, kind: str = "plain") -> Found:
    began = time.process_time()
    found = Found()
    for number in numbers:
        _examine(oracles, KINDS[kind](number), number, found)
    for oracle in oracles:
        examined, flagged = found.examined[oracle], found.flagged[oracle]
        print(f"{oracle:<36} {examined:>8} examined {flagged:>7} flagged")
    print(f"{found.missed} bugs that A* missed")
    seconds = time.process_time() - began
    print(
        f"{kind} tasks {numbers.start} to {numbers.stop - 1}: {found.violations} violations, "
        f"{found.examined.total()} examined, {found.flagged.total()} flagged, {seconds:.0f} CPU s"
    )
    return found


def _examine(oracles: Sequence[str], task: Task, number: int, found: Found) -> None:
    random = Random(number)
    truth = Truth.of(task, everything=True)
    dominance = DominanceChecker(task, FACTORIZATIONS)
    make = comparing(imperfect(truth, random))
    made = list(policies(truth, random))
    for position, oracle in enumerate(oracles):
        name, policy = made[(number + position) % len(made)]
        limit = random.choice((None, None, 1, 3))
        checked = check(
            truth, policy, oracle, step_limit=limit, seed=number, make=make, dominance=dominance
        )
        found.examined[oracle] += len(checked.tested)
        found.flagged[oracle] += len(checked.flagged)
        for violation in checked.violations:
            found.violations += 1
            print(f"task {number}, policy {name}, {oracle}, step limit {limit}: {violation}")
        if name == "optimal" and checked.flagged:
            found.violations += 1
            print(f"task {number}, {oracle}: flagged an optimal policy on {checked.flagged}")
        if oracle == "astar" and limit is None:
            bugs = {s for s in checked.tested if truth.policy_cost(policy, s) > truth.hstar[s]}
            missed = bugs - checked.flagged
            found.missed += len(missed)
            for state in sorted(missed):
                print(f"task {number}, policy {name}: A* missed {state}")


if __name__ == "__main__":
    sys.exit(main())
