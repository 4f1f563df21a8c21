"""Read, print and read back every PDDL file under a folder, with the translator as judge.

For each domain and problem: the printed text must read back as an equal model, and the Fast
Downward translator must make the identical task of the printed files and of the original ones.
Domains without problems are translated with a problem made up from their predicates.

    python benchmarks/pddl_corpus.py FOLDER [--no-translator]
"""

from __future__ import annotations

import argparse
import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from measurement import EXAMPLES, Row, Setting, mistakes

from engine.errors import PlumblineError
from engine.pddl import (
    Domain,
    Problem,
    Types,
    definition_kind,
    format_domain,
    format_problem,
    objects_of_type,
    parse_domain,
    parse_problem,
    read_domain,
    read_problem,
    static_predicates,
)
from engine.pddl.model import And, Atom, Term, TypedName

TRANSLATOR_SECONDS = 300
OBJECTS_PER_TYPE = 3
MOST_FACTS = 3000
LARGEST = 3000
"""Bytes of a problem that takes part in the table of all benchmarks."""


def pairs(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Every domain file with its problems: those beside it and those in `problems`."""
    for path in sorted(folder.rglob("*.pddl")):
        if kind_of(path) != "domain":
            continue
        beside = [*path.parent.glob("p*.pddl"), *path.parent.glob("problems/*.pddl")]
        problems = [other for other in beside if kind_of(other) == "problem"]
        yield path, sorted(problems) if path.stem == "domain" else []


def kind_of(path: Path) -> str:
    return definition_kind(path.read_text("latin-1"))


def made_up_problem(domain: Domain) -> Problem:
    """A few objects of each type, half of all facts, and some of the others as goal."""
    chance = random.Random(0)
    types = Types.of(domain)
    objects = tuple(
        TypedName(f"{name}-{number}", (name,))
        for name in types.names
        for number in range(OBJECTS_PER_TYPE)
    )
    by_type = objects_of_type(domain, Problem("p", domain.name, objects=objects))
    facts = []
    derived = {rule.predicate.name for rule in domain.derived}
    for predicate in domain.predicates:
        if predicate.name in derived:
            continue
        choices = [
            sorted({name for kind in parameter.types for name in by_type[kind]})
            for parameter in predicate.parameters
        ]
        grounded = itertools.islice(itertools.product(*choices), MOST_FACTS)
        facts += [Atom(predicate.name, tuple(map(Term, names))) for names in grounded]
    chance.shuffle(facts)
    true, false = facts[: len(facts) // 2], facts[len(facts) // 2 :]
    static = static_predicates(domain)
    goal = [fact for fact in false if fact.predicate not in static][:3]
    return Problem("made-up", domain.name, objects=objects, init=tuple(true), goal=And(tuple(goal)))


def translated(domain: Path, problem: Path, folder: Path) -> str:
    """The task, or what the translator said instead."""
    output = folder / "output.sas"
    output.unlink(missing_ok=True)
    command = [sys.executable, "-m", "fast_downward.translate", "--keep-unimportant-variables"]
    done = subprocess.run(
        [*command, "--sas-file", str(output), str(domain), str(problem)],
        capture_output=True,
        text=True,
        timeout=TRANSLATOR_SECONDS,
        check=False,
    )
    return output.read_text() if output.exists() else f"no task: {done.stdout}{done.stderr}"


def same_task(domain: Path, problem: Path | None, printed: tuple[str, str]) -> str:
    """Nothing if the printed files and the original ones give the same task, else what differs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "domain.pddl").write_text(printed[0])
        (folder / "problem.pddl").write_text(printed[1])
        original = translated(domain, problem or folder / "problem.pddl", folder)
        ours = translated(folder / "domain.pddl", folder / "problem.pddl", folder)
    if original.startswith("no task"):
        return f"the translator refuses the original: {original[-300:]}"
    return "" if original == ours else f"the task differs: {ours[-300:]}"


def check_pair(domain_path: Path, problem_path: Path | None, translate: bool) -> str:
    """What is wrong with one pair of files, or nothing. PlumblineError: one is refused."""
    domain = read_domain(domain_path)
    problem = read_problem(problem_path, domain) if problem_path else made_up_problem(domain)
    printed = format_domain(domain), format_problem(problem)
    again = parse_domain(printed[0])
    if again != domain:
        return "the printed domain reads back differently"
    if parse_problem(printed[1], again) != problem:
        return "the printed problem reads back differently"
    return same_task(domain_path, problem_path, printed) if translate else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-translator", action="store_true")
    args = parser.parse_args()
    counts = check_all(args.folder, not args.no_translator)
    return 1 if counts["failures"] or not counts["domains"] else 0


def rows(setting: Setting) -> Iterator[Row]:
    for folder in (EXAMPLES, setting.data):
        if folder is not None:
            translate = not setting.quick
            counts = check_all(folder, translate, largest=LARGEST)
            whose = "published" if folder == setting.data else "bundled"
            yield mistakes(
                f"{whose} PDDL files whose printed form means something else",
                counts["failures"],
                counts["failures"] + counts["good pairs"],
                f"{counts['domains']} domains, {counts['refused']} refused"
                + "; the translator is the judge" * translate,
            )


def check_all(folder: Path, translate: bool, largest: int | None = None) -> Counter[str]:
    """Counts of what was looked at; problems with more bytes than `largest` are left out."""
    start = time.perf_counter()
    counts: Counter[str] = Counter()
    for domain, found in pairs(folder):
        problems = [path for path in found if largest is None or path.stat().st_size <= largest]
        counts["domains"] += 1
        counts["problems"] += len(problems)
        tasks: list[Path | None] = [*problems] or [None]
        for problem in tasks:
            try:
                said = check_pair(domain, problem, translate)
                counts["failures" if said else "good pairs"] += 1
            except PlumblineError as error:
                said = f"refused: {error}"
                counts["refused"] += 1
            if said:
                print(f"{domain} {problem or '(made up)'}: {said}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    print(f"{time.perf_counter() - start:.1f} s")
    return counts


if __name__ == "__main__":
    sys.exit(main())
