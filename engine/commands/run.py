"""`plumbline run`: let a policy act on problems and say how each run ends."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.commands.arguments import positive_seconds
from engine.commands.console import Console
from engine.commands.policy import add_policy_argument
from engine.errors import CancelledError, ExitCode, LimitReachedError, UsageError
from engine.policies.policy import Policy, close_policy, notes_of, open_policy
from engine.policies.runs import STEP_LIMIT, PolicyRun, PolicyRuns, Statistics
from engine.records.finding import RunOutcome
from engine.task.load import SAS_SUFFIX, load_task, load_task_files
from engine.task.states import StateTable
from engine.task.task import Task
from engine.task.translate import NO_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class ProblemRun:
    problem: str
    task: Task
    run: PolicyRun
    statistics: Statistics
    seconds: float
    out_of_time: bool

    @property
    def reason(self) -> str:
        return "time-limit" if self.out_of_time else str(self.run.reason)


def configure(parser: argparse.ArgumentParser) -> None:
    add_policy_argument(parser)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="DOMAIN.pddl PROBLEM.pddl..., or one FILE.sas from the Fast Downward translator",
    )
    parser.add_argument("--unit-costs", action="store_true", help="count every action as cost 1")
    parser.add_argument(
        "--step-limit",
        type=_steps,
        default=STEP_LIMIT,
        metavar="N",
        help="stop a run after N steps, 0 for no limit (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of policies that act randomly")
    parser.add_argument(
        "--time-limit", type=positive_seconds, metavar="S", help="stop after this many seconds"
    )
    parser.epilog = "Exit code 1: not all problems were solved; 3: the time limit was reached."


def _steps(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps")
    return int(text)


def run(args: argparse.Namespace, console: Console) -> int:
    seconds = float("inf") if args.time_limit is None else args.time_limit
    deadline = time.monotonic() + seconds
    loaders = _loaders(args.files, args.unit_costs, deadline)
    policy = open_policy(args.policy, seed=args.seed)
    results: list[ProblemRun] = []
    stopped: ExitCode | None = None
    try:
        with console.progress("Running", total=len(loaders)) as bar:
            for name, load in loaders:
                bar.update(len(results), name)
                task = load()
                _warn(console, task.notes)
                limits = {"step_limit": args.step_limit, "deadline": deadline}
                results.append(_run_problem(name, task, policy, console, **limits))
                if results[-1].out_of_time:
                    raise LimitReachedError("time limit reached")
    except LimitReachedError as error:
        console.message(f"error: {error}")
        stopped = ExitCode.LIMIT_REACHED
    except KeyboardInterrupt:
        console.message("stopped")
        stopped = ExitCode.INTERRUPTED
    finally:
        close_policy(policy)
    solved = sum(result.run.outcome is RunOutcome.SOLVED for result in results)
    document = {"runs": [_document(result) for result in results], "solved": solved}
    lines = [*map(_line, results), f"{solved} of {len(loaders)} solved"]
    console.result(document, "\n".join(lines))
    if stopped is not None:
        return stopped
    return ExitCode.DONE if solved == len(loaders) else ExitCode.ANSWER_IS_NO


def _loaders(
    files: list[str], unit_costs: bool, deadline: float
) -> list[tuple[str, Callable[[], Task]]]:
    """The problems by name, each with what loads it."""
    first, *problems = files
    if problems:

        def loader(problem: str) -> Callable[[], Task]:
            return lambda: load_task(
                first, problem, unit_costs=unit_costs, limits=_seconds_until(deadline)
            )

        return [(problem, loader(problem)) for problem in problems]
    if Path(first).suffix.lower() == SAS_SUFFIX:
        return [(first, lambda: load_task_files([first], unit_costs=unit_costs))]
    raise UsageError("no problem to run on", hint="give DOMAIN PROBLEM... or FILE.sas")


def _seconds_until(deadline: float) -> Limits:
    if deadline == float("inf"):
        return NO_LIMITS
    return Limits(seconds=max(deadline - time.monotonic(), 0.001))


def _run_problem(
    name: str, task: Task, policy: Policy, console: Console, *, step_limit: int, deadline: float
) -> ProblemRun:
    started = time.perf_counter()
    bound = policy.bind(task)
    try:
        _warn(console, notes_of(bound))
        table = StateTable(task)
        runs = PolicyRuns(bound, table)
        start = int(table.add(task.init)[0])
        out_of_time = False
        try:
            runs.run(start, step_limit or None, lambda: time.monotonic() > deadline)
        except CancelledError:
            out_of_time = True
        _warn(console, [f"{name}: the policy failed: {text}" for text in runs.statistics.errors])
        seconds = time.perf_counter() - started
        return ProblemRun(name, task, runs.trace(start), runs.statistics, seconds, out_of_time)
    finally:
        close_policy(bound)


def _warn(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        console.message(f"warning: {note}")


def _document(result: ProblemRun) -> dict[str, object]:
    run = result.run
    return {
        "problem": result.problem,
        "outcome": str(run.outcome),
        "reason": result.reason,
        "cost": run.cost if run.outcome is RunOutcome.SOLVED else None,
        "plan": [f"({result.task.operators[number].name})" for number in run.operators],
        "policy_calls": result.statistics.evaluated,
        "seconds": round(result.seconds, 4),
    }


def _line(result: ProblemRun) -> str:
    run = result.run
    solved = run.outcome is RunOutcome.SOLVED
    how = f"{run.outcome}" if solved else f"{run.outcome} ({result.reason})"
    cost = f", cost {run.cost}" if solved else ""
    return f"{result.problem}: {how} after {len(run.operators)} steps{cost}"
