"""`plumbline run`: let a policy act on problems and say how each run ends."""

from __future__ import annotations

import argparse

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import CancelledError, ExitCode, LimitReachedError
from engine.policies.runs import STEP_LIMIT
from engine.records.events import Warned
from engine.records.finding import RunOutcome
from engine.usecases.run import ProblemRun, RunOptions, run_policy


def configure(options: Options) -> None:
    options.policy(or_folder=True)
    options.text(
        "files",
        "FILE",
        "DOMAIN.pddl PROBLEM.pddl..., or one FILE.sas from the Fast Downward translator",
        nargs="+",
    )
    options.unit_costs()
    options.number("--step-limit", STEP_LIMIT, "stop a run after N steps, 0 for no limit")
    options.state("state in which the run starts")
    options.seed("policies that act randomly")
    options.time_limit("stop after this many seconds")
    options.epilog("Exit code 1: not all problems were solved; 3: the time limit was reached.")


def run(args: argparse.Namespace, console: Console) -> int:
    results: list[ProblemRun] = []
    stopped: ExitCode | None = None

    def hear(event: ProblemRun | Warned) -> None:
        if isinstance(event, Warned):
            console.message(f"warning: {event.text}")
        else:
            results.append(event)

    options = RunOptions(
        args.unit_costs, args.step_limit or None, args.seed, args.time_limit, args.state
    )
    try:
        with console.link("Running", hear=hear) as link:
            run_policy(link, args.policy, args.files, options)
    except LimitReachedError as error:
        console.message(f"error: {error}")
        stopped = ExitCode.LIMIT_REACHED
    except (CancelledError, KeyboardInterrupt):
        console.message("stopped")
        stopped = ExitCode.INTERRUPTED
    solved = sum(result.outcome is RunOutcome.SOLVED for result in results)
    problems = max(len(args.files) - 1, 1)
    document = {"runs": [_document(result) for result in results], "solved": solved}
    lines = [*map(_line, results), f"{solved} of {problems} solved"]
    console.result(document, "\n".join(lines))
    if stopped is not None:
        return stopped
    return ExitCode.DONE if solved == problems else ExitCode.ANSWER_IS_NO


def _document(result: ProblemRun) -> dict[str, object]:
    return {
        "problem": result.problem,
        "outcome": str(result.outcome),
        "reason": result.reason,
        "cost": result.cost,
        "plan": list(result.actions),
        "policy_calls": result.policy_calls,
        "seconds": round(result.seconds, 4),
        **(_portfolio(result) if result.members else {}),
    }


def _portfolio(result: ProblemRun) -> dict[str, object]:
    return {
        "policy": result.policy,
        "portfolio": [
            {"policy": run.policy, "outcome": str(run.outcome), "cost": run.cost}
            for run in result.members
        ],
    }


def _line(result: ProblemRun) -> str:
    solved = result.outcome is RunOutcome.SOLVED
    how = f"{result.outcome}" if solved else f"{result.outcome} ({result.reason})"
    cost = f", cost {result.cost}" if solved else ""
    if result.members:
        able = sum(run.outcome is RunOutcome.SOLVED for run in result.members)
        whose = f" by {result.policy}" if solved else ""
        cost += f"{whose} ({able} of {len(result.members)} policies solve it)"
    return f"{result.problem}: {how} after {len(result.actions)} steps{cost}"
