"""Writes the report of a campaign; of one that runs, what is known so far."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from engine.files import write_text
from engine.report.content import gather
from engine.report.formats import FORMATS, STORIES, SUFFIXES
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """`format` is one of `FORMATS`."""

    format: str = ""  # empty: what the name of the file ends with
    campaign: int | None = None  # None: the last one
    details: int = STORIES  # bugs that are shown with their plans


@dataclass(frozen=True, slots=True)
class WrittenReport:
    path: Path
    format: str
    campaign: int
    bugs: int


def write_report(
    link: Link, workspace: Path, path: Path, options: ReportOptions | None = None
) -> WrittenReport:
    options = options or ReportOptions()
    name = options.format or SUFFIXES.get(path.suffix.lower())
    if name is None:
        raise UsageError(
            f"cannot tell the format of {path.name}",
            hint=f"use one of the endings {', '.join(SUFFIXES)}, or give --format",
        )
    _next(link, 0, "reading the campaign")
    with Workspace.open(workspace) as store:
        content = gather(store, options.campaign, options.details if name == "html" else 0)
    _next(link, 1, "building the report")
    text = FORMATS[name](content)
    _next(link, 2, f"writing {path.name}")
    write_text(path, text)
    return WrittenReport(path, name, content.campaign.id, len(content.bugs))


def _next(link: Link, step: int, text: str) -> None:
    link.check()
    link.progress(step, 3, text)
