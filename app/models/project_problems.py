"""The problems of a project as a table: their sizes, and how the selected policy does on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject

from app.models.table_model import Column, Palette, TableModel
from engine.pddl import Diagnostic, Severity
from engine.records.finding import EndReason, RunOutcome
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.project import PolicyRan, PoolTried, ProblemChecked, TaskMeasured
from engine.report.words import count_text

WAITING = "…"
_REASONS = {
    EndReason.LOOP.value: "runs into a loop",
    EndReason.NO_ACTION.value: "chooses no action",
    EndReason.INAPPLICABLE.value: "chooses an inapplicable action",
    EndReason.POLICY_ERROR.value: "the policy raised an error",
    EndReason.STEP_LIMIT.value: "stopped after 10,000 steps",
}
_OUTCOMES = {
    RunOutcome.FAILED: "fails: ",
    RunOutcome.ABORTED: "undecided: ",
    None: "cannot run: ",
}
_OUTCOME_LOOKS = {
    RunOutcome.SOLVED: ("check", "proven"),
    RunOutcome.FAILED: ("bad", "bad"),
    RunOutcome.ABORTED: ("unknown", "undecided"),
    None: ("error", "bad"),
}
"""Icon and color of how a run ended; None: the policy cannot run."""


def in_short(found: Diagnostic) -> str:
    """Return the text with the name of the file instead of its path."""
    file = found.location.file
    place = replace(found.location, file=None if file is None else Path(file).name)
    return str(replace(found, location=place))


@dataclass(eq=False)
class ProblemRow:
    """Filled in during the checks; None means not known yet."""

    path: str
    checked: ProblemChecked | None = None
    domain_error: Diagnostic | None = None  # the first one
    task: TaskMeasured | None = None
    runs: dict[str, PolicyRan] = field(default_factory=dict)
    pools: dict[str, PoolTried] = field(default_factory=dict)
    policy: str = ""  # the policy whose runs the table shows
    is_waiting: bool = True  # for what is being checked

    @property
    def known(self) -> list[tuple[str, str]]:
        """Keep what need not be checked again: the task, policy runs, and pools that fit."""
        if self.task is None:
            return []
        return [(self.path, policy) for policy in ("", *self.runs, *self.pools)]

    def forget(self, file: str) -> None:
        """Forget the results of a policy or pool whose file has changed."""
        self.pools.pop(file, None)
        self.runs = {
            policy: run
            for policy, run in self.runs.items()
            if PolicySpec.parse(policy).path != Path(file)
        }

    def forget_all_but(self, names: Collection[str]) -> None:
        """Forget the results of policies and pools that are no longer watched."""
        self.runs = {name: run for name, run in self.runs.items() if name in names}
        self.pools = {name: pool for name, pool in self.pools.items() if name in names}

    def forget_trouble(self) -> None:
        """Forget failures and servers' results, which may have changed."""
        self.runs = {
            policy: run
            for policy, run in self.runs.items()
            if PolicySpec.parse(policy).kind is not SpecKind.SERVER and run.outcome is not None
        }
        if self.task is not None and self.task.error:
            self.task = None

    @property
    def run(self) -> PolicyRan | None:
        return self.runs.get(self.policy)

    @property
    def errors(self) -> int:
        return self._count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        return self._count(Severity.WARNING)

    def _count(self, severity: Severity) -> int:
        found = self.checked.diagnostics if self.checked is not None else ()
        return sum(item.severity is severity for item in found)

    @property
    def status(self) -> str:
        if self.checked is None:
            return WAITING if self.is_waiting else "not checked"
        if self.errors:
            return count_text(self.errors, "error")
        if self.obstacle:
            return self._obstacle_kind
        if self.warnings:
            return count_text(self.warnings, "warning")
        return "OK"

    @property
    def _obstacle_kind(self) -> str:
        if self.domain_error is not None:
            return "domain error"
        return "no task" if self.task is not None and self.task.error else "nothing to test"

    @property
    def obstacle(self) -> str:
        """Return why the problem cannot be tested, with the place; empty if it can be."""
        own = None if self.checked is None else self.checked.obstacle
        if found := self.domain_error or own:
            return in_short(found)
        return "" if self.task is None else self.task.error

    @property
    def outcome(self) -> str:
        if self.run is None:
            return WAITING if self.is_waiting and self.policy and not self._is_useless else ""
        if self.run.outcome is RunOutcome.SOLVED:
            return "solved"
        words = _REASONS.get(self.run.reason, self.run.reason)
        return _OUTCOMES.get(self.run.outcome, "") + words

    @property
    def _is_useless(self) -> bool:
        return bool(self.obstacle)


def _status_icon(row: ProblemRow) -> str:
    if row.obstacle:
        return "error"
    return "warning" if row.warnings else "check" if row.checked is not None else ""


def _status_token(row: ProblemRow) -> str:
    return {"error": "bad", "warning": "undecided", "check": "proven"}.get(
        _status_icon(row), "muted"
    )


def _status_tip(row: ProblemRow) -> str:
    found = row.checked.diagnostics if row.checked is not None else ()
    words = [str(item) for item in found]
    if row.obstacle:
        shown = row.domain_error is None and len(words) == 1  # as the obstacle
        words = [f"Cannot be tested: {row.obstacle}", *([] if shown else words)]
    return "\n".join(words) or "No errors or warnings"


def _outcome_token(row: ProblemRow) -> str:
    return "muted" if row.run is None else _outcome_look(row.run)[1]


def _outcome_icon(row: ProblemRow) -> str:
    return "" if row.run is None else _outcome_look(row.run)[0]


def _outcome_look(run: PolicyRan) -> tuple[str, str]:
    return _OUTCOME_LOOKS.get(run.outcome, ("", "muted"))


def _solved_cost(row: ProblemRow) -> int | None:
    run = row.run
    return run.cost if run is not None and run.outcome is RunOutcome.SOLVED else None


COLUMNS: tuple[Column[ProblemRow], ...] = (
    Column(
        "name", "Problem", lambda row: Path(row.path).name, row_tip=lambda row: row.path, mono=True
    ),
    Column(
        "status",
        "File",
        lambda row: row.status,
        tip="Whether the problem can be tested",
        icon=_status_icon,
        token=_status_token,
        row_tip=_status_tip,
    ),
    Column(
        "objects",
        "Objects",
        lambda row: row.checked.objects if row.checked is not None else None,
        numeric=True,
        tip="Objects in the problem",
    ),
    Column(
        "facts",
        "Facts",
        lambda row: row.task.facts if row.task is not None and not row.task.error else None,
        numeric=True,
        tip="Facts of the grounded task: the values of all its variables",
    ),
    Column(
        "operators",
        "Operators",
        lambda row: row.task.operators if row.task is not None and not row.task.error else None,
        numeric=True,
        tip="Operators of the grounded task",
    ),
    Column(
        "cost",
        "Policy cost",
        _solved_cost,
        numeric=True,
        tip="Cost of the selected policy's plan from the initial state",
    ),
    Column(
        "outcome",
        "Outcome",
        lambda row: row.outcome,
        tip="How the run of the selected policy from the initial state ends",
        icon=_outcome_icon,
        token=_outcome_token,
    ),
)


class ProblemTable(TableModel[ProblemRow]):
    def __init__(self, palette: Palette, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, palette, parent)

    def show_policy(self, policy: str) -> None:
        for row in self.rows:
            row.policy = policy
        self.restyle()
