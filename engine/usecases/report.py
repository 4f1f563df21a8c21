"""Writes the report of a campaign or an experiment; of one that runs, what is known so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from engine.experiments.results import about_experiment, experiment_results, experiment_title
from engine.files import disk_error, write_bytes, write_pieces
from engine.report.content import gather
from engine.report.experiment.files import experiment_files
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
        content = gather(
            store,
            options.campaign,
            options.details if name == "html" else 0,
            course=name in ("html", "json"),
        )
        _next(link, 1, f"writing {path.name}")
        write_pieces(path, _checked(link, FORMATS[name](content)))
    return WrittenReport(path, name, content.campaign.id, len(content.bugs))


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    folder: Path
    experiment: int
    files: tuple[str, ...]


def write_experiment(
    link: Link, workspace: Path, folder: Path, experiment: int | None = None
) -> WrittenFiles:
    """Write tables and figures of an experiment (None: the last one) into a folder."""
    _next(link, 0, "reading the experiment")
    with Workspace.open(workspace) as store:
        rows = store.experiments.rows()
        if not rows:
            raise UsageError(
                f"{workspace} has no experiments",
                hint="run 'plumbline experiment', or name a file to report a campaign",
            )
        row = rows[-1] if experiment is None else store.experiments.row(experiment)
        results = experiment_results(store, row.id)
    _next(link, 1, "writing the files")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from error
    names = []
    for name, content in experiment_files(experiment_title(row), about_experiment(row), results):
        link.check()
        write_bytes(folder / name, content)
        names.append(name)
    return WrittenFiles(folder, row.id, tuple(names))


def _next(link: Link, step: int, text: str) -> None:
    link.check()
    link.progress(step, 2, text)


def _checked(link: Link, pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        link.check()
        yield piece
