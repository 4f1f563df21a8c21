"""The project screen as a person uses it: files in, what they are, what is wrong, out again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.settings import remember_workspace
from app.views.project.page import ProjectPage
from engine.records.project import Project

EXAMPLES = Path(__file__).resolve().parents[4] / "resources" / "examples"
FERRY = EXAMPLES / "ferry"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small domain with two problems, under names that say nothing."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(FERRY / "domain.pddl", folder / "model.txt")
    for number in (1, 2):
        shutil.copy(FERRY / "problems" / f"p0{number}.pddl", folder / f"task-{number}")
    return folder


@pytest.fixture
def make_page(qtbot: QtBot) -> Callable[[Context], ProjectPage]:
    def make(context: Context) -> ProjectPage:
        page = ProjectPage(context)
        qtbot.addWidget(page)
        page.resize(1196, 750)
        page.show()
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        QAbstractItemModelTester(page.problems, fatal, page)
        return page

    return make


@pytest.fixture
def page(make_page: Callable[[Context], ProjectPage], context: Context) -> ProjectPage:
    return make_page(context)


def settled(qtbot: QtBot, page: ProjectPage) -> None:
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def cells(page: ProjectPage) -> list[list[str]]:
    model = page.problems
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def titles(page: ProjectPage) -> list[str]:
    return [str(column.title) for column in page.problems.columns]


def add_builtin(page: ProjectPage, name: str) -> None:
    (action,) = (a for a in page.builtin.menu().actions() if a.text() == f"builtin:{name}")
    action.trigger()


def test_it_begins_with_examples_and_recent_workspaces(
    qtbot: QtBot,
    make_page: Callable[[Context], ProjectPage],
    context: Context,
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.plumb"
    other.touch()
    remember_workspace(context.settings, other)
    page = make_page(context)
    assert page.start.isVisible()
    examples = [b for b in page.findChildren(QPushButton) if b.objectName().startswith("example-")]
    assert len(examples) == 5
    with qtbot.waitSignal(page.example_requested) as wanted:
        QTest.mouseClick(page.findChild(QPushButton, "example-ferry"), Qt.MouseButton.LeftButton)
    assert wanted.args == ["ferry"]
    recent = page.findChild(QPushButton, "recent-other")
    recent.setFocus()
    with qtbot.waitSignal(page.workspace_requested) as wanted:
        QTest.keyClick(recent, Qt.Key.Key_Space)
    assert wanted.args == [other]


@pytest.mark.processes
def test_a_dropped_folder_is_recognized_checked_and_tried(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder])
    assert not page.start.isVisible()
    assert page.files.project.domain == str(folder / "model.txt")
    add_builtin(page, "gc")
    settled(qtbot, page)
    assert page.heading.text() == "ferry"
    names = [row[0] for row in cells(page)]
    assert names == ["task-1", "task-2"]
    for row in cells(page):
        assert row[1] == "OK"
        assert all(int(number) > 0 for number in row[2:5])
        assert row[6] == "solved" or row[6].startswith("fails")
        assert row[5].isdecimal() == (row[6] == "solved")
    card = page.cards.cards["builtin:gc"]
    assert "most goals" in card.kind.text()
    assert card.verdict.text() == "Fits the domain"
    assert "solves" in page.count.text()


def test_the_outcome_has_the_room_that_other_columns_leave(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    """It may be a sentence."""
    page.show_item([folder])
    settled(qtbot, page)
    header = page.table.horizontalHeader()
    widths = {title: header.sectionSize(n) for n, title in enumerate(titles(page))}
    assert titles(page)[-1] == "Outcome"
    assert max(widths, key=widths.__getitem__) == "Outcome"


def test_the_table_speaks_of_the_chosen_policy(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder])
    add_builtin(page, "optimal")
    add_builtin(page, "random")
    settled(qtbot, page)
    assert [row[6] for row in cells(page)] == ["solved", "solved"]
    optimal = [row[5] for row in cells(page)]
    QTest.mouseClick(
        page.cards.cards["builtin:random"], Qt.MouseButton.LeftButton, pos=QPoint(5, 5)
    )
    assert [row[5] for row in cells(page)] != optimal
    card = page.cards.cards["builtin:optimal"]
    card.setFocus()
    QTest.keyClick(card, Qt.Key.Key_Space)
    assert [row[5] for row in cells(page)] == optimal


def test_a_click_shows_the_problem_that_was_clicked(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder])
    settled(qtbot, page)
    for row in (1, 0, 1):
        place = page.table.visualRect(page.problems.index(row, 0)).center()
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert page.source.path == str(folder / f"task-{row + 1}")
    QTest.mouseClick(page.domain_button, Qt.MouseButton.LeftButton)
    assert page.source.path == str(folder / "model.txt")
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page.source.path == str(folder / "task-2")
    page.files.apply(Project())
    assert page.source.code.toPlainText() == ""


def test_while_the_domain_is_broken_nothing_is_reported_to_fit(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    whole = (folder / "model.txt").read_text()
    (folder / "model.txt").write_text(whole.replace(":parameters", ":paramters"))
    page.show_item([folder])
    add_builtin(page, "gc")
    settled(qtbot, page)
    card = page.cards.cards["builtin:gc"]
    assert "Fix the domain errors" in card.verdict.text()
    assert [row[6] for row in cells(page)] == ["", ""]  # and nothing waits
    (folder / "model.txt").write_text(whole)
    qtbot.waitUntil(lambda: card.verdict.text() == "Fits the domain", timeout=PATIENCE)
    settled(qtbot, page)
    assert "" not in [row[6] for row in cells(page)]


def test_which_policy_the_table_is_about_is_reported_where_there_are_several(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder])
    add_builtin(page, "gc")
    first = page.cards.cards["builtin:gc"]
    assert first.accessibleDescription() == ""
    add_builtin(page, "random")
    assert first.accessibleDescription() == "selected"
    settled(qtbot, page)


def test_an_error_is_jumped_to(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    text = (folder / "task-2").read_text()
    line = text.splitlines()
    number = next(n for n, words in enumerate(line, 1) if "(:init" in words)
    line.insert(number, "    (no-such-thing here)")
    (folder / "task-2").write_text("\n".join(line))
    page.show_item([folder])
    settled(qtbot, page)
    assert page.source.path == str(folder / "task-2")
    assert page.source.code.place[0] == number + 1
    assert "no-such-thing" in page.source.list.item(0).text()
    assert page.source.code.marks[0].line == number + 1
    status = next(row[1] for row in cells(page) if row[0] == "task-2")
    assert "error" in status
    page.source.code.jump_to(1)
    (following,) = (a for a in page.page_actions() if a.text() == "Next error")
    following.trigger()
    assert page.source.code.place[0] == number + 1
    page.source.list.setFocus()
    page.source.code.jump_to(1)
    QTest.keyClick(page.source.list, Qt.Key.Key_Return)
    assert page.source.code.place[0] == number + 1
    assert page.source.code.hasFocus()


def test_a_repaired_file_is_checked_again(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    whole = (folder / "task-1").read_text()
    (folder / "task-1").write_text(whole.replace("(:goal", "(:gaol"))
    page.show_item([folder])
    add_builtin(page, "gc")
    settled(qtbot, page)
    assert "error" in cells(page)[0][1]
    assert "no section ':goal'" in page.source.list.item(0).text()
    (folder / "task-1").write_text(whole)
    qtbot.waitUntil(lambda: cells(page)[0][1] == "OK", timeout=PATIENCE)
    settled(qtbot, page)
    assert cells(page)[0][6] != ""
    assert page.source.list.count() == 0


def test_a_policy_of_another_domain_is_refused_before_anything_runs(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    stranger = EXAMPLES / "workshop" / "policies" / "policy.pt"
    page.show_item([folder, stranger])
    settled(qtbot, page)
    card = page.cards.cards[str(stranger)]
    assert card.verdict.text().startswith("Does not fit the domain")
    assert "workshop" in card.kind.text()
    assert "trained on" in card.training.text().lower()
    assert all(not row.runs for row in page.files.rows.values())


PLUGIN = """
class First:
    def __init__(self, task):
        open({mark!r}, "w").close()
        self.task = task

    def decide(self, states):
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return First(task)


