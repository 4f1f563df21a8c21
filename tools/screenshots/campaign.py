"""The campaign screen: the form, a running campaign, a finished one, and changes."""

from __future__ import annotations

from PySide6.QtTest import QTest

from app.services.folders import FIRST_EXAMPLE, example_workspace
from app.shell.main_window import MainWindow
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.widgets.fields import LimitField
from tools.screenshots.stage import LARGE, Stage

STATES_WHILE_RUNNING = 90


def take(stage: Stage) -> None:
    window = stage.example()
    page = _page(stage, window)
    stage.settle()
    stage.grab("campaign-form")
    page.toml_button.click()
    stage.grab("campaign-toml")
    page.toml_button.click()
    window.resize(LARGE)
    page.form.customize.click()
    stage.grab("campaign-form-large")
    _cluster(stage, page)
    page.run()
    stage.wait(lambda: _states(page) > STATES_WHILE_RUNNING, "for states")
    QTest.qWait(300)
    stage.grab("campaign-running", docs=True)
    page.controller.stop()
    stage.settle()
    stage.grab("campaign-stopped")
    stage.clear()
    example_workspace(FIRST_EXAMPLE).unlink()  # a finished campaign would not start again
    _finished(stage)


def _cluster(stage: Stage, page: CampaignPage) -> None:
    """A cluster that does not answer, and a limit for each unit."""
    where, seconds = page.form.executor, page.form.field("limits.unit_seconds")
    assert isinstance(seconds, LimitField)
    seconds.setValue(600)
    where.on_cluster.setChecked(True)
    where.address.setText("tcp://127.0.0.1:9")
    where.check()
    stage.settle()
    page.form.ensureWidgetVisible(where)
    stage.grab("campaign-cluster")
    where.here.setChecked(True)
    seconds.setValue(None)
    page.form.customize.click()


def _finished(stage: Stage) -> None:
    window = stage.finished()
    page = _page(stage, window)
    if page.list.lines.rowCount() == 1:  # one more, so that there is something to compare
        page.form.show_config(page.form.config().with_seeds(1))
        page.run()
        stage.wait(lambda: not page.controller.is_busy, "for the campaign")
    stage.settle()
    stage.wait(lambda: page.monitor.is_complete)
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    for number, name in enumerate(("timeline", "oracles", "units", "changes")):
        view.tabs.setCurrentIndex(number)
        QTest.qWait(300)
        stage.grab(f"campaign-{name}", docs=name == "oracles")


def _page(stage: Stage, window: MainWindow) -> CampaignPage:
    window.show_page("campaign")
    page = window.current_page
    assert isinstance(page, CampaignPage)
    stage.wait(lambda: not page.files.is_checking, "for the files")
    return page


def _states(page: CampaignPage) -> int:
    return page.monitor.progress.states if page.monitor.progress is not None else 0
