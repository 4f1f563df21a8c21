"""`plumbline localize`: find the steps of a policy's run that are bad.

Works on bugs of a workspace, whose runs are stored, or on a fresh run of a policy. What is found
about bugs is kept in the workspace.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import CancelledError, ExitCode, UsageError
from engine.policies.runs import STEP_LIMIT
from engine.records.localization import Localization
from engine.report.localization_text import document, text
from engine.report.loss_text import describe_losses
from engine.usecases.aoc import HEURISTICS
from engine.usecases.localize import (
    ALGORITHMS,
    DEFAULT_OPTIONS,
    FreshRun,
    Localized,
    LocalizeOptions,
    better_bound_text,
    localize,
    localize_run,
    run_afresh,
)
from engine.workspace.workspace import Workspace


def configure(options: Options) -> None:
    options.text(
        "source",
        "SOURCE",
        "a workspace W.plumb; or POLICY DOMAIN.pddl PROBLEM.pddl, or POLICY FILE.sas",
        nargs="+",
    )
    which = options.either()
    which.bugs("localize this bug")
    which.flag("--all", "localize every bug that has undecided steps")
    options.choice(
        "--algorithm",
        ALGORITHMS,
        DEFAULT_OPTIONS.algorithm,
        "bisection of the run (default), or the algorithm that checks each step",
    )
    options.choice(
        "--heuristic", HEURISTICS, DEFAULT_OPTIONS.heuristic, "heuristic of the searches"
    )
    options.number(
        "--expansions",
        DEFAULT_OPTIONS.search_expansions,
        "states that one search may expand, 0 for no limit",
    )
    options.limits(
        f"seconds for all bugs together (default: {DEFAULT_OPTIONS.bug_seconds:g} seconds per bug)",
        f"megabytes of memory of one search (default: {DEFAULT_OPTIONS.megabytes})",
    )
    fresh = options.group("options for a run of a policy")
    fresh.state("state in which the run starts")
    fresh.number("--step-limit", STEP_LIMIT, "stop the run after N steps, 0 for no limit")
    fresh.seed("policies that act randomly")
    fresh.unit_costs()
    options.epilog("Exit code 3: everything is undecided because a limit was reached.")


def run(args: argparse.Namespace, console: Console) -> int:
    options = LocalizeOptions(
        args.algorithm,
        args.heuristic,
        args.expansions or None,
        total_seconds=args.time_limit,
        megabytes=args.memory_limit or DEFAULT_OPTIONS.megabytes,
    )
    if len(args.source) > 1:
        return _run_of_policy(args, console, options)
    return _bugs(args, console, options)


def _bugs(args: argparse.Namespace, console: Console, options: LocalizeOptions) -> int:
    if not args.bug and not args.all:
        raise UsageError("no bug to localize", hint="give --bug ID or --all")
    found: list[Localized] = []
    stopped = False

    def hear(event: object) -> None:
        if isinstance(event, Localized):
            found.append(event)
            if event.not_kept:
                console.message(f"warning: bug {event.bug} was not saved: {event.not_kept}")
            elif event.bound < event.bound_before:
                console.message(f"bug {event.bug}: {better_bound_text(event)}")

    with console.link("Localizing", keeps_results=True, hear=hear) as link:
        try:
            localize(link, Path(args.source[0]), args.bug, options)
        except CancelledError:
            if not found:
                raise
            stopped = True
    with Workspace.open(args.source[0]) as store:
        causes = len(store.root_causes())
        documents, texts = [], []
        for item in found:
            bug = store.bug(item.bug)
            task = store.task(bug.problem_id)
            documents.append(
                {
                    "bug": item.bug,
                    **document(task, item.localization),
                    "root_cause": bug.row.root_cause,
                    "bound": bug.row.bound,
                    "bound_before": item.bound_before,
                }
            )
            texts.append(text(task, item.localization))
    words = texts[0] if len(found) == 1 else _summary(found)
    if args.all:
        console.result({"bugs": documents, "root_causes": causes}, words)
    else:
        console.result(documents[0] if len(args.bug) == 1 else {"bugs": documents}, words)
    return _code([item.localization for item in found], stopped)


def _summary(found: Sequence[Localized]) -> str:
    lines = [f"bug {item.bug}: {describe_losses(item.localization)}" for item in found]
    return "\n".join([*lines, f"{len(found)} bugs localized"])


def _run_of_policy(args: argparse.Namespace, console: Console, options: LocalizeOptions) -> int:
    if args.bug or args.all:
        raise UsageError("--bug and --all require a workspace", hint="give only a .plumb file")
    policy, *files = args.source
    fresh = FreshRun(
        policy, tuple(files), args.state, args.step_limit or None, args.seed, args.unit_costs
    )
    with console.link("Running") as link:
        run = run_afresh(link, fresh, args.time_limit)
    task = run.table.task
    for note in task.notes:
        console.message(f"warning: {note}")
    with console.link("Localizing", keeps_results=True) as link:
        found = localize_run(link, run, options)
    console.result(document(task, found), text(task, found))
    return _code([found], link.interrupted)


def _code(found: Sequence[Localization], stopped: bool) -> ExitCode:
    if stopped:
        return ExitCode.INTERRUPTED
    undecided = [item.limited and item.cause is None for item in found]
    return ExitCode.LIMIT_REACHED if undecided and all(undecided) else ExitCode.DONE
