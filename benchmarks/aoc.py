"""Action optimality: are the answers true, and how fast do they come?

    python benchmarks/aoc.py exhaustive --tasks 3000     every answer against h* of all states
    python benchmarks/aoc.py ipc FOLDER                  algorithms and heuristics, as in the paper
    python benchmarks/aoc.py ipc FOLDER --against-fd     AOCA* with LM-cut against A* with LM-cut

FOLDER holds one folder per domain, with domain.pddl and problems/*.pddl. As in the paper (ECAI
2025, section 7) the question is about two random actions in the initial state of each task, which
is known to have a plan. The decision time is that of the clock, and for `--against-fd` that of the
processor: a ratio below 1 says that we decide faster than Fast Downward plans. Exit code 1: a false
answer, or two algorithms that disagree.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import geometric_mean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import Row, Setting, compared, mistakes
from reference.action_optimality import question_task
from reference.action_soundness import Report, examine
from search import problems, run_fast_downward, write_task

from engine.dominance.compute import DEFAULT_LIMITS, compute
from engine.errors import LimitReachedError
from engine.localize.action_optimality import ALGORITHMS, ActionVerdict, StepVerdict, check_action
from engine.records.config import Factorization
from engine.search.forward import SearchLimits, search
from engine.search.heuristics import ADMISSIBLE
from engine.task.load import load_sas
from engine.task.successors import applicable_operators
from engine.task.task import Task

HEURISTICS = [name for name in ("lmcut", "cartesian", "ms", "hmax", "blind") if name in ADMISSIBLE]
SHORTEST = 0.001
"""Seconds: below that times are all the same, as in the paper's figures."""

LONG = 0.05
"""Seconds of planning from which on a comparison says something."""


# Are the answers true?


def exhaustive(options: argparse.Namespace) -> Report:
    began = time.monotonic()
    report = Report()
    algorithms = options.algorithms or [name for name in ALGORITHMS if name != "pms-lama"]
    for number in range(options.seed, options.seed + options.tasks):
        examine(question_task(number), number, algorithms, report, every=True)
        if options.lama_every and number % options.lama_every == 0:
            examine(question_task(number), number, ["pms-lama"], report)
    for name, count in sorted(report.answers.items()):
        print(f"{name:<28} {count:>10}")
    for violation in report.violations[:20]:
        print(f"FALSE: {violation}")
    print(
        f"{len(report.violations)} false answers of {report.answers.total()} "
        f"on {options.tasks} tasks in {time.monotonic() - began:.0f} s"
    )
    return report


# How fast do they come?


@dataclass(frozen=True, slots=True)
class Instance:
    """One question; `label` names the task."""

    label: str
    task: Task
    operator: int

    @property
    def action(self) -> str:
        return f"({self.task.operators[self.operator].name})"


@dataclass(frozen=True, slots=True)
class Run:
    verdict: StepVerdict
    seconds: float  # of the clock
    cpu_seconds: float
    expanded: int
    decided_by: str


def chosen_problems(options: argparse.Namespace) -> Iterator[Path]:
    taken: dict[str, int] = {}
    for problem in problems(options.folder, options.only):
        domain = problem.parents[1].name
        taken[domain] = taken.get(domain, 0) + 1
        if options.per_domain is None or taken[domain] <= options.per_domain:
            yield problem


def instances(problem: Path, sas: Path, seed: int, actions: int) -> list[Instance]:
    """Questions about different actions, always the same ones; none if there is no choice."""
    if not write_task(problem, sas):
        return []
    task = load_sas(sas)
    label = f"{problem.parents[1].name}/{problem.stem}"
    applicable = list(applicable_operators(task, task.init))
    if len(applicable) < 2:
        print(f"left out: {label}: one action is applicable", file=sys.stderr)
        return []
    picked = Random(f"{seed}/{label}").sample(applicable, min(actions, len(applicable)))
    return [Instance(label, task, operator) for operator in picked]


