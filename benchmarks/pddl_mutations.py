"""Break PDDL files at random and see that the reader answers with our errors and nothing else.

Takes pairs `DOMAIN PROBLEM` (an own small pair without arguments). Then asks the parser of the
Fast Downward translator about a sample of the mutants and shows where the two disagree.

    python benchmarks/pddl_mutations.py [DOMAIN PROBLEM ...] [--count N] [--sample N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from measurement import Row, Setting, mistakes

from engine.errors import PlumblineError
from engine.pddl import check_texts, format_domain, format_problem, parse_domain, parse_problem
from engine.pddl.reader import decode

TOKEN = re.compile(r"[()]|[^\s()]+|\s+")
VARYING = re.compile(r"'[^']*'|\([^)]*\)|\d+")
SLOW_SECONDS = 2.0

Pair = tuple[bytes, bytes]
"""A domain file and a problem file."""

DOMAIN = """
(define (domain parcels)
  (:requirements :adl :action-costs)
  (:types vehicle parcel place - object  van truck - vehicle)
  (:constants depot - place)
  (:predicates (at ?x - (either vehicle parcel) ?p - place) (in ?x - parcel ?v - vehicle)
               (road ?a ?b - place) (locked ?p - place))
  (:functions (length ?a ?b - place) - number (total-cost) - number)
  (:action drive
    :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (at ?v ?a) (road ?a ?b) (not (locked ?b)) (not (= ?a ?b)))
    :effect (and (not (at ?v ?a)) (at ?v ?b) (increase (total-cost) (length ?a ?b))))
  (:action load
    :parameters (?x - parcel ?v - vehicle ?p - place)
    :precondition (and (at ?x ?p) (or (at ?v ?p) (exists (?w - van) (at ?w ?p))))
    :effect (and (in ?x ?v) (not (at ?x ?p)) (increase (total-cost) 1)))
  (:action empty
    :parameters (?v - truck)
    :precondition (at ?v depot)
    :effect (forall (?x - parcel) (and (not (in ?x ?v)) (when (in ?x ?v) (at ?x depot))))))
"""
PROBLEM = """
(define (problem two-parcels)
  (:domain parcels)
  (:objects p1 p2 - parcel t - truck v - van home - place)
  (:init (at p1 home) (at p2 home) (at t depot) (at v home) (not (locked home))
         (road home depot) (road depot home) (= (total-cost) 0)
         (= (length home depot) 3) (= (length depot home) 4))  ; both ways
  (:goal (and (at p1 depot) (imply (at p1 depot) (at p2 depot))))
  (:metric minimize (total-cost)))
"""

JUDGE = """
import sys
from fast_downward.translate import options, pddl_parser
sys.argv[1:] = ["domain", "problem"]
options.set_options()
for line in sys.stdin:
    domain, problem = line.split()
    sys.stdout = sys.stderr
    try:
        pddl_parser.open(domain, problem)
        answer = "accepted"
    except (Exception, SystemExit) as error:
        answer = type(error).__name__ + ": " + " ".join(str(error).split())[-150:]
    sys.stdout = sys.__stdout__
    print(answer, flush=True)
"""


def mutate(text: str, chance: random.Random) -> bytes:
    """One to three random changes."""
    tokens = TOKEN.findall(text)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind = chance.randrange(8)
        place = chance.randrange(max(1, len(tokens)))
        other = chance.randrange(max(1, len(tokens)))
        if not tokens or kind == 0:
            tokens.insert(place, chance.choice(["(", ")", "-", "?", ":", ";", "()", "either"]))
        elif kind == 1:
            del tokens[place]
        elif kind == 2:
            tokens.insert(other, " " + tokens[place] + " ")
        elif kind == 3:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        elif kind == 4:
            tokens[place] = chance.choice(tokens)
        elif kind == 5:
            word = tokens[place]
            cut = chance.randrange(len(word) + 1)
            tokens[place] = word[:cut] + chance.choice(["", "x", "-", "9", "."]) + word[cut + 1 :]
        elif kind == 6:
            del tokens[min(place, other) : max(place, other)]
        else:
            tokens[place] = tokens[place].upper() + chance.choice([" ", "\n", "\t;", "\r"])
    data = bytearray("".join(tokens).encode())
    if chance.random() < 0.05 and data:
        for _ in range(chance.randrange(1, 5)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.02:
        del data[chance.randrange(len(data) + 1) :]
    return bytes(data)


def read_mutant(data: Pair) -> str:
    """How reading ended; any error that is not ours is a defect."""
    try:
        texts = decode(data[0], "domain.pddl"), decode(data[1], "problem.pddl")
    except PlumblineError:
        return "refused"
    report = check_texts(*texts, "domain.pddl", "problem.pddl")
    try:
        domain = parse_domain(texts[0], "domain.pddl")
        problem = parse_problem(texts[1], domain, "problem.pddl")
    except PlumblineError:
        assert not report.ok
        return "refused"
    assert report.ok
    assert parse_domain(format_domain(domain)) == domain
    assert parse_problem(format_problem(problem), domain) == problem
    return "accepted"


class Judge:
    """The translator's parser in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", JUDGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, data: Pair) -> str:
        paths = self._folder / "domain.pddl", self._folder / "problem.pddl"
        for path, content in zip(paths, data, strict=True):
            path.write_bytes(content)
        assert self._process.stdin
        assert self._process.stdout
        print(*paths, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)


