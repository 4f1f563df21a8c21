"""How many bugs of published policies each oracle finds, and how long that takes.

    python benchmarks/oracle_table.py FOLDER [DOMAIN[/PROBLEM]...] [--pool 100] [--seconds 60]

FOLDER holds one folder per domain with domain.pddl, problems/*.pddl and one trained policy. The
layout is that of Table 1 of Eisenhut et al. 2023: the share of pool states that an oracle flags,
then the share of all bugs that any oracle found, and of those that A* could decide. As there, the
decisions of the policy in its runs on the pool are known beforehand; every oracle pays for those it
needs in addition, and none profits from those of another. The dominance function is made before
and has a column of its own. An oracle that needs more than `--seconds` for a problem is stopped,
all are counted on the states that all came to (an empty cell: far too slow), and every proof is
verified. All actions cost 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from fuzzed_pool import fuzzed_pool
from measurement import Row, Setting, mistakes

from engine.dominance.cache import dominance_function
from engine.dominance.checker import DominanceChecker
from engine.native.library import Int32Array
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession
from engine.policies.policy import BoundPolicy, Policy, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization
from engine.records.events import OracleVerdict
from engine.records.finding import RunOutcome
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.verify.evidence import verify

FACTORS = "merged:10000"
EXACT = "A*"
ORACLES = {
    EXACT: "astar:expansions=20000,seconds=30",
    "EHC": "ehc:seconds=30",
    "Aras/EHC": "aras-ehc:seconds=30",
    "look+pi": "lookahead:depth=2",
    "GBFS": "gbfs:expansions=1000",
    "SMO": f"smo:factors={FACTORS}",
    "BMO-0": f"bmo:factors={FACTORS},lookahead=0",
    "BMO-10": f"bmo:factors={FACTORS},lookahead=10",
    "BMO-100": f"bmo:factors={FACTORS},lookahead=100",
    "combined": f"combined:factors={FACTORS},lookahead=100",
}
LEAST_SHARE = 0.25
"""An oracle that comes to fewer states of the pools is left out."""

STEPS = 1000
POLICIES = (".policy", ".ckpt", ".pt")


class PoolMemory:
    """A policy with all decisions of its runs on the pool, and only those, known beforehand."""

    def __init__(self, policy: BoundPolicy) -> None:
        self._policy = policy
        self._known: dict[bytes, int] = {}
        self.is_learning = True

    def decide(self, states: Int32Array) -> Int32Array:
        keys = [row.tobytes() for row in states]
        fresh = [number for number, key in enumerate(keys) if key not in self._known]
        answers = np.array([self._known.get(key, 0) for key in keys], np.int32)
        if fresh:
            answers[fresh] = self._policy.decide(states[fresh])
        if self.is_learning:
            self._known.update(zip(keys, answers.tolist(), strict=True))
        return answers


@dataclass
class Work:
    """What one oracle did with the pool of one problem."""

    processed: list[int] = field(default_factory=list)
    flagged: set[int] = field(default_factory=set)
    optimal: set[int] = field(default_factory=set)
    seconds: float = 0.0
    others: int = 0  # bugs outside the pool
    wrong: list[str] = field(default_factory=list)


@dataclass
class Domain:
    """The works of all oracles on each problem, and what they are counted on."""

    states: int = 0  # of all pools
    unsolved: int = 0
    dominance: float = 0.0  # seconds to make the dominance functions
    problems: list[dict[str, Work]] = field(default_factory=list)

    def total(self, oracle: str, count: Callable[[Work], float]) -> float:
        return sum(count(works[oracle]) for works in self.problems)

    @cached_property
    def counted(self) -> list[str]:
        """Oracles that were too slow are left out, as in the paper."""
        enough = LEAST_SHARE * self.states
        return [o for o in ORACLES if self.total(o, lambda work: len(work.processed)) >= enough]

    @cached_property
    def joint(self) -> list[set[int]]:
        """By problem, the states that all these oracles processed."""
        return [
            set.intersection(*(set(works[oracle].processed) for oracle in self.counted))
            for works in self.problems
        ]

    @cached_property
    def best(self) -> list[set[int]]:
        """Of these, the bugs that any oracle found."""
        return [
            set.union(*(work.flagged for work in works.values())) & joint
            for works, joint in zip(self.problems, self.joint, strict=True)
        ]

    @cached_property
    def exact(self) -> list[set[int]]:
        """Of the joint pools, the bugs that A* found."""
        return [
            works[EXACT].flagged & joint
            for works, joint in zip(self.problems, self.joint, strict=True)
        ]

    @property
    def decided(self) -> int:
        return sum(
            len((works[EXACT].flagged | works[EXACT].optimal) & joint)
            for works, joint in zip(self.problems, self.joint, strict=True)
        )

    @property
    def false(self) -> int:
        """States that are flagged although A* proved that the policy is optimal there."""
        return sum(
            len(work.flagged & works[EXACT].optimal)
            for works in self.problems
            for work in works.values()
        )

    def share(self, oracle: str, of: list[set[int]]) -> str:
        """What percentage of some states an oracle flags."""
        return percentage(self.found(oracle, of), of) if oracle in self.counted else ""

    def found(self, oracle: str, of: list[set[int]]) -> int:
        """How many of some states an oracle flags."""
        pairs = zip(self.problems, of, strict=True)
        return sum(len(works[oracle].flagged & part) for works, part in pairs)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("domains", nargs="*", help="default: all; DOMAIN/PROBLEM for one problem")
    parser.add_argument("--pool", type=int, default=100, help="states per problem")
    parser.add_argument("--seconds", type=float, default=60, help="CPU time per oracle and problem")
    parser.add_argument(
        "--problems", type=int, default=2, help="problems per domain, smallest first"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main() -> int:
    domains = measure_all(parse())
    print_tables(domains)
    proofs, wrong, false = check(domains)
    print(f"\n{proofs} proofs, {len(wrong)} not verified; {false} flagged states are no bugs")
    for problem in wrong:
        print(problem)
    return 1 if wrong or false else 0


def rows(setting: Setting) -> Iterator[Row]:
    """Published policies with pools and times that are smaller than the paper's."""
    options = [str(setting.published("asnets")), "--problems", "1"]
    pool, seconds = setting.choose(("20", "1.5"), ("10", "0.5"))
    options += ["--pool", pool, "--seconds", seconds]
    domains = measure_all(parse(options))
    proofs, wrong, false = check(domains)
    yield mistakes("proofs that do not verify", len(wrong), proofs)
    pools = sum(domain.states for domain in domains.values())
    yield mistakes("flagged states in which the policy is optimal", false, pools)
    for oracle in ORACLES:
        counted = [domain for domain in domains.values() if oracle in domain.counted]
        works = [problem[oracle] for domain in domains.values() for problem in domain.problems]
        processed = sum(len(work.processed) for work in works)
        milliseconds = 1000 * sum(work.seconds for work in works) / max(1, processed)
        yield Row(
            f"bugs that {oracle} finds",
            sum(domain.found(oracle, domain.best) for domain in counted),
            "bugs",
            "any oracle",
            sum(count(domain.best) for domain in counted),
            instances=sum(count(domain.joint) for domain in counted),
            remark=f"{milliseconds:.3g} ms per state; {len(counted)} of {len(domains)} domains",
        )


