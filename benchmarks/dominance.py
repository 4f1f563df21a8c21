"""Compare dominance values and the metamorphic oracles with golden tables of a reference tool.

    python benchmarks/dominance.py FOLDER

FOLDER holds one folder per task with `output.sas`, `pool.txt`, `dom_atomic.json` and
`<policy>.table.json`. Variant B must equal the golden values, R must not be below them and must
hold against h*; SMO and BMO must flag whatever the reference flags, and nothing that is no bug.
States per second are by CPU time, with all policy runs, the best of some passes from scratch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measurement import Row, Setting, mistakes

from engine.dominance.compute import Variant, compute
from engine.dominance.function import NO_SUM, NO_VALUE, DominanceFunction
from engine.fuzzing.pool_file import read_pool
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession
from engine.policies.builtin import open_builtin
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization
from engine.records.evidence import State
from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.task.load import load_sas
from engine.task.states import StateTable
from engine.task.task import Task

ORACLES = {
    "smo_atomic_all": "smo:maxsize=100000,local=none",
    "bmo_atomic_plain": "bmo:lookahead=0,local=none,intermediate=false",
    "bmo_1k_plain": "bmo:factors=merged:1000,lookahead=0,local=none,intermediate=false",
    "bmo_1k_ff_interm": "bmo:factors=merged:1000,lookahead=100",
    "combined": "combined:factors=merged:1000",
}
PASSES = 5
SAMPLE = 300
"""Solvable states s per task whose D(s, t) is held against h* for all t."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What one oracle flags in the pool of one golden table."""

    oracle: str
    states: int
    bugs: int  # found, of the pool
    reference: int  # found by the reference tool
    wrong: int
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    values, flags = compare(parser.parse_args().folder, PASSES)
    wrong = sum(wrong for _, wrong in values) + sum(item.wrong for item in flags)
    print(f"{wrong} mismatches")
    return 1 if wrong else 0


def rows(setting: Setting) -> Iterator[Row]:
    values, flags = compare(setting.published("peer"), setting.choose(PASSES, 1))
    yield mistakes(
        "dominance values against the reference tool's and h*",
        sum(wrong for _, wrong in values),
        sum(count for count, _ in values),
        f"golden values of {len(values)} tasks, all four functions",
    )
    yield mistakes(
        "flags against the reference tool's and h*",
        sum(item.wrong for item in flags),
        sum(item.states for item in flags),
        "missed, or no bug",
    )
    for oracle in ORACLES:
        mine = [item for item in flags if item.oracle == oracle]
        states, seconds = sum(item.states for item in mine), sum(item.seconds for item in mine)
        theirs = sum(item.reference for item in mine) or None  # it lacks the last one
        yield Row(
            f"bugs in pools: {oracle}",
            sum(item.bugs for item in mine),
            "bugs",
            "reference tool" if theirs else "",
            theirs,
            instances=states,
            remark=f"{states / seconds:.0f} states/s with all policy runs",
        )


def compare(folder: Path, passes: int) -> tuple[list[tuple[int, int]], list[Flags]]:
    """By task how many golden values there are and how many of ours are wrong, and all flags."""
    values, flags = [], []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PLUMBLINE_CACHE_DIR"] = cache
        for path in sorted(folder.glob("*/output.sas")):
            task = load_sas(path)
            values.append(compare_values(path.parent, task))
            for table in sorted(path.parent.glob("*.table.json")):
                flags += compare_flags(table, task, passes)
    return values, flags


