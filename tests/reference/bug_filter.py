"""What a filter means for one bug, in plain Python: from the words of the guide, without SQL."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable

from engine.workspace.filter import KIND_WORDS, NumberTest, Opposite, Term, Test, TextTest
from engine.workspace.rows import BugRow

TEXTS: dict[str, Callable[[BugRow], str]] = {
    "status": lambda bug: bug.status,
    "kind": lambda bug: f"{bug.kind} {KIND_WORDS[bug.kind]}",
    "problem": lambda bug: bug.problem,
    "policy": lambda bug: bug.policy,
    "oracle": lambda bug: bug.found_by,
    "evidence": lambda bug: bug.evidence_kind,
    "pool": lambda bug: "no" if bug.pool_number is None else "yes",
    "action": lambda bug: bug.bad_action,
    "worst": lambda bug: bug.worst_action,
    "family": lambda bug: bug.family,
    "note": lambda bug: bug.note,
}
NUMBERS: dict[str, Callable[[BugRow], float | None]] = {
    "id": lambda bug: bug.id,
    "original": lambda bug: bug.duplicate_of,
    "cost": lambda bug: math.inf if bug.policy_cost is None else bug.policy_cost,
    "bound": lambda bug: bug.bound,
    "gap": lambda bug: math.inf if bug.gap is None else bug.gap,
    "region": lambda bug: bug.region,
    "loss": lambda bug: (
        None if bug.worst_step is None else math.inf if bug.loss is None else bug.loss
    ),
    "root": lambda bug: bug.root_cause,
    "pattern": lambda bug: bug.pattern,
    "seed": lambda bug: bug.seed,
    "campaign": lambda bug: bug.campaign,
    "time": lambda bug: bug.seconds,
}
_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


def fits(bug: BugRow, terms: Iterable[Term]) -> bool:
    return all(_holds(bug, term.test) for term in terms)


def _holds(bug: BugRow, test: Test) -> bool:
    match test:
        case Opposite():
            return not _holds(bug, test.test)
        case TextTest(wanted=None):
            return any(bool(TEXTS[name](bug)) is test.is_there for name in test.columns)
        case TextTest():
            texts = [TEXTS[name](bug).lower() for name in test.columns]
            return any(word in text for text in texts for word in test.wanted or ())
        case NumberTest():
            number = NUMBERS[test.column](bug)
            if test.ranges is None:
                return (number is not None) is test.is_there
            return number is not None and any(
                all(_SIGNS[sign](number, limit) for sign, limit in limits) for limits in test.ranges
            )
