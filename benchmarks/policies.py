"""Policies against published results, and how many decisions they make per second.

    python benchmarks/policies.py FOLDER [--only golden|throughput]

FOLDER holds `asnets/<domain>`, `gnn/<domain>` (domain.pddl, problems/, one policy, golden plans)
and `peer/<task>` (output.sas, `<policy>.table.json`). Parts that are not there are left out.
Throughput is CPU time of one thread, so that it can be compared on a busy machine. Its last column
is what batches could gain a network of torch at most: if matrix products were all that is left to
do in a batch, at the rate they have alone on this core.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from engine.native.library import Int32Array  # before numpy, which then has one thread

# isort: split
import numpy as np
import torch
from measurement import Row, Setting, compared, mistakes
from torch.utils.flop_counter import FlopCounterMode

from engine.policies.policy import Policy, Probabilistic, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.task.load import load_sas, load_task
from engine.task.states import StateTable
from engine.task.task import Task

BATCHES = (1, 16, 128, 512)
CALLS_SECONDS = 0.5  # how long each batch size is measured
STEPS_PER_STATE = 4  # how long a walk may be that looks for new states
PROBABILITY_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Suite:
    """One domain with its policy; golden files are named after the problem."""

    kind: str
    folder: Path
    golden: Path
    prefix: str

    @property
    def policy(self) -> Policy:
        (path,) = (p for p in self.folder.iterdir() if p.suffix in (".policy", ".ckpt"))
        return open_policy(str(path))

    @property
    def problems(self) -> list[Path]:
        return sorted((self.folder / "problems").glob("*.pddl"))

    def task(self, problem: Path) -> Task:
        # Published plans count actions, and some problems lack the costs of their domain.
        return load_task(self.folder / "domain.pddl", problem, unit_costs=True)

    def golden_plan(self, problem: Path) -> list[str] | None:
        path = self.golden / f"{self.prefix}{problem.stem}.plan"
        if not path.exists():
            return None
        return [line.strip().strip("()") for line in path.read_text().splitlines() if line.strip()]


def suites(folder: Path) -> Iterator[Suite]:
    for domain in sorted(folder.glob("asnets/*")):
        yield Suite("asnets", domain, domain / "golden", "")
    for domain in sorted(folder.glob("gnn/*/domain.pddl")):
        name = domain.parent.name
        yield Suite("gnn", domain.parent, folder / "gnn" / "golden", f"{name}__")


def check_suite(suite: Suite) -> tuple[int, int]:
    """Run every problem, compare plans and probabilities; how many, and how many complaints."""
    complaints: list[str] = []
    policy = suite.policy
    solved = compared = 0
    worst = 0.0
    started = time.process_time()
    for problem in suite.problems:
        task = suite.task(problem)
        bound = policy.bind(task)
        table = StateTable(task)
        runs = PolicyRuns(bound, table)
        start = int(table.add(task.init)[0])
        runs.run(start, step_limit=1000)
        run = runs.trace(start)
        solved += run.outcome is RunOutcome.SOLVED
        plan = [task.operators[operator].name for operator in run.operators]
        if run.outcome is not RunOutcome.SOLVED:
            complaints.append(f"{problem.name}: {run.outcome} ({run.reason})")
        golden = suite.golden_plan(problem)
        if golden is not None:
            compared += 1
            complaints += _plan_differences(suite, problem, plan, golden)
        probabilities = suite.golden / f"{problem.stem}.first_state.json"
        if suite.kind == "asnets" and probabilities.exists():
            assert isinstance(bound, Probabilistic)
            difference = _probability_difference(task, bound, json.loads(probabilities.read_text()))
            worst = max(worst, difference)
            if difference > PROBABILITY_TOLERANCE:
                complaints.append(f"{problem.name}: probabilities differ by {difference:.1e}")
    seconds = time.process_time() - started
    detail = f", probabilities within {worst:.0e}" if suite.kind == "asnets" else ""
    print(
        f"{suite.kind} {suite.folder.name}: {solved}/{len(suite.problems)} solved, "
        f"{compared} golden plans compared{detail}, {seconds:.1f} s CPU"
    )
    for complaint in complaints:
        print(f"  {complaint}")
    return len(suite.problems), len(complaints)


def _plan_differences(
    suite: Suite, problem: Path, plan: list[str], golden: list[str]
) -> Iterator[str]:
    """From the first difference on plans may differ; it counts unless it was a tie."""
    if plan == golden:
        return
    step = next(
        (i for i, pair in enumerate(zip(plan, golden, strict=False)) if pair[0] != pair[1]),
        min(len(plan), len(golden)),
    )
    table = suite.golden / f"{problem.stem}.steps.tsv"
    if table.exists():
        with table.open() as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        if step < len(rows) and int(rows[step]["n_tied"]) > 1:
            print(f"  {problem.name}: another of the tied actions at step {step}")
            return
    yield f"{problem.name}: differs from the golden plan at step {step}"


def _probability_difference(task: Task, bound: Probabilistic, golden: dict) -> float:
    shares = bound.distribution(np.array([task.init], dtype=np.int32))[0]
    expected = np.zeros(len(shares))
    for item in golden["applicable"]:
        expected[task.operator_index[item["action"]]] = item["prob"]
    return float(np.abs(shares - expected).max())


def check_peer(folder: Path) -> tuple[int, int]:
    """Policy costs of the built-in policies for every entry of the reference tool's pools."""
    costs_compared = complaints = 0
    for path in sorted(folder.glob("*.table.json")):
        name = path.name.split(".")[0]
        entries = json.loads(path.read_text())["pool"]
        task = load_sas(folder / "output.sas")
        table = StateTable(task)
        runs = PolicyRuns(open_policy(f"builtin:{name}").bind(task), table)
        results = runs.run(table.add([entry["state"] for entry in entries]))
        costs = np.where(results.outcome == RunOutcome.SOLVED, results.cost, -1).tolist()
        wrong = sum(
            cost != entry["policy_cost"] for cost, entry in zip(costs, entries, strict=True)
        )
        print(f"peer {folder.name} {name}: {len(entries) - wrong}/{len(entries)} costs equal")
        complaints += wrong
        costs_compared += len(entries)
    return costs_compared, complaints


