"""`plumbline fuzz`: make a pool of test states by random walks."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

from engine.campaign.toml_values import MAX_NUMBER
from engine.commands.arguments import load_task_argument, seconds_left
from engine.commands.console import Console
from engine.commands.options import Options, between, count
from engine.errors import ExitCode, UsageError
from engine.files import real_path
from engine.records.config import Unsolved
from engine.report.words import complete_text
from engine.usecases.fuzz import BIASES, BiasOptions, FuzzOptions, fuzz


def configure(options: Options) -> None:
    options.task()
    options.number("--size", 100, "number of states", between(1, MAX_NUMBER))
    options.path("--out", "POOL", "pool file to write", required=True)
    options.text("--policy", "POLICY", "policy that the bias observes")
    options.choice("--bias", BIASES, "none", "which states random walks prefer")
    options.number("--horizon", 50, "policy steps that a bias looks ahead, 0 for whole runs")
    options.number("--budget", 200, "policy evaluations per walk step, 0 for no limit")
    options.choice(
        "--unsolved",
        [choice.value for choice in Unsolved],
        Unsolved.INSERT_AND_AVOID.value,
        "what to do with states on which the policy fails",
    )
    options.text(
        "--novelty",
        "D",
        "keep only states with a new set of D facts, 0 to keep all (default: %(default)s)",
        type=count,
        choices=(0, 1, 2, 3),
        default=0,
    )
    options.number("--walk-length", 5, "maximum length of a walk", between(1, MAX_NUMBER), "L")
    options.seed("the random walks")
    options.limits()


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    _check(args)
    bias = BiasOptions(args.bias, args.policy, args.horizon, args.budget)
    options = FuzzOptions(
        size=args.size,
        walk_length=args.walk_length,
        seed=args.seed,
        megabytes=args.memory_limit,
        novelty=args.novelty,
        unsolved=Unsolved(args.unsolved),
    )
    task = load_task_argument(args, console)
    options = replace(options, seconds=seconds_left(args.time_limit, started))
    with console.link("Fuzzing", keeps_results=True) as link:
        found = fuzz(link, task, args.out, options, bias)
    if found.stopped:
        console.message("stopped")
    statistics = found.statistics
    document = {
        "states": found.states,
        "duplicates": statistics.duplicates,
        "filtered": statistics.filtered,
        "failed_walks": statistics.failed_walks,
        "walks": statistics.walks,
        "exhausted": found.exhausted,
        "complete": found.complete,
        "seconds": found.seconds,
    }
    if found.exhausted and not found.complete:
        console.message("warning: random walks cannot reach any further states")
    text = (
        f"{found.states} states in {args.out} ({statistics.walks} walks, "
        f"{statistics.duplicates} duplicates, {statistics.filtered} filtered)"
    )
    if found.complete:
        text += f"\n{complete_text(found.states)}"
    console.result(document, text)
    if found.stopped:
        return ExitCode.INTERRUPTED
    is_complete = found.exhausted or found.states >= args.size
    return ExitCode.DONE if is_complete else ExitCode.LIMIT_REACHED


def _check(args: argparse.Namespace) -> None:
    if not os.path.isdir(real_path(args.out).parent):
        raise UsageError(f"folder {args.out.parent} does not exist", hint="create it first")
