"""Portfolios of checkpoints: what they solve together, and how many bugs each oracle finds.

    python benchmarks/pco.py [EXAMPLE...] [--pool 100] [--seed 0] [--sizes 10 12]

For the example policies and the checkpoints of their training, in the layout of Sievers et al.
2026: coverage and cost of the 1, 2, 5, 10 best policies (Table 1), and the share of flagged pool
states among those the policy does not solve and among those it does (Table 2), with what A* proves
to be bugs. Every proof is verified, and every bug that policy comparison proves must come with a
plan that VAL accepts. `--sizes` makes problems of other sizes than those of the examples. Runs of
the portfolio are kept from one oracle to the next, so of the times of those that need them the
first is dearest.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from fuzzed_pool import fuzzed_pool
from measurement import Row, Setting, mistakes

from engine.dominance.checker import DominanceChecker
from engine.oracles.objective import OBJECTIVES
from engine.oracles.pco import contest_of
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession, Origin
from engine.pddl import format_domain
from engine.policies.policy import open_policy
from engine.policies.portfolio import Portfolio, named_policies, open_portfolio
from engine.policies.runs import PolicyRuns
from engine.records.events import OracleVerdict
from engine.records.finding import Finding, RunOutcome
from engine.task.export import export_domain, export_state_text
from engine.task.load import load_task
from engine.task.plans import format_operator_plan
from engine.task.states import StateTable
from engine.task.task import Task
from engine.verify.evidence import verify
from engine.verify.val import val_opinions, val_program

EXAMPLES = Path(__file__).resolve().parent.parent / "resources" / "examples"
sys.path.insert(0, str(EXAMPLES))
from generate import problem_text  # noqa: E402  (it lies beside the examples)

SIZES = (1, 2, 5, 10)
ORACLES = {
    "Aras/EHC": "aras-ehc",
    "BMO_P": "bmo:lookahead=0",
    "BMO": "bmo",
    "BMO_E": "combined",
    "PCO_P": "pco-p",
    "PCO_E": "pco-e",
    "CO": "composite",
}
EXACT = "A*"
COMPARING = ("PCO_P", "PCO_E")
ALL = {EXACT: "astar:expansions=50000", **ORACLES}
STEPS = 1000
SEEDS = (1, 2)
"""Of problems of other sizes."""

Plans = set[tuple[str, str]]
"""Problems and plans for them."""


@dataclass
class Example:
    """What was measured on all problems of one example."""

    problems: int = 0
    best: list[dict[int, int]] = field(default_factory=list)  # per problem: cost by portfolio size
    states: Counter[bool] = field(default_factory=Counter)  # by whether the policy solves them
    flagged: Counter[tuple[str, bool]] = field(default_factory=Counter)
    undecided: int = 0  # states in which A* gave up
    bugs: Counter[str] = field(default_factory=Counter)  # all of them, also outside the pool
    missed: Counter[str] = field(default_factory=Counter)  # by CO, found by this oracle
    seconds: Counter[str] = field(default_factory=Counter)
    beaten: Counter[str] = field(default_factory=Counter)  # bugs by portfolio policy, of PCO_E
    proofs: Counter[str] = field(default_factory=Counter)  # proofs of PCO_E with its steps
    plans: int = 0  # different ones that VAL was asked about
    wrong: list[str] = field(default_factory=list)


def measure(name: str, problems: Sequence[Path], size: int, seed: int) -> Example:
    example, folder = Example(), EXAMPLES / name
    policy = open_policy(str(folder / "policies" / "policy.pt"))
    checkpoints = named_policies([str(folder / "policies" / "checkpoints")])
    for problem in problems:
        task = load_task(folder / "domain.pddl", problem)
        table = StateTable(task)
        runs = PolicyRuns(policy.bind(task), table)
        with closing(open_portfolio(checkpoints, table)) as rivals:
            example.problems += 1
            everybody = [runs, *(member.runs for member in rivals.members)]
            example.best.append(dict(_best_costs(everybody, table)))
            pool = fuzzed_pool(table, size, seed)
            _examine_all(example, f"{name} {problem.stem}", runs, rivals, pool)
        print(f"{name} {problem.stem}: {len(pool)} states", file=sys.stderr, flush=True)
    return example


def _best_costs(everybody: list[PolicyRuns], table: StateTable) -> Iterator[tuple[int, int]]:
    """The cost of the best plan from the initial state, for each size at which there is one."""
    (start,) = table.add([table.task.init]).tolist()
    results = [runs.run([start], STEPS) for runs in everybody[: max(SIZES)]]
    for size in SIZES:
        solved = [int(r.cost[0]) for r in results[:size] if r.outcome[0] == RunOutcome.SOLVED]
        if solved:
            yield size, min(solved)


def _examine_all(
    example: Example,
    where: str,
    runs: PolicyRuns,
    rivals: Portfolio,
    pool: dict[int, Origin | None],
) -> None:
    results = runs.run(list(pool), STEPS)
    solved = {
        state: outcome == RunOutcome.SOLVED
        for state, outcome in zip(pool, results.outcome.tolist(), strict=True)
    }
    example.states.update(solved.values())
    found: dict[str, set[int]] = {}
    plans: Plans = set()
    for oracle in ALL:
        session = OracleSession(runs, OBJECTIVES["any"], STEPS, portfolio=rivals)
        session.origins.update({s: origin for s, origin in pool.items() if origin is not None})
        _examine(example, oracle, session, solved, where)
        found[oracle] = set(session.findings) & set(pool)
        if oracle in COMPARING:
            plans.update(_plan(session.task, finding) for finding in session.findings.values())
    example.plans += len(plans)
    example.wrong += [f"{where}: {problem}" for problem in _val_problems(session.task, plans)]
    for oracle in ORACLES:
        example.missed[oracle] += len(found[oracle] - found["CO"])


def _examine(
    example: Example, oracle: str, session: OracleSession, solved: dict[int, bool], where: str
) -> None:
    began = time.process_time()
    working = make_oracle(ALL[oracle], session)
    examinations = [session.test(state, working) for state in solved]
    example.seconds[oracle] += time.process_time() - began
    example.flagged.update((oracle, solved[state]) for state in session.findings if state in solved)
    example.bugs[oracle] += len(session.findings)
    if oracle == EXACT:
        example.undecided += sum(e.verdict is OracleVerdict.NOT_REFUTED for e in examinations)
    dominance = DominanceChecker(session.task)
    for finding in session.findings.values():
        if problem := verify(finding.evidence, session.task, dominance).problem:
            example.wrong.append(f"{where}, {oracle}: {problem}")
        if oracle in COMPARING and not finding.evidence.is_plan:
            example.wrong.append(f"{where}, {oracle}: a bug without a plan")
    contest = contest_of(working)
    if oracle == "PCO_E" and contest is not None:
        example.beaten.update({s.member.name: len(s.beaten) for s in contest.scores})
        example.proofs.update(
            origin
            for finding in session.findings.values()
            for origin in {step.origin for step in finding.evidence.steps}
        )


def _plan(task: Task, finding: Finding) -> tuple[str, str]:
    evidence = finding.evidence
    problem = export_state_text(task, evidence.state, "bug")
    return problem, format_operator_plan(task, evidence.operators)


def _val_problems(task: Task, plans: Plans) -> Iterator[str]:
    program = val_program()
    if program is None:
        yield "VAL is not installed"
        return
    domain = format_domain(export_domain(task))
    for opinion in val_opinions(program, domain, sorted(plans)):
        if opinion is None or not opinion.valid:
            yield f"VAL does not accept a plan: {opinion.words if opinion else 'no opinion'}"


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
    print(f"{'':<18} states " + "".join(f"{oracle:>10}" for oracle in ALL))
    for name, example in examples.items():
        states = example.states[solved]
        shares = [100 * example.flagged[oracle, solved] / max(1, states) for oracle in ALL]
        cells = "".join(f"{share:>10.1f}" if states else f"{'-':>10}" for share in shares)
        print(f"{name:<18} {states:>6} {cells}")


def print_rest(examples: dict[str, Example]) -> None:
    for title, attribute in (
        ("bugs, with those outside the pool", "bugs"),
        ("pool bugs that CO misses", "missed"),
        ("CPU seconds", "seconds"),
    ):
        print(f"\n{title}\n{'':<25} " + "".join(f"{oracle:>10}" for oracle in ALL))
        for name, example in examples.items():
            values = [getattr(example, attribute)[oracle] for oracle in ALL]
            print(f"{name:<25} " + "".join(f"{value:>10.4g}" for value in values))
    undecided = (f"{name} {example.undecided}" for name, example in examples.items())
    print("\nstates in which A* gave up: " + ", ".join(undecided))
    print("\nPCO_E: runs of a checkpoint that proved a bug / proofs with steps of it")
    for name, example in examples.items():
        names = sorted(member for member in example.beaten if example.proofs[member])
        standings = (f"{m} {example.beaten[m]}/{example.proofs[m]}" for m in names)
        print(f"{name:<18} " + (", ".join(standings) or "none"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("examples", nargs="*", help="default: all")
    parser.add_argument("--pool", type=int, default=100, help="states per problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="*", help="default: the problems of the example")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        examples = {
            name: measure(
                name, _problems(name, options.sizes, Path(folder)), options.pool, options.seed
            )
            for name in options.examples or _names()
        }
    print_coverage(examples)
    print_recall(examples, solved=False)
    print_recall(examples, solved=True)
    print_rest(examples)
    wrong = [problem for example in examples.values() for problem in example.wrong]
    proofs = sum(example.bugs.total() for example in examples.values())
    plans = sum(example.plans for example in examples.values())
    print(f"\n{proofs} proofs verified, {plans} plans put to VAL, {len(wrong)} wrong")
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


def rows(setting: Setting) -> Iterator[Row]:
    problems, size = setting.choose((2, 30), (1, 5))
    examples = [
        measure(name, _problems(name, None, EXAMPLES)[:problems], size, 0) for name in _names()
    ]
    proofs = sum(example.bugs.total() for example in examples)
    wrong = sum(len(example.wrong) for example in examples)
    plans = sum(example.plans for example in examples)
    yield mistakes("proofs that do not verify", wrong, proofs, f"{plans} plans also put to VAL")
    states = sum(example.states.total() for example in examples)

    def flagged(oracle: str) -> int:
        return sum(example.flagged[oracle, solved] for example in examples for solved in (0, 1))

    for oracle in ORACLES:
        seconds = sum(example.seconds[oracle] for example in examples)
        yield Row(
            f"bugs that {oracle} finds in examples",
            flagged(oracle),
            "bugs",
            EXACT,
            flagged(EXACT),
            instances=states,
            remark=f"{1000 * seconds / states:.3g} ms per state",
        )


def _names() -> list[str]:
    return sorted(path.parent.name for path in EXAMPLES.glob("*/policies"))


def _problems(name: str, sizes: Sequence[int] | None, folder: Path) -> list[Path]:
    if not sizes:
        return sorted((EXAMPLES / name / "problems").glob("*.pddl"))
    made = []
    for size in sizes:
        for seed in SEEDS:
            made.append(folder / f"{name}-{size}-{seed}.pddl")
            made[-1].write_text(problem_text(name, size, seed))
    return made


if __name__ == "__main__":
    sys.exit(main())