def compare_values(folder: Path, task: Task) -> tuple[int, int]:
    """Atomic values against the golden ones, and all against h*."""
    golden = json.loads((folder / "dom_atomic.json").read_text())["vars"]
    wanted = {(v, u, r): d for v, rows in enumerate(golden) for u, r, d in rows}
    wrong = 0
    for variant in Variant:
        began = time.perf_counter()
        function = compute(task, Factorization(), variant)
        seconds = time.perf_counter() - began
        ours = atomic_values(function)
        less = sum(ours.get(key, NO_SUM) < value for key, value in wanted.items())
        greater = sum(value > wanted.get(key, NO_SUM) for key, value in ours.items())
        invalid = count_invalid(task, function)
        print(
            f"{folder.name} {variant.value}: {less} less, {greater} greater of {len(wanted)}, "
            f"{invalid} invalid, {seconds:.3f} s"
        )
        wrong += invalid
        wrong += less + greater if variant is Variant.B else 0
        wrong += less if variant is Variant.R else 0
    for transitions in (1000, 10_000):
        began = time.perf_counter()
        function = compute(task, Factorization(transitions))
        seconds = time.perf_counter() - began
        invalid = count_invalid(task, function)
        sizes = [factor.n_states for factor in function.factors]
        print(
            f"{folder.name} merged:{transitions}: {invalid} invalid, factors {sizes}, "
            f"{seconds:.2f} s"
        )
        wrong += invalid
    return len(wanted), wrong


def atomic_values(function: DominanceFunction) -> dict[tuple[int, int, int], int]:
    found = {}
    for variable, factor in enumerate(function.factors):
        values = factor.places.tolist()
        for s, t in np.argwhere(factor.table != NO_VALUE).tolist():
            if s != t:
                found[variable, values[s], values[t]] = int(factor.table[s, t])
    return found


def count_invalid(task: Task, function: DominanceFunction) -> int:
    table, hstar = hstar_all(task, "product")
    ids = function.ids(table.values(np.arange(len(table))))
    solvable = np.flatnonzero(hstar != INFINITY)
    chosen = np.random.default_rng(0).permutation(solvable)[:SAMPLE]
    invalid = 0
    for s in chosen.tolist():
        claims = function.from_one(ids[s], ids)
        finite = np.flatnonzero(claims != NO_SUM)
        dead = hstar[finite] == INFINITY
        invalid += int(dead.sum())
        invalid += int((claims[finite][~dead] > hstar[s] - hstar[finite][~dead]).sum())
    return invalid


def compare_flags(path: Path, task: Task, passes: int) -> Iterator[Flags]:
    golden = json.loads(path.read_text())
    pool = golden["pool"]
    entries = read_pool(path.parent / "pool.txt", task)
    states = [entry.state for entry in entries]
    for name, text in ORACLES.items():
        examined = [examine(task, golden["policy"], states, text) for _ in range(passes)]
        session, ids, _ = examined[0]
        seconds = min(seconds for _, _, seconds in examined)
        flagged = {i for i, state in enumerate(ids) if state in session.findings}
        expected = {i for i, row in enumerate(pool) if name in row["flags"]}
        false = {i for i in flagged if not is_bug(pool[i])}
        low = {i for i in flagged if session.findings[ids[i]].bound < (pool[i]["hstar"] or 0)}
        bugs = sum(map(is_bug, pool))
        print(
            f"{golden['task']} {golden['policy']} {name}: {len(flagged)} of {bugs} bugs, reference "
            f"{len(expected)}, missed {sorted(expected - flagged)}, false {sorted(false | low)}, "
            f"{len(session.findings) - len(flagged)} others, {len(ids) / seconds:.0f} states/s"
        )
        wrong = len(expected - flagged) + len(false | low)
        yield Flags(name, len(ids), len(flagged), len(expected), wrong, seconds)


def examine(
    task: Task, policy: str, states: list[State], oracle: str
) -> tuple[OracleSession, list[int], float]:
    """Run a policy on all states at once, then let an oracle examine them in their order."""
    table = StateTable(task)
    runs = PolicyRuns(open_builtin(policy, 0).bind(task), table)
    ids = table.add(states).tolist()
    session = OracleSession(runs, OBJECTIVES["any"])
    working = make_oracle(oracle, session)
    began = time.process_time()
    runs.run(ids)
    for state in ids:
        session.test(state, working)
    return session, ids, time.process_time() - began


def is_bug(row: dict[str, Any]) -> bool:
    hstar, cost = row["hstar"], row["policy_cost"]
    return hstar is not None and (cost == -1 or cost > hstar)


if __name__ == "__main__":
    sys.exit(main())
