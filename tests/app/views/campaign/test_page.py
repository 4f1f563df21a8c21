"""The campaign screen as a person uses it: set up, run, watch, stop, resume, compare."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, answered
from reference.slow_policy import write_slow_policy

from app.models.campaign_controller import CampaignState
from app.models.campaign_settings import default_config
from app.services.context import Context
from app.services.settings import grant
from app.views.campaign import changes_view as compare_view
from app.views.campaign.campaign_list import _count
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.widgets.fields import show_value
from engine.campaign.config_reader import read_config
from engine.campaign.summary import summary
from engine.policies.consent import NO_CONSENT
from engine.records.config import CampaignConfig, Mode
from engine.records.project import PolicyChecked, Project
from engine.usecases.campaign import run
from engine.usecases.localize import localize
from engine.usecases.minimize import minimize
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

ICON_ROOM = 24
EXAMPLES = Path(__file__).resolve().parents[4] / "resources" / "examples"
FERRY = EXAMPLES / "ferry"


def small(folder: Path, policy: str = "builtin:gc", size: int = 12) -> CampaignConfig:
    """A campaign of seconds, whose greedy policy has bugs."""
    project = Project(str(folder / "domain.pddl"), (str(folder / "p03.pddl"),), (policy,))
    config = default_config(project)
    testing = replace(config.testing, oracles=("lookahead:depth=1", "astar"), skip_known_bugs=False)
    return replace(config, fuzzing=replace(config.fuzzing, size=size), testing=testing)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepared(tmp_path / "files")


def prepared(folder: Path) -> Path:
    folder.mkdir()
    shutil.copy(FERRY / "domain.pddl", folder)
    shutil.copy(FERRY / "problems" / "p03.pddl", folder)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two finished campaigns of different policies."""
    folder = prepared(tmp_path_factory.mktemp("finished") / "files")
    path = folder / "w.plumb"
    config = small(folder)
    with Workspace.create(path) as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=config))
        run(config, store)
        run(small(folder, "builtin:optimal"), store)
    return path


def copy(workspace: Path, target: Path) -> None:
    """With what has not been written into the main file yet."""
    with closing(sqlite3.connect(workspace)) as source, closing(sqlite3.connect(target)) as new:
        source.backup(new)


@pytest.fixture
def open_page(qtbot: QtBot, make_context: Callable[..., Context]) -> Callable[[Path], CampaignPage]:
    def make(workspace: Path) -> CampaignPage:
        page = CampaignPage(make_context(workspace))
        qtbot.addWidget(page)
        page.resize(1196, 750)
        for action in page.page_actions():
            page.addAction(action)  # as the window's menu does
        with qtbot.waitExposed(page, timeout=PATIENCE):
            page.show()
        page.activateWindow()  # shortcuts are for the active window
        qtbot.waitUntil(page.isActiveWindow, timeout=PATIENCE)
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        QAbstractItemModelTester(page.list.lines, fatal, page)
        return page

    return make


@pytest.fixture
def page(open_page: Callable[[Path], CampaignPage], tmp_path: Path, folder: Path) -> CampaignPage:
    config = small(folder)
    with Workspace.create(tmp_path / "w.plumb") as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=config))
    return open_page(tmp_path / "w.plumb")


def checked(qtbot: QtBot, page: CampaignPage) -> None:
    qtbot.waitUntil(lambda: not page.files.is_checking, timeout=PATIENCE)


def ended(qtbot: QtBot, page: CampaignPage) -> None:
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.monitor.is_complete, timeout=PATIENCE)


def view_of(page: CampaignPage) -> CampaignView:
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    return view


def figures(page: CampaignPage) -> dict[str, str]:
    return {name: label.text() for name, label in view_of(page).figures.numbers.items()}


