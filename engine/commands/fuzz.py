"""`plumbline fuzz`: make a pool of test states by random walks."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from engine.commands.arguments import add_limits, add_task_argument, load_task_argument
from engine.commands.console import Console
from engine.errors import ExitCode, UsageError
from engine.files import write_text
from engine.fuzzing.biases import BIASES, make_bias
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.fuzzing.pool_file import write_pool
from engine.policies.builtin import open_builtin
from engine.policies.policy import close_policy, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.config import Unsolved
from engine.task.states import StateTable

NEEDS_A_POLICY = frozenset(BIASES) - {"none", "heuristic"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_task_argument(parser)
    parser.add_argument(
        "--size", type=int, default=100, metavar="N", help="number of states (default: %(default)s)"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="POOL", help="pool file to write"
    )
    parser.add_argument("--policy", metavar="POLICY", help="policy that the bias observes")
    parser.add_argument(
        "--bias",
        choices=BIASES,
        default="none",
        help="which states random walks prefer (default: %(default)s)",
    )
    parser.add_argument(
        "--horizon",
        type=int,
        default=50,
        help="policy steps that a bias looks ahead (default: %(default)s)",
    )
    parser.add_argument(
        "--budget",
        type=int,
        default=200,
        help="policy evaluations allowed per walk step (default: %(default)s)",
    )
    parser.add_argument(
        "--unsolved",
        choices=[choice.value for choice in Unsolved],
        default=Unsolved.INSERT_AND_AVOID.value,
        help="what to do with states on which the policy fails (default: %(default)s)",
    )
    parser.add_argument(
        "--novelty",
        type=int,
        choices=(0, 1, 2, 3),
        default=0,
        metavar="D",
        help="keep only states with a new set of D facts, 0 to keep all (default: %(default)s)",
    )
    parser.add_argument(
        "--walk-length",
        type=int,
        default=5,
        metavar="L",
        help="maximum length of a walk (default: %(default)s)",
    )
    parser.add_argument(
        "--prune-dead-ends",
        action="store_true",
        help="skip states that h_max recognizes as dead ends",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the random walks (default: %(default)s)"
    )
    add_limits(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    _check(args)
    task = load_task_argument(args, console)
    source = task.source
    policy = (
        open_policy(args.policy, source.domain if source else None, args.seed)
        if args.policy
        else open_builtin("random", args.seed)
    )
    started = time.monotonic()
    try:
        table = StateTable(task)
        runs = PolicyRuns(policy.bind(task), table)
        bias = make_bias(args.bias, runs, horizon=args.horizon, budget=args.budget)
        options = FuzzOptions(
            size=args.size,
            walk_length=args.walk_length,
            seed=args.seed,
            seconds=args.time_limit,
            novelty=args.novelty,
            prune_dead_ends=args.prune_dead_ends,
            unsolved=Unsolved(args.unsolved),
        )
        fuzzer = Fuzzer(table, bias, options)
        stopped = False
        with console.progress("Fuzzing", total=args.size) as bar:
            try:
                for index in fuzzer.grow():
                    bar.update(index + 1, f"{index + 1} states")
            except KeyboardInterrupt:  # the states so far are as good as any
                console.message("stopped")
                stopped = True
    finally:
        close_policy(policy)
    write_text(args.out, write_pool(task, fuzzer.entries))
    statistics = fuzzer.statistics
    document = {
        "states": len(fuzzer.entries),
        "duplicates": statistics.duplicates,
        "filtered": statistics.filtered,
        "failed_walks": statistics.failed_walks,
        "walks": statistics.walks,
        "exhausted": fuzzer.exhausted,
        "seconds": time.monotonic() - started,
    }
    if fuzzer.exhausted:
        console.message("warning: walks can find no other states")
    console.result(
        document,
        f"{len(fuzzer.entries)} states in {args.out} ({statistics.walks} walks, "
        f"{statistics.duplicates} duplicates, {statistics.filtered} filtered)",
    )
    if stopped:
        return ExitCode.INTERRUPTED
    is_complete = fuzzer.exhausted or len(fuzzer.entries) >= args.size
    return ExitCode.DONE if is_complete else ExitCode.LIMIT_REACHED


def _check(args: argparse.Namespace) -> None:
    for option in ("size", "walk_length", "horizon", "budget"):
        if getattr(args, option) < 1:
            raise UsageError(f"--{option.replace('_', '-')} must be at least 1")
    if args.bias in NEEDS_A_POLICY and not args.policy:
        raise UsageError(f"the bias '{args.bias}' needs a policy", hint="give --policy")
    if not args.out.resolve().parent.is_dir():
        raise UsageError(f"folder {args.out.parent} does not exist", hint="create it first")
