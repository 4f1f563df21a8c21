"""A workspace with real bugs, made once, and the bug browser on a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from reference.bug_workspace import make_workspace

from app.models.plan_table import Comparison
from app.services.context import Context
from app.views.bugs.page import BugsPage
from engine.report.trace import plan_trace
from engine.task.task import Operator, Task, Variable
from engine.workspace.rows import Bug
from engine.workspace.workspace import Store

PATIENCE = 300_000


@pytest.fixture(scope="session")
def bug_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("carter"))


@pytest.fixture
def workspace(bug_workspace: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copy(bug_workspace, tmp_path / "carter.plumb"))


@pytest.fixture
def store(workspace: Path) -> Iterator[Store]:
    with Store.open(workspace) as store:
        yield store


@pytest.fixture
def make_page(
    qtbot: QtBot, make_context: Callable[..., Context]
) -> Iterator[Callable[[Path], BugsPage]]:
    pages: list[BugsPage] = []

    def make(path: Path) -> BugsPage:
        page = BugsPage(make_context(path))
        page.resize(1180, 760)
        pages.append(page)
        with qtbot.waitActive(page, timeout=PATIENCE):
            page.show()
            page.activateWindow()
        qtbot.waitUntil(lambda: page.feed.complete, timeout=PATIENCE)
        return page

    yield make
    for page in pages:
        page.close()
        page.deleteLater()


@pytest.fixture
def page(qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path) -> BugsPage:
    """The browser, with everything read and the first bug shown."""
    page = make_page(workspace)
    qtbot.waitUntil(lambda: page.detail.known is not None, timeout=PATIENCE)
    page.view.setFocus()
    return page


@pytest.fixture
def bug_with(store: Store) -> Callable[[str, str], Bug]:
    """The first bug whose run ended for a reason, with evidence of a kind."""

    def find(reason: str, evidence: str = "plan") -> Bug:
        bugs = (store.with_proof(row) for row in store.bugs() if row.evidence_kind == evidence)
        return next(bug for bug in bugs if bug.run.reason == reason)

    return find


@pytest.fixture
def long_plans() -> Comparison:
    """A hundred steps along a line; near the end one plan makes a detour."""
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
    return Comparison.of(
        plan_trace(line, (0,), [*straight[:90], 181, *straight[90:]]),
        plan_trace(line, (0,), straight),
    )
