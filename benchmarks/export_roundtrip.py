"""Does a state that is exported as a PDDL problem translate back to exactly that state?

    python benchmarks/export_roundtrip.py FOLDER [--states 1000] [--unit-costs]

FOLDER holds one folder per domain, with domain.pddl and problems/*.pddl, or is such a folder. For
every domain, states from random walks through its smallest problems are exported, translated and
compared: the atoms, whether the goal holds, and where every action leads. Each translation takes
0.1 s or more, and none comes from the cache. Exit code 1: some state came back different.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measurement import EXAMPLES, Row, Setting, mistakes

from engine.errors import PlumblineError
from engine.pddl import format_domain
from engine.task.atoms import state_atoms
from engine.task.export import export_domain, export_state_text
from engine.task.load import load_task
from engine.task.successors import State, applicable_operators, is_goal, successor
from engine.task.task import GroundAtom, Task
from engine.task.translation_cache import TranslationCache

WALK_LENGTH = 60
"""Steps until a walk starts again from the initial state."""


@dataclass(frozen=True, slots=True)
class Result:
    problem: str
    states: int
    differences: tuple[str, ...]
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--states", type=int, default=1000, help="per domain")
    parser.add_argument("--unit-costs", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    results = [
        result
        for domain in domains(options.folder)
        for result in check_domain(domain, options.states, options.unit_costs, options.seed)
    ]
    return int(any(result.differences for result in results))


def rows(setting: Setting) -> Iterator[Row]:
    states = setting.choose(6, 2)
    parts = [(EXAMPLES, False)]
    if setting.data is not None:  # some of the published problems lack the costs of their domain
        parts += [(setting.published(name), True) for name in ("asnets", "gnn")]
    results = [
        result
        for folder, unit_costs in parts
        for domain in domains(folder)
        for result in check_domain(domain, states, unit_costs, 0)
    ]
    different = sum(len(result.differences) for result in results)
    total = sum(result.states for result in results)
    yield mistakes("states that come back different from PDDL", different, total)


def check_domain(domain: Path, wanted: int, unit_costs: bool, seed: int) -> list[Result]:
    """At most half of the states come from one problem, so that at least two take part."""
    results: list[Result] = []
    for problem in problems(domain):
        left = wanted - sum(result.states for result in results)
        if left <= 0:
            break
        try:
            task = load_task(domain, problem, unit_costs=unit_costs)
        except PlumblineError as error:
            print(f"{domain.parent.name:24} {problem.name:20} refused: {error}", flush=True)
            continue
        number = min(left, (wanted + 1) // 2)
        results.append(check(task, problem.name, number, random.Random(seed)))
        report(domain.parent.name, results[-1])
    return results


def domains(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("domain.pddl")):
        if problems(path):
            yield path


def problems(domain: Path) -> list[Path]:
    """The smallest file first."""
    found = domain.parent.glob("problems/*.pddl")
    return sorted(found, key=lambda path: (path.stat().st_size, path.name))


def report(domain: str, result: Result) -> None:
    per_state = result.seconds / max(result.states, 1)
    print(
        f"{domain:24} {result.problem:20} {result.states:5} states  "
        f"{len(result.differences)} differ  {result.seconds:7.1f} s  {per_state:.3f} s each",
        flush=True,
    )
    for text in result.differences[:5]:
        print(f"    {text}")


def check(task: Task, problem: str, wanted: int, choose: random.Random) -> Result:
    started = time.monotonic()
    differences = []
    states = walk_states(task, wanted, choose)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "domain.pddl").write_text(format_domain(export_domain(task)))
        for number, state in enumerate(states):
            if difference := compare(task, state, translate_back(task, state, folder)):
                differences.append(f"state {number} {state}: {difference}")
    return Result(problem, len(states), tuple(differences), time.monotonic() - started)


def walk_states(task: Task, wanted: int, choose: random.Random) -> list[State]:
    """Different states; fewer than wanted where there are no more to be found."""
    found = {task.init: None}
    state = task.init
    for step in range(20 * wanted):
        if len(found) >= wanted:
            break
        applicable = list(applicable_operators(task, state))
        if not applicable or step % WALK_LENGTH == 0:
            state = task.init
            continue
        state = successor(task, task.operators[choose.choice(applicable)], state)
        found[state] = None
    return list(found)


def translate_back(task: Task, state: State, folder: Path) -> Task:
    problem = folder / "problem.pddl"
    problem.write_text(export_state_text(task, state, "exported"))
    return load_task(folder / "domain.pddl", problem, cache=TranslationCache(folder, max_bytes=0))


def compare(task: Task, state: State, again: Task) -> str:
    """What is different, empty if nothing is."""
    if missing := state_atoms(task, state) ^ state_atoms(again, again.init):
        return f"the atoms {sorted(missing)}"
    if is_goal(task, state) != is_goal(again, again.init):
        return "whether the goal holds"
    if again.operators and changes(task, state) != changes(again, again.init):
        return "what the actions do"
    return ""


def changes(task: Task, state: State) -> dict[str, tuple[frozenset[GroundAtom], int]]:
    """Where the ground actions lead that change the state, and what they cost."""
    here = state_atoms(task, state)
    after = {}
    for number in applicable_operators(task, state):
        operator = task.operators[number]
        atoms = state_atoms(task, successor(task, operator, state))
        if atoms != here:
            after[operator.name] = (atoms, operator.cost)
    return after


if __name__ == "__main__":
    sys.exit(main())
