"""A workspace with real bugs, made once, and the bug browser on a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reference.shared import made_once

if TYPE_CHECKING:  # what is slow to import is imported by the tests that use it
    from app.models.plan_table import PlanComparison
    from engine.workspace.rows import Bug
    from engine.workspace.workspace import Workspace


@pytest.fixture(scope="session")
def bug_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from reference.bug_workspace import make_workspace

    return made_once(tmp_path_factory, "carter", make_workspace) / "carter.plumb"


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small one with something in every table."""
    from reference.hostile_workspaces import full_workspace

    return made_once(tmp_path_factory, "sound", full_workspace) / "carter.plumb"


@pytest.fixture
def workspace(bug_workspace: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copy(bug_workspace, tmp_path / "carter.plumb"))


@pytest.fixture
def store(workspace: Path) -> Iterator[Workspace]:
    from engine.workspace.workspace import Workspace

    with Workspace.open(workspace) as store:
        yield store


@pytest.fixture
def bug_with(store: Workspace) -> Callable[[str, str], Bug]:
    """The first bug whose run ended for a reason, with evidence of a kind."""

    def find(reason: str, evidence: str = "plan") -> Bug:
        bugs = (store.bug(row.id) for row in store.bugs() if row.evidence_kind == evidence)
        return next(bug for bug in bugs if bug.finding.run.reason == reason)

    return find


@pytest.fixture
def long_plans() -> PlanComparison:
    """A hundred steps along a line; near the end one plan makes a detour."""
    from app.models.plan_table import PlanComparison
    from engine.report.trace import plan_trace
    from engine.task.task import Operator, Task, Variable

    line = Task(
        (Variable("place", tuple(f"Atom at(p{n})" for n in range(120))),),
        tuple(
            Operator(f"step p{n} p{m}", ((0, n),), ((0, m),), 1)
            for n in range(119)
            for m in (n + 1, n)
        ),
        (0,),
        ((0, 110),),
    )
    straight = [2 * n for n in range(110)]
    return PlanComparison.of(
        plan_trace(line, (0,), [*straight[:90], 181, *straight[90:]]),
        plan_trace(line, (0,), straight),
    )