Configuration = tuple[str, str]
"""An algorithm and a heuristic."""

Results = dict[tuple[str, str], dict[Configuration, Run]]
"""By task and action."""


def ask(instance: Instance, algorithm: str, heuristic: str, options: argparse.Namespace) -> Run:
    """The median of the runs, which all do the same unless searches race each other."""
    runs = [_ask_once(instance, algorithm, heuristic, options) for _ in range(options.repeat)]
    return sorted(runs, key=lambda run: run.cpu_seconds)[len(runs) // 2]


def _limits(options: argparse.Namespace) -> SearchLimits:
    return SearchLimits(options.time_limit * options.patience, options.memory_limit * 2**20)


def _ask_once(
    instance: Instance, algorithm: str, heuristic: str, options: argparse.Namespace
) -> Run:
    task = instance.task
    limits = _limits(options)
    began, cpu_began = time.perf_counter(), time.process_time()
    verdict, expanded, grounds = StepVerdict.UNDECIDED, 0, "time-limit"
    try:
        answer = _answer(task, instance.operator, algorithm, heuristic, limits)
    except LimitReachedError:  # while a heuristic was built
        pass
    else:
        verdict, expanded = answer.verdict, answer.expanded
        found = answer.decided_by or answer.reason
        grounds = found.value if found else ""
    return Run(
        verdict,
        time.perf_counter() - began,
        time.process_time() - cpu_began,
        expanded,
        grounds,
    )


def _answer(
    task: Task, operator: int, algorithm: str, heuristic: str, limits: SearchLimits
) -> ActionVerdict:
    dominance = None
    if algorithm == "dominance":  # computed here, so that no cache spares the time
        seconds = limits.seconds
        dominance = compute(
            task,
            Factorization(),
            limits=SearchLimits(seconds, None, DEFAULT_LIMITS.expansions),
        )
    return check_action(
        task,
        task.init,
        operator,
        algorithm,
        heuristic,
        solvable=True,
        dominance=dominance,
        limits=limits,
    )


def compare_algorithms(options: argparse.Namespace) -> tuple[Results, int]:
    """A row per instance and configuration, then the paper's table; how many answers differ."""
    configurations = [
        (algorithm, heuristic)
        for algorithm in options.algorithms or ALGORITHMS
        for heuristic in (HEURISTICS[:1] if algorithm == "dominance" else options.heuristics)
    ]
    results: Results = {}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for problem in chosen_problems(options):
            sas = Path(folder) / "task.sas"
            for instance in instances(problem, sas, options.seed, options.actions):
                runs = {c: ask(instance, *c, options) for c in configurations}
                results[instance.label, instance.action] = runs
                verdicts = {run.verdict for run in runs.values()} - {StepVerdict.UNDECIDED}
                print(f"{instance.label} {instance.action}: {_verdicts(verdicts)}", flush=True)
                for (algorithm, heuristic), run in runs.items():
                    print(
                        f"  {algorithm:<10} {heuristic:<10} {run.verdict.value:<12} "
                        f"{run.seconds:8.3f} s {run.expanded:>10} expanded  {run.decided_by}"
                    )
                different += len(verdicts) > 1
    print()
    print(paper_table(configurations, results))
    if different:
        print(f"DIFFERENT: {different} questions got different answers")
    return results, different


def _verdicts(verdicts: set[StepVerdict]) -> str:
    names = sorted(verdict.value for verdict in verdicts)
    return " DIFFERENT FROM ".join(names) if names else StepVerdict.UNDECIDED.value


def paper_table(configurations: Sequence[Configuration], results: Results) -> str:
    """What each decides, and the times on what all searches decide."""
    searches = [c for c in configurations if c[0] != "dominance"]
    common = [
        runs
        for runs in results.values()
        if all(runs[c].verdict is not StepVerdict.UNDECIDED for c in searches)
    ]
    lines = [
        f"{'algorithm':<10} {'heuristic':<10} {'decided':>9} {'optimal':>8} {'not':>6} "
        f"{'mean s':>9} {'total s':>9} {'expanded':>12}   (times: {len(common)} common instances)"
    ]
    for configuration in configurations:
        runs = [by_configuration[configuration] for by_configuration in results.values()]
        optimal = sum(run.verdict is StepVerdict.OPTIMAL for run in runs)
        not_optimal = sum(run.verdict is StepVerdict.NOT_OPTIMAL for run in runs)
        shared = [by_configuration[configuration] for by_configuration in common]
        times = [max(run.seconds, SHORTEST) for run in shared] or [0.0]
        lines.append(
            f"{configuration[0]:<10} {configuration[1]:<10} "
            f"{optimal + not_optimal:>5}/{len(runs):<3} {optimal:>8} {not_optimal:>6} "
            f"{geometric_mean(times) if shared else 0:>9.4f} {sum(times):>9.1f} "
            f"{sum(run.expanded for run in shared):>12}"
        )
    return "\n".join(lines)


# Against Fast Downward.


@dataclass(frozen=True, slots=True)
class AgainstPlanning:
    """CPU seconds of Fast Downward (a lower bound), of our A* if it ended, and of AOCA*."""

    label: str
    theirs: float
    own: float | None
    seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.theirs


def compare_with_fast_downward(options: argparse.Namespace) -> list[AgainstPlanning]:
    found: list[AgainstPlanning] = []
    undecided = 0
    print(f"{'task':<34} {'verdict':<12} {'theirs s':>9} {'A* s':>9} {'AOCA* s':>9} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for problem in chosen_problems(options):
            sas = Path(folder) / "task.sas"
            asked = instances(problem, sas, options.seed, options.actions)
            if not asked:
                continue
            theirs = run_fast_downward(sas, "lmcut", options.time_limit)
            own = _own_astar(asked[0].task, options)
            for instance in asked:
                run = ask(instance, "aoca", "lmcut", options)
                if run.verdict is StepVerdict.UNDECIDED:
                    undecided += 1
                    print(f"{instance.label:<34} undecided", flush=True)
                    continue
                # A search that was not finished took at least its limit: the ratio is below this.
                seconds = options.time_limit if theirs is None else max(theirs.seconds, SHORTEST)
                found.append(
                    AgainstPlanning(instance.label, seconds, own, max(run.cpu_seconds, SHORTEST))
                )
                print(
                    f"{instance.label:<34} {run.verdict.value:<12} "
                    f"{'limit' if theirs is None else f'{theirs.seconds:.3f}':>9} "
                    f"{'limit' if own is None else f'{own:.3f}':>9} "
                    f"{run.cpu_seconds:>9.3f} {found[-1].ratio:>7.3f}",
                    flush=True,
                )
    print()
    for shortest in (0.0, 0.05, 0.5):
        chosen = [item.ratio for item in found if item.theirs >= shortest]
        if chosen:
            print(
                f"theirs >= {shortest:g} s: {len(chosen)} instances, median ratio "
                f"{median(chosen):.3f}, geometric mean {geometric_mean(chosen):.3f}, "
                f"largest {max(chosen):.2f}"
            )
    print(f"{undecided} instances undecided within {options.time_limit:g} s")
    return found


def _own_astar(task: Task, options: argparse.Namespace) -> float | None:
    """Seconds; None if a limit ended it."""
    began = time.process_time()
    limits = _limits(options)
    result = search(task, "astar", "lmcut", limits=limits)
    seconds = max(time.process_time() - began, SHORTEST)
    return None if result.outcome.is_limit else seconds


# For the table of all benchmarks.


def rows(setting: Setting) -> Iterator[Row]:
    report = exhaustive(parse(["exhaustive", "--tasks", str(setting.choose(30, 3))]))
    what = "answers about actions against h* of all states"
    yield mistakes(what, len(report.violations), report.answers.total())
    common = ["ipc", str(setting.tasks), "--time-limit", setting.choose("2", "1")]
    common += ["--patience", "5"]  # the machine may be busy with something else
    found = compare_with_fast_downward(parse([*common, "--against-fd", "--actions", "1"]))
    long = [item for item in found if item.theirs >= LONG]
    yield from _planning_rows(long)
    middle = sorted(long or found, key=lambda item: item.theirs)[: setting.choose(12, 2)]
    labels = [item.label for item in middle]
    results, different = compare_algorithms(parse([*common, "--actions", "1", "--only", *labels]))
    yield mistakes("algorithms that answer differently", different, len(results))
    yield from _algorithm_rows(results)


def _planning_rows(long: Sequence[AgainstPlanning]) -> Iterator[Row]:
    what, remark = "one question, AOCA* with LM-cut", f"where theirs takes {LONG:g} s or more"
    against = "A* with LM-cut of Fast Downward"
    yield compared(what, against, [(item.seconds, item.theirs) for item in long], "s", remark)
    own = [(item.seconds, item.own) for item in long if item.own is not None]
    yield compared(what, "our A* with LM-cut", own, "s", "on the same tasks")


def _seconds(run: Run, clock: bool) -> float:
    return max(run.seconds if clock else run.cpu_seconds, SHORTEST)


def _algorithm_rows(results: Results) -> Iterator[Row]:
    aoca = "aoca", HEURISTICS[0]
    for other in next(iter(results.values())):
        both = [
            (runs[aoca], runs[other])
            for runs in results.values()
            if StepVerdict.UNDECIDED not in (runs[aoca].verdict, runs[other].verdict)
        ]
        decided = sum(runs[other].verdict is not StepVerdict.UNDECIDED for runs in results.values())
        if other == aoca or not both:
            continue
        clock = other[0].startswith("pms")  # what runs side by side is judged by the clock
        pairs = [(_seconds(a, clock), _seconds(b, clock)) for a, b in both]
        remark = "clock; " * clock + f"{other[0]} decides {decided} of {len(results)} questions"
        yield compared("AOCA* on questions both decide", other[0], pairs, "s", remark)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    small = modes.add_parser("exhaustive", help="small random tasks, all states and actions")
    small.add_argument("--tasks", type=int, default=3000)
    small.add_argument("--lama-every", type=int, default=0, metavar="N", help="pms-lama, too")
    ipc = modes.add_parser("ipc", help="tasks of competitions")
    ipc.add_argument("folder", type=Path)
    ipc.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="tasks named so")
    ipc.add_argument("--per-domain", type=int, metavar="N", help="the first N tasks of each domain")
    ipc.add_argument("--actions", type=int, default=2, help="per task (default: 2)")
    ipc.add_argument("--heuristics", nargs="+", choices=HEURISTICS, default=HEURISTICS[:1])
    ipc.add_argument("--time-limit", type=float, default=30, metavar="S", help="per question")
    ipc.add_argument(
        "--patience", type=float, default=1, metavar="N", help="times more of the clock for ours"
    )
    ipc.add_argument("--memory-limit", type=int, default=2048, metavar="MB", help="per question")
    ipc.add_argument("--repeat", type=int, default=1, help="runs per question, the median counts")
    ipc.add_argument("--against-fd", action="store_true")
    ipc.add_argument("--core", type=int, help="stay on this core; not for searches side by side")
    for mode in (small, ipc):
        mode.add_argument("--algorithms", nargs="+", choices=tuple(ALGORITHMS), help="default: all")
        mode.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.mode == "exhaustive":
        return 1 if exhaustive(options).violations else 0
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})  # inherited by everything started here
    if options.against_fd:
        compare_with_fast_downward(options)
        return 0
    return 1 if compare_algorithms(options)[1] else 0


if __name__ == "__main__":
    sys.exit(main())
