"""Measure `compare` over a suite of domain pairs, or hold it against brute force.

    python benchmarks/equivalence.py suite FOLDER [--repeat 3] [--only TEXT]
    python benchmarks/equivalence.py brute-force [--pairs 5000] [--seed 0]

FOLDER has a suite.csv: columns a, b (domain files), distinct_objects and pddl (the right verdicts).
Each pair is compared with its own names and with every name replaced, every certificate is
verified, and the median of the repetitions counts (processor time, so that other work on the
machine does not matter). Brute force compares random small domains.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import Row, Setting, compared, mistakes
from reference.equivalence import Maker, brute_force, most_parameters, renamed

from engine.equivalence import CompareOptions, Parameters, compare_domains, verify_certificate
from engine.pddl import Domain, format_domain, read_domain
from engine.records.comparison import EquivalenceVerdict

COLUMNS = {Parameters.DISTINCT: "distinct_objects", Parameters.PDDL: "pddl"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    suite = commands.add_parser("suite")
    suite.add_argument("folder", type=Path)
    suite.add_argument("--repeat", type=int, default=3)
    suite.add_argument("--only", default="", help="pairs whose second file contains this text")
    brute = commands.add_parser("brute-force")
    brute.add_argument("--pairs", type=int, default=5000)
    brute.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "suite":
        timings = run_suite(options.folder, options.repeat, options.only)
        return 0 if all(timing.right for timing in timings) else 1
    _, wrong = run_brute_force(options.pairs, options.seed)
    return 1 if wrong else 0


@dataclass(frozen=True, slots=True)
class Timing:
    """One comparison of a pair of the suite."""

    right: bool
    seconds: float
    own_names: bool
    reference: float  # seconds of the published tool, on its own machine


def rows(setting: Setting) -> Iterator[Row]:
    examined, wrong = run_brute_force(setting.choose(500, 50), seed=0)
    yield mistakes("verdicts on random domains against brute force", wrong, examined)
    timings = run_suite(setting.published("dval"), 1, "")
    wrong = sum(not timing.right for timing in timings)
    what = "verdicts on published pairs, certificates verified"
    yield mistakes(what, wrong, len(timings), "own and other names, both readings")
    for own in (True, False):
        chosen = [timing for timing in timings if timing.own_names is own]
        yield compared(
            f"time of a pair, {'own names' if own else 'renamed'}",
            "D-VAL, as published",
            [(timing.seconds, timing.reference) for timing in chosen],
            "s",
            "theirs on another machine, with the names of the files; ours at most "
            f"{max(timing.seconds for timing in chosen):.2f} s",
        )


def run_suite(folder: Path, repeat: int, only: str) -> list[Timing]:
    with (folder / "suite.csv").open(newline="") as table:
        pairs = [row for row in csv.DictReader(table) if only in row["b"]]
    timings: list[Timing] = []
    seconds: dict[tuple[str, str], list[float]] = {}
    for row in pairs:
        first, second = (read_domain(folder / row[side]) for side in "ab")
        for names, other in (("own names", second), ("renamed", renamed(second, random.Random(1)))):
            for parameters, column in COLUMNS.items():
                ok, taken = measure(first, other, parameters, row[column], repeat)
                reference = float(row["dval_seconds"] or "nan")
                timings.append(Timing(ok, taken, other is second, reference))
                seconds.setdefault((names, parameters), []).append(taken)
                mark = "ok   " if ok else "WRONG"
                print(f"{mark} {taken:6.3f} s  {row['b']:42} {names:9} {parameters}", flush=True)
    for (names, parameters), taken in seconds.items():
        print(
            f"{names:9} {parameters:8}: {len(taken)} pairs, median "
            f"{statistics.median(taken):.3f} s, max {max(taken):.3f} s"
        )
    wrong = sum(not timing.right for timing in timings)
    print(f"{wrong} wrong" if wrong else "all right, all evidence verified")
    return timings


def run_brute_force(pairs: int, seed: int) -> tuple[int, int]:
    """Verdicts of the prover against the definition, every tenth certificate verified.

    Returns how many verdicts there were and how many of them are wrong.
    """
    counts: Counter[str] = Counter()
    wrong = 0
    for number in range(seed, seed + pairs):
        first, second = Maker(random.Random(number), atoms=10).pair()
        objects = most_parameters(first, second)
        for reading in compare_domains(first, second).readings:
            distinct = reading.parameters is Parameters.DISTINCT
            truth = brute_force(first, second, distinct, objects)
            counts[f"{reading.verdict} ({reading.parameters})"] += 1
            counts["with cases"] += any(
                len(m.cases) > 1 for o in reading.operators for m in o.macros
            )
            right = reading.verdict is EquivalenceVerdict.UNDECIDED or truth == (
                reading.verdict is EquivalenceVerdict.EQUIVALENT
            )
            problems = [] if number % 10 else verify_certificate(reading, first, second, number)
            if not right or problems:
                wrong += 1
                print(f"seed {number}, {reading.parameters}: {reading.verdict}, truth {truth}")
                print("\n".join([*problems, format_domain(first), format_domain(second)]))
        if number % 500 == 499:
            print(f"{number + 1 - seed} pairs, {wrong} wrong", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{wrong} wrong" if wrong else "all right")
    return sum(count for what, count in counts.items() if what != "with cases"), wrong


def measure(
    first: Domain, second: Domain, parameters: Parameters, expected: str, repeat: int
) -> tuple[bool, float]:
    """Is the verdict right and its evidence sound; and the median processor time."""
    taken = []
    for _ in range(repeat):
        before = time.process_time()
        comparison = compare_domains(first, second, CompareOptions((parameters,)))
        taken.append(time.process_time() - before)
    reading = comparison.first
    problems = verify_certificate(reading, first, second)
    for problem in problems:
        print(f"      {problem}")
    return reading.verdict == expected and not problems, statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