def reasons(data: Pair) -> list[str]:
    """Why we refuse a mutant."""
    try:
        texts = decode(data[0], "domain.pddl"), decode(data[1], "problem.pddl")
    except PlumblineError as error:
        return [str(error)]
    return [str(item) for item in check_texts(*texts, "domain.pddl", "problem.pddl").errors]


class Tally:
    """How many mutants ended how, with one example of everything worth a look."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    @property
    def defects(self) -> int:
        return self.outcomes["DEFECT"] + self.outcomes["slow"]

    def note(self, case: str, example: str) -> None:
        self.cases[case] += 1
        self.examples.setdefault(case, example)

    def read(self, data: Pair) -> str:
        began = time.perf_counter()
        try:
            outcome = read_mutant(data)
        except Exception:
            outcome = "DEFECT"
            self.note(traceback.format_exc(), repr(data))
        if time.perf_counter() - began > SLOW_SECONDS:
            self.outcomes["slow"] += 1
        self.outcomes[outcome] += 1
        return outcome

    def compare(self, outcome: str, verdict: str, data: Pair) -> None:
        """`verdict` is what the translator says."""
        if (verdict == "accepted") == (outcome == "accepted"):
            self.outcomes["agreed with the translator"] += 1
            return
        self.outcomes[f"{outcome} by us only"] += 1
        why = reasons(data)[0] if outcome == "refused" else verdict
        self.note(f"{outcome} by us only: {VARYING.sub('_', why)}", why)

    def __str__(self) -> str:
        lines = [
            f"{count:8} {case}\n         {self.examples[case]}"
            for case, count in self.cases.most_common()
        ]
        lines += [f"{count:8} {outcome}" for outcome, count in self.outcomes.items()]
        return "\n".join(lines)


def mutants(sources: Sequence[tuple[str, str]], count: int, seed: int) -> Iterator[Pair]:
    chance = random.Random(seed)
    for _ in range(count):
        domain, problem = chance.choice(sources)
        if chance.random() < 0.5:
            yield mutate(domain, chance), problem.encode()
        else:
            yield domain.encode(), mutate(problem, chance)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", metavar="DOMAIN PROBLEM")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    texts = [path.read_text("latin-1") for path in args.files]
    sources = list(zip(texts[::2], texts[1::2], strict=True)) or [(DOMAIN, PROBLEM)]
    tally = run(sources, args.count, args.sample, args.seed)
    return 1 if tally.defects else 0


def rows(setting: Setting) -> Iterator[Row]:
    count, sample = setting.choose((5000, 500), (100, 10))
    tally = run([(DOMAIN, PROBLEM)], count, sample, seed=1)
    agreed = tally.outcomes["agreed with the translator"]
    remark = f"the translator agrees on {agreed} of {sample}"
    yield mistakes("broken PDDL files with a traceback or a wait", tally.defects, count, remark)


def run(sources: Sequence[tuple[str, str]], count: int, sample: int, seed: int) -> Tally:
    """Break files, and ask the translator about the first of them."""
    tally = Tally()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        judge = Judge(Path(name))
        for number, data in enumerate(mutants(sources, count, seed)):
            outcome = tally.read(data)
            if number < sample:
                tally.compare(outcome, judge.ask(data), data)
        judge.close()
    print(tally)
    print(f"{time.perf_counter() - start:.1f} s")
    return tally


if __name__ == "__main__":
    sys.exit(main())
