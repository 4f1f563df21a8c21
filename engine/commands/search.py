"""`plumbline search`: find a plan, with our own searches or with LAMA.

Outcomes beyond the three of a plain search: `no-cheaper-plan` when `--bound` excludes all plans.
A search that ends without an answer is a `limit`; `reason` says which.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

from engine.commands.arguments import (
    add_limits,
    add_task_argument,
    kernel_progress,
    load_task_argument,
    seconds_left,
)
from engine.commands.console import Console, ProgressBar
from engine.errors import ExitCode, Location, UsageError
from engine.files import write_text
from engine.native.control import Control
from engine.records.finding import INFINITY
from engine.search.forward import Outcome, SearchLimits, search
from engine.search.heuristics import ADMISSIBLE
from engine.search.planners import FoundPlan, Planner, PlannerOutcome, run_planner
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.task.translate import Limits

DEFAULT_HEURISTIC = {"astar": "lmcut", "gbfs": "ff", "ehc": "ff"}
FIXED = {"uniform": "blind", "lama": None}
"""Algorithms that bring their own heuristic."""

HEURISTICS = {
    "blind": "blind",
    "goalcount": "gc",
    "hmax": "hmax",
    "hadd": "hadd",
    "ff": "ff",
    "lmcut": "lmcut",
    "cartesian": "cartesian",
    "ms": "ms",
}
"""Names on the command line, and those of the engine."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed, whoever searched."""

    outcome: str
    reason: str | None = None  # of an end without an answer
    plan: tuple[int, ...] | None = None
    cost: int | None = None
    expanded: int = 0
    evaluated: int = 0
    generated: int = 0
    search_seconds: float = 0.0
    peak_bytes: int = 0
    lower_bound: int | None = None  # of the cost of every plan, where one was proved
    cpu_seconds: float | None = None  # of the processor, to compare on a busy machine
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        if self.interrupted:
            return ExitCode.INTERRUPTED
        codes = {"solved": ExitCode.DONE, "limit": ExitCode.LIMIT_REACHED}
        return codes.get(self.outcome, ExitCode.ANSWER_IS_NO)


def configure(parser: argparse.ArgumentParser) -> None:
    add_task_argument(parser)
    parser.add_argument(
        "--algorithm",
        choices=(*DEFAULT_HEURISTIC, *FIXED),
        default="astar",
        help="astar and uniform find optimal plans, lama better and better ones (default: astar)",
    )
    parser.add_argument(
        "--heuristic",
        type=_heuristic,
        metavar=f"{{{','.join(HEURISTICS)}}}",
        help="default: lmcut for astar, ff for gbfs and ehc",
    )
    parser.add_argument(
        "--bound", type=_bound, metavar="B", help="find only plans that cost less than B"
    )
    parser.add_argument("--out", type=Path, metavar="PLAN", help="write the plan to this file")
    add_limits(parser)
    parser.epilog = "Exit code 1: no plan exists; 3: a limit was reached."


def _heuristic(text: str) -> str:
    if text not in HEURISTICS:
        known = ", ".join(HEURISTICS)
        raise argparse.ArgumentTypeError(f"unknown heuristic '{text}'; choose one of {known}")
    return text


def _bound(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"'{text}' is not a cost")
    return int(text)


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    heuristic = _chosen_heuristic(args)
    if args.out is not None:
        _check_writable(args.out)
    task = load_task_argument(args, console)
    if args.algorithm == "astar" and heuristic not in ADMISSIBLE:
        console.message(f"warning: {args.heuristic} may overestimate; the plan may not be optimal")
    args.time_limit = seconds_left(args.time_limit, started)
    with console.progress("Searching") as bar:
        if heuristic is None:
            answer = _run_lama(task, args, bar)
        else:
            answer = _run_search(task, heuristic, args, bar)
    console.result(_document(task, answer), _text(task, answer))
    if answer.plan is not None and args.out is not None:
        write_text(args.out, format_operator_plan(task, answer.plan))
    return answer.exit_code


def _chosen_heuristic(args: argparse.Namespace) -> str | None:
    """The engine's name of it, None for an algorithm that is not ours."""
    if args.algorithm in FIXED:
        if args.heuristic not in (None, FIXED[args.algorithm]):
            raise UsageError(
                f"{args.algorithm} has its own heuristic",
                hint="omit --heuristic",
            )
        return FIXED[args.algorithm]
    if args.heuristic is None:
        args.heuristic = DEFAULT_HEURISTIC[args.algorithm]
    return HEURISTICS[args.heuristic]


def _check_writable(path: Path) -> None:
    """Before the search, which may take long."""
    folder = path.absolute().parent
    if path.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"folder {folder} does not exist"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        reason = "no permission"
    else:
        return
    raise UsageError(
        f"the plan cannot be written: {reason}", Location.of(path), "choose another file"
    )


# Our own searches.


