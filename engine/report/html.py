"""A report as one HTML file that needs nothing else: no network, no script, no second file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.campaign.config_writer import config_text
from engine.records.config import Mode
from engine.records.localization import CauseKind
from engine.report.charts import scatter_chart, step_chart
from engine.report.content import Content
from engine.report.loss_text import row_loss_cell
from engine.report.templates import source, template
from engine.report.words import complete_text
from engine.workspace.filter import KIND_WORDS
from engine.workspace.rows import BugRow

if TYPE_CHECKING:
    from markupsafe import Markup

LISTED = 2000
"""The list is limited, because a browser has to lay it out."""
POINTS = 4000
CAUSES = 200
UNITS = 500
CAUSE_WORDS = {
    CauseKind.DETOUR.value: "costs more than necessary",
    CauseKind.DEAD_END.value: "loses the goal",
    CauseKind.LOOP.value: "part of an endless loop",
    CauseKind.NO_ACTION.value: "the policy chooses no action",
    CauseKind.FAULT.value: "inapplicable action",
}


def html_report(content: Content) -> Iterator[str]:
    listed = list(islice(content.bugs, LISTED))
    compared = content.campaign.config.testing.mode is Mode.COMPARE
    yield from template("report.html.j2").generate(
        title="Bug report",
        style=source("style.css"),
        content=content,
        totals=content.totals,
        tiles=_tiles(content.totals),
        compared=compared,
        percent=lambda share: "-" if share is None else f"{share:.0%}",
        timeline=step_chart(
            content.times, _end(content), "CPU time (s)" if compared else "time (s)"
        ),
        scatter=_scatter(content),
        words=KIND_WORDS,
        cause_text=CAUSE_WORDS,
        causes=list(islice(content.causes, CAUSES)),
        number=lambda value: "-" if value is None else value,
        loss=row_loss_cell,
        complete_text=complete_text,
        listed=listed,
        units=content.totals["units"][:UNITS],
        everything=_everything(content),
        told={story.row.id for story in content.stories},
        configuration=config_text(content.campaign.config, Path("campaign.toml")),
    )


def _everything(content: Content) -> Markup:
    """The commands that write what the page leaves out."""
    from markupsafe import Markup

    report = f"plumbline report {shlex.quote(content.workspace)} --campaign {content.campaign.id}"
    command = Markup("<code>{} --out {}</code>")
    return Markup(" or ").join(command.format(report, name) for name in ("bugs.csv", "bugs.json"))


def _end(content: Content) -> float:
    return max([0.0, *(times[-1] for times in content.times.values() if times)])


def _tiles(totals: Mapping[str, Any]) -> list[tuple[str, Any]]:
    tiles = [
        ("states tested", totals["states"]),
        ("solved by the policy", totals["solved"]),
        ("bugs", totals["bugs"]),
        ("failures", totals["qualitative"]),
        ("too expensive", totals["quantitative"] + totals["unclassified"]),
        ("regions", totals["regions"]),
        ("bugs in further states", totals["nonpool_bugs"]),
    ]
    if totals["root_causes"] is not None:
        tiles.append(("root causes", totals["root_causes"]))
    return [*tiles, ("verified", totals["verified"])]


def _scatter(content: Content) -> str:
    told = {story.row.id for story in content.stories}
    points = [
        (
            bug.bound,
            bug.policy_cost,
            f"bug {bug.id}: {_instead(bug)}",
            f"#bug-{bug.id}" if bug.id in told else "#",
        )
        for bug in _points(content)
    ]
    titles = "best known cost", "policy cost", "the policy fails"
    return scatter_chart(points, *titles) if points else ""


def _points(content: Content) -> list[BugRow]:
    """Runs that reach the goal first, because they say more."""
    kinds: tuple[list[BugRow], list[BugRow]] = [], []
    for bug in content.bugs:
        kind = kinds[bug.policy_cost is None]
        if len(kind) < POINTS:
            kind.append(bug)
        if len(kinds[0]) == POINTS:
            break
    return [*kinds[0], *kinds[1]][:POINTS]


def _instead(bug: BugRow) -> str:
    if bug.policy_cost is None:
        return f"the policy fails; {bug.bound} suffices"
    return f"{bug.policy_cost} instead of {bug.bound}"
