"""Compare policy costs and oracle flags with golden tables of a reference tool.

    python benchmarks/peer.py FOLDER

FOLDER holds one folder per task with `output.sas`, `pool.txt` and `<policy>.table.json`. Policy
costs, A* flags with their gaps, and look-ahead flag sets must be equal; every mismatch is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measurement import Row, Setting, mistakes

from engine.fuzzing.pool_file import read_pool
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession
from engine.policies.builtin import open_builtin
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.task.load import load_sas
from engine.task.states import StateTable

LOOKAHEAD = {"bla1": 1, "bla2": 2, "bla3": 3}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    compared = compare_all(parser.parse_args().folder)
    mismatches = sum(wrong for _, wrong in compared)
    print(f"{mismatches} mismatches")
    return 1 if mismatches else 0


def rows(setting: Setting) -> Iterator[Row]:
    compared = compare_all(setting.published("peer"))
    yield mistakes(
        "policy costs, A* and look-ahead flags as the reference tool's",
        sum(wrong for _, wrong in compared),
        sum(values for values, _ in compared),
        f"golden values of {len(compared)} tables",
    )


def compare_all(folder: Path) -> list[tuple[int, int]]:
    """By table how many values were compared, and how many of them differ."""
    return [compare(table) for table in sorted(folder.glob("*/*.table.json"))]


def compare(path: Path) -> tuple[int, int]:
    """The numbers of values and of mismatches of one table."""
    golden = json.loads(path.read_text())
    task = load_sas(path.parent / "output.sas")
    entries = read_pool(path.parent / "pool.txt", task)
    table = StateTable(task)
    runs = PolicyRuns(open_builtin(golden["policy"], 0).bind(task), table)
    ids = table.add([entry.state for entry in entries]).tolist()
    results = runs.run(ids)
    golden_rows = golden["pool"]
    costs = [
        int(cost) if outcome == RunOutcome.SOLVED else -1
        for outcome, cost in zip(results.outcome, results.cost, strict=True)
    ]
    title = f"{golden['task']} {golden['policy']}"
    wrong = show(title, "policy costs", costs, [row["policy_cost"] for row in golden_rows])
    wrong += show(title, "astar flags", flags(runs, ids, "astar"), expected(golden_rows, "astar"))
    for name, depth in LOOKAHEAD.items():
        found = map(bool, flags(runs, ids, f"lookahead:depth={depth}"))
        wanted = map(bool, expected(golden_rows, name))
        wrong += show(title, name, list(found), list(wanted))
    return (2 + len(LOOKAHEAD)) * len(golden_rows), wrong


def flags(runs: PolicyRuns, ids: list[int], name: str) -> list[list[int] | None]:
    """[gap or -1, bound] per pool state, None where the oracle itself flags nothing."""
    session = OracleSession(runs, OBJECTIVES["any"])
    oracle = make_oracle(name, session)
    began = time.perf_counter()
    answers: list[list[int] | None] = []
    for state in ids:
        examination = session.test(state, oracle)
        limit = session.needs_less_than(state)
        if limit is None or examination.bound >= limit:
            answers.append(None)
        else:
            solved = session.policy_result(state)[0] is RunOutcome.SOLVED
            answers.append([limit - examination.bound if solved else -1, examination.bound])
    print(f"  {name}: {time.perf_counter() - began:.2f} s")
    return answers


def expected(rows: list[dict[str, Any]], oracle: str) -> list[list[int] | None]:
    return [row["flags"].get(oracle) for row in rows]


def show(title: str, what: str, ours: list[Any], golden: list[Any]) -> int:
    wrong = [i for i, (a, b) in enumerate(zip(ours, golden, strict=True)) if a != b]
    flagged = sum(value not in (None, False) for value in golden)
    print(f"{title}: {what}: {len(golden) - len(wrong)}/{len(golden)} equal ({flagged} golden)")
    for i in wrong[:5]:
        print(f"  entry {i}: ours {ours[i]}, golden {golden[i]}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