def other(task):
    return First(task)
"""


def test_a_plug_in_runs_only_once_it_is_trusted(
    qtbot: QtBot, page: ProjectPage, folder: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "it has run"
    file = tmp_path / "mine.py"
    file.write_text(PLUGIN.format(mark=str(mark)))
    page.show_item([folder, file])
    settled(qtbot, page)
    spec = f"{file}:factory"
    card = page.cards.cards[spec]
    assert not mark.exists()
    assert card.trust.isVisible()
    assert not page.files.is_trusted(spec)
    assert card.factory.isVisible()
    QTest.mouseClick(card.trust, Qt.MouseButton.LeftButton)
    settled(qtbot, page)
    assert mark.exists()
    assert not card.trust.isVisible()
    assert all(row.runs for row in page.files.rows.values())
    file.write_text(PLUGIN.format(mark=str(mark)) + "\n# changed\n")
    qtbot.waitUntil(card.trust.isVisible, timeout=PATIENCE)
    assert not page.files.is_trusted(spec)
    settled(qtbot, page)
    page.files.use_factory(spec, "other")
    assert page.files.project.policies == (f"{file}:other",)
    settled(qtbot, page)


def test_tab_takes_the_cards_as_they_stand(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    page.add_files([folder])
    for name in ("hff", "hadd"):
        page.files.add_policy(f"builtin:{name}")
    settled(qtbot, page)
    chain, item = [page.domain_button.objectName()], page.domain_button.nextInFocusChain()
    while item is not page.domain_button:
        chain.append(item.objectName())
        item = item.nextInFocusChain()
    stops = ("project-domain", "policy-builtin:hff", "policy-builtin:hadd", "project-builtin")
    assert [name for name in chain if name in stops] == list(stops)


def test_what_is_removed_comes_back(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    page.show_item([folder])
    add_builtin(page, "gc")
    settled(qtbot, page)
    page.table.setFocus()
    page.table.select_row(0)
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    assert [row[0] for row in cells(page)] == ["task-2"]
    QTest.mouseClick(page.cards.cards["builtin:gc"].remove, Qt.MouseButton.LeftButton)
    assert page.files.project.policies == ()
    undo = page.context.document.undo_stack
    assert undo.undoText() == "remove builtin:gc"
    undo.undo()
    assert page.files.project.policies == ("builtin:gc",)
    undo.undo()
    assert [row[0] for row in cells(page)] == ["task-1", "task-2"]
    undo.redo()
    assert [row[0] for row in cells(page)] == ["task-2"]
    undo.undo()
    settled(qtbot, page)
    assert page.context.document.store.project() == page.files.project


def test_what_cannot_be_used_is_reported(qtbot: QtBot, page: ProjectPage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of interest")
    page.add_files([tmp_path / "notes.txt", tmp_path / "missing"])
    texts = [message.text for message in page.context.messages.history]
    assert any("Skipped notes.txt" in text for text in texts)
    assert any("No such file" in text for text in texts)
    assert page.start.isVisible()


def test_missing_costs_are_reported_with_a_way_out(
    qtbot: QtBot, page: ProjectPage, tmp_path: Path
) -> None:
    parcel = EXAMPLES / "parcel-delivery"
    text = (parcel / "problems" / "p01.pddl").read_text()
    without = [line for line in text.splitlines() if "(= (length" not in line]
    (tmp_path / "p.pddl").write_text("\n".join(without))
    page.add_files([parcel / "domain.pddl", tmp_path / "p.pddl"])
    settled(qtbot, page)
    (message,) = (m for m in page.context.messages.history if "lacks values" in m.text)
    assert message.text.startswith("1 problem lacks")
    assert "warning" in cells(page)[0][1]
    ((_, use_unit_costs),) = message.actions
    use_unit_costs()
    assert page.unit_costs.isChecked()
    assert page.files.project.unit_costs
    settled(qtbot, page)
    assert cells(page)[0][1] == "OK"  # costs are no longer of interest
    assert cells(page)[0][4] != ""


def test_the_project_is_there_again_when_the_workspace_is_opened(
    qtbot: QtBot,
    make_page: Callable[[Context], ProjectPage],
    make_context: Callable[..., Context],
    folder: Path,
    tmp_path: Path,
) -> None:
    first = make_page(make_context(tmp_path / "w.plumb"))
    first.show_item([folder])
    settled(qtbot, first)
    second = make_page(make_context(tmp_path / "w.plumb"))
    assert second.files.project == first.files.project
    settled(qtbot, second)
    assert [row[0] for row in cells(second)] == ["task-1", "task-2"]


def test_a_folder_with_a_campaign_brings_its_settings(qtbot: QtBot, page: ProjectPage) -> None:
    page.add_files([FERRY])
    project = page.files.project
    assert project.draft is not None
    assert project.draft.fuzzing.size == 60
    assert len(project.portfolio) == 10
    assert "10 checkpoints" in page.portfolio.text()
    page.files.remove(project.policies)  # no need to load torch here
    page.files.apply(Project())
    settled(qtbot, page)
    assert page.start.isVisible()


def test_one_key_leads_to_a_campaign(qtbot: QtBot, page: ProjectPage) -> None:
    run = next(a for a in page.page_actions() if a.text() == "Run campaign")
    assert isinstance(run, QAction)
    assert run.shortcut().toString() == "F5"
    with qtbot.waitSignal(page.page_requested) as wanted:
        run.trigger()
    assert wanted.args == ["campaign", "run"]


def test_it_is_drawn_in_both_themes(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    empty = page.grab().toImage()
    page.show_item([folder])
    settled(qtbot, page)
    light = page.grab().toImage()
    page.context.theme.set_mode("dark")
    dark = page.grab().toImage()
    assert empty != light
    assert light.pixelColor(600, 700).lightness() > 200 > dark.pixelColor(600, 700).lightness()