@pytest.mark.processes
def test_it_runs_at_a_key_and_shows_what_the_store_holds(
    qtbot: QtBot,
    page: CampaignPage,
    open_page: Callable[[Path], CampaignPage],
) -> None:
    checked(qtbot, page)
    assert page.run_button.isEnabled()
    QTest.keyClick(page, Qt.Key.Key_F5)
    assert page.controller.is_busy
    assert not page.run_button.isEnabled()
    assert "running" in page.run_button.toolTip()
    qtbot.waitUntil(lambda: page.list.lines.rowCount() == 1, timeout=PATIENCE)
    ended(qtbot, page)
    qtbot.waitUntil(lambda: isinstance(page.stack.currentWidget(), CampaignView), timeout=PATIENCE)
    counted = summary(page.context.document.store, 1)
    shown = figures(page)
    assert counted["bugs"] > 0
    assert shown["states"] == str(counted["states"])
    assert shown["bugs"] == str(counted["bugs"])
    assert shown["failures"] == str(counted["qualitative"])
    assert page.list.lines.row(0).state is CampaignState.FINISHED
    assert page.list.lines.row(0).bugs == counted["bugs"]
    view = view_of(page)
    assert view.bar.value() == view.bar.maximum()
    assert not view.stop.isVisible()
    assert not view.resume.isVisible()
    for score in page.monitor.scores:
        assert score.bugs == counted["per_oracle"][score.oracle]["bugs"]
    later = open_page(page.context.document.path)  # as if it were opened on another day
    qtbot.waitUntil(lambda: later.monitor.progress is not None, timeout=PATIENCE)
    ended(qtbot, later)
    assert figures(later) == shown
    assert later.monitor.points.bugs.tolist() == page.monitor.points.bugs.tolist() != []
    checked(qtbot, later)


def test_its_end_is_never_taken_for_a_crash(qtbot: QtBot, page: CampaignPage) -> None:
    """The rows that are shown were read before it ended."""
    checked(qtbot, page)
    page.prepare()
    view, seen = page.findChild(CampaignView), []
    for news in (page.monitor.updated, page.controller.changed, page.list.chosen):
        news.connect(lambda *_: seen.append((view.summary.text(), view.resume.isHidden())))
    page.run()
    ended(qtbot, page)
    answered(qtbot, page.context)
    words = [text.partition(" ")[0] for text, _ in seen if text]
    assert "finished" in words
    assert set(words) <= {"running", "finished"}  # a busy machine may show it only at its end
    assert all(hidden for text, hidden in seen if text)


def test_a_campaign_is_chosen_though_the_list_is_a_moment_behind(
    qtbot: QtBot, page: CampaignPage
) -> None:
    before = _count(page.context.document.store)
    checked(qtbot, page)
    page.run()
    qtbot.waitUntil(lambda: page.controller.campaign is not None, timeout=PATIENCE)
    page.list._followed = None
    page.list._show(before)
    assert page.list._followed is None
    ended(qtbot, page)
    qtbot.waitUntil(lambda: page.list.lines.rowCount() == 1, timeout=PATIENCE)


def first_of_two(qtbot: QtBot, page: CampaignPage) -> tuple[CampaignPage, CampaignView]:
    """All of the first campaign is shown."""
    page.show_item(1)
    ended(qtbot, page)
    return page, view_of(page)