def _run_search(task: Task, heuristic: str, args: argparse.Namespace, bar: ProgressBar) -> Answer:
    control = Control()
    algorithm = "astar" if args.algorithm == "uniform" else args.algorithm
    memory = None if args.memory_limit is None else args.memory_limit * 2**20
    began = time.process_time()
    with kernel_progress(control, bar):
        result = search(
            task,
            algorithm,
            heuristic,
            bound=args.bound,
            limits=SearchLimits(args.time_limit, memory),
            control=control,
        )
    outcome, reason = _ENDS[result.outcome]
    return Answer(
        outcome,
        reason,
        result.plan,
        result.cost,
        result.expanded,
        result.evaluated,
        result.generated,
        result.seconds,
        result.peak_bytes,
        None if result.lower_bound in (0, INFINITY) else result.lower_bound,
        time.process_time() - began,
    )


_ENDS = {
    Outcome.SOLVED: ("solved", None),
    Outcome.UNSOLVABLE: ("unsolvable", None),
    Outcome.NO_CHEAPER_PLAN: ("no-cheaper-plan", None),
    Outcome.FAILED: ("limit", "gave-up"),
    Outcome.TIME_LIMIT: ("limit", "time-limit"),
    Outcome.MEMORY_LIMIT: ("limit", "memory-limit"),
    Outcome.EXPANSION_LIMIT: ("limit", "expansion-limit"),
}


# LAMA.


def _run_lama(task: Task, args: argparse.Namespace, bar: ProgressBar) -> Answer:
    """Ctrl-C ends it with the best plan so far."""
    started = time.monotonic()
    found: list[FoundPlan] = []

    def on_plan(plan: FoundPlan) -> None:
        found.append(plan)
        bar.update(len(found), f"best plan costs {plan.cost:,}")

    try:
        result = run_planner(
            Planner.LAMA,
            task,
            bound=args.bound,
            limits=Limits(args.time_limit, args.memory_limit),
            on_plan=on_plan,
        )
    except KeyboardInterrupt:
        if not found:
            raise
        best = found[-1]
        seconds = time.monotonic() - started
        return Answer(
            "solved", None, best.operators, best.cost, search_seconds=seconds, interrupted=True
        )
    outcome, reason = _PLANNER_ENDS[result.outcome]
    return Answer(
        outcome,
        reason,
        None if result.plan is None else result.plan.operators,
        None if result.plan is None else result.plan.cost,
        result.expanded,
        result.evaluated,
        result.generated,
        result.search_seconds,
        result.peak_bytes,
    )


_PLANNER_ENDS = {
    PlannerOutcome.SOLVED: ("solved", None),
    PlannerOutcome.UNSOLVABLE: ("unsolvable", None),
    PlannerOutcome.NO_PLAN_BELOW_BOUND: ("no-cheaper-plan", None),
    PlannerOutcome.GAVE_UP: ("limit", "gave-up"),
    PlannerOutcome.LIMIT: ("limit", "time-or-memory-limit"),
}


# What is printed.


def _document(task: Task, answer: Answer) -> dict[str, object]:
    return {
        "outcome": answer.outcome,
        "reason": answer.reason,
        "cost": answer.cost,
        "plan": None if answer.plan is None else _actions(task, answer.plan),
        "expanded": answer.expanded,
        "evaluated": answer.evaluated,
        "generated": answer.generated,
        "search_seconds": round(answer.search_seconds, 6),
        "peak_bytes": answer.peak_bytes,
        "lower_bound": answer.lower_bound,
        "cpu_seconds": None if answer.cpu_seconds is None else round(answer.cpu_seconds, 6),
    }


def _actions(task: Task, plan: tuple[int, ...]) -> list[str]:
    return [f"({task.operators[number].name})" for number in plan]


def _text(task: Task, answer: Answer) -> str:
    lines = [] if answer.plan is None else _actions(task, answer.plan)
    lines.append(_headline(answer))
    lines.append(
        f"{answer.expanded:,} states expanded, {answer.evaluated:,} evaluated, "
        f"{answer.generated:,} generated, {answer.search_seconds:.2f} s, "
        f"{answer.peak_bytes / 2**20:.1f} MB"
    )
    return "\n".join(lines)


def _headline(answer: Answer) -> str:
    if answer.plan is not None:
        stopped = "stopped; best plan so far: " if answer.interrupted else ""
        return f"{stopped}{len(answer.plan)} steps, cost {answer.cost}"
    sentences = {
        "unsolvable": "No plan exists.",
        "no-cheaper-plan": "No plan costs less than the bound.",
    }
    return sentences.get(answer.outcome) or _NO_ANSWER[answer.reason or ""]


_NO_ANSWER = {
    "gave-up": "The search gave up; it is incomplete. Try --algorithm gbfs or astar.",
    "time-limit": "No plan found within the time limit.",
    "memory-limit": "No plan found within the memory limit.",
    "time-or-memory-limit": "No plan found within the limits.",
}
