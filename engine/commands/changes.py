"""`plumbline changes`: which bugs of a campaign are new, gone, or still there since another."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from engine.campaign.changes import (
    Change,
    ComparedBug,
    Comparison,
    PolicyCost,
    compare_campaigns,
)
from engine.commands.console import Console
from engine.errors import ExitCode, UsageError
from engine.workspace.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument(
        "--before", type=int, metavar="N", help="default: the campaign before the later one"
    )
    parser.add_argument("--after", type=int, metavar="N", help="default: the last campaign")
    parser.add_argument(
        "--fail-on-new", action="store_true", help="exit with 1 if there are new bugs"
    )
    parser.epilog = (
        "A bug is gone where the later policy pays no more than the best known, new where the "
        "earlier one paid no more, and still there where both pay more; what was not tested by "
        "both is said to be so. Where both campaigns ask only for the goal, reaching it is enough."
    )


def run(args: argparse.Namespace, console: Console) -> int:
    with Workspace.open(args.workspace) as store:
        before, after = _campaigns(args, [row.id for row in store.campaigns()])
        comparison = compare_campaigns(store, before, after)
    document = {
        "before": before,
        "after": after,
        "problems": list(comparison.shared_problems),
        "counts": {change.value: comparison.count(change) for change in Change},
        "bugs": [_document(bug) for bug in comparison.bugs],
    }
    console.result(document, _text(comparison, before, after))
    fails = args.fail_on_new and comparison.count(Change.NEW)
    return ExitCode.ANSWER_IS_NO if fails else ExitCode.DONE


def _campaigns(args: argparse.Namespace, known: Sequence[int]) -> tuple[int, int]:
    if len(known) < 2:
        raise UsageError(
            f"{args.workspace} holds {len(known) or 'no'} campaign{'' if known else 's'}, "
            "and it takes two to compare",
            hint="run another one into it",
        )
    after = known[-1] if args.after is None else args.after
    earlier = [number for number in known if number < after] or list(known)
    before = earlier[-1] if args.before is None else args.before
    for number in (before, after):
        if number not in known:
            raise UsageError(
                f"there is no campaign {number}",
                hint=f"choose from {', '.join(map(str, known))}",
            )
    return before, after


def _document(bug: ComparedBug) -> dict[str, Any]:
    return {
        "change": bug.change.value,
        "trend": bug.trend.value,
        "problem": bug.finding.problem,
        "policy": bug.finding.policy,
        "before": bug.before.id if bug.before else None,
        "after": bug.after.id if bug.after else None,
        "cost_before": _range(bug.cost_before),
        "cost_after": _range(bug.cost_after),
        "bound": bug.finding.bound,
    }


def _range(cost: PolicyCost | None) -> list[int | None] | None:
    """What the policy pays at least and at most; null in it is infinitely much."""
    if cost is None:
        return None
    return [None if value == inf else int(value) for value in (cost.at_least, cost.at_most)]


def _text(comparison: Comparison, before: int, after: int) -> str:
    if not comparison.shared_problems:
        return f"campaigns {before} and {after} have no problem in common"
    lines = [
        f"{bug.change.value}: bug {bug.finding.id} in {bug.finding.problem}, "
        f"{_words(bug.cost_before)} before, {_words(bug.cost_after)} now, "
        f"best known {bug.finding.bound}"
        for bug in comparison.bugs
        if bug.change is not Change.UNTESTED
    ]
    counts = ", ".join(f"{comparison.count(change)} {change.value}" for change in Change)
    problems = ", ".join(comparison.shared_problems)
    return "\n".join([*lines, f"campaign {before} to {after}, on {problems}: {counts}"])


def _words(cost: PolicyCost | None) -> str:
    if cost is None:
        return "not run"
    if cost.at_least == inf:
        return "fails"
    exact = cost.at_least == cost.at_most
    return f"cost {cost.at_least:.0f}" if exact else f"cost {cost.at_least:.0f} or more"
