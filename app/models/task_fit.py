"""Which problems something fits that belongs to tasks: a pool, a policy cache, a policy server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

Verdict = tuple[str, str, str]
"""Icon, colour and words."""


@dataclass(frozen=True, slots=True)
class TaskFit:
    """Problems it fits, and why it does not fit others; all, once it `is_known`."""

    problems: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    is_known: bool = False
    has_domain: bool = True  # or there are tasks only, and nothing else to fit

    @property
    def is_none(self) -> bool:
        """Whether it certainly fits nothing."""
        return self.is_known and bool(self.misfits) and not self.problems


def fit_verdict(fit: TaskFit) -> Verdict:
    if fit.problems:
        first, *rest = (Path(problem).name for problem in fit.problems)
        more = f" and {len(rest)} more" if rest else " only" if fit.misfits else ""
        return "check", "proven", f"Fits {first}{more}"
    if fit.is_none:
        return "error", "bad", f"Fits none of the problems: {fit.misfits[0]}"
    if fit.is_known:
        return "info", "muted", "Add the problem it belongs to."
    return "", "muted", "Being compared with the problems…"
