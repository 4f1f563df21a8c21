"""`plumbline localize`: which steps of a policy's run are bad, and what to blame.

Works on bugs of a workspace, whose runs are stored, or on a fresh run of a policy. What is found
about bugs is kept in the workspace.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from engine.campaign.localising import BugLocaliser
from engine.campaign.reading import Bug
from engine.campaign.store import Store
from engine.commands.aoc import HEURISTICS
from engine.commands.localisation_text import document, text
from engine.commands.run import STEP_LIMIT
from engine.commands.stop_signal import stop_signal
from engine.commands.task_argument import add_limits, state_values
from engine.console import Console, ProgressBar
from engine.errors import ExitCode, UsageError, WorkspaceError
from engine.localize.localisation import Localisation
from engine.localize.policy_run import ALGORITHMS, BISECTION, Localiser, Searched
from engine.localize.searching import MEGABYTES, LocalisationLimits
from engine.native.control import Control
from engine.policies.policy import close_policy, open_policy
from engine.policies.run_graph import Outcome
from engine.policies.runs import PolicyRuns
from engine.task.load import load_task_files
from engine.task.states import StateTable
from engine.task.task import Task

EXPANSIONS = 1_000_000

Found = tuple[Bug, Localisation]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="+",
        metavar="W.plumb",
        help="a workspace; or POLICY DOMAIN.pddl PROBLEM.pddl, or POLICY FILE.sas",
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
    control = Control()
    with stop_signal(control.cancel) as stop, console.progress("Localising", total=1.0) as bar:
        if len(args.source) > 1:
            code = _run_of_policy(args, console, control, bar)
        else:
            code = _bugs(args, console, control, bar)
    return ExitCode.INTERRUPTED if stop.is_set() else code


def _bugs(
    args: argparse.Namespace, console: Console, control: Control, bar: ProgressBar
) -> ExitCode:
    if not args.bug and not args.all:
        raise UsageError("there is no bug to localise", hint="name one by --bug ID, or --all")
    deadline = time.monotonic() + (args.time_limit or float("inf"))
    with Store.open(args.source[0]) as store:
        numbers = args.bug or _unfinished(store)
        progress = _Progress(bar, len(numbers))
        localiser = BugLocaliser(
            store,
            algorithm=args.algorithm,
            heuristic=args.heuristic,
            control=control,
            emit=progress.hear,
        )
        found: list[Found] = []
        for number in numbers:
            if control.cancelled:
                break
            bug = store.bug(number)
            localisation = localiser.localise(bug, _limits(args, deadline))
            _keep(localiser, bug, localisation, console)
            found.append((bug, localisation))
            progress.done += 1
        documents = [_bug_document(store, localiser, *item) for item in found]
        words = _texts(localiser, found)
        causes = len(store.root_causes())
    if args.all:
        console.result({"bugs": documents, "root_causes": causes}, words)
    else:
        console.result(documents[0] if len(documents) == 1 else {"bugs": documents}, words)
    return _code([localisation for _, localisation in found])


def _unfinished(store: Store) -> list[int]:
    """Bugs that were not localised, or of which something is undecided or damaged."""
    known = store.localised_bugs()
    return [row.id for row in store.bugs() if row.id not in known or not _is_whole(store, row.id)]


def _is_whole(store: Store, bug: int) -> bool:
    try:
        found = store.localisation(bug)
    except WorkspaceError:
        return False
    return found is not None and not found.limited


def _keep(localiser: BugLocaliser, bug: Bug, found: Localisation, console: Console) -> None:
    try:
        localiser.keep(bug, found)
    except WorkspaceError as error:
        console.message(f"warning: bug {bug.row.id}: this is not kept: {error}")


def _bug_document(
    store: Store, localiser: BugLocaliser, bug: Bug, found: Localisation
) -> dict[str, Any]:
    root_cause = store.bug(bug.row.id).row.root_cause
    return {
        "bug": bug.row.id,
        **document(localiser.task(bug.problem_id), found),
        "root_cause": root_cause,
    }


def _texts(localiser: BugLocaliser, found: Sequence[Found]) -> str:
    if len(found) == 1:
        ((bug, localisation),) = found
        return text(localiser.task(bug.problem_id), localisation)
    lines = []
    for bug, localisation in found:
        cause = localisation.cause
        blamed = f"step {cause.index}, {cause.kind.value} ({cause.action})" if cause else "nothing"
        left = len(localisation.undecided_steps)
        lines.append(
            f"bug {bug.row.id}: {len(localisation.bad_steps)} bad steps of "
            f"{len(localisation.steps)}, {left} undecided; to blame: {blamed}"
        )
    return "\n".join([*lines, f"{len(found)} bugs localised"])


def _run_of_policy(
    args: argparse.Namespace, console: Console, control: Control, bar: ProgressBar
) -> ExitCode:
    if args.bug or args.all:
        raise UsageError("--bug and --all speak of a workspace", hint="name a .plumb file alone")
    deadline = time.monotonic() + (args.time_limit or float("inf"))
    name, *files = args.source
    task = load_task_files(files, unit_costs=args.unit_costs, cancelled=lambda: control.cancelled)
    for note in task.notes:
        console.message(f"warning: {note}")
    start = _start(args, task)
    policy = open_policy(name, task.source.domain if task.source else None, args.seed)
    try:
        bound = policy.bind(task)
        try:
            table = StateTable(task)
            runs = PolicyRuns(bound, table)
            (number,) = table.add(start).tolist()
            runs.run(number, args.step_limit or None, lambda: control.cancelled)
            run_found = runs.trace(number)
            last = None
            if run_found.outcome is Outcome.FAILED:
                last = int(runs.decisions([run_found.states[-1]])[0])
        finally:
            close_policy(bound)
    finally:
        close_policy(policy)
    localiser = Localiser(
        table,
        algorithm=args.algorithm,
        heuristic=args.heuristic,
        limits=_limits(args, deadline),
        control=control,
        emit=_Progress(bar, 1).hear,
    )
    found = localiser.localise(run_found, last)
    console.result(document(task, found), text(task, found))
    return _code([found])


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


def _limits(args: argparse.Namespace, deadline: float) -> LocalisationLimits:
    left = deadline - time.monotonic()
    return LocalisationLimits(
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


def _code(found: Sequence[Localisation]) -> ExitCode:
    undecided = [item.limited and item.cause is None for item in found]
    return ExitCode.LIMIT_REACHED if undecided and all(undecided) else ExitCode.DONE
