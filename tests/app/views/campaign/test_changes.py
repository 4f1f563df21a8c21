"""Two campaigns of a workspace, compared on the campaign screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot
from reference.campaign_screen import checked, copy, ended, small, view_of
from reference.screens import PATIENCE, answered

from app.views.campaign import changes_view as compare_view
from app.views.campaign.page import CampaignPage
from engine.policies.consent import NO_CONSENT
from engine.records.config import Mode
from engine.usecases.campaign import run
from engine.usecases.localize import localize
from engine.usecases.minimize import minimize
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

ICON_ROOM = 24


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


def test_a_campaign_is_compared_with_the_one_before_it(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    path = tmp_path / "three.plumb"
    copy(finished, path)
    with Workspace.open(path) as store:
        run(small(finished.parent, size=1), store)
    page = open_page(path)
    for campaign, other in ((3, 2), (2, 1), (1, 3)):
        page.show_item(campaign)
        assert view_of(page).changes.other.currentData() == other
    ended(qtbot, page)
    checked(qtbot, page)


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
