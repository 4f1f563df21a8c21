"""`plumbline changes`: which bugs of a campaign are new, gone, or still there since another."""

from __future__ import annotations

import argparse
from math import inf
from typing import Any

from engine.campaign.changes import Change, ComparedBug, PolicyCost
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.usecases.changes import Changes, find_changes


def configure(options: Options) -> None:
    options.workspace()
    options.number("--before", None, "the earlier campaign (default: the one before --after)")
    options.number("--after", None, "the later campaign (default: the last one)")
    options.flag("--fail-on-new", "exit with code 1 if there are new bugs")
    options.epilog(
        "A bug is gone if the later policy costs no more than the best known plan, new if the "
        "earlier policy cost no more, and still there if both cost more. States that only one "
        "campaign tested are listed as not tested. If both campaigns ask only for the goal, "
        "reaching it suffices."
    )


def run(args: argparse.Namespace, console: Console) -> int:
    with console.link("Comparing") as link:
        found = find_changes(link, args.workspace, args.before, args.after)
    comparison = found.comparison
    document = {
        "before": found.before,
        "after": found.after,
        "problems": list(comparison.shared_problems),
        "counts": {change.value: comparison.count(change) for change in Change},
        "bugs": [_document(bug) for bug in comparison.bugs],
        "patterns": [
            {
                "id": pattern.id,
                "family": pattern.family,
                "title": found.titles.get(pattern.id, ""),
                "change": pattern.change.value,
                "bugs": [pattern.bugs_before, pattern.bugs_after],
            }
            for pattern in found.patterns
        ],
    }
    console.result(document, _text(found))
    fails = args.fail_on_new and comparison.count(Change.NEW)
    return ExitCode.ANSWER_IS_NO if fails else ExitCode.DONE


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
    """The least and the greatest cost of the policy; null is infinite."""
    if cost is None:
        return None
    return [None if value == inf else int(value) for value in (cost.at_least, cost.at_most)]


def _text(found: Changes) -> str:
    comparison, before, after = found.comparison, found.before, found.after
    if not comparison.shared_problems:
        return f"campaigns {before} and {after} have no problem in common"
    lines = [
        f"{bug.change.value}: bug {bug.finding.id} in {bug.finding.problem}, "
        f"{_words(bug.cost_before)} before, {_words(bug.cost_after)} now, "
        f"best known {bug.finding.bound}"
        for bug in comparison.bugs
        if bug.change is not Change.UNTESTED
    ]
    lines += [
        f"{pattern.change.value}: pattern {pattern.id}, {found.titles.get(pattern.id, '')}, "
        f"{pattern.bugs_before} bugs before, {pattern.bugs_after} now"
        for pattern in found.patterns
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
