"""The long soundness run: many random tasks, policies of all qualities, every oracle.

    python benchmarks/soundness.py --tasks 2000

Prints what was examined and flagged per oracle, and every false word an oracle said.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from reference.soundness import Truth, check, policies, random_task

ORACLES = (
    *("astar", "gbfs", "gbfs:expansions=3", "ehc", "aras", "aras:expansions=5", "aras-ehc"),
    *("lookahead:depth=1", "lookahead", "lookahead:depth=3", "undo", "inverse"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--oracle", action="append", help="default: all")
    options = parser.parse_args()
    oracles = options.oracle or ORACLES
    began = time.monotonic()
    examined, flagged, missed, violations = Counter[str](), Counter[str](), Counter[str](), 0
    for number in range(options.tasks):
        random = Random(f"{options.seed}/{number}")
        truth = Truth.of(random_task(random))
        for position, (name, policy) in enumerate(policies(truth, random)):
            # Each oracle meets every kind of policy, though not all of them on every task.
            oracle = oracles[(number + position) % len(oracles)]
            limit = random.choice((None, None, 1, 3))
            checked = check(truth, policy, oracle, step_limit=limit, seed=number)
            examined[oracle] += len(checked.tested)
            flagged[oracle] += len(checked.flagged)
            for violation in checked.violations:
                violations += 1
                print(f"task {number}, policy {name}, {oracle}, step limit {limit}: {violation}")
            if name == "optimal" and checked.flagged:
                violations += 1
                print(f"task {number}, {oracle}: flagged an optimal policy on {checked.flagged}")
            if oracle == "astar" and limit is None:
                bugs = {s for s in checked.tested if truth.policy_cost(policy, s) > truth.hstar[s]}
                missed[oracle] += len(bugs - checked.flagged)
    for oracle in oracles:
        print(f"{oracle:<20} {examined[oracle]:>8} examined {flagged[oracle]:>7} flagged")
    print(f"{missed.total()} bugs that A* missed")
    print(f"{violations} violations on {options.tasks} tasks in {time.monotonic() - began:.0f} s")
    return 1 if violations or missed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
