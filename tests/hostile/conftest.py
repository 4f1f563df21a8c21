"""Inputs for all: the same every time, so that a failure today is one tomorrow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from reference.amount import amount
from reference.hostile_readers import Read, ferry_task, readers
from reference.hostile_workspaces import altered

from engine.task.task import Task

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

settings.register_profile(
    "hostile",
    settings.get_profile("plumbline"),
    derandomize=True,
    database=None,
    max_examples=amount(40, 14),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="package")
def task() -> Task:
    return ferry_task()


@pytest.fixture(scope="package")
def reading(tmp_path_factory: pytest.TempPathFactory, task: Task) -> dict[str, Read]:
    return readers(tmp_path_factory.mktemp("hostile"), task)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user that must stay as it is."""
    path = tmp_path / "thesis.tex"
    path.write_text("mine")
    return path


@pytest.fixture
def changed(sound: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the sound workspace after some statements."""

    def change(*statements: str) -> Path:
        return altered(sound, tmp_path / "stranger.plumb", *statements)

    return change
