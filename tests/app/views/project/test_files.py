"""Files of other tools in the window: recognized, tested, exported, read back equal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, dialog_of, press, said, settled

from app.services.context import Context
from app.views.bugs.page import BugsPage
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.views.project.page import ProjectPage
from app.views.unit_export import UnitExportDialog
from engine.campaign.config_reader import read_config
from engine.campaign.exchange import FORMATS
from engine.fuzzing.bugs_file import parse_bugs
from engine.fuzzing.pool_file import read_pool
from engine.records.project import Project
from engine.task.load import load_sas, load_task

POLICY = "builtin:hadd"
Screens = tuple[ProjectPage, CampaignPage]


class FileDialog:
    """Answers for the user, and knows what was suggested to him."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.path, self.suggested = path, Path()
        monkeypatch.setattr(QFileDialog, "getSaveFileName", self._choose)

    def _choose(self, parent: QWidget, title: str, path: str, kinds: str) -> tuple[str, str]:
        del parent, title, kinds
        self.suggested = Path(path)
        return str(self.path), ""


@pytest.fixture
def file_dialog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FileDialog:
    return FileDialog(monkeypatch, tmp_path / "chosen")


@pytest.fixture
def screens(context: Context, show: Callable[[QWidget], None]) -> Screens:
    files, page = ProjectPage(context), CampaignPage(context)
    show(files)
    show(page)
    return files, page


def test_files_are_known_by_what_is_in_them_and_by_whom_they_fit(
    qtbot: QtBot, page: ProjectPage, folder: Path, tmp_path: Path
) -> None:
    names = {"unit.pool": "one", "unit.bugs": "two", "unit.cache": "three"}
    for old, new in names.items():
        (tmp_path / new).write_bytes((folder / old).read_bytes())
    page.show_item([folder / "domain.pddl", folder / "p1.pddl", folder / "p2.pddl"])
    page.add_files([tmp_path / name for name in names.values()])
    settled(qtbot, page)
    pool, bugs = (page.pools.cards[str(tmp_path / name)] for name in ("one", "two"))
    assert pool.words.text() == "Pool of 24 states"
    assert pool.verdict.text() == "Fits p2.pddl only"
    assert bugs.words.text().startswith("Bugs file: ")
    assert bugs.verdict.text() == "Fits p2.pddl only"
    cache = page.cards.cards[str(tmp_path / "three")]
    assert cache.kind.text().startswith("Policy cache, ")
    assert cache.verdict.text() == "Fits p2.pddl only"
    assert not said(page.context)


def test_a_file_that_fits_nothing_says_why_and_can_be_removed(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder / "domain.pddl", folder / "p1.pddl", folder / "unit.pool"])
    settled(qtbot, page)
    card = page.pools.cards[str(folder / "unit.pool")]
    assert card.verdict.text().startswith("Fits none of the problems: line ")
    assert "belongs to another task" in card.verdict.text()
    card.setFocus()
    QTest.keyClick(card, Qt.Key.Key_Delete)
    assert page.files.project.pools == ()
    assert not page.pools.isVisible()
    undo = page.context.document.undo_stack
    assert undo.undoText() == "remove unit.pool"
    undo.undo()
    assert page.pools.isVisible()
    QTest.mouseClick(page.pools.cards[str(folder / "unit.pool")].remove, Qt.MouseButton.LeftButton)
    assert page.files.project.pools == ()
    settled(qtbot, page)


def test_a_file_that_changed_while_it_was_not_in_the_project_is_tried_again(
    qtbot: QtBot, page: ProjectPage, folder: Path, tmp_path: Path
) -> None:
    pool = tmp_path / "some.pool"
    pool.write_bytes((folder / "unit.pool").read_bytes())
    page.show_item([folder / "domain.pddl", folder / "p2.pddl", pool])
    settled(qtbot, page)
    assert page.pools.cards[str(pool)].verdict.text() == "Fits p2.pddl"
    page.files.remove([str(pool)])
    settled(qtbot, page)
    pool.write_text("0\nstate\n0 0\n0\nresult\n4\n-1\n")  # of another task
    page.context.document.undo_stack.undo()
    settled(qtbot, page)
    verdict = page.pools.cards[str(pool)].verdict.text()
    assert verdict.startswith("Fits none of the problems")


