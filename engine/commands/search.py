"""`plumbline search`: find a plan, with our own searches or with LAMA.

Outcomes beyond the three of a plain search: `no-cheaper-plan` when `--bound` excludes all plans.
A search that ends without an answer is a `limit`; `reason` says which.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

from engine.commands.arguments import kernel_progress, load_task_argument, seconds_left
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode, Location, UsageError
from engine.files import write_text
from engine.search.heuristics import ADMISSIBLE
from engine.task.plans import format_operator_plan
from engine.task.states import require_state
from engine.task.task import Task
from engine.usecases.search import (
    ALGORITHMS,
    NoAnswer,
    PlanAnswer,
    PlanOptions,
    PlanOutcome,
    find_plan,
)

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


def configure(options: Options) -> None:
    options.task()
    options.choice(
        "--algorithm",
        ALGORITHMS,
        "astar",
        "astar and uniform find optimal plans, lama better and better ones (default: astar)",
    )
    options.text(
        "--heuristic",
        f"{{{','.join(HEURISTICS)}}}",
        "heuristic of the search (default: lmcut for astar, ff for gbfs and ehc)",
        type=_heuristic,
    )
    options.state("state from which to search")
    options.number("--bound", None, "find only plans that cost less than B", metavar="B")
    options.path("--out", "PLAN", "write the plan to this file")
    options.limits()
    options.epilog("Exit code 1: no plan exists; 3: a limit was reached.")


def _heuristic(text: str) -> str:
    if text not in HEURISTICS:
        known = ", ".join(HEURISTICS)
        raise argparse.ArgumentTypeError(f"unknown heuristic '{text}'; choose one of {known}")
    return text


def _check_writable(path: Path) -> None:
    """Check that a file can be written, before a search that may take long."""
    folder = path.absolute().parent
    if os.path.isdir(path):
        reason = "it is a folder"
    elif not os.path.isdir(folder):
        reason = f"folder {folder} does not exist"
    elif not os.access(path if os.path.exists(path) else folder, os.W_OK):
        reason = "no permission"
    else:
        return
    raise UsageError(
        f"the plan cannot be written: {reason}", Location.of(path), "choose another file"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    options = PlanOptions(
        args.algorithm,
        HEURISTICS[args.heuristic] if args.heuristic else "",
        args.bound,
        megabytes=args.memory_limit,
    )
    overestimates = args.algorithm == "astar" and options.chosen_heuristic not in ADMISSIBLE
    if args.out is not None:
        _check_writable(args.out)
    task = load_task_argument(args, console)
    if args.state is not None:
        task = replace(task, init=require_state(task, args.state))
    if overestimates:
        console.message(f"warning: {args.heuristic} may overestimate; the plan may not be optimal")
    options = replace(options, seconds=seconds_left(args.time_limit, started))
    with console.link("Searching", keeps_results=True) as link, kernel_progress(link):
        answer = find_plan(link, task, options)
    console.result(_document(task, answer), _text(task, answer))
    if answer.plan is not None and args.out is not None:
        write_text(args.out, format_operator_plan(task, answer.plan))
    if answer.interrupted:
        return ExitCode.INTERRUPTED
    return _CODES.get(answer.outcome, ExitCode.ANSWER_IS_NO)


_CODES = {PlanOutcome.SOLVED: ExitCode.DONE, PlanOutcome.LIMIT: ExitCode.LIMIT_REACHED}


def _document(task: Task, answer: PlanAnswer) -> dict[str, object]:
    return {
        "outcome": answer.outcome,
        "reason": answer.reason,
        "cost": answer.cost,
        "plan": None if answer.plan is None else _actions(task, answer.plan),
        "expanded": answer.expanded,
        "evaluated": answer.evaluated,
        "generated": answer.generated,
        "search_seconds": round(answer.seconds, 6),
        "peak_bytes": answer.peak_bytes,
        "lower_bound": answer.lower_bound,
        "cpu_seconds": None if answer.cpu_seconds is None else round(answer.cpu_seconds, 6),
    }


def _actions(task: Task, plan: tuple[int, ...]) -> list[str]:
    return [f"({task.operators[number].name})" for number in plan]


def _text(task: Task, answer: PlanAnswer) -> str:
    lines = [] if answer.plan is None else _actions(task, answer.plan)
    lines.append(_headline(answer))
    lines.append(
        f"{answer.expanded:,} states expanded, {answer.evaluated:,} evaluated, "
        f"{answer.generated:,} generated, {answer.seconds:.2f} s, "
        f"{answer.peak_bytes / 2**20:.1f} MB"
    )
    return "\n".join(lines)


def _headline(answer: PlanAnswer) -> str:
    if answer.plan is not None:
        stopped = "stopped; best plan so far: " if answer.interrupted else ""
        return f"{stopped}{len(answer.plan)} steps, cost {answer.cost}"
    return _NO_PLAN.get(answer.outcome) or _NO_ANSWER[answer.reason or NoAnswer.GAVE_UP]


_NO_PLAN = {
    PlanOutcome.UNSOLVABLE: "No plan exists.",
    PlanOutcome.NO_CHEAPER_PLAN: "No plan costs less than the bound.",
}
_NO_ANSWER = {
    NoAnswer.GAVE_UP: "The search gave up; it is incomplete. Try --algorithm gbfs or astar.",
    NoAnswer.TIME_LIMIT: "No plan found within the time limit.",
    NoAnswer.MEMORY_LIMIT: "No plan found within the memory limit.",
    NoAnswer.TIME_OR_MEMORY_LIMIT: "No plan found within the limits.",
}