def measure_all(options: argparse.Namespace) -> dict[str, Domain]:
    domains: dict[str, Domain] = defaultdict(Domain)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PLUMBLINE_CACHE_DIR"] = cache
        for folder, problem in chosen(options.folder, options.domains, options.problems):
            measure(domains[folder.name], folder, problem, options)
    return domains


def check(domains: Mapping[str, Domain]) -> tuple[int, list[str], int]:
    """The number of proofs, what is wrong with some, and how many flagged states are no bugs."""
    works = [w for d in domains.values() for problem in d.problems for w in problem.values()]
    wrong = [complaint for work in works for complaint in work.wrong]
    false = sum(domain.false for domain in domains.values())
    return sum(len(work.flagged) + work.others for work in works), wrong, false


def chosen(root: Path, names: list[str], problems: int) -> Iterator[tuple[Path, Path]]:
    folders = sorted(path.parent for path in root.glob("*/domain.pddl"))
    for name in names or [folder.name for folder in folders]:
        domain, _, problem = name.partition("/")
        files = sorted(
            (root / domain / "problems").glob(f"{problem or '*'}.pddl"),
            key=lambda path: (path.stat().st_size, path.name),
        )
        for file in files if problem else files[:problems]:
            yield root / domain, file


def policy_of(folder: Path) -> Policy:
    (path,) = (path for path in folder.iterdir() if path.suffix in POLICIES)
    return open_policy(str(path))


