"""What a report says, gathered from the store: plain values that a template or a table can show."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from engine import __version__
from engine.campaign.summary import summary
from engine.campaign.timeline import OracleScore, whole_course
from engine.errors import UsageError
from engine.records.localization import Localization, LocalizedStep, RootCause, StepVerdict
from engine.report.bug_text import explain
from engine.report.plan_alignment import align_plans
from engine.task.task import Task
from engine.verify.claims import require_fit
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug, BugRow, CampaignRow


@dataclass(frozen=True, slots=True)
class PlanCell:
    step: int
    action: str
    cost: int  # of the plan so far
    note: str = ""  # what is wrong with the step


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A row of the comparison: the policy's step, the better plan's step, or both."""

    policy: PlanCell | None
    better: PlanCell | None

    @property
    def is_common(self) -> bool:
        return self.policy is not None and self.better is not None


@dataclass(frozen=True)
class BugStory:
    """One bug with everything a reader wants to see of it."""

    row: BugRow
    why: tuple[str, ...]
    lines: tuple[PlanLine, ...]
    ending: str  # how the policy's run ends if it does not reach the goal


@dataclass(frozen=True)
class Content:
    workspace: str
    campaign: CampaignRow
    made: str
    totals: Mapping[str, Any]
    bugs: tuple[BugRow, ...]
    stories: tuple[BugStory, ...]
    times: Mapping[str, Sequence[float]]  # by oracle, when its bugs were found
    scores: tuple[OracleScore, ...]
    causes: tuple[RootCause, ...]  # those with the most bugs first
    versions: Mapping[str, str]


def gather(store: WorkspaceReader, campaign: int | None, stories: int) -> Content:
    """The content of a report about one campaign, the last one unless another is asked for."""
    row = _campaign(store, campaign)
    bugs = store.bugs(row.id)
    progress = whole_course(store, row.id)
    return Content(
        workspace=store.path.name,
        campaign=row,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        totals=summary(store, row.id),
        bugs=tuple(bugs),
        stories=tuple(_stories(store, telling(bugs, stories))),
        times={oracle: times.tolist() for oracle, times in progress.first_times.items()},
        scores=tuple(progress.scores),
        causes=tuple(sorted(store.root_causes(row.id), key=lambda cause: -len(cause.bugs))),
        versions=_versions(),
    )


def _campaign(store: WorkspaceReader, number: int | None) -> CampaignRow:
    rows = store.campaigns()
    if not rows:
        raise UsageError(f"{store.path} has no campaigns", hint="run a campaign first")
    if number is None:
        return rows[-1]
    for row in rows:
        if row.id == number:
            return row
    known = ", ".join(str(row.id) for row in rows)
    raise UsageError(f"unknown campaign {number} in {store.path}", hint=f"known: {known}")


def telling(bugs: Sequence[BugRow], most: int) -> list[BugRow]:
    """The worst bug of every root cause or region first, then the next worst of each."""
    worst = sorted(bugs, key=lambda bug: (bug.gap is not None, -(bug.gap or 0), bug.id))
    rank: dict[tuple[int, str, int | None], int] = {}
    places = []
    for bug in worst:
        cause = bug.root_cause
        key = (bug.unit, "region", bug.region) if cause is None else (bug.unit, "cause", cause)
        rank[key] = rank.get(key, -1) + 1
        places.append((rank[key], bug))
    return [bug for _, bug in sorted(places, key=lambda place: place[0])][:most]


def _stories(store: WorkspaceReader, bugs: Sequence[BugRow]) -> Iterator[BugStory]:
    tasks: dict[int, Task] = {}
    for row in bugs:
        bug = store.bug(row.id)
        if bug.problem_id not in tasks:
            tasks[bug.problem_id] = store.task(bug.problem_id)
        task, localization = tasks[bug.problem_id], store.localization(row.id)
        require_fit(bug, task, localization)
        yield BugStory(
            row,
            explain(bug, task),
            tuple(_lines(bug, task, localization)),
            _ending(bug, task),
        )


def _lines(bug: Bug, task: Task, localization: Localization | None) -> Iterator[PlanLine]:
    policy = bug.finding.run.operators
    better = bug.finding.evidence.operators if bug.finding.evidence.is_plan else ()
    notes = {step.index: note(step) for step in localization.steps} if localization else {}
    left = [
        PlanCell(number, name, cost, notes.get(number - 1, ""))
        for number, name, cost in _steps(policy, task)
    ]
    right = [PlanCell(*step) for step in _steps(better, task)]
    for row in align_plans(policy, better):
        yield PlanLine(
            left[row.left] if row.left is not None else None,
            right[row.right] if row.right is not None else None,
        )


def note(step: LocalizedStep) -> str:
    if step.verdict is not StepVerdict.NOT_OPTIMAL:
        return ""
    if step.loss is None:
        return "loses the goal"
    at_least = "" if step.loss_is_exact else "at least "
    return f"costs {at_least}{step.loss} more than necessary"


def _steps(operators: Sequence[int], task: Task) -> Iterator[tuple[int, str, int]]:
    chosen = [task.operators[number] for number in operators]
    costs = accumulate(operator.cost for operator in chosen)
    for number, (operator, cost) in enumerate(zip(chosen, costs, strict=True), 1):
        yield number, f"({operator.name})", cost


def _ending(bug: Bug, task: Task) -> str:
    if bug.row.policy_cost is not None:
        return ""
    last = bug.finding.run.last_decision
    if last >= 0:
        return f"({task.operators[last].name}) closes a loop"
    return f"ends: {bug.finding.run.reason}"


def _versions() -> dict[str, str]:
    names = ("fast-downward.translate", "up-fast-downward", "torch", "numpy")
    versions = {"plumbline": __version__, "python": platform.python_version()}
    return versions | {name: version(name) for name in names} | {"system": platform.platform()}
