"""Compare policy costs and oracle flags with golden tables of a reference tool.

    python benchmarks/peer.py FOLDER

FOLDER holds one folder per task with `output.sas`, `pool.txt` and `<policy>.table.json`. Policy
costs, A* flags with their gaps, and look-ahead flag sets must be equal; every mismatch is shown.
Enforced hill-climbing takes the first better state that it meets, so its plans depend on the order
of the operators: its flags must be equal up to that, and a flag that no order gives is a mismatch.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
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
from engine.search.forward import search
from engine.task.load import load_sas
from engine.task.states import StateTable
from engine.task.task import Task

LOOKAHEAD = {"bla1": 1, "bla2": 2, "bla3": 3}
ORDERS = 60
"""Of the operators, that are tried for a flag of enforced hill-climbing."""


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
        "policy costs, flags of A*, look-ahead and EHC as the reference tool's",
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
    ours = list(map(bool, flags(runs, ids, "ehc")))
    for number, row in enumerate(golden_rows):
        wanted = bool(row["flags"].get("ehc"))
        if ours[number] != wanted:
            state, limit = entries[number].state, row["policy_cost"]
            others = ehc_flags(task, state, None if limit < 0 else limit)
            print(f"  entry {number}: ehc flags it in {sum(others)} of {ORDERS} orders")
            ours[number] = wanted if wanted in others else ours[number]
    golden_flags = [bool(flag) for flag in expected(golden_rows, "ehc")]
    wrong += show(title, "ehc up to orders", ours, golden_flags)
    return (3 + len(LOOKAHEAD)) * len(golden_rows), wrong


def ehc_flags(task: Task, state: tuple[int, ...], limit: int | None) -> list[bool]:
    """Whether enforced hill-climbing finds a plan below the limit, for several orders."""
    chance = random.Random(0)
    found = []
    for _ in range(ORDERS):
        operators = tuple(chance.sample(task.operators, len(task.operators)))
        shuffled = replace(task, operators=operators)
        found.append(search(shuffled, "ehc", "ff", state=state, bound=limit).plan is not None)
    return found


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
