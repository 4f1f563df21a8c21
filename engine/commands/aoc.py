"""`plumbline aoc`: does an optimal plan from a state start with this action?"""

from __future__ import annotations

import argparse
import time

from engine.commands.arguments import kernel_progress, load_task_argument, seconds_left
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.records.config import Factorization
from engine.records.localization import StepVerdict
from engine.task.task import Task
from engine.usecases.aoc import (
    ALGORITHMS,
    HEURISTICS,
    ActionOptions,
    CheckedAction,
    DecidedBy,
    Reason,
    check_action,
)

_CODES = {
    StepVerdict.OPTIMAL: ExitCode.DONE,
    StepVerdict.NOT_OPTIMAL: ExitCode.ANSWER_IS_NO,
    StepVerdict.UNDECIDED: ExitCode.LIMIT_REACHED,
}


def configure(options: Options) -> None:
    options.task()
    options.text(
        "--action",
        '"(NAME ARGUMENTS)"',
        "action to check, or #N for the operator with this number",
        required=True,
    )
    options.state("state in which the action is taken")
    options.choice(
        "--algorithm",
        ALGORITHMS,
        "aoca",
        "one search (default), several one after the other (sms) or in parallel (pms), or "
        "dominance",
    )
    options.choice("--heuristic", HEURISTICS, "lmcut", "heuristic of the searches")
    options.flag("--solvable", "assume that the state has a plan")
    options.number("--plan-cost", None, "cost of a known plan from the state", metavar="C")
    options.text(
        "--dominance",
        "atomic|merged[:TRANSITIONS]",
        "try the dominance criteria first (default for --algorithm dominance: atomic)",
    )
    options.flag(
        "--no-greedy", "run aoca as in the paper, without a greedy search for a first plan"
    )
    options.limits()
    options.epilog("Exit code 1: the action is not optimal; 3: undecided.")


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    factors = None if args.dominance is None else Factorization.parse(args.dominance)
    task = load_task_argument(args, console)
    options = ActionOptions(
        args.state,
        args.algorithm,
        args.heuristic,
        args.solvable,
        args.plan_cost,
        factors,
        seconds_left(args.time_limit, started),
        args.memory_limit,
        not args.no_greedy,
    )
    with console.link("Searching") as link, kernel_progress(link):
        checked = check_action(link, task, args.action, options)
    console.result(_document(task, checked), _text(task, checked))
    return _CODES[checked.answer.verdict]


def _document(task: Task, checked: CheckedAction) -> dict[str, object]:
    answer = checked.answer
    plan = answer.plan
    return {
        "verdict": answer.verdict.value,
        "decided_by": answer.decided_by and answer.decided_by.value,
        "reason": answer.reason and answer.reason.value,
        "expanded": answer.expanded,
        "evaluated": answer.evaluated,
        "search_seconds": round(answer.seconds, 6),
        "cost": answer.optimal_cost,
        "cost_after_action": answer.cost_after,
        "plan": None if plan is None else [f"({task.operators[o].name})" for o in plan],
        "peak_bytes": answer.peak_bytes,
        "cpu_seconds": round(checked.cpu_seconds, 6),
    }


def _text(task: Task, checked: CheckedAction) -> str:
    answer = checked.answer
    action = f"({task.operators[checked.operator].name})"
    if answer.verdict is StepVerdict.UNDECIDED:
        headline = f"{action}: undecided, {_WITHOUT_VERDICT[answer.reason or Reason.CANCELLED]}"
    else:
        word = "optimal" if answer.verdict is StepVerdict.OPTIMAL else "not optimal"
        grounds = _GROUNDS[answer.decided_by or DecidedBy.GOAL]
        headline = f"{action} is {word}: {grounds}"
    lines = [headline]
    if answer.optimal_cost is not None:
        lines.append(f"The optimal cost from the state is {answer.optimal_cost}.")
    if answer.cost_after is not None and answer.verdict is StepVerdict.NOT_OPTIMAL:
        lines.append(f"Starting with the action, it is {answer.cost_after}.")
    lines.append(
        f"{answer.expanded:,} states expanded, {answer.evaluated:,} evaluated, "
        f"{answer.seconds:.2f} s"
    )
    return "\n".join(lines)


_GROUNDS = {
    DecidedBy.SELF_LOOP: "it changes nothing",
    DecidedBy.GOAL: "by the cheapest plan",
    DecidedBy.OPEN_LIST: "all remaining candidates agree",
    DecidedBy.PLAN: "a cheapest plan starts with it",
    DecidedBy.COSTS: "by the costs with it and without it",
    DecidedBy.DEAD_END: "no plan starts with it",
    DecidedBy.BOUNDS: "by bounds on the costs with it and without it",
    DecidedBy.LAMA: "LAMA found a plan cheaper than any that starts with it",
    DecidedBy.DOMINANCE_A: "by dominance, it gains as much as it costs",
    DecidedBy.DOMINANCE_B: "by dominance, it gains less than it costs",
    DecidedBy.DOMINANCE_C: "by dominance over all other actions",
    DecidedBy.DOMINANCE_D: "by dominance of another action",
}

_WITHOUT_VERDICT = {
    Reason.UNSOLVABLE: "the goal cannot be reached from the state, so all actions are equal",
    Reason.NO_CRITERION: "no dominance criterion applies",
    Reason.TIME_LIMIT: "time limit reached",
    Reason.MEMORY_LIMIT: "memory limit reached",
    Reason.EXPANSION_LIMIT: "expansion limit reached",
    Reason.CANCELLED: "stopped",
}
