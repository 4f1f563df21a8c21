"""Writes the report of a campaign in the background; of one that runs, what is known so far."""

from __future__ import annotations

from pathlib import Path

from engine.errors import CancelledError
from engine.files import write_text
from engine.report.content import gather
from engine.report.formats import FORMATS, STORIES
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def write_report(link: Link, workspace: Path, campaign: int, kind: str, path: Path) -> Path:
    """`kind` is one of the formats of the command line; where it was written."""
    _next(link, 0, "reading what was found")
    with Workspace.open(workspace) as store:
        content = gather(store, campaign, STORIES if kind == "html" else 0)
    _next(link, 1, "putting it together")
    text = FORMATS[kind](content)
    _next(link, 2, f"writing {path.name}")
    write_text(path, text)
    return path


def _next(link: Link, step: int, words: str) -> None:
    if link.cancelled():
        raise CancelledError
    link.progress(step, 3, words)