def measure(domain: Domain, folder: Path, problem: Path, options: argparse.Namespace) -> None:
    task = load_task(folder / "domain.pddl", problem, unit_costs=True)
    table = StateTable(task)
    began = time.process_time()
    memory = PoolMemory(policy_of(folder).bind(task))
    pool = fuzzed_pool(table, options.pool, options.seed)
    results = PolicyRuns(memory, table).run(list(pool), STEPS)
    memory.is_learning = False
    unsolved = int((results.outcome != RunOutcome.SOLVED).sum())
    running, began = time.process_time() - began, time.process_time()
    factorization = Factorization.parse(FACTORS)
    sizes = [factor.n_states for factor in dominance_function(task, factorization).factors]
    domain.dominance += time.process_time() - began
    print(
        f"{folder.name}/{problem.stem}: {len(pool)} states, {unsolved} not solved, policy runs "
        f"{running:.1f} s, dominance {time.process_time() - began:.1f} s, largest factors "
        f"{sorted(sizes)[:-4:-1]}",
        flush=True,
    )
    checker = DominanceChecker(task, [factorization])
    works = {}
    for name, text in ORACLES.items():
        runs = PolicyRuns(memory, table)
        runs.run(list(pool), STEPS)
        session = OracleSession(runs, OBJECTIVES["any"], STEPS)
        works[name] = work = examine(session, text, list(pool), options.seconds)
        work.wrong = [
            f"{folder.name}/{problem.stem}, {name}: {complaint}"
            for finding in session.findings.values()
            if (complaint := verify(finding.evidence, task, checker).problem)
        ]
        print(
            f"  {name:<9} {len(work.processed):4} states, {len(work.flagged):4} bugs and "
            f"{work.others} outside the pool, {work.seconds:.2f} s, {len(work.wrong)} not verified",
            flush=True,
        )
    domain.states += len(pool)
    domain.unsolved += unsolved
    domain.problems.append(works)


def examine(session: OracleSession, text: str, pool: list[int], seconds: float) -> Work:
    """Let an oracle examine a pool in its order until it is through or its time is over."""
    work = Work()
    began = time.process_time()
    oracle = make_oracle(text, session)
    for state in pool:
        if time.process_time() - began > seconds:
            break
        examination = session.test(state, oracle)
        work.processed.append(state)
        if examination.verdict is OracleVerdict.OPTIMAL:
            work.optimal.add(state)
    work.seconds = time.process_time() - began
    work.flagged = set(session.findings) & set(work.processed)
    work.others = len(session.findings) - len(work.flagged)
    return work


def print_tables(domains: Mapping[str, Domain]) -> None:
    print(
        "\n% of the joint pool J that is flagged; unsolved: states of the pools the policy fails on"
    )
    print(f"{'':<12} #P states unsolved    J {line([*ORACLES, 'BestOf'])}")
    for name, domain in domains.items():
        shares = [domain.share(oracle, domain.joint) for oracle in ORACLES]
        best = percentage(count(domain.best), domain.joint)
        print(
            f"{name:<12} {len(domain.problems):>2} {domain.states:>6} {domain.unsolved:>8} "
            f"{count(domain.joint):>4} {line([*shares, best])}"
        )
    print("\n% of the bugs in J that any oracle found")
    print(f"{'':<12} bugs {line(ORACLES)}")
    for name, domain in domains.items():
        shares = [domain.share(oracle, domain.best) for oracle in ORACLES]
        print(f"{name:<12} {count(domain.best):>4} {line(shares)}")
    print("\n% of the bugs in J that A* found; decided: states of J in which A* came to an end")
    print(f"{'':<12} decided bugs {line(ORACLES)}")
    for name, domain in domains.items():
        shares = [domain.share(oracle, domain.exact) for oracle in ORACLES]
        print(f"{name:<12} {domain.decided:>7} {count(domain.exact):>4} {line(shares)}")
    print("\nCPU milliseconds per state; D: CPU seconds to make the dominance functions")
    print(f"{'':<12}     D {line(ORACLES)}")
    for name, domain in domains.items():
        print(f"{name:<12} {domain.dominance:>5.1f} {line(milliseconds(domain))}")
    print("\nbugs outside the pool")
    print(f"{'':<12} {line(ORACLES)}")
    for name, domain in domains.items():
        others = [str(domain.total(oracle, lambda work: work.others)) for oracle in ORACLES]
        print(f"{name:<12} {line(others)}")


def milliseconds(domain: Domain) -> Iterator[str]:
    for oracle in ORACLES:
        processed = domain.total(oracle, lambda work: len(work.processed))
        yield f"{1000 * domain.total(oracle, lambda work: work.seconds) / max(1, processed):.4g}"


def count(parts: Iterable[set[int]]) -> int:
    return sum(map(len, parts))


def percentage(part: int, whole: list[set[int]]) -> str:
    return f"{100 * part / count(whole):.1f}" if count(whole) else "-"


def line(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>9}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
