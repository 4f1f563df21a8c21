"""`plumbline minimize`: the smallest problem in which a policy makes the same mistake.

A witness is kept in the workspace as a bug of its own; those that are the same up to the names of
their objects have one pattern.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.campaign.patterns import PatternBugs, pattern_bugs
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import CancelledError, ExitCode
from engine.policies.consent import Consent
from engine.records.pattern import LIMITS, SHOWN_KEY_LETTERS, Same
from engine.report.pattern_text import STOPPED_TEXTS, outcome_text
from engine.usecases.minimize import DEFAULT_OPTIONS, MinimizeOptions, WitnessResult, minimize
from engine.workspace.workspace import Workspace


def configure(options: Options) -> None:
    options.workspace()
    which = options.either(required=True)
    which.bugs("minimize the root cause of this bug")
    which.flag("--root-causes", "minimize every root cause of the workspace")
    options.choice(
        "--same",
        [same.value for same in Same],
        DEFAULT_OPTIONS.same.value,
        "what has to stay the same: the ground action and a better action "
        "(default), the action schema alone, or also the loss",
    )
    options.number(
        "--step",
        None,
        "minimize this bad step of the bug's run (number i of 'localize --json') instead of "
        "its root cause",
    )
    options.number("--tries", DEFAULT_OPTIONS.tries, "problems that may be tried per root cause")
    options.flag(
        "--trust-policies",
        "also run plug-ins that the workspace names; they run with your permissions",
    )
    options.limits("seconds for all root causes together", "megabytes of memory of one search")
    options.epilog(
        "Exit code 1: a root cause has no witness, and the result says why; 3: a limit was reached "
        "before a witness was found or verified."
    )


def run(args: argparse.Namespace, console: Console) -> int:
    options = MinimizeOptions(
        Same(args.same), args.step, args.tries, args.time_limit, megabytes=args.memory_limit
    )
    bugs = None if args.root_causes else tuple(args.bug)
    found: list[WitnessResult] = []
    stopped = False

    def hear(event: object) -> None:
        if isinstance(event, WitnessResult):
            found.append(event)

    with console.link("Minimizing", keeps_results=True, hear=hear) as link:
        try:
            found = list(
                minimize(link, args.workspace, bugs, Consent(to_all=args.trust_policies), options)
            )
        except CancelledError:
            stopped = True
    with Workspace.open(args.workspace) as store:
        patterns = pattern_bugs(store, store.bugs())
    shown = {item.pattern for item in found}
    patterns = [pattern for pattern in patterns if pattern.id in shown]
    document = {
        "witnesses": [_document(item) for item in found],
        "patterns": [_pattern_document(pattern) for pattern in patterns],
    }
    console.result(document, _text(found, patterns))
    if stopped:
        return ExitCode.INTERRUPTED
    return exit_code(found)


def exit_code(found: Sequence[WitnessResult]) -> ExitCode:
    if all(item.verified for item in found):
        return ExitCode.DONE
    missing = {item.attempt.stopped_by for item in found if item.witness is None}
    is_no = missing - LIMITS or any(item.refuted for item in found)
    return ExitCode.ANSWER_IS_NO if is_no else ExitCode.LIMIT_REACHED


def _document(item: WitnessResult) -> dict[str, Any]:
    attempt, witness = item.attempt, item.attempt.witness
    before = after = None
    if witness is not None:
        before, after = witness.before, witness.after
    return {
        "bug": item.bug,
        "id": item.witness,
        "root_cause": item.root_cause,
        "kind": item.kind,
        "bad_action": f"({witness.action})" if witness and witness.action else None,
        "better_actions": [f"({action})" for action in witness.better_actions] if witness else [],
        "same": attempt.same,
        **{
            name: [getattr(before, name), getattr(after, name)] if witness else None
            for name in ("objects", "facts", "goals", "run")
        },
        "loss": [witness.loss_before, witness.loss_after] if witness else None,
        "minimal": attempt.minimal,
        "stopped_by": attempt.stopped_by,
        "reason": attempt.reason,
        "pattern": item.pattern,
        "family": item.family or None,
        "verified": item.verified,
        "tries": attempt.tries,
        "seconds": attempt.seconds,
    }


def _pattern_document(pattern: PatternBugs) -> dict[str, Any]:
    return {
        "id": pattern.id,
        "key": pattern.key[:SHOWN_KEY_LETTERS],
        "family": pattern.family,
        "witnesses": list(pattern.witnesses),
        "bugs": list(pattern.bugs),
    }


def _text(found: Sequence[WitnessResult], patterns: Sequence[PatternBugs]) -> str:
    lines = [_line(item) for item in found]
    done = sum(item.witness is not None for item in found)
    families = {pattern.family for pattern in patterns}
    lines.append(
        f"{done} of {len(found)} have a witness; "
        f"{len(patterns)} patterns in {len(families)} families"
    )
    return "\n".join(lines)


def _line(item: WitnessResult) -> str:
    attempt, witness = item.attempt, item.attempt.witness
    what = f"bug {item.bug}" if item.root_cause is None else f"root cause {item.root_cause}"
    if witness is None:
        assert attempt.stopped_by is not None
        return f"{what}: no witness, {attempt.reason or STOPPED_TEXTS[attempt.stopped_by]}"
    sizes = ", ".join(
        f"{name} {getattr(witness.before, name)} -> {getattr(witness.after, name)}"
        for name in ("objects", "facts", "goals")
    )
    action = f"({witness.action})" if witness.action else "no action"
    end = "" if attempt.stopped_by is None else f"; {STOPPED_TEXTS[attempt.stopped_by]}"
    check = "" if item.verified else "; not verified"
    return (
        f"{what}: bug {item.witness}, {action} {outcome_text(witness)}; {sizes}; "
        f"pattern {item.pattern}{end}{check}"
    )
