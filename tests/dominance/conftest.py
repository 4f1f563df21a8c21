"""Tasks by hand, and a cache of their own for every test."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.random_tasks import make_task

from engine.task.task import Operator, Task

Ops = list[tuple[dict[int, int], dict[int, int], int]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", os.fspath(tmp_path))
    return tmp_path


@pytest.fixture
def build() -> Callable[..., Task]:
    def task(sizes: tuple[int, ...], ops: Ops, init: tuple[int, ...], goal: dict[int, int]) -> Task:
        operators = tuple(
            Operator(f"op {i}", tuple(sorted(pre.items())), tuple(sorted(eff.items())), cost)
            for i, (pre, eff, cost) in enumerate(ops)
        )
        return make_task(sizes, operators, init, tuple(sorted(goal.items())))

    return task
