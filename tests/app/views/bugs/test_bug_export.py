"""What is taken out of the bug browser shows the bug again: files, commands, dragged problems."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.views.bugs.actions import EXPORT_FOLDER
from app.views.bugs.page import BugsPage
from engine.cli import main
from engine.pddl import check_files
from engine.task.atoms import state_atoms
from engine.task.load import load_task_files
from engine.workspace.rows import Bug

Find = Callable[..., Bug]


@pytest.fixture
def show(qtbot: QtBot, page: BugsPage, bug_with: Find) -> Callable[[str, str], Bug]:
    """Show the first bug whose run ended for a reason, with evidence of a kind."""

    def do(reason: str, evidence: str) -> Bug:
        bug = bug_with(reason, evidence)
        page.show_item(bug.row.id)
        qtbot.waitUntil(
            lambda: page.detail.known is not None and page.detail.known.bug.row.id == bug.row.id,
            timeout=PATIENCE,
        )
        return bug

    return do


@pytest.fixture
def export(
    qtbot: QtBot, page: BugsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Path]:
    """Export what is selected by the menu; the folder it went to."""

    def do() -> Path:
        folder = tmp_path / "out"
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
        page.actions_of.by_name["export"].trigger()
        qtbot.waitUntil(lambda: not page.jobs.running("export"), timeout=PATIENCE)
        return folder

    return do


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    """What the command line answers."""

    def do(*arguments: str) -> dict[str, object]:
        capsys.readouterr()
        main([*arguments, "--json"])
        document: dict[str, object] = json.loads(capsys.readouterr().out)
        return document

    return do


def holds_the_state(problem: Path, domain: Path, page: BugsPage) -> bool:
    """Whether the translator makes the bug state of a problem file."""
    known = page.detail.known
    assert known is not None
    assert not check_files(domain, problem).diagnostics
    task = load_task_files((domain, problem))
    return state_atoms(task, task.init) == state_atoms(known.task, known.bug.finding.state)


@pytest.mark.parametrize("kind", [("goal", "plan"), ("loop", "dominance")])
def test_a_bundle_reproduces_both_plans(
    page: BugsPage,
    show: Callable[[str, str], Bug],
    export: Callable[[], Path],
    ask: Callable[..., dict[str, object]],
    kind: tuple[str, str],
) -> None:
    bug = show(*kind)
    folder = export() / f"bug-{bug.row.id}"
    assert "Exported 1 bug" in page.context.messages.history[-1].text
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    assert holds_the_state(problem, domain, page)
    ran = ask("run", bug.row.policy, str(domain), str(problem))
    (run,) = ran["runs"]  # type: ignore[misc]
    assert (run["outcome"], run["reason"]) == (bug.finding.run.outcome, bug.finding.run.reason)
    assert run["cost"] == bug.row.policy_cost
    better = ask("validate", str(domain), str(problem), str(folder / "better.plan"))
    assert better["valid"] is True
    assert int(str(better["cost"])) <= bug.row.bound


def test_all_selected_bugs_are_exported(qtbot: QtBot, page: BugsPage, tmp_path: Path) -> None:
    page.view.selectAll()
    bugs = [row.id for row in page.selected()][:5]
    page.jobs.export(bugs, tmp_path)
    page.jobs.export(bugs, tmp_path / "too-early")
    qtbot.waitUntil(lambda: not page.jobs.running("export"), timeout=PATIENCE)
    refused, done = (message.text for message in page.context.messages.history[-2:])
    assert refused == "Still running: Export 5 bugs"
    assert f"Exported 5 bugs to {tmp_path}." in done.replace(";", ".")
    assert sorted(path.name for path in tmp_path.glob("bug-*")) == sorted(
        f"bug-{bug}" for bug in bugs
    )


def test_a_bug_state_becomes_a_problem_of_the_project(
    qtbot: QtBot, page: BugsPage, bug_workspace: Path
) -> None:
    bug = page.view.current_bug()
    assert bug is not None
    with qtbot.waitSignal(page.page_requested, timeout=PATIENCE) as asked:
        page.actions_of.by_name["open-problem"].trigger()
    name, (path,) = asked.args
    assert name == "project"
    assert path == page.context.document.path.with_name("carter-bugs") / f"bug-{bug.id}.pddl"
    assert holds_the_state(path, bug_workspace.with_name("domain.pddl"), page)


def test_the_state_is_saved_as_a_problem_where_the_user_wants_it(
    page: BugsPage, bug_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.pddl"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    page.actions_of.by_name["export-problem"].trigger()
    assert holds_the_state(target, bug_workspace.with_name("domain.pddl"), page)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target / "x.pddl"), ""))
    page.actions_of.by_name["export-problem"].trigger()
    assert "cannot be written" in page.context.messages.history[-1].text


def test_exports_begin_beside_the_workspace_and_then_where_the_last_one_went(
    page: BugsPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    (out := tmp_path / "out").mkdir()
    answers = [str(out), "", ""]

    def choose(_parent: QWidget, _title: str, folder: str) -> str:
        begun.append(folder)
        return answers.pop(0)

    monkeypatch.setattr(QFileDialog, "getExistingDirectory", choose)
    button = page.detail.header.export_button
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.jobs.running("export"), timeout=PATIENCE)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    page.context.settings.set(EXPORT_FOLDER, str(tmp_path / "gone"))
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    beside = str(page.context.document.path.parent)
    assert begun == [beside, str(out), beside]


def test_bugs_are_dragged_as_files(page: BugsPage, bug_workspace: Path) -> None:
    page.view.selectAll()
    mime = page.view.drag_data()
    assert mime is not None
    paths = [Path(url.toLocalFile()) for url in mime.urls()]
    assert len(paths) == min(100, page.table.total)
    assert all(path.exists() for path in paths)
    page.view.clearSelection()
    assert page.view.drag_data() is None


def test_the_copied_command_shows_the_bug(
    page: BugsPage,
    show: Callable[[str, str], Bug],
    ask: Callable[..., dict[str, object]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bug = show("goal", "plan")
    page.actions_of.by_name["copy-command"].trigger()
    export, folder, run = QGuiApplication.clipboard().text().split(" && ")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(export)[1:]) == 0
    monkeypatch.chdir(folder.removeprefix("cd "))
    (ran,) = ask(*shlex.split(run)[1:])["runs"]  # type: ignore[misc]
    assert ran["cost"] == bug.row.policy_cost


def test_rows_are_copied_as_text(page: BugsPage) -> None:
    page.view.copy_tsv()
    head, line = QGuiApplication.clipboard().text().splitlines()
    assert head.split("\t")[:3] == ["Bug", "Status", "Kind"]
    bug = page.view.current_bug()
    assert bug is not None
    assert line.split("\t")[0] == str(bug.id)
    page.view.copy_markdown()
    assert QGuiApplication.clipboard().text().startswith("| Bug | Status | Kind |")
