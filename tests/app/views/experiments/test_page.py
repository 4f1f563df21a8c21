"""The experiments screen as a person uses it: from a paper to its table, stopped, reported."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.faulty import writer_elsewhere
from reference.screens import PATIENCE, answered

from app.models.campaign_tables import CAMPAIGNS
from app.models.experiments import ExperimentController, Source
from app.services.context import Context
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.views.experiments.page import ExperimentsPage, RemovalCommand
from engine.records.experiment import PortfolioRanking
from engine.records.project import Project
from engine.usecases import experiment
from engine.workspace.workspace import Workspace

STATE_COLUMN = [column.name for column in CAMPAIGNS].index("state")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    return tmp_path


@pytest.fixture
def page(
    context: Context, qtbot: QtBot, files: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ExperimentsPage]:
    monkeypatch.setattr(experiment, "make_executor", lambda _: InThreads(2))
    context.document.store.set_project(
        Project(
            str(files / "domain.pddl"),
            (str(files / "p2.pddl"),),
            ("builtin:optimal",),
            ("builtin:gc",),
        )
    )
    page = ExperimentsPage(context)
    qtbot.addWidget(page)
    page.resize(1180, 760)
    page.show()
    yield page
    page.close()


def run(page: ExperimentsPage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    assert page.may_close()
    assert not page.run_button.isEnabled()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: bool(page.results.tables), timeout=PATIENCE)
    answered(qtbot, page.context)


def test_from_a_paper_to_its_table(page: ExperimentsPage, qtbot: QtBot, tmp_path: Path) -> None:
    assert page.nothing.isVisible()
    page.show_item("eisenhut-2023")
    page.form.scale.setValue(40)
    assert "1 problem of 1 domain, pools of 5 states, 11 oracles compared" in (
        page.form.summary.text()
    )
    run(page, qtbot)
    assert page.headline.text().startswith("Eisenhut et al. 2023")
    assert "finished" in page.state.text()
    assert not page.resume_button.isVisible()
    places = {name: item.y() for name, item in page.results.tables.items()}
    assert places["recall"] < places["effort"]
    section = page.results.tables["recall"]
    assert section.model.rowCount() == 1
    assert section.model.index(0, 0).data()
    titles = [
        section.model.headerData(n, Qt.Orientation.Horizontal)
        for n in range(section.model.columnCount())
    ]
    assert titles[3] == "A*"
    figure = page.results.figures["bugs-over-time-1"]
    figure.copy_picture()
    assert not QGuiApplication.clipboard().pixmap().isNull()
    for name in ("f.pdf", "f.svg", "f.csv"):
        figure.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 50
    page.write_report(tmp_path / "report")
    qtbot.waitUntil((tmp_path / "report" / "index.html").exists, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not page.context.jobs.running, timeout=PATIENCE)


def test_what_is_missing_is_reported(page: ExperimentsPage, qtbot: QtBot) -> None:
    page.show_item("d-val")
    assert "CSV file of domain pairs" in page.reason.text()
    assert not page.run_button.isEnabled()
    page.form.source.setCurrentIndex(page.form.source.findData(Source.EXAMPLES.value))
    assert page.run_button.isEnabled()
    assert "2 pairs of domains" in page.form.summary.text()
    page.form.source.setCurrentIndex(page.form.source.findData(Source.FOLDER.value))
    assert "Choose a CSV file" in page.form.summary.text()
    page.form.set_place("/nowhere.csv")
    assert not page.run_button.isEnabled()
    page.form.choose("sievers-2026")
    page.form.source.setCurrentIndex(page.form.source.findData(Source.PROJECT.value))
    assert page.run_button.isEnabled()


def test_portfolio_sizes_and_ranking_are_chosen_where_portfolios_are_compared(
    page: ExperimentsPage, qtbot: QtBot
) -> None:
    page.show_item("eisenhut-2023")
    assert not page.form.portfolio_row.isVisible()
    page.show_item("sievers-2026")
    assert page.form.portfolio_row.isVisible()
    paper = page.form.config().portfolio
    assert (paper.sizes, paper.ranking) == ((1, 2, 5, 10), PortfolioRanking.RECORDED)
    page.form.sizes.clear()
    qtbot.keyClicks(page.form.sizes, "3, 1 3")
    page.form.ranking.setCurrentIndex(1)
    config = page.form.config()
    assert (config.portfolio.sizes, config.portfolio.ranking) == ((1, 3), PortfolioRanking.LISTED)
    assert config.portfolio.seconds == paper.seconds
    assert "portfolios of up to 3 policies" in page.form.summary.text()
    for wrong in ("", "0", "many", "1, -2", "1001", "\u00b2"):
        page.form.sizes.setText(wrong)
        assert not page.run_button.isEnabled()
        assert "such as 1, 2, 5, 10" in page.form.summary.text()


def test_an_experiment_is_kept_and_can_be_removed(
    page: ExperimentsPage, qtbot: QtBot, context: Context
) -> None:
    page.show_item("eisenhut-2025")
    page.form.scale.setValue(1800)
    run(page, qtbot)
    again = ExperimentsPage(context)
    qtbot.addWidget(again)
    again.show()
    qtbot.waitUntil(lambda: "coverage" in again.results.tables, timeout=PATIENCE)
    assert again.lines.rowCount() == 1
    with qtbot.waitSignal(context.messages.posted, timeout=PATIENCE) as posted:
        qtbot.mouseClick(again.remove_button, Qt.MouseButton.LeftButton)
    assert again.lines.rowCount() == 0
    assert again.nothing.isVisible()
    assert again.stack.currentIndex() == 0
    assert context.document.store.experiments.rows() == []
    assert "its campaigns stay. Press Ctrl+Z to undo" in posted.args[0].text
    context.document.undo_stack.undo()
    assert [row.id for row in again.lines.rows] == [1]
    context.document.undo_stack.redo()
    assert again.nothing.isVisible()


def test_an_experiment_that_runs_again_is_not_removed_by_redo(
    page: ExperimentsPage, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = context.document.store
    number = store.experiments.begin(page.form.config(), "key", [], resume=False)
    stack = context.document.undo_stack
    stack.push(RemovalCommand(number, context, page.controller))
    assert store.experiments.rows() == []
    stack.undo()
    monkeypatch.setattr(ExperimentController, "is_busy", True)
    monkeypatch.setattr(page.controller, "experiment", number)
    stack.redo()
    assert [row.id for row in store.experiments.rows()] == [number]


def test_an_experiment_of_another_process_is_left_alone(
    page: ExperimentsPage, context: Context
) -> None:
    with Workspace.open(context.document.path) as other, other.writing():
        number = other.experiments.begin(page.form.config(), "key", [], resume=False)
        other.experiments.set_status(number, "running")
        context.document.notify("experiments")
        page.show_item(number)
        assert page.state.text().startswith("running elsewhere")
        assert not page.resume_button.isEnabled()
        assert not page.remove_button.isEnabled()
        context.document.undo_stack.push(RemovalCommand(number, context, page.controller))
        assert [row.id for row in other.experiments.rows()] == [number]
    context.document.notify("experiments")
    assert page.state.text().startswith("interrupted")
    assert page.resume_button.isEnabled()
    assert page.remove_button.isEnabled()


def test_an_experiment_whose_process_was_killed_can_be_resumed(
    page: ExperimentsPage, qtbot: QtBot, context: Context
) -> None:
    with Workspace.open(context.document.path) as other:
        number = other.experiments.begin(page.form.config(), "key", [], resume=False)
        other.experiments.set_status(number, "running")
    context.document.notify("experiments")
    page.show_item(number)
    with writer_elsewhere(context.document.path):
        for _ in range(2):  # until all that was written has been read
            with qtbot.waitSignal(context.document.looked, timeout=PATIENCE):
                pass
            answered(qtbot, context)
        assert page.state.text().startswith("running elsewhere")
    qtbot.waitUntil(lambda: page.state.text().startswith("interrupted"), timeout=PATIENCE)
    assert page.resume_button.isEnabled()


def test_an_experiment_can_be_laid_over_a_campaign(
    page: ExperimentsPage, qtbot: QtBot, context: Context
) -> None:
    page.show_item("eisenhut-2023")
    page.form.scale.setValue(40)
    run(page, qtbot)
    campaigns = CampaignPage(context)
    qtbot.addWidget(campaigns)
    campaigns.show()
    campaigns.show_item(1)
    state = partial(campaigns.list.lines.index, 0, STATE_COLUMN)
    assert state().data() == "experiment 1"
    assert "Part of experiment 1" in state().data(Qt.ItemDataRole.ToolTipRole)
    context.document.undo_stack.push(RemovalCommand(1, context, page.controller))
    qtbot.waitUntil(lambda: state().data() == "finished", timeout=PATIENCE)
    context.document.undo_stack.undo()
    qtbot.waitUntil(lambda: state().data() == "experiment 1", timeout=PATIENCE)
    timeline = campaigns.findChild(CampaignView).timeline
    qtbot.waitUntil(lambda: timeline.overlay.count() == 2, timeout=PATIENCE)
    assert timeline.overlay.itemText(1) == "Overlay experiment 1"
    timeline.overlay.setCurrentIndex(1)
    qtbot.waitUntil(lambda: timeline.overlay.overlay is not None, timeout=PATIENCE)
    overlay = timeline.overlay.overlay
    assert overlay is not None
    assert campaigns.monitor.progress is not None
    assert overlay.spent == {s.oracle: s.cpu for s in campaigns.monitor.progress.scores}
    timeline.overlay.setCurrentIndex(0)
    assert timeline.overlay.overlay is None
    qtbot.waitUntil(lambda: campaigns.monitor.is_complete, timeout=PATIENCE)
    answered(qtbot, context)
