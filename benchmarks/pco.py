"""Portfolios of checkpoints: what they solve together, and how many bugs each oracle finds.

    python benchmarks/pco.py [EXAMPLE...] [--size 40] [--seed 0]

For the example policies and the checkpoints of their training, in the layout of Sievers et al.
2026: coverage and cost of the 1, 2, 5, 10 best policies (Table 1), and the share of flagged pool
states among those the policy does not solve and among those it does (Table 2). Every proof is
verified, and every bug that policy comparison proves must come with a plan. Runs of the portfolio
are kept from one oracle to the next, so of the times of those that need them the first is dearest.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from engine.dominance.check import DominanceChecker
from engine.fuzzing.biases import Even
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.oracles.bench import Bench, Finding, Origin
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.verify import verify
from engine.policies.policy import open_policy
from engine.policies.portfolio import named_policies, open_portfolio
from engine.policies.run_graph import Outcome
from engine.policies.runs import PolicyRuns
from engine.task.load import load_task
from engine.task.states import StateTable

EXAMPLES = Path(__file__).resolve().parent.parent / "resources" / "examples"
SIZES = (1, 2, 5, 10)
ORACLES = ("aras-ehc", "bmo", "combined", "pco-p", "pco-e", "composite")
COMPARING = ("pco-p", "pco-e")
STEPS = 1000
WALKS_PER_STATE = 5


@dataclass
class Example:
    """What was measured on all problems of one example."""

    problems: int = 0
    best: list[dict[int, int]] = field(default_factory=list)  # per problem: cost by portfolio size
    states: Counter[bool] = field(default_factory=Counter)  # by whether the policy solves them
    flagged: Counter[tuple[str, bool]] = field(default_factory=Counter)
    bugs: Counter[str] = field(default_factory=Counter)  # all of them, also outside the pool
    missed: Counter[str] = field(default_factory=Counter)  # by composite, found by one of its parts
    seconds: Counter[str] = field(default_factory=Counter)
    beaten: Counter[str] = field(default_factory=Counter)  # bugs by portfolio policy, of pco-e
    proofs: Counter[str] = field(default_factory=Counter)  # proofs of pco-e with its steps
    wrong: list[str] = field(default_factory=list)


def measure(folder: Path, size: int, seed: int) -> Example:
    example = Example()
    policy = open_policy(str(folder / "policies" / "policy.pt"))
    checkpoints = named_policies([str(folder / "policies" / "checkpoints")])
    for problem in sorted((folder / "problems").glob("*.pddl")):
        task = load_task(folder / "domain.pddl", problem)
        table = StateTable(task)
        runs = PolicyRuns(policy.bind(task), table)
        with closing(open_portfolio(checkpoints, table)) as rivals:
            example.problems += 1
            everybody = [runs, *(member.runs for member in rivals.members)]
            example.best.append(dict(_best_costs(everybody, table)))
            pool = _pool(table, size, seed)
            results = runs.run(list(pool), STEPS)
            solved = {
                state: outcome == Outcome.SOLVED
                for state, outcome in zip(pool, results.outcome.tolist(), strict=True)
            }
            example.states.update(solved.values())
            found = {}
            for oracle in ORACLES:
                bench = Bench(runs, OBJECTIVES["any"], STEPS, portfolio=rivals)
                bench.origins.update(
                    {state: origin for state, origin in pool.items() if origin is not None}
                )
                _examine(example, oracle, bench, solved, f"{folder.name} {problem.stem}")
                found[oracle] = set(bench.findings) & set(pool)
            for oracle in ORACLES[:-1]:
                example.missed[oracle] += len(found[oracle] - found["composite"])
    return example


def _best_costs(everybody: list[PolicyRuns], table: StateTable) -> Iterator[tuple[int, int]]:
    """The cost of the best plan from the initial state, for each size at which there is one."""
    (start,) = table.add([table.task.init]).tolist()
    results = [runs.run([start], STEPS) for runs in everybody[: max(SIZES)]]
    for size in SIZES:
        solved = [int(r.cost[0]) for r in results[:size] if r.outcome[0] == Outcome.SOLVED]
        if solved:
            yield size, min(solved)


def _pool(table: StateTable, size: int, seed: int) -> dict[int, Origin | None]:
    options = FuzzOptions(size=size, walks=WALKS_PER_STATE * size, seed=seed)
    fuzzer = Fuzzer(table, Even(), options)
    for _ in fuzzer.grow():
        pass
    ids = table.add([entry.state for entry in fuzzer.entries]).tolist()
    return {
        state: Origin(ids[entry.reference], entry.operators) if entry.reference >= 0 else None
        for state, entry in zip(ids, fuzzer.entries, strict=True)
    }


def _examine(
    example: Example, oracle: str, bench: Bench, solved: dict[int, bool], where: str
) -> None:
    began = time.process_time()
    working = make_oracle(oracle, bench)
    for state in solved:
        bench.test(state, working)
    example.seconds[oracle] += time.process_time() - began
    example.flagged.update((oracle, solved[state]) for state in bench.findings if state in solved)
    example.bugs[oracle] += len(bench.findings)
    example.wrong += [
        f"{where}, {oracle}: {problem}" for problem in _problems(oracle, bench) if problem
    ]
    if oracle == "pco-e":
        contest = working.contest
        example.beaten.update({s.member.name: len(s.beaten) for s in contest.scores})
        example.proofs.update(
            origin
            for finding in bench.findings.values()
            for origin in {step.origin for step in finding.evidence.steps}
        )


def _problems(oracle: str, bench: Bench) -> Iterator[str]:
    """What is wrong with the proofs of an oracle."""
    dominance = DominanceChecker(bench.task)
    for finding in bench.findings.values():
        yield verify(finding.evidence, bench.task, dominance).problem
        yield _no_plan(finding) if oracle in COMPARING else ""


def _no_plan(finding: Finding) -> str:
    return "" if finding.evidence.is_plan else "a bug without a plan"


def print_coverage(examples: dict[str, Example]) -> None:
    print("coverage, and mean cost of problems that all sizes solve")
    print(f"{'':<18} #P " + "".join(f"{size:>6}" for size in SIZES * 2))
    for name, example in examples.items():
        common = [costs for costs in example.best if len(costs) == len(SIZES)]
        coverage = [sum(size in costs for costs in example.best) for size in SIZES]
        means = [sum(costs[size] for costs in common) / max(1, len(common)) for size in SIZES]
        cells = "".join(f"{value:>6}" for value in coverage)
        cells += "".join(f"{value:>6.1f}" for value in means)
        print(f"{name:<18} {example.problems:>2} {cells}")


def print_recall(examples: dict[str, Example], solved: bool) -> None:
    print(f"\n% of states the policy {'solves' if solved else 'does not solve'} that are flagged")
    print(f"{'':<18} states " + "".join(f"{oracle:>10}" for oracle in ORACLES))
    for name, example in examples.items():
        states = example.states[solved]
        shares = [100 * example.flagged[oracle, solved] / max(1, states) for oracle in ORACLES]
        cells = "".join(f"{share:>10.1f}" if states else f"{'-':>10}" for share in shares)
        print(f"{name:<18} {states:>6} {cells}")


def print_rest(examples: dict[str, Example]) -> None:
    for title, attribute in (
        ("bugs, with those outside the pool", "bugs"),
        ("pool bugs that composite misses", "missed"),
        ("CPU seconds", "seconds"),
    ):
        print(f"\n{title}\n{'':<25} " + "".join(f"{oracle:>10}" for oracle in ORACLES))
        for name, example in examples.items():
            values = [getattr(example, attribute)[oracle] for oracle in ORACLES]
            print(f"{name:<25} " + "".join(f"{value:>10.4g}" for value in values))
    print("\npco-e: runs of a checkpoint that proved a bug / proofs with steps of it")
    for name, example in examples.items():
        names = sorted(member for member in example.beaten if example.proofs[member])
        standings = (f"{m} {example.beaten[m]}/{example.proofs[m]}" for m in names)
        print(f"{name:<18} " + (", ".join(standings) or "none"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", help="default: all")
    parser.add_argument("--size", type=int, default=40, help="states per pool")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = options.examples or sorted(path.parent.name for path in EXAMPLES.glob("*/policies"))
    examples = {name: measure(EXAMPLES / name, options.size, options.seed) for name in names}
    print_coverage(examples)
    print_recall(examples, solved=False)
    print_recall(examples, solved=True)
    print_rest(examples)
    wrong = [problem for example in examples.values() for problem in example.wrong]
    print(f"\n{sum(e.bugs.total() for e in examples.values())} proofs verified, {len(wrong)} wrong")
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