def test_files_that_the_system_does_not_look_at(
    qtbot: QtBot, context: Context, show: Callable[[QWidget], None], tmp_path: Path
) -> None:
    """Such as in a folder that must not be entered, or on a disk that is gone."""
    name = str(tmp_path / ("n" * 300))
    project = Project(
        f"{name}.pddl", (f"{name}-p1.pddl",), (f"{name}.pt",), pools=(name,), portfolio=(name,)
    )
    context.document.store.set_project(project)
    files, bugs, campaign = ProjectPage(context), BugsPage(context), CampaignPage(context)
    for page in (files, bugs, campaign):
        show(page)
    settled(qtbot, files)
    assert "name too long" in files.cards.cards[f"{name}.pt"].verdict.text()
    assert "name too long" in files.pools.cards[name].verdict.text()
    assert all(row.errors for row in files.files.rows.values())
    assert not said(context)


def test_a_damaged_file_says_where(
    qtbot: QtBot, page: ProjectPage, folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("0\nstate\n0 0\n0\nresult\nmany\n")
    page.show_item([folder / "domain.pddl", folder / "p1.pddl", broken])
    settled(qtbot, page)
    card = page.pools.cards[str(broken)]
    assert f"{broken}:6" in card.verdict.text()
    broken.write_text("0\nstate\n0 0\n0\nresult\n4\n-1\n")  # repaired, and of another task
    qtbot.waitUntil(lambda: card.words.text() == "Bugs file: 1 bug", timeout=PATIENCE)
    settled(qtbot, page)
    assert "Fits none" in card.verdict.text()


def test_a_bugs_file_may_bring_its_task(
    qtbot: QtBot, page: ProjectPage, folder: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "whole.bugs"
    task = (folder / "unit.sas").read_text()
    whole.write_text(f"begin_sas\n{task}end_sas\n{(folder / 'unit.bugs').read_text()}")
    page.show_item([whole])
    settled(qtbot, page)
    card = page.pools.cards[str(whole)]
    assert card.verdict.text() == "Add the problem it belongs to."
    press(card, "task-of-whole.bugs")
    qtbot.waitUntil(lambda: card.verdict.text() == "Fits whole.sas", timeout=PATIENCE)
    assert not card.task.isVisible()
    settled(qtbot, page)
    (problem,) = page.files.project.problems
    assert load_sas(problem).hash == load_sas(folder / "unit.sas").hash


@pytest.mark.parametrize("name", ["unit.pool", "unit.bugs"])
def test_states_of_a_file_are_tested_and_come_out_equal(
    qtbot: QtBot, screens: Screens, folder: Path, file_dialog: FileDialog, name: str
) -> None:
    files, page = screens
    config = read_config(folder / "campaign.toml")
    files.add_files([folder / "domain.pddl", folder / "p1.pddl", folder / "p2.pddl"])
    files.files.add_policy(POLICY)
    page.form.show_config(config)
    page.form.problems.tick_only(set(page.files.project.problems))
    assert not page.form.pool.isVisible()
    files.add_files([folder / name])
    settled(qtbot, page)
    form = page.form
    assert form.pool.path == str(folder / name)
    assert not form.field("fuzzing.size").isEnabled()
    assert "select only p2.pddl" in page.reason.text()
    assert not page.run_button.isEnabled()
    press(form, "campaign-pool-problem")
    assert form.problems.ticked() == (str(folder / "p2.pddl"),)
    assert page.run_button.isEnabled()
    page.run()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    task = load_task(folder / "domain.pddl", folder / "p2.pddl")
    export(qtbot, page, "pool", file_dialog)
    states = [entry.state for entry in read_pool(file_dialog.path, task)]
    export(qtbot, page, "bugs", file_dialog)
    bugs = parse_bugs(file_dialog.path.read_text(), task)
    original = parse_bugs((folder / "unit.bugs").read_text(), task)
    assert len(bugs) == len(set(bugs)) > 1
    if name == "unit.pool":
        assert states == [entry.state for entry in read_pool(folder / name, task)]
        assert set(bugs) == set(original)
    else:
        assert states == [bug.state for bug in original]
        assert {(bug.state, bug.value) for bug in bugs} == {
            (bug.state, bug.value) for bug in original
        }
    form.pool.box.setCurrentIndex(0)
    assert form.config().pool is None
    assert form.field("fuzzing.size").isEnabled()
    settled(qtbot, page)


def export(qtbot: QtBot, page: CampaignPage, name: str, file_dialog: FileDialog) -> None:
    """By the button of the campaign, the dialog, and a file name."""
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    press(view, "campaign-export-unit")
    dialog = dialog_of(page)
    assert isinstance(dialog, UnitExportDialog)
    dialog.formats[name].click()
    before = len(page.context.messages.history)
    press(dialog, "export-go")
    qtbot.waitUntil(lambda: len(page.context.messages.history) > before, timeout=PATIENCE)
    assert str(file_dialog.path) in said(page.context)[-1]
    assert page.context.messages.history[-1].actions[0][0] == "Open folder"
    assert file_dialog.suggested.suffix == FORMATS[name].suffix


def test_the_campaign_remembers_its_pool(
    qtbot: QtBot, context: Context, show: Callable[[QWidget], None], folder: Path
) -> None:
    """Dropped before the campaign screen was ever shown, and then from its TOML."""
    config = read_config(folder / "campaign.toml")
    context.document.store.set_project(
        Project(config.domain, config.problems, config.policies, draft=config)
    )
    files = ProjectPage(context)
    show(files)
    files.add_files([folder / "unit.pool"])
    page = CampaignPage(context)
    show(page)
    assert page.form.pool.path == str(folder / "unit.pool")
    settled(qtbot, page)
    assert "24 states" in page.form.total.text()
    page.toml_button.click()
    assert 'pool = "unit.pool"' in page.toml.toPlainText()
    page.files.remove([str(folder / "unit.pool")])
    assert page.form.config().pool is None
    settled(qtbot, page)


def test_grounded_and_lifted_problems_are_not_mixed(
    qtbot: QtBot, screens: Screens, folder: Path
) -> None:
    files, page = screens
    files.add_files([folder / name for name in ("domain.pddl", "p2.pddl", "unit.sas")])
    files.files.add_policy(POLICY)
    settled(qtbot, page)
    assert "either PDDL problems or .sas files" in page.reason.text()
    page.form.problems.tick_only({str(folder / "unit.sas")})
    assert page.form.config().domain is None
    assert page.run_button.isEnabled()
    page.form.problems.tick_only({str(folder / "p2.pddl")})
    assert page.form.config().domain == str(folder / "domain.pddl")


def test_bugs_are_exported_for_other_tools(
    qtbot: QtBot,
    make_context: Callable[..., Context],
    show: Callable[[QWidget], None],
    folder: Path,
    file_dialog: FileDialog,
) -> None:
    context = make_context(folder / "w.plumb", open_only=True)
    page = BugsPage(context)
    show(page)
    qtbot.waitUntil(lambda: bool(page.selected()), timeout=PATIENCE)
    file_dialog.path = folder / "no such folder" / "x.bugs"
    page.actions_of.by_name["export-unit"].trigger()
    dialog = dialog_of(page)
    assert isinstance(dialog, UnitExportDialog)
    assert dialog.unit.currentText().startswith("1: p2.pddl, builtin:hadd, seed 0 (24 states, ")
    dialog.formats["bugs"].click()
    press(dialog, "export-go")
    assert file_dialog.suggested == folder / "unit-1.bugs"  # beside the workspace
    qtbot.waitUntil(lambda: bool(said(context)), timeout=PATIENCE)
    assert "cannot be written" in said(context)[-1]
    qtbot.waitUntil(lambda: not context.jobs.running, timeout=PATIENCE)
