"""What verification found, in words: for the command line and the window."""

from __future__ import annotations

from collections.abc import Iterator

from engine.records.verification import (
    CheckedClaim,
    ClaimCount,
    ClaimKind,
    PolicyAnswer,
    Standing,
    Verification,
)
from engine.report.words import count_text

SHOWN = 20
"""Problems that are named; the others are counted."""

NAMES = {
    ClaimKind.BUGS: "bugs",
    ClaimKind.BOUNDS: "bounds",
    ClaimKind.RUNS: "policy runs",
    ClaimKind.STATES: "reachable states",
    ClaimKind.OPTIMAL: "proofs of optimality",
    ClaimKind.CAUSES: "root causes",
    ClaimKind.LOCALIZATIONS: "localizations",
    ClaimKind.STATISTICS: "statistics",
    ClaimKind.INPUTS: "inputs",
    ClaimKind.WITNESSES: "witnesses",
    ClaimKind.TRIALS: "trials of experiments",
    ClaimKind.PATTERNS: "patterns",
}


def headline(found: Verification) -> str:
    """One sentence: how many bugs are verified, and what is wrong."""
    bugs = f"{len(found.verified)} of {count_text(len(found.bugs), 'bug')} verified"
    if found.failed:
        return f"{bugs}; {count_text(len(found.failed), 'claim')} false"
    if found.undecided:
        return f"{bugs}; {count_text(len(found.undecided), 'claim')} undecided"
    return f"{bugs}; all claims hold"


def summary_lines(found: Verification) -> Iterator[str]:
    """The first problems, a line per kind of claim, what is not checked, and the headline."""
    yield from problem_lines(found)
    for count in found.counts:
        if count.held or count.false or count.undecided:
            yield _count_line(count)
    for text in found.unchecked:
        yield f"not checked: {text}"
    plans = sum(number for _, number in found.plans)
    same = sum(reply.answer is PolicyAnswer.SAME for reply in found.replies)
    yield (
        f"{headline(found)}; VAL accepted {count_text(plans, 'plan')}; "
        f"the policy reproduces {count_text(same, 'run')}"
    )


def problem_lines(found: Verification) -> Iterator[str]:
    yield from map(problem_text, found.problems[:SHOWN])
    if len(found.problems) > SHOWN:
        yield f"and {len(found.problems) - SHOWN} more"


def problem_text(item: CheckedClaim) -> str:
    """Return such as `bug 3 (runs) is false: the policy takes another run`."""
    verdict = item.verdict
    return f"{item.text} ({NAMES[item.claim]}) is {verdict.standing}: {verdict.reason}"


def bug_text(found: Verification, bug: int) -> tuple[str, Standing]:
    """Return the result for one bug as a sentence."""
    problems = found.about(bug)
    false = [item for item in problems if item.verdict.standing is Standing.FALSE]
    if false:
        return f"Verification failed: {false[0].verdict.reason}", Standing.FALSE
    plans = dict(found.plans).get(bug, 0)
    accepted = f"; VAL accepts {count_text(plans, 'plan')}" if plans else ""
    if not problems:
        return f"Verified. All claims about this bug hold{accepted}.", Standing.HOLDS
    reasons = "; ".join(dict.fromkeys(item.verdict.reason for item in problems))
    proven = f"Verified: the evidence proves the bug{accepted}. " if bug in found.verified else ""
    return f"{proven}Undecided: {reasons}.", Standing.UNDECIDED


def _count_line(count: ClaimCount) -> str:
    parts = [f"{count.held:,} hold"]
    if count.false:
        parts.append(f"{count.false:,} false")
    if count.undecided:
        parts.append(f"{count.undecided:,} undecided")
    return f"{NAMES[count.claim]}: {', '.join(parts)}"
