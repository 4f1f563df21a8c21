"""`plumbline localize`: which steps of a policy's run are bad, and what to blame.

Works on bugs of a workspace, whose runs are stored, or on a fresh run of a policy. What is found
about bugs is kept in the workspace.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from engine.commands.aoc import HEURISTICS
from engine.commands.arguments import add_limits, state_values
from engine.commands.console import Console, ProgressBar
from engine.commands.run import STEP_LIMIT
from engine.commands.stop_signal import stop_signal
from engine.errors import (
    CancelledError,
    ExitCode,
    LimitReachedError,
    UsageError,
    WorkspaceError,
)
from engine.localize.localizer import ALGORITHMS, BISECTION, Localizer, Searched
from engine.localize.run_searches import MEGABYTES, LocalizationLimits
from engine.native.control import Control
from engine.policies.policy import close_policy, open_policy
from engine.policies.run_graph import Outcome
from engine.policies.runs import PolicyRun, PolicyRuns
from engine.records.localization import Localization
from engine.report.bug_text import document, text
from engine.task.load import load_task_files
from engine.task.states import StateTable
from engine.task.task import Task
from engine.task.translate import Limits
from engine.usecases.localize import BugLocalizer
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

EXPANSIONS = 1_000_000

Found = tuple[Bug, Localization]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="+",
        metavar="SOURCE",
        help="a workspace W.plumb; or POLICY DOMAIN.pddl PROBLEM.pddl, or POLICY FILE.sas",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--bug", type=int, action="append", metavar="ID", help="this one; may be repeated"
    )
    which.add_argument(
        "--all", action="store_true", help="all bugs of which something is still undecided"
    )
    parser.add_argument(
        "--algorithm",
        choices=ALGORITHMS,
        default=BISECTION,
        help="bisection of the run (default), or how to check one step after the other",
    )
    parser.add_argument("--heuristic", choices=HEURISTICS, default="lmcut", help="default: lmcut")
    parser.add_argument(
        "--expansions",
        type=_expansions,
        default=EXPANSIONS,
        metavar="N",
        help=f"for one search from one state, 0 for no limit (default {EXPANSIONS})",
    )
    add_limits(parser)
    fresh = parser.add_argument_group("for a run of a policy")
    fresh.add_argument(
        "--state",
        type=state_values,
        metavar="V0,V1,...",
        help="where it starts, as `task` lists the variables (default: the initial state)",
    )
    fresh.add_argument(
        "--step-limit", type=_expansions, default=STEP_LIMIT, metavar="N", help="as for `run`"
    )
    fresh.add_argument("--seed", type=int, default=0, help="for policies that draw numbers")
    fresh.add_argument(
        "--unit-costs", action="store_true", help="count actions instead of adding up costs"
    )
    parser.epilog = "Exit code 3 means that limits left everything undecided."


def _expansions(words: str) -> int:
    if not (words.isascii() and words.isdigit() and len(words) <= 18):
        raise argparse.ArgumentTypeError(f"'{words}' is not a number")
    return int(words)


def run(args: argparse.Namespace, console: Console) -> int:
    deadline = time.monotonic() + (args.time_limit or float("inf"))
    with console.progress("Localizing", total=1.0) as bar:
        if len(args.source) > 1:
            return _run_of_policy(args, console, bar, deadline)
        return _bugs(args, console, bar, deadline)


def _bugs(
    args: argparse.Namespace, console: Console, bar: ProgressBar, deadline: float
) -> ExitCode:
    if not args.bug and not args.all:
        raise UsageError("there is no bug to localize", hint="name one by --bug ID, or --all")
    control = Control()
    found: list[Found] = []
    with Workspace.open(args.source[0]) as store, stop_signal(control.cancel) as stop:
        numbers = args.bug or _unfinished(store)
        progress = _Progress(bar, len(numbers))
        localizer = BugLocalizer(
            store,
            algorithm=args.algorithm,
            heuristic=args.heuristic,
            control=control,
            emit=progress.hear,
        )
        for number in numbers:
            bug = store.bug(number)
            localization = localizer.localize(bug, _limits(args, deadline))
            _keep(localizer, bug, localization, console)
            found.append((bug, localization))
            progress.done += 1
            if stop.is_set():
                break
        documents = [_bug_document(store, localizer, *item) for item in found]
        words = _texts(localizer, found)
        causes = len(store.root_causes())
    if args.all:
        console.result({"bugs": documents, "root_causes": causes}, words)
    else:
        console.result(documents[0] if len(numbers) == 1 else {"bugs": documents}, words)
    return _code([localization for _, localization in found], stop.is_set())


def _unfinished(store: Workspace) -> list[int]:
    """Bugs that were not localized, or of which something is undecided or damaged."""
    known = store.localized_bugs()
    return [row.id for row in store.bugs() if row.id not in known or not _is_whole(store, row.id)]


def _is_whole(store: Workspace, bug: int) -> bool:
    try:
        found = store.localization(bug)
    except WorkspaceError:
        return False
    return found is not None and not found.limited


def _keep(localizer: BugLocalizer, bug: Bug, found: Localization, console: Console) -> None:
    try:
        localizer.keep(bug, found)
    except WorkspaceError as error:
        console.message(f"warning: bug {bug.row.id}: this is not kept: {error}")


def _bug_document(
    store: Workspace, localizer: BugLocalizer, bug: Bug, found: Localization
) -> dict[str, Any]:
    root_cause = store.bug(bug.row.id).row.root_cause
    return {
        "bug": bug.row.id,
        **document(localizer.task(bug.problem_id), found),
        "root_cause": root_cause,
    }


def _texts(localizer: BugLocalizer, found: Sequence[Found]) -> str:
    if len(found) == 1:
        ((bug, localization),) = found
        return text(localizer.task(bug.problem_id), localization)
    lines = []
    for bug, localization in found:
        cause = localization.cause
        blamed = f"step {cause.index}, {cause.kind.value} ({cause.action})" if cause else "nothing"
        left = len(localization.undecided_steps)
        lines.append(
            f"bug {bug.row.id}: {len(localization.bad_steps)} bad steps of "
            f"{len(localization.steps)}, {left} undecided; to blame: {blamed}"
        )
    return "\n".join([*lines, f"{len(found)} bugs localized"])


def _run_of_policy(
    args: argparse.Namespace, console: Console, bar: ProgressBar, deadline: float
) -> ExitCode:
    if args.bug or args.all:
        raise UsageError("--bug and --all speak of a workspace", hint="name a .plumb file alone")
    task = load_task_files(
        args.source[1:], unit_costs=args.unit_costs, limits=Limits(seconds=args.time_limit)
    )
    for note in task.notes:
        console.message(f"warning: {note}")
    table = StateTable(task)
    run_found, last = _policy_run(args, table, deadline)
    control = Control()
    localizer = Localizer(
        table,
        algorithm=args.algorithm,
        heuristic=args.heuristic,
        limits=_limits(args, deadline),
        control=control,
        emit=_Progress(bar, 1).hear,
    )
    with stop_signal(control.cancel) as stop:
        found = localizer.localize(run_found, last)
    console.result(document(task, found), text(task, found))
    return _code([found], stop.is_set())


def _policy_run(
    args: argparse.Namespace, table: StateTable, deadline: float
) -> tuple[PolicyRun, int | None]:
    """The run, and the decision that ends it if it fails."""
    task = table.task
    (start,) = table.add(_start(args, task)).tolist()
    policy = open_policy(args.source[0], task.source.domain if task.source else None, args.seed)
    try:
        bound = policy.bind(task)
        try:
            runs = PolicyRuns(bound, table)
            runs.run(start, args.step_limit or None, lambda: time.monotonic() > deadline)
            found = runs.trace(start)
            failed = found.outcome is Outcome.FAILED
            return found, int(runs.decisions([found.states[-1]])[0]) if failed else None
        except CancelledError:
            raise LimitReachedError("the time limit came before the policy's run ended") from None
        finally:
            close_policy(bound)
    finally:
        close_policy(policy)


def _start(args: argparse.Namespace, task: Task) -> tuple[int, ...]:
    if args.state is None:
        return task.init
    state: tuple[int, ...] = args.state
    sizes = task.domain_sizes
    if len(state) != len(sizes) or any(v >= n for v, n in zip(state, sizes, strict=True)):
        raise UsageError(
            f"the task has no state {','.join(map(str, state))}",
            hint="`plumbline task` shows the variables and the initial state",
        )
    return state


def _limits(args: argparse.Namespace, deadline: float) -> LocalizationLimits:
    left = deadline - time.monotonic()
    return LocalizationLimits(
        search_expansions=args.expansions or None,
        total_seconds=None if left == float("inf") else max(left, 0.0),
        megabytes=args.memory_limit or MEGABYTES,
    )


class _Progress:
    """Steps decided, over all bugs."""

    def __init__(self, bar: ProgressBar, runs: int) -> None:
        self._bar, self._runs, self.done = bar, max(runs, 1), 0

    def hear(self, event: Searched) -> None:
        part = event.decided / max(event.steps, 1)
        self._bar.update((self.done + part) / self._runs, f"{event.searches} searches")


def _code(found: Sequence[Localization], stopped: bool) -> ExitCode:
    if stopped:
        return ExitCode.INTERRUPTED
    undecided = [item.limited and item.cause is None for item in found]
    return ExitCode.LIMIT_REACHED if undecided and all(undecided) else ExitCode.DONE
