"""The campaign screen as a person uses it: run, watch, stop, resume."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot
from reference.campaign_screen import (
    STATES,
    checked,
    copy,
    ended,
    figures,
    small,
    started,
    view_of,
)
from reference.faulty import writer_elsewhere
from reference.forging import forge
from reference.screens import PATIENCE, answered

from app.models.campaign_controller import CampaignState
from app.views.campaign.campaign_list import _count
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.widgets.table_view import TableView
from engine.campaign.summary import summary
from engine.records.config import Mode
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace


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


def test_campaigns_of_others_appear_in_the_list(
    qtbot: QtBot, page: CampaignPage, folder: Path
) -> None:
    """While the screen is shown, and when it is shown again."""
    checked(qtbot, page)
    with Workspace.open(page.context.document.path) as other:
        run(small(folder), other)
        qtbot.waitUntil(lambda: page.list.lines.rowCount() == 1, timeout=PATIENCE)
        page.hide()
        run(small(folder, "builtin:optimal"), other)
        with qtbot.waitSignal(page.context.document.looked, timeout=PATIENCE):
            pass
        page.show()
        qtbot.waitUntil(lambda: page.list.lines.rowCount() == 2, timeout=PATIENCE)
    assert {line.state for line in page.list.lines.rows} == {CampaignState.FINISHED}


def test_a_campaign_of_another_process_runs_elsewhere_until_that_is_gone(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    copy(finished, tmp_path / "w.plumb")
    forge(tmp_path / "w.plumb", "UPDATE campaigns SET status = 'running' WHERE id = 2")
    page = open_page(tmp_path / "w.plumb")

    def status() -> str:
        return str(page.list.lines.index(0, 2).data())

    with writer_elsewhere(tmp_path / "w.plumb"):
        qtbot.waitUntil(lambda: status() == "elsewhere", timeout=PATIENCE)
        for _ in range(2):  # until all that was written has been read
            with qtbot.waitSignal(page.context.document.looked, timeout=PATIENCE):
                pass
            answered(qtbot, page.context)
    qtbot.waitUntil(lambda: status() == "interrupted", timeout=PATIENCE)
    checked(qtbot, page)


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


def test_the_speed_is_shown_from_beginning_to_end(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    """Also of the time after the last state, in which bugs may be localized."""
    page, _ = first_of_two(qtbot, open_page(finished))
    progress = page.monitor.progress
    assert progress is not None
    for factor in (0.5, 1.0, 1000.0):
        slower = replace(progress, state_times=progress.state_times * factor)
        page.monitor.progress = slower
        times, rates = page.monitor.throughput()
        assert (times[0], times[-1]) == (0, max(slower.seconds, slower.state_times[-1]))
        assert np.sum(rates[:-1] * np.diff(times)) == pytest.approx(progress.states)
        assert 2 <= len(times) == len(rates) <= 61
    page.monitor.progress = progress
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


def test_units_without_remarks_fit_into_a_small_window(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    page.resize(1196, 750)  # of a window of 1280 x 800
    view.tabs.setCurrentIndex(2)
    assert view.unit_table.isVisible()
    assert view.unit_table.isColumnHidden(view.units.columnCount() - 1)
    qtbot.wait(1)  # the table is laid out
    assert view.unit_table.horizontalScrollBar().maximum() == 0
    checked(qtbot, page)


@pytest.mark.parametrize("mode", list(Mode))
def test_what_oracles_did_fits_into_a_small_window(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, mode: Mode
) -> None:
    page, view = first_of_two(qtbot, open_page(finished))
    page.resize(1196, 750)  # of a window of 1280 x 800
    view.tabs.setCurrentIndex(1)
    tables = view.oracles.tables
    tables.setCurrentIndex(list(view.oracles.models).index(mode))
    table = tables.currentWidget()
    assert isinstance(table, TableView)
    qtbot.wait(1)  # the table is laid out
    assert table.horizontalScrollBar().maximum() == 0
    header = table.horizontalHeader()
    for number in (n for n in range(header.count()) if not header.isSectionHidden(n)):
        assert header.sectionSize(number) >= header.sectionSizeHint(number) - 2, number
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


def test_the_list_of_campaigns_grows_with_the_text(qtbot: QtBot, page: CampaignPage) -> None:
    checked(qtbot, page)
    page.run()
    ended(qtbot, page)
    page.context.theme.set_point_size(10)
    width, scrolling = page.list.width(), page.list.table.horizontalScrollBar()
    for points in (14, 20, 14):  # at 20 points there is not enough room
        page.context.theme.set_point_size(points)
        qtbot.waitUntil(lambda p=points: p == 20 or scrolling.maximum() == 0, timeout=PATIENCE)
    page.context.theme.set_point_size(10)
    assert page.list.width() == pytest.approx(width, abs=1)


@pytest.mark.parametrize("state", CampaignState)
def test_what_a_campaign_is_doing_fits_into_the_list(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, state: CampaignState
) -> None:
    page = open_page(finished)
    qtbot.waitUntil(lambda: page.list.lines.rowCount() == 2, timeout=PATIENCE)
    lines, table = page.list.lines, page.list.table
    limited = 12 if state is CampaignState.FINISHED else 0
    lines.set_rows([replace(lines.row(0), state=state, failed_units=12, limited_units=limited)])
    status = lines.index(0, 2)
    assert table.sizeHintForIndex(status).width() <= table.columnWidth(2), status.data()
    checked(qtbot, page)


def test_the_list_of_campaigns_can_be_folded_away(page: CampaignPage, qtbot: QtBot) -> None:
    page.list.fold.setFocus()
    qtbot.keyClick(page.list.fold, Qt.Key.Key_Space)
    assert not page.list.isVisible()
    assert page.unfold.isVisible()
    qtbot.keyClick(page.unfold, Qt.Key.Key_Space)
    assert page.list.isVisible()
    assert not page.unfold.isVisible()
