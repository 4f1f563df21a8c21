"""The content of a report, gathered from the store as plain values for templates and tables."""

from __future__ import annotations

import platform
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from engine import __version__
from engine.campaign.patterns import PatternBugs, pattern_bugs, without_witness
from engine.campaign.summary import summary
from engine.campaign.timeline import OracleScore, bug_course
from engine.errors import UsageError
from engine.records.localization import Localization, LocalizedStep, RootCause, StepVerdict
from engine.report.bug_text import ending_text, explain, headline
from engine.report.loss_text import describe_losses, step_loss_cell
from engine.report.pattern_text import pattern_facts, pattern_titles, without_witness_text
from engine.report.plan_alignment import align
from engine.report.trace import Trace, TraceStep, evidence_trace, policy_trace
from engine.task.task import Task
from engine.verify.claims import require_fit
from engine.workspace.bug_reader import PORTION
from engine.workspace.filter import parse_terms
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow, CampaignRow

if TYPE_CHECKING:
    from engine.report.story_pictures import StoryPicture

MAX_BYTES = 2_400_000
"""Of all pictures of a page, so that it can be sent by mail; later bugs have none."""


MAX_PATTERN_PICTURES = 30


@dataclass(frozen=True, slots=True)
class PlanCell:
    step: int
    action: str
    cost: int  # of the plan so far
    loss: str = ""  # what the step costs more than necessary: "+5"
    note: str = ""  # what should have been done instead
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A row of the comparison: the policy's step, the better plan's step, or both."""

    policy: PlanCell | None
    better: PlanCell | None
    is_common: bool  # the same action
    parts: bool = False  # both plans are the same up to here


@dataclass(frozen=True)
class BugStory:
    """One bug with everything that a report shows of it."""

    row: BugRow
    headline: str
    losses: str  # which steps lose how much; empty if that is not known
    why: tuple[str, ...]
    lines: tuple[PlanLine, ...]
    ending: str  # how the policy's run ends if it does not reach the goal
    pictures: tuple[StoryPicture, ...] = ()


@dataclass(frozen=True)
class PatternStory:
    """A pattern of mistakes in words, and its witness as SVG if it can be drawn."""

    pattern: PatternBugs
    title: str
    facts: tuple[str, ...]
    picture: str


@dataclass(frozen=True)
class StoredBugs:
    """The bugs of a campaign, read from the workspace whenever they are gone through."""

    store: WorkspaceReader
    campaign: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[BugRow]:
        return self.store.each_bug(self.campaign)


@dataclass(frozen=True)
class StoredCauses:
    """The root causes of a campaign, those with the most bugs first, read as bugs are."""

    store: WorkspaceReader
    campaign: int
    numbers: Sequence[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[RootCause]:
        return self.store.each_root_cause(self.numbers, self.campaign)


@dataclass(frozen=True)
class Content:
    """Bugs and root causes can be read as long as the workspace is open."""

    workspace: str
    campaign: CampaignRow
    made: str
    totals: Mapping[str, Any]
    bugs: StoredBugs
    stories: tuple[BugStory, ...]
    times: Mapping[str, Sequence[float]]  # by oracle, when bugs in the pool were found
    scores: tuple[OracleScore, ...]
    causes: StoredCauses
    patterns: tuple[PatternStory, ...]  # those with the most bugs first
    without_witness: tuple[str, ...]  # root causes that were minimized in vain
    versions: Mapping[str, str]


def gather(
    store: WorkspaceReader, campaign: int | None, stories: int, *, course: bool = True
) -> Content:
    """The content of a report about one campaign, the last one unless another is asked for.

    Without its `course`, which takes a look at every bug, times and scores are empty.
    """
    row = _campaign(store, campaign)
    totals = summary(store, row.id)
    found = StoredBugs(store, row.id, totals["bugs"] + totals["nonpool_bugs"])
    progress = bug_course(store, row) if course else None
    return Content(
        workspace=store.path.name,
        campaign=row,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        totals=totals,
        bugs=found,
        stories=tuple(_stories(store, telling(_worst_first(store, row.id), stories))),
        times={
            oracle: array("d", times.tolist())
            for oracle, times in (progress.bug_times.items() if progress else ())
        },
        scores=tuple(progress.scores) if progress else (),
        causes=StoredCauses(store, row.id, store.root_cause_numbers(row.id, largest_first=True)),
        patterns=tuple(_patterns(store, store.each_bug(row.id, terms=parse_terms("pattern:any")))),
        without_witness=tuple(
            without_witness_text(*tried)
            for tried in without_witness(
                store, store.each_bug(row.id, terms=parse_terms("pattern:none"))
            )
        ),
        versions=_versions(),
    )


def _patterns(store: WorkspaceReader, bugs: Iterable[BugRow]) -> Iterator[PatternStory]:
    """The patterns of some bugs; only the first have pictures, so that a page stays small."""
    titles = pattern_titles(store)
    for number, pattern in enumerate(pattern_bugs(store, bugs)):
        picture = ""
        if number < MAX_PATTERN_PICTURES:
            from engine.report.story_pictures import witness_picture  # networkx

            task = store.task(store.bug(pattern.witness).problem_id)
            picture = witness_picture(task, pattern.about.action)
        title = titles[pattern.id]
        yield PatternStory(pattern, title, tuple(pattern_facts(pattern, title)), picture)


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


def _worst_first(store: WorkspaceReader, campaign: int) -> Iterator[BugRow]:
    """The bugs with the largest gaps first, without keeping all of them."""
    from engine.workspace.bug_list import BugQuery  # numpy

    query = BugQuery(parse_terms(f"campaign:{campaign}"), (("gap", True),))
    bugs = store.bug_list(query).bugs
    for first in range(0, len(bugs), PORTION):
        numbers = bugs[first : first + PORTION].tolist()
        rows = {row.id: row for row in store.bug_rows(numbers)}
        yield from (rows[number] for number in numbers if number in rows)


def telling(worst_first: Iterable[BugRow], most: int) -> list[BugRow]:
    """The worst bug of every root cause or region first, then the next worst of each."""
    rank: dict[tuple[int, str, int | None], int] = {}
    ranks: defaultdict[int, list[BugRow]] = defaultdict(list)
    for bug in worst_first if most else ():
        cause = bug.root_cause
        key = (bug.unit, "region", bug.region) if cause is None else (bug.unit, "cause", cause)
        rank[key] = place = rank.get(key, -1) + 1
        if place < most and len(ranks[place]) < most:
            ranks[place].append(bug)
        if len(ranks[0]) == most:
            break
    return [bug for place in sorted(ranks) for bug in ranks[place]][:most]


def _stories(store: WorkspaceReader, bugs: Sequence[BugRow]) -> Iterator[BugStory]:
    tasks: dict[int, Task] = {}
    room = MAX_BYTES
    for row in bugs:
        bug = store.bug(row.id)
        if bug.problem_id not in tasks:
            tasks[bug.problem_id] = store.task(bug.problem_id)
        task, localization = tasks[bug.problem_id], store.localization(row.id)
        require_fit(bug, task, localization)
        policy = policy_trace(task, bug.finding.state, bug.finding.run)
        better, is_plan = evidence_trace(task, bug.finding.evidence), bug.finding.evidence.is_plan
        pictures = _pictures(task, policy, better, localization) if room > 0 else ()
        room -= sum(len(picture.svg) for picture in pictures)
        yield BugStory(
            row,
            headline(row),
            "" if localization is None else describe_losses(localization),
            explain(bug, task),
            tuple(_lines(policy, better if is_plan else None, localization, task)),
            ending_text(policy) if row.policy_cost is None else "",
            pictures,
        )


def _pictures(
    task: Task, policy: Trace, better: Trace, localization: Localization | None
) -> tuple[StoryPicture, ...]:
    from engine.report.story_pictures import story_pictures  # networkx

    return story_pictures(task, policy, better, localization)


def _lines(
    policy: Trace, better: Trace | None, localization: Localization | None, task: Task
) -> Iterator[PlanLine]:
    known = {step.index: step for step in localization.steps} if localization else {}
    together = True
    for row in align(policy, better).rows[:-1]:  # without the end
        yield PlanLine(
            _cell(row.policy, known, task),
            _cell(row.better, {}, task),
            is_common=row.common and row.better is not None,
            parts=together and better is not None and not row.common,
        )
        together = together and row.common


def _cell(
    step: TraceStep | None, known: Mapping[int, LocalizedStep], task: Task
) -> PlanCell | None:
    if step is None:
        return None
    number, name, found = step.index + 1, f"({step.action})", known.get(step.index)
    if found is None:
        return PlanCell(number, name, step.cost_after)
    bad, better = found.verdict is StepVerdict.NOT_OPTIMAL, found.better_operator
    note = f"better: ({task.operators[better].name})" if bad and better is not None else ""
    return PlanCell(number, name, step.cost_after, step_loss_cell(found), note, bad)


def _versions() -> dict[str, str]:
    names = ("fast-downward.translate", "up-fast-downward", "torch", "numpy")
    versions = {"plumbline": __version__, "python": platform.python_version()}
    return versions | {name: version(name) for name in names} | {"system": platform.platform()}
