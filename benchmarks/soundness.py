"""The long soundness run: many random tasks, policies of all qualities, every oracle.

    python benchmarks/soundness.py --tasks 2000

Prints what was examined and flagged per oracle, and every false word an oracle said. Dominance
values in evidence are checked again, and policies are compared with other imperfect ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import Row, Setting, mistakes
from reference.soundness import Truth, check, comparing, imperfect, policies, random_task

from engine.dominance.checker import DominanceChecker
from engine.records.config import Factorization

ORACLES = (
    *("astar", "gbfs", "gbfs:expansions=3", "ehc", "aras", "aras:expansions=5", "aras-ehc"),
    *("lookahead:depth=1", "lookahead", "lookahead:depth=3", "undo", "inverse"),
    *("smo", "smo:factors=merged:40,local=none", "bmo", "bmo:lookahead=0,intermediate=false"),
    *("bmo:factors=merged:40,lookahead=5", "combined:lookahead=3", "combined:factors=merged:40"),
    *("pco-p", "pco-e", "pco-e:runs=2,probability=1", "composite:lookahead=2,expansions=3"),
)
FACTORIZATIONS = (Factorization(), Factorization(40))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--oracle", action="append", help="default: all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PLUMBLINE_CACHE_DIR"] = cache
        found = run(options.oracle or ORACLES, options.tasks, options.seed)
    return 1 if found.violations or found.missed else 0


@dataclass
class Found:
    """By oracle what was examined and flagged; all that was false, and what A* missed."""

    examined: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    missed: int = 0


def rows(setting: Setting) -> Iterator[Row]:
    tasks = setting.choose(100, 20)
    found = run(ORACLES, tasks, 0)
    remark = f"{len(ORACLES)} oracles on {tasks} random tasks, {found.flagged.total()} flagged"
    yield mistakes(
        "states with a false word of an oracle", found.violations, found.examined.total(), remark
    )
    yield mistakes("bugs that A* missed", found.missed, found.examined["astar"])


def run(oracles: Sequence[str], tasks: int, seed: int) -> Found:
    began = time.monotonic()
    found = Found()
    for number in range(tasks):
        random = Random(f"{seed}/{number}")
        truth = Truth.of(random_task(random), everything=True)
        dominance = DominanceChecker(truth.task, FACTORIZATIONS)
        make = comparing(imperfect(truth, random))
        for position, (name, policy) in enumerate(policies(truth, random)):
            # Each oracle meets every kind of policy, though not all of them on every task.
            oracle = oracles[(number + position) % len(oracles)]
            limit = random.choice((None, None, 1, 3))
            checked = check(
                truth,
                policy,
                oracle,
                step_limit=limit,
                seed=number,
                make=make,
                dominance=dominance,
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
                found.missed += len(bugs - checked.flagged)
    for oracle in oracles:
        examined, flagged = found.examined[oracle], found.flagged[oracle]
        print(f"{oracle:<36} {examined:>8} examined {flagged:>7} flagged")
    print(f"{found.missed} bugs that A* missed")
    print(f"{found.violations} violations on {tasks} tasks in {time.monotonic() - began:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(main())
