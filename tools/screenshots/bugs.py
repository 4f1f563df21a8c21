"""The bug browser: a localized bug in all tabs, a loop, filters, nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtTest import QTest

from app.models.bug_table import Group, GroupBy
from app.shell.main_window import MainWindow
from app.views.bugs.page import BugsPage
from app.views.bugs.pattern_view import PatternDialog
from engine.workspace.rows import BugRow
from tools.screenshots.stage import LARGE, SIZE, Stage

TABS = ("picture", "state", "costs", "evidence")


def take(stage: Stage) -> None:
    window = stage.blank()
    window.show_page("bugs")
    stage.grab("bugs-empty")
    window = stage.finished()
    page = _page(stage, window)
    _localized(stage, page)
    _loop(stage, page)
    _tables(stage, page, window)
    _patterns(stage, page, window)


def _page(stage: Stage, window: MainWindow) -> BugsPage:
    window.show_page("bugs")
    page = window.current_page
    assert isinstance(page, BugsPage)
    stage.wait(lambda: page.feed.complete and page.detail.known is not None, "for the bugs")
    return page


def _localized(stage: Stage, page: BugsPage) -> None:
    _show(stage, page, lambda row: row.gap is not None and row.gap > 20)
    page.actions_of.localize()
    stage.settle()
    for number, name in enumerate(TABS):
        page.detail.tabs.setCurrentIndex(number)
        QTest.qWait(300)
        stage.grab(f"bugs-{name}", docs=name in ("picture", "state", "costs"))
    page.detail.tabs.setCurrentIndex(0)


def _loop(stage: Stage, page: BugsPage) -> None:
    _show(stage, page, lambda row: row.gap is None)
    page.actions_of.localize()
    stage.settle()
    stage.grab("bugs-loop")


def _tables(stage: Stage, page: BugsPage, window: MainWindow) -> None:
    page.filter.set_text("gap>5 status:new")
    page.group.setCurrentIndex(page.group.findData(GroupBy.ROOT_CAUSE))
    stage.wait(
        lambda: page.table.rowCount() > 0 and isinstance(page.table.line(0), Group),
        "for the groups",
    )
    page.view.scrollToTop()
    window.resize(LARGE)
    QTest.qWait(300)  # rows are read and the window is laid out
    stage.grab("bugs-groups", docs=True)
    window.resize(SIZE)
    page.group.setCurrentIndex(page.group.findData(GroupBy.NOTHING))
    page.filter.set_text("problem:unknown")
    stage.grab("bugs-filtered-away")
    page.filter.set_text("")


def _patterns(stage: Stage, page: BugsPage, window: MainWindow) -> None:
    """Some root causes minimized: the groups, and the page of the first pattern."""
    causes = page.context.document.store.root_causes()
    page.jobs.minimize([cause.smallest_bug for cause in causes[:8]])
    stage.settle()
    page.group.setCurrentIndex(page.group.findData(GroupBy.PATTERN))
    for number in reversed(range(page.table.rowCount())):
        line = page.table.line(number)
        if isinstance(line, Group) and not line.collapsed:
            page.table.toggle(number)
    window.resize(LARGE)
    stage.grab("bugs-patterns", docs=True)
    window.resize(SIZE)
    page.show_pattern(next(row for row in page.context.document.store.bugs() if row.pattern))
    stage.wait(lambda: bool(page.findChildren(PatternDialog)), "for the pattern")
    (dialog,) = page.findChildren(PatternDialog)
    QTest.qWait(300)
    stage.grab("bugs-pattern", dialog, docs=True)
    dialog.accept()


def _show(stage: Stage, page: BugsPage, wanted: Callable[[BugRow], bool]) -> None:
    row = next(row for row in page.context.document.store.bugs() if wanted(row))
    page.show_item(row.id)
    stage.wait(
        lambda: page.detail.known is not None and page.detail.known.bug.row.id == row.id,
        "for the bug",
    )
    QTest.qWait(200)
