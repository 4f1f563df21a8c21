"""What a pool or a bugs file is, in words for its card and for the campaign."""

from __future__ import annotations

from app.models.task_fit import TaskFit, Verdict, fit_verdict
from app.work.check_inputs import PoolChecked


def pool_words(checked: PoolChecked | None) -> str:
    if checked is None or checked.contents is None:
        return ""
    found = checked.contents
    states = "1 state" if found.states == 1 else f"{found.states:,} states"
    if found.bugs is None:
        return f"Pool of {states}"
    if found.bugs == 0:
        return f"Bugs file: {states}, no bug among them"
    bugs = "1 bug" if found.bugs == 1 else f"{found.bugs:,} bugs"
    return (
        f"Bugs file: {bugs}, {found.fails:,} of them failures"
        if found.fails
        else f"Bugs file: {bugs}"
    )


def pool_verdict(checked: PoolChecked | None, fit: TaskFit) -> Verdict:
    if checked is None:
        return "", "muted", "Being looked at…"
    if checked.error:
        return "error", "bad", checked.error
    return fit_verdict(fit)
