"""Whether a policy reproduces the run of a bug in the exported problem.

A policy is a function of the state and of the task it is bound to: a network that is unrolled over
what can be reached from the initial state may decide otherwise if that is the bug state. The
problem that was tested, started in the bug state, always shows the run that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.policies.runs import PolicyRun
from engine.records.finding import EndReason, Finding, RunOutcome

_FAILURES = {
    EndReason.LOOP: "it runs into a loop",
    EndReason.NO_ACTION: "it chooses no action",
    EndReason.INAPPLICABLE: "it chooses an inapplicable action",
    EndReason.STEP_LIMIT: "it reaches the step limit",
}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How the policy does in the exported problem; `why_unknown` says why it was not run."""

    reproduces: bool | None  # whether its run is the same; None: it was not run
    cost: int | None = None  # None: it does not reach the goal there
    outcome: RunOutcome = RunOutcome.UNKNOWN
    reason: EndReason = EndReason.NONE
    is_bug: bool | None = None  # whether that is a bug, too; None: not known
    why_unknown: str = ""


NOT_TRIED = Reproduction(None, why_unknown="the policy was not run in the exported problem")


def compare_runs(
    finding: Finding, actions: tuple[str, ...], there: PolicyRun, actions_there: tuple[str, ...]
) -> Reproduction:
    """Compare the run of a finding with one in another problem, by the names of operators."""
    here = finding.run
    same = (actions, here.outcome, here.reason) == (actions_there, there.outcome, there.reason)
    solved = there.outcome is RunOutcome.SOLVED
    is_bug = None
    if there.outcome is RunOutcome.FAILED or (there.cost or 0) > finding.bound:
        is_bug = True
    elif solved:
        is_bug = False
    return Reproduction(same, there.cost if solved else None, there.outcome, there.reason, is_bug)


def reproduction_text(found: Reproduction) -> str:
    """As in "reproduces" and "differs: cost 95 there"."""
    if found.reproduces is None:
        return f"not known whether it reproduces: {found.why_unknown}"
    if found.reproduces:
        return "reproduces"
    if found.outcome is RunOutcome.SOLVED:
        bug = "" if found.is_bug else ", no bug"
        return f"differs: cost {found.cost} there{bug}"
    return f"differs: {_FAILURES.get(found.reason, f'it stops ({found.reason})')} there"


def exported_text(found: Sequence[Reproduction]) -> str:
    """What became of exported bugs, in one sentence or two."""
    if len(found) == 1:
        return _SINGLE[found[0].reproduces]
    same, other, unknown = (
        sum(item.reproduces is answer for item in found) for answer in (True, False, None)
    )
    parts = [f"{same} of {len(found)} reproduce in the exported problem"]
    parts += [f"in {other} the policy behaves differently there"] if other else []
    parts += [f"{unknown} were not run"] if unknown else []
    return f"{'; '.join(parts)}."


_SINGLE = {
    True: "The bug reproduces in the exported problem.",
    False: "The policy takes another run in the exported problem; "
    "the README has the command that reproduces the bug.",
    None: "The policy was not run in the exported problem.",
}