def test_another_campaign_comes_without_the_curves_of_the_last(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    assert not view.timeline.pool.is_empty
    assert view.oracles.models[Mode.HUNT].rowCount() > 0
    page.show_item(2)
    assert view.timeline.pool.is_empty
    assert view.oracles.models[Mode.HUNT].rowCount() == 0
    assert view.left.text() == "Reading…"
    ended(qtbot, page)
    assert not view.timeline.pool.is_empty
    assert view.left.text() == "100%"
    checked(qtbot, page)


def test_a_click_shows_the_campaign_that_was_clicked(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    table = page.list.table
    for row in (0, 1, 0):
        place = table.visualRect(page.list.lines.index(row, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert view.title.text() == f"Campaign {page.list.lines.row(row).row.id}"
    page.new_action.trigger()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page.stack.currentWidget() is view
    page.new_action.trigger()
    page.form.seeds.setFocus()
    page.show_item(1)
    assert page.focusWidget() is table
    ended(qtbot, page)
    checked(qtbot, page)


def is_whole(widget: QWidget) -> bool:
    return widget.width() >= widget.sizeHint().width()


def is_below(view: CampaignView) -> bool:
    """Whether the buttons are below the title, not beside it."""
    return view.report.mapTo(view, QPoint()).y() >= view.title.geometry().bottom()


def test_a_narrow_window_cuts_no_button(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    for width in (820, 1300):
        page.resize(width, 600)
        buttons = [view.again, view.report, view.export, view.bugs]
        qtbot.waitUntil(lambda b=buttons: all(map(is_whole, b)), timeout=PATIENCE)
        qtbot.waitUntil(lambda w=width: is_below(view) == (w == 820), timeout=PATIENCE)
        shown = [number for number in view.figures.numbers.values() if number.isVisible()]
        assert len(shown) > 2
        assert all(map(is_whole, shown))
    page.new_action.trigger()
    page.resize(820, 600)
    buttons = [page.toml_button, page.import_button, page.export_button, page.run_button]
    qtbot.waitUntil(lambda: all(map(is_whole, buttons)), timeout=PATIENCE)
    qtbot.waitUntil(lambda: not page.form.horizontalScrollBar().isVisible(), timeout=PATIENCE)
    checked(qtbot, page)


def test_a_point_leads_to_its_bug(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    view.tabs.setCurrentWidget(view.oracles)
    scatter = view.oracles.scatter
    qtbot.waitUntil(
        lambda: not scatter.is_empty and not scatter._timer.isActive(), timeout=PATIENCE
    )
    points = scatter._points[0]
    there = QPointF(points.x[0], points.y[0])
    with qtbot.waitSignal(page.page_requested, timeout=PATIENCE) as wanted:
        QTest.mouseClick(
            scatter.canvas.viewport(),
            Qt.MouseButton.LeftButton,
            pos=scatter.canvas.mapFromScene(scatter.item.vb.mapViewToScene(there)),
        )
    name, bug = wanted.args
    assert name == "bugs"
    hit = points.keys.tolist().index(bug)
    assert (points.x[hit], points.y[hit]) == (points.x[0], points.y[0])
    with qtbot.waitSignal(page.page_requested) as wanted:
        QTest.mouseClick(view.bugs, Qt.MouseButton.LeftButton)
    assert wanted.args[0] == "bugs"
    checked(qtbot, page)


def test_patterns_of_two_campaigns_are_compared(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    path = tmp_path / "minimized.plumb"
    copy(finished, path)
    with Workspace.open(path) as store:
        bug = store.bugs(1)[0].id
    localize(NULL_LINK, path, [bug])
    (witness,) = minimize(NULL_LINK, path, [bug], NO_CONSENT)
    page = open_page(path)
    page.show_item(2)
    view = view_of(page)
    view.tabs.setCurrentWidget(view.changes)
    answered(qtbot, page.context)
    compare = view.changes
    assert compare.pattern_counts.text() == "Patterns: 1 gone"  # all bugs of campaign 2 are known
    (line,) = compare.pattern_model.rows
    assert line.pattern.id == witness.pattern
    assert (line.pattern.bugs_before > 0, line.pattern.bugs_after) == (True, 0)
    assert "instead of" in line.title
    with qtbot.waitSignal(page.page_requested) as wanted:
        compare.patterns.setFocus()
        compare.patterns.select_row(0)
        QTest.keyClick(compare.patterns, Qt.Key.Key_Return)
    assert wanted.args == ["bugs", f"pattern:{line.pattern.id}"]
    checked(qtbot, page)


def test_two_campaigns_are_compared(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page = open_page(finished)
    assert page.list.lines.rowCount() == 2
    page.show_item(2)  # the optimal policy
    view = view_of(page)
    fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
    testers = [
        QAbstractItemModelTester(model, fatal, page)
        for model in (view.changes.model, view.units, view.oracles.models[Mode.HUNT])
    ]
    view.tabs.setCurrentWidget(view.changes)
    compare = view.changes
    assert compare.other.currentText().startswith("Campaign 1")
    assert not compare.patterns.parentWidget().isVisibleTo(compare)  # the bugs have its room
    bugs = page.list.lines.rows[-1].bugs + page.list.lines.rows[-1].further
    answered(qtbot, page.context)
    changes = Counter(compare.model.row(row).change.value for row in range(bugs))
    assert changes["gone"] > 0
    assert sum(changes.values()) == changes["gone"] + changes["not tested"]
    assert compare.counts.text().startswith(f"Bugs: 0 new, {changes['gone']} gone, 0 still there")
    assert compare.model.rowCount() == bugs
    problem = QFontMetrics(page.context.theme.mono_font).horizontalAdvance("pfile12.pddl")
    assert compare.table.columnWidth(2) > problem
    words = page.list.table.fontMetrics().horizontalAdvance
    assert compare.table.columnWidth(0) > ICON_ROOM + words("not tested")
    assert page.list.table.columnWidth(2) > ICON_ROOM + words("interrupted")
    with qtbot.waitSignal(page.page_requested) as wanted:
        compare.table.setFocus()
        compare.table.select_row(0)
        QTest.keyClick(compare.table, Qt.Key.Key_Return)
    assert wanted.args == ["bugs", compare.model.row(0).finding.id]
    with qtbot.waitSignal(page.page_requested) as wanted:
        qtbot.mouseClick(view.bugs, Qt.MouseButton.LeftButton)
    assert wanted.args == ["bugs", "campaign:2"]
    page.list.table.select_row(1)
    answered(qtbot, page.context)
    assert compare.other.currentText().startswith("Campaign 2")
    assert compare.direction.text().startswith("from campaign 1 to campaign 2")
    assert compare.counts.text().startswith(f"Bugs: 0 new, {changes['gone']} gone")
    ended(qtbot, page)
    checked(qtbot, page)
    assert testers


@pytest.fixture
def endless(page: CampaignPage, folder: Path) -> Callable[[], None]:
    """A campaign that does not come to its end before it is let go."""
    hold, file = folder / "hold", folder / "slow.py"
    hold.touch()
    write_slow_policy(file, hold)
    config = small(folder, f"{file}:factory", size=STATES)
    project = Project(config.domain, config.problems, config.policies)
    grant(page.context.settings, f"{file}:factory")
    page.context.document.store.set_project(replace(project, draft=config))
    page.context.document.notify("project")
    page.form.show_config(config)
    return hold.unlink


STATES = 20


def started(qtbot: QtBot, page: CampaignPage) -> CampaignView:
    checked(qtbot, page)
    page.run()
    qtbot.waitUntil(
        lambda: page.monitor.progress is not None and page.monitor.progress.states > 0,
        timeout=PATIENCE,
    )
    return view_of(page)


def test_many_bugs_are_compared_in_the_background(
    qtbot: QtBot,
    open_page: Callable[[Path], CampaignPage],
    finished: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_view, "MANY_BUGS", 0)
    page = open_page(finished)
    page.show_item(2)
    view = view_of(page)
    view.tabs.setCurrentWidget(view.changes)
    assert view.changes.counts.text() == "Comparing…"
    qtbot.waitUntil(lambda: "gone" in view.changes.counts.text(), timeout=PATIENCE)
    line = page.list.lines.rows[-1]
    assert view.changes.model.rowCount() == line.bugs + line.further
    ended(qtbot, page)
    checked(qtbot, page)


def test_it_is_stopped_and_resumed(
    qtbot: QtBot, page: CampaignPage, folder: Path, endless: Callable[[], None]
) -> None:
    view = started(qtbot, page)
    QTest.mouseClick(view.pause, Qt.MouseButton.LeftButton)
    assert view.pause.text() == "Resume"
    assert page.list.lines.row(0).state is CampaignState.PAUSED
    QTest.mouseClick(view.pause, Qt.MouseButton.LeftButton)
    assert view.pause.text() == "Pause"
    QTest.keyClick(page, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    assert view.stop.text() == "Stopping…"
    ended(qtbot, page)
    assert page.list.lines.row(0).state is CampaignState.STOPPED
    statuses = {unit.status for unit in page.context.document.store.units()}
    assert statuses == {"stopped"}
    assert page.monitor.progress is not None
    assert 0 < page.monitor.progress.states < STATES
    endless()
    (folder / "p03.pddl").unlink()  # the workspace has a copy
    QTest.mouseClick(view.resume, Qt.MouseButton.LeftButton)
    ended(qtbot, page)
    assert page.list.lines.row(0).state is CampaignState.FINISHED
    assert page.monitor.progress.states == STATES
    assert not view.resume.isVisible()


@pytest.mark.processes
def test_a_killed_worker_loses_nothing(
    qtbot: QtBot, page: CampaignPage, endless: Callable[[], None]
) -> None:
    view = started(qtbot, page)
    assert page.controller.job is not None
    assert page.controller.job.pid is not None
    os.kill(page.controller.job.pid, signal.SIGKILL)
    ended(qtbot, page)
    assert page.list.lines.row(0).state is CampaignState.INTERRUPTED
    (message,) = (m for m in page.context.messages.history if m.level == "error")
    assert "could not continue" in message.text
    assert page.monitor.progress is not None
    assert page.monitor.progress.states > 0
    endless()
    QTest.mouseClick(view.resume, Qt.MouseButton.LeftButton)
    ended(qtbot, page)
    assert page.list.lines.row(0).state is CampaignState.FINISHED
    assert page.monitor.progress.states == STATES


def test_the_same_campaign_is_shown_not_run_again(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    copy(finished, tmp_path / "w.plumb")
    page = open_page(tmp_path / "w.plumb")
    checked(qtbot, page)
    page.show_item("run")
    ended(qtbot, page)
    (message,) = page.context.messages.history
    assert "Campaign 1 already tested these files" in message.text
    assert page.list.lines.rowCount() == 2
    ((_, run_next_seed),) = message.actions
    run_next_seed()
    ended(qtbot, page)
    assert page.list.lines.rowCount() == 3
    assert page.list.lines.row(0).row.config.seeds == (1,)


def test_why_it_cannot_run_is_said(qtbot: QtBot, page: CampaignPage, folder: Path) -> None:
    def reason() -> str:
        assert not page.run_button.isEnabled()
        assert not page.run_action.isEnabled()
        return page.run_button.toolTip()

    checked(qtbot, page)
    form = page.form
    form.seeds.setText("zero")
    assert "invalid seed 'zero'" in reason()
    labels = [label for label in form.findChildren(QLabel) if label.isVisible()]
    assert any("invalid seed 'zero'" in label.text().lower() for label in labels)
    form.seeds.setText("0")
    assert page.run_button.isEnabled()
    QTest.mouseClick(form.problems.all, Qt.MouseButton.LeftButton)
    assert "at least one problem" in reason()
    QTest.mouseClick(form.problems.all, Qt.MouseButton.LeftButton)
    for row in form.oracles.rows:
        row.box.setChecked(False)
    assert "at least one oracle" in reason()
    astar = next(row for row in form.oracles.rows if row.kind.name == "astar")
    astar.box.setChecked(True)
    astar.fields["expansions"].setText("many")
    assert "'many' is not a positive number" in reason()
    astar.fields["expansions"].setText("")
    assert page.run_button.isEnabled()
    spec = "builtin:gc"
    page.files.policies[spec] = PolicyChecked(spec, misfits=("the domain lacks the action 'fly'",))
    page.files.checked.emit()
    assert "builtin:gc does not fit the domain: the domain lacks the action 'fly'" in reason()
    page.files.policies[spec] = PolicyChecked(spec, error="the file is damaged")
    page.files.checked.emit()
    assert "the file is damaged" in reason()
    del page.files.policies[spec]
    (folder / "p03.pddl").unlink()
    page.files.checked.emit()
    assert "no longer exists" in reason()
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def test_a_file_that_vanishes_at_the_last_moment_is_told(
    qtbot: QtBot, page: CampaignPage, folder: Path
) -> None:
    checked(qtbot, page)
    config = page.form.config()
    (folder / "domain.pddl").unlink()
    page.controller.start(config, "local:1")
    ended(qtbot, page)
    (message,) = (m for m in page.context.messages.history if m.level == "error")
    assert "domain.pddl" in message.text
    assert message.actions
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def test_presets_and_fields_and_toml_say_the_same(
    qtbot: QtBot, page: CampaignPage, tmp_path: Path
) -> None:
    form = page.form
    QTest.mouseClick(form.presets["thorough"], Qt.MouseButton.LeftButton)
    assert form.config().fuzzing.size == 500
    assert form.presets["thorough"].isChecked()
    size = form.field("fuzzing.size")
    assert isinstance(size, QSpinBox)
    size.setValue(77)
    assert not any(card.isChecked() for card in form.presets.values())
    form.seeds.setText("3, 5-7")
    bmo = next(row for row in form.oracles.rows if row.kind.name == "bmo")
    bmo.fields["lookahead"].setText("0")
    QTest.mouseClick(
        next(r for r in form.oracles.rows if r.kind.name == "undo").earlier,
        Qt.MouseButton.LeftButton,
    )
    config = form.config()
    assert config.seeds == (3, 5, 6, 7)
    assert config.testing.oracles[0] == "bmo:lookahead=0"
    assert config.testing.oracles.index("undo") == 2
    QTest.mouseClick(page.toml_button, Qt.MouseButton.LeftButton)
    assert "size = 77" in page.toml.toPlainText()
    path = tmp_path / "c.toml"
    page.export_toml(path)
    assert read_config(path) == config
    QTest.mouseClick(form.presets["quick"], Qt.MouseButton.LeftButton)
    assert form.config() != config
    page.import_toml(path)
    assert form.config() == config
    path.write_text("problems = 3")
    page.import_toml(path)
    assert page.context.messages.history[-1].level == "error"
    checked(qtbot, page)
    qtbot.waitUntil(lambda: page.files.project.draft == config, timeout=PATIENCE)


def test_a_draft_is_kept_when_the_window_closes_at_once(page: CampaignPage, qtbot: QtBot) -> None:
    checked(qtbot, page)
    document, store = page.context.document, page.context.document.store
    QTest.mouseClick(page.form.presets["quick"], Qt.MouseButton.LeftButton)
    config = page.form.config()
    assert store.project().draft != config
    document.closing.emit()
    assert store.project().draft == config


def test_an_oracle_can_be_asked_twice(page: CampaignPage, qtbot: QtBot) -> None:
    oracles = ("lookahead:depth=1", "lookahead:depth=2", "gbfs")
    page.form.oracles.set_oracles(oracles)
    assert page.form.oracles.oracles() == oracles
    checked(qtbot, page)


def test_oracles_that_compare_need_others(page: CampaignPage, qtbot: QtBot) -> None:
    row = next(row for row in page.form.oracles.rows if row.kind.name == "pco-p")
    assert not row.box.isEnabled()
    assert "checkpoints" in row.box.toolTip()
    page.form.oracles.set_portfolio(True)
    assert row.box.isEnabled()
    checked(qtbot, page)


def test_settings_of_an_old_campaign_are_used_again(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    copy(finished, tmp_path / "w.plumb")
    page = open_page(tmp_path / "w.plumb")
    page.show_item(2)
    QTest.mouseClick(view_of(page).again, Qt.MouseButton.LeftButton)
    assert page.stack.currentIndex() == 0
    assert page.form.config() == small(finished.parent, "builtin:optimal")
    assert set(page.files.project.policies) == {"builtin:gc", "builtin:optimal"}
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def test_everything_has_a_name_and_both_themes(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page = open_page(finished)
    form = page.grab().toImage()
    page.show_item(1)
    ended(qtbot, page)
    view = view_of(page)
    pictures: dict[str, list[QImage]] = {}
    for theme in ("light", "dark"):
        page.context.theme.set_mode(theme)
        pictures[theme] = []
        for number in range(view.tabs.count()):
            view.tabs.setCurrentIndex(number)
            pictures[theme].append(page.grab().toImage())
    for light, dark in zip(pictures["light"], pictures["dark"], strict=True):
        assert light != form
        assert light.pixelColor(600, 745).lightness() > 200
        assert dark.pixelColor(600, 745).lightness() < 100
    kinds = (QAbstractButton, QAbstractItemView, QLineEdit, QSpinBox)
    for widget in (w for kind in kinds for w in page.findChildren(kind)):
        if not widget.isVisibleTo(page) or widget.objectName().startswith("qt_"):
            continue
        if isinstance(widget, QHeaderView) or isinstance(widget.parent(), QSpinBox):
            continue
        assert widget.accessibleName(), widget
    checked(qtbot, page)


def test_one_sentence_says_what_will_happen(page: CampaignPage) -> None:
    form = page.form
    assert form.plan.text().startswith("1 problem, 12 states, 2 oracles as a team")
    show_value(form.field("testing.mode"), Mode.COMPARE)
    assert "2 oracles, each by itself" in form.plan.text()
    assert form.config().testing.mode is Mode.COMPARE
    assert not form.config().testing.skip_known_bugs
    assert not form.field("testing.skip_known_bugs").isEnabled()
    form.presets["thorough"].click()
    assert form.config().localization.enabled
    assert "every bug localized" in form.plan.text()


def test_settings_are_folded_away_until_they_are_wanted_or_wrong(
    page: CampaignPage, qtbot: QtBot
) -> None:
    form = page.form
    assert not form.folded.isVisible()
    form.customize.setFocus()
    qtbot.keyClick(form.customize, Qt.Key.Key_Space)
    assert form.folded.isVisible()
    assert page.context.settings.get("campaign/customize", False)
    qtbot.keyClick(form.customize, Qt.Key.Key_Space)
    assert not form.folded.isVisible()
    form.seeds.setText("no seed")
    assert form.folded.isVisible()


def test_the_list_of_campaigns_can_be_folded_away(page: CampaignPage, qtbot: QtBot) -> None:
    page.list.fold.setFocus()
    qtbot.keyClick(page.list.fold, Qt.Key.Key_Space)
    assert not page.list.isVisible()
    assert page.unfold.isVisible()
    qtbot.keyClick(page.unfold, Qt.Key.Key_Space)
    assert page.list.isVisible()
    assert not page.unfold.isVisible()


def test_the_time_is_estimated_from_the_last_campaign_alike(
    open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    copy(finished, tmp_path / "w.plumb")
    page = open_page(tmp_path / "w.plumb")
    page.new_action.trigger()
    assert ", about " in page.form.plan.text()
    show_value(page.form.field("testing.mode"), Mode.COMPARE)
    assert ", about " not in page.form.plan.text()