def measure(suite: Suite, problem: Path) -> list[float]:
    """Decisions per second of CPU time, by batch size, on states that are all different."""
    task = suite.task(problem)
    started = time.process_time()
    bound = suite.policy.bind(task)
    bind_seconds = time.process_time() - started
    states = _states(task, max(BATCHES))
    batches = [states[np.arange(size) % len(states)] for size in BATCHES]
    rates = [len(batch) / _seconds_per_call(partial(bound.decide, batch)) for batch in batches]
    figures = "  ".join(f"{rate:>9.0f}" for rate in rates)
    with FlopCounterMode(display=False) as counter:
        bound.decide(batches[2])
    flops = counter.get_total_flops() / len(batches[2])  # 0: it does not decide by torch
    limit = f"{_product_rate() / flops / rates[0]:>5.1f}x" if flops else "    -"
    print(
        f"{suite.kind:<7}{suite.folder.name:<12}{problem.stem[-24:]:<25}{len(task.operators):>6}"
        f"{bind_seconds:>7.2f}  {1000 / rates[0]:>7.2f}  {figures}  {rates[2] / rates[0]:>7.1f}x"
        f"  {limit}"
    )
    return rates


def _states(task: Task, count: int) -> Int32Array:
    """States of a random walk from the initial one, each once: a run asks about no state twice."""
    table = StateTable(task)
    random = np.random.default_rng(0)
    state = int(table.add(task.init)[0])
    visited = {state: None}
    for _ in range(STEPS_PER_STATE * count):
        _, successors = table.successors(state)
        state = int(random.choice(successors)) if len(successors) else next(iter(visited))
        visited[state] = None
    return table.values(np.array(list(visited)[:count]))


def _seconds_per_call(call: Callable[[], object]) -> float:
    call()
    best, spent = float("inf"), 0.0
    while spent < CALLS_SECONDS:
        started = time.process_time()
        call()
        seconds = time.process_time() - started
        best, spent = min(best, seconds), spent + seconds
    return best


@cache
def _product_rate() -> float:
    """Floating point operations per second in matrix products of the size networks have."""
    rows, size = 1024, 128
    left, right, result = torch.rand(rows, size), torch.rand(size, size), torch.empty(rows, size)
    return 2 * rows * size**2 / _seconds_per_call(partial(torch.mm, left, right, out=result))


THROUGHPUT: dict[tuple[str, str], Callable[[list[Path]], list[Path]]] = {
    ("asnets", "gripper"): lambda paths: [paths[0], paths[-1]],
    ("asnets", "visitall"): lambda paths: paths[-1:],
    ("asnets", "floortile"): lambda paths: paths[-1:],
    ("asnets", "satellite"): lambda paths: [paths[2], paths[-1]],
    ("asnets", "transport"): lambda paths: [paths[0], paths[3]],
    ("asnets", "blocksworld"): lambda paths: [paths[0], paths[-1]],
    ("gnn", "blocks"): lambda paths: paths[-1:],
    ("gnn", "miconic"): lambda paths: paths[-1:],
    ("gnn", "delivery"): lambda paths: paths[-1:],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("golden", "throughput"))
    arguments = parser.parse_args()
    complaints = 0
    if arguments.only != "throughput":
        complaints = sum(wrong for _, wrong in check(arguments.folder))
        print(f"{complaints} complaints")
    if arguments.only != "golden":
        for _ in throughput(arguments.folder):
            pass  # it is printed
    return 1 if complaints else 0


def rows(setting: Setting) -> Iterator[Row]:
    folder = setting.published("asnets").parent
    checked = list(check(folder))
    yield mistakes(
        "plans, probabilities and costs of published policies",
        sum(wrong for _, wrong in checked),
        sum(count for count, _ in checked),
        "golden values; ties may be broken in another way",
    )
    times: dict[str, list[tuple[float, float]]] = {}
    for kind, rates in throughput(folder):
        times.setdefault(kind, []).append((1000 / rates[2], 1000 / rates[0]))
    for kind, pairs in times.items():
        what, against = f"a decision of {kind} in a batch of {BATCHES[2]}", "the same, one by one"
        yield compared(what, against, pairs, "ms", "one problem each")


def check(folder: Path) -> Iterator[tuple[int, int]]:
    """How much was compared with golden values, and how much is wrong."""
    yield from map(check_suite, suites(folder))
    yield from map(check_peer, sorted(folder.glob("peer/*")))


def throughput(folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Kinds of policies, with decisions per second by batch size."""
    sizes = "  ".join(f"{f'/s at {size}':>9}" for size in BATCHES)
    print(f"{'':<44}{'ops':>6}{'bind s':>7}  {'ms each':>7}  {sizes}  1 to 128   limit")
    for suite in suites(folder):
        choose = THROUGHPUT.get((suite.kind, suite.folder.name))
        for problem in choose(suite.problems) if choose else []:
            yield suite.kind, measure(suite, problem)


if __name__ == "__main__":
    sys.exit(main())
