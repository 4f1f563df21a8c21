"""The power fails: whatever the user was told is kept, is there afterward, and nothing is damaged.

A real campaign and real triage are traced below SQLite. The disk is then rebuilt as it may be after
a failure at any step: writes that were not synced are lost, torn or kept at random.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from reference.amount import amount
from reference.bug_workspace import make_workspace
from reference.lost_writes import ACKNOWLEDGED, Disk, Step, read_trace
from reference.traced_work import SMALL, digest

from engine.errors import WorkspaceError
from engine.workspace.workspace import Workspace

TESTS = Path(__file__).parents[1]
POINTS = amount(2000, 40)


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("tracer") / "write_trace.so"
    compiler = (
        [shutil.which("cc")] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    )
    source = TESTS / "reference" / "write_trace.c"
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def traced(tracer: Path, folder: Path, work: str) -> list[Step]:
    trace = folder.with_suffix(".trace")
    subprocess.run(
        [sys.executable, "-m", "reference.traced_work", folder, work],
        env={
            **os.environ,
            "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}",
            "LD_PRELOAD": str(tracer),
            "TRACE_FILE": str(trace),
            "TRACE_FOLDER": str(folder),
        },
        check=True,
    )
    return read_trace(trace)


def failures(start: dict[str, bytes], steps: list[Step], folder: Path) -> list[int]:
    """At many points let the power fail, open the workspace and look for what was promised.

    Returns the points after which it was not there: the workspace has to be as it was after the
    last transaction that was acknowledged, or after a later one.
    """
    told = [_digest_of(start, folder), *_acknowledged(steps)]
    disk, position, missed = Disk(start), 0, []
    for number, point in enumerate(sorted(random.Random(0).choices(range(len(steps)), k=POINTS))):
        for step in steps[position : point + 1]:
            disk.take(step)
        position = point + 1
        found = _digest_of(disk.after_failure(random.Random(number)), folder)
        if found not in told[len(disk.acknowledged) :]:
            missed.append(point)
    return missed


def _acknowledged(steps: list[Step]) -> list[str]:
    told = (step.data.decode() for step in steps if step.name == ACKNOWLEDGED)
    return "".join(told).split()


def _digest_of(files: dict[str, bytes], folder: Path) -> str:
    """Of the workspace, or why it cannot be opened."""
    place = folder / "disk"
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    try:
        with Workspace.create(place / "carter.plumb") as store:
            return store.damage() or digest(store)
    except WorkspaceError as error:
        return str(error)
    finally:
        shutil.rmtree(place)


@pytest.fixture
def decided(tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    folder = tmp_path / "work"
    folder.mkdir()
    path = make_workspace(folder, SMALL)
    return folder, {path.name: path.read_bytes()}


def test_decisions_survive(
    tracer: Path, decided: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    folder, start = decided
    assert failures(start, traced(tracer, folder, "triage"), tmp_path) == []


def test_a_loss_would_be_seen(
    tracer: Path, decided: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    folder, start = decided
    assert failures(start, traced(tracer, folder, "careless"), tmp_path)


def test_a_campaign_survives(tracer: Path, tmp_path: Path) -> None:
    """From the moment at which it makes the file."""
    folder = tmp_path / "work"
    folder.mkdir()
    assert failures({}, traced(tracer, folder, "campaign"), tmp_path) == []
