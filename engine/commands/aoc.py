"""`plumbline aoc`: does an optimal plan from a state start with this action?

Unless `--solvable` or `--plan-cost` says so, it is not taken for granted that the state has a
plan; where it has none the answer is undecided, since nothing is better or worse there.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from engine.commands.arguments import (
    add_limits,
    add_task_argument,
    kernel_progress,
    load_task_argument,
    seconds_left,
    state_values,
)
from engine.commands.console import Console
from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.dominance.function import DominanceFunction
from engine.errors import ExitCode, UsageError
from engine.localize.action_optimality import (
    ALGORITHMS,
    ActionVerdict,
    DecidedBy,
    Reason,
    StepVerdict,
    check_action,
)
from engine.native.control import Control
from engine.records.config import Factorization
from engine.search.forward import SearchLimits
from engine.search.heuristics import ADMISSIBLE
from engine.task.atoms import format_fact
from engine.task.plans import operators_of_plan, parse_plan
from engine.task.successors import State, is_applicable
from engine.task.task import Task

HEURISTICS = [name for name in ("lmcut", "cartesian", "ms", "hmax", "blind") if name in ADMISSIBLE]

_CODES = {
    StepVerdict.OPTIMAL: ExitCode.DONE,
    StepVerdict.NOT_OPTIMAL: ExitCode.ANSWER_IS_NO,
    StepVerdict.UNDECIDED: ExitCode.LIMIT_REACHED,
}


def configure(parser: argparse.ArgumentParser) -> None:
    add_task_argument(parser)
    parser.add_argument(
        "--action", required=True, metavar='"(NAME ARGUMENTS)"', help="action to check"
    )
    parser.add_argument(
        "--state",
        type=state_values,
        metavar="V0,V1,...",
        help="one value per variable, in the order of 'plumbline task' (default: initial state)",
    )
    parser.add_argument(
        "--algorithm",
        choices=tuple(ALGORITHMS),
        default="aoca",
        help="one search (default), several one after the other (sms) or in parallel (pms), or "
        "dominance",
    )
    parser.add_argument(
        "--heuristic",
        choices=HEURISTICS,
        default="lmcut",
        help="heuristic of the searches (default: %(default)s)",
    )
    parser.add_argument("--solvable", action="store_true", help="assume that the state has a plan")
    parser.add_argument(
        "--plan-cost", type=_cost, metavar="C", help="cost of a known plan from the state"
    )
    parser.add_argument(
        "--dominance",
        metavar="atomic|merged[:TRANSITIONS]",
        help="try the dominance criteria first (default of the algorithm dominance: atomic)",
    )
    add_limits(parser)
    parser.epilog = "Exit code 1: the action is not optimal; 3: undecided."


def _cost(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"'{text}' is not a cost")
    return int(text)


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    factors = None if args.dominance is None else Factorization.parse(args.dominance)
    task = load_task_argument(args, console)
    state = task.init if args.state is None else args.state
    operator = _operator(task, state, args.action)
    control = Control()
    with console.progress("Searching") as bar, kernel_progress(control, bar):
        limits = _remaining(args, started)
        dominance = None if factors is None else _dominance(task, factors, limits, control)
        began = time.process_time()
        answer = check_action(
            task,
            state,
            operator,
            args.algorithm,
            args.heuristic,
            solvable=args.solvable,
            plan_cost=args.plan_cost,
            dominance=dominance,
            limits=_remaining(args, started),
            control=control,
        )
    document = _document(task, answer) | {"cpu_seconds": round(time.process_time() - began, 6)}
    console.result(document, _text(task, operator, answer))
    return _CODES[answer.verdict]


def _remaining(args: argparse.Namespace, started: float) -> SearchLimits:
    seconds = seconds_left(args.time_limit, started)
    return SearchLimits(seconds, None if args.memory_limit is None else args.memory_limit * 2**20)


def _dominance(
    task: Task, factors: Factorization, limits: SearchLimits, control: Control
) -> DominanceFunction:
    limits = replace(DEFAULT_LIMITS, seconds=limits.seconds)
    return dominance_function(task, factors, limits=limits, control=control)


def _operator(task: Task, state: State, text: str) -> int:
    """The operator of the action that is applicable, if one is."""
    if len(state) != len(task.variables):
        raise UsageError(
            f"the state has {len(state)} values, the task {len(task.variables)} variables",
            hint="`plumbline task` shows the variables and the initial state",
        )
    plan = parse_plan(text, "--action")
    if len(plan.steps) != 1:
        raise UsageError(f"'{text}' is not one action", hint='write --action "(name arguments)"')
    number = operators_of_plan(replace(task, init=state), plan)[0]
    operator = task.operators[number]
    if not is_applicable(operator, state):
        missing = [fact for fact in operator.precondition if state[fact[0]] != fact[1]]
        needed = ", ".join(format_fact(task.variables[v].values[x]) for v, x in missing[:3])
        raise UsageError(f"({operator.name}) is not applicable in the state: it needs {needed}")
    return number


def _document(task: Task, answer: ActionVerdict) -> dict[str, object]:
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
    }


def _text(task: Task, operator: int, answer: ActionVerdict) -> str:
    action = f"({task.operators[operator].name})"
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
