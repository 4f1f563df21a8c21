"""`plumbline test`: let oracles examine the states of a pool."""

from __future__ import annotations

import argparse
import time
from typing import Any

from engine.campaign.toml_values import MAX_NUMBER
from engine.commands.arguments import load_task_argument, seconds_left
from engine.commands.console import Console
from engine.commands.options import Options, between
from engine.errors import ExitCode
from engine.policies.runs import STEP_LIMIT
from engine.records.codec import to_json
from engine.records.config import Mode
from engine.records.events import OracleVerdict
from engine.usecases.test import (
    MODES,
    OBJECTIVES,
    ORACLES,
    ExamineOptions,
    Flag,
    OracleResult,
    PoolResult,
    Standing,
    declined_by,
    examine_pool,
)


def configure(options: Options) -> None:
    options.task()
    options.text("--policy", "POLICY", "policy to test", required=True)
    options.path("--pool", "POOL", "pool file", required=True)
    options.text(
        "--oracle",
        "NAME[:option=value,...]",
        f"one of {', '.join(ORACLES)}; may be repeated",
        action="append",
        required=True,
    )
    options.text(
        "--portfolio",
        "DIR|POLICY",
        "policies to compare with (for pco-p, pco-e and composite); may be repeated",
        action="append",
        default=[],
    )
    options.choice(
        "--objective",
        OBJECTIVES,
        "any",
        "what counts as a bug: goal: only failures; any: also costs that are too high",
    )
    options.number("--step-limit", STEP_LIMIT, "stop a run after N steps", between(1, MAX_NUMBER))
    options.choice(
        "--mode",
        MODES,
        Mode.COMPARE.value,
        "compare: each oracle by itself; hunt: all as a team",
    )
    options.seed("policies and oracles")
    options.flag("--fail-on-bugs", "exit with code 1 if bugs are found")
    options.time_limit("stop after this many seconds and print what is known")
    options.epilog("Exit code 3: the time limit was reached.")


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    task = load_task_argument(args, console)
    options = ExamineOptions(
        tuple(args.oracle),
        tuple(args.portfolio),
        args.objective,
        args.step_limit,
        args.seed,
        Mode(args.mode),
    )
    if note := declined_by(options.oracles, task):
        console.message(f"warning: {note}")
    seconds = seconds_left(args.time_limit, started)
    with console.link("Testing with", keeps_results=True, seconds=seconds) as link:
        result = examine_pool(link, task, args.policy, args.pool, options)
    for text in result.policy_errors:
        console.message(f"warning: {text}")
    if result.stopped:
        console.message("stopped" if link.interrupted else "stopped at the time limit")
    console.result(_document(result) if console.as_json else {}, _text(result))
    if result.stopped:
        return ExitCode.INTERRUPTED if link.interrupted else ExitCode.LIMIT_REACHED
    found = any(work.flags or work.by_products for work in result.oracles)
    return ExitCode.ANSWER_IS_NO if found and args.fail_on_bugs else ExitCode.DONE


def _document(result: PoolResult) -> dict[str, Any]:
    return {
        "pool": [
            {
                "i": number,
                "state": list(tested.state),
                "outcome": tested.outcome.value,
                "policy_cost": tested.policy_cost,
                "flags": {
                    work.oracle: _flag(work.flags[number])
                    for work in result.oracles
                    if number in work.flags
                },
                "verdicts": {
                    work.oracle: work.verdicts[number].value
                    for work in result.oracles
                    if number in work.verdicts
                },
            }
            for number, tested in enumerate(result.states)
        ],
        "nonpool": [
            {"oracle": work.oracle, "state": list(flag.state), **_flag(flag)}
            for work in result.oracles
            for flag in work.by_products
        ],
        "portfolio": {
            work.oracle: [_standing(standing) for standing in work.portfolio]
            for work in result.oracles
            if work.portfolio is not None
        },
        "oracles": {
            work.oracle: {
                "cpu": work.effort.cpu,
                "seconds": work.effort.seconds,
                "factors": work.factors or None,
            }
            for work in result.oracles
        },
        "policy_calls": result.policy_calls,
        "policy_states": result.policy_states,
        "seconds": result.seconds,
    }


def _flag(flag: Flag) -> dict[str, Any]:
    return {"gap": flag.gap, "bound": flag.bound, "evidence": to_json(flag.evidence)}


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "policy": standing.policy,
        "runs": standing.runs,
        "bugs": len(standing.beaten),
        "proofs": standing.proofs,
        "states": [list(state) for state in standing.beaten],
    }


def _text(result: PoolResult) -> str:
    lines = [f"{len(result.states)} states"]
    width = max((len(work.oracle) for work in result.oracles), default=0)
    for work in result.oracles:
        lines.append(f"{work.oracle:<{width}}  {_counts(work)}")
        lines += [
            f"  {standing.policy}: {len(standing.beaten)} bugs in {standing.runs} runs"
            for standing in work.portfolio or ()
            if standing.runs
        ]
    return "\n".join(lines)


def _counts(work: OracleResult) -> str:
    bugs = sum(number in work.verdicts for number in work.flags)
    optimal = sum(verdict is OracleVerdict.OPTIMAL for verdict in work.verdicts.values())
    others = len(work.flags) + len(work.by_products) - bugs
    return (
        f"{bugs} bugs, {optimal} proven optimal, "
        f"{len(work.verdicts) - bugs - optimal} not refuted, {others} bugs outside the pool, "
        f"{work.effort.cpu:.1f} s of CPU time"
    )
