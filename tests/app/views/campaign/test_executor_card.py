"""Where units run: chosen in the form, remembered, checked, and seen while a campaign runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.dask_cluster import Cluster
from reference.screens import PATIENCE, answered
from reference.slow_policy import write_slow_policy

from app.models.campaign_controller import CampaignState
from app.models.campaign_settings import (
    ExecutorChoice,
    default_config,
    keep_where,
    scene_text,
    where,
)
from app.models.campaign_tables import UNITS
from app.services.context import Context
from app.services.settings import Settings, grant
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.executor_card import ENTER_ADDRESS, ExecutorCard
from app.views.campaign.page import CampaignPage
from app.widgets.fields import LimitField
from engine.records.events import ClusterSize, ClusterStatus, UnitStatistics
from engine.records.project import Project
from engine.workspace.rows import UnitRow
from engine.workspace.workspace import Workspace

EXAMPLES = Path(__file__).resolve().parents[4] / "resources" / "examples"


@pytest.fixture
def cluster(tmp_path: Path, no_leaks: None) -> Iterator[Cluster]:
    """A scheduler without workers."""
    del no_leaks  # what is started here ends before leaks are looked for
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
def card(qtbot: QtBot, context: Context) -> ExecutorCard:
    card = ExecutorCard(context)
    qtbot.addWidget(card)
    card.resize(400, 200)
    with qtbot.waitExposed(card, timeout=PATIENCE):
        card.show()
    return card


def test_the_choice_is_remembered(settings: Settings) -> None:
    choice = ExecutorChoice(on_cluster=True, workers=7, address="tcp://host:8786")
    keep_where(settings, choice)
    assert where(settings) == choice
    assert choice.executor == "dask:tcp://host:8786"
    settings.set("campaign/where", {"on_cluster": "yes", "workers": -3, "address": 7})
    assert where(settings).executor.startswith("local:")


@pytest.mark.parametrize(
    ("executor", "scene", "words"),
    [
        ("local:1", ClusterStatus(), "On this machine, 1 unit at a time"),
        ("local:3", ClusterStatus(), "On this machine, 3 units at a time"),
        ("dask:tcp://h:1", ClusterStatus(), "Connecting to tcp://h:1…"),
        (
            "dask:tcp://h:1",
            ClusterStatus(ClusterSize(2, 4)),
            "On tcp://h:1: 2 workers, 4 units at a time",
        ),
        (
            "dask:tcp://h:1",
            ClusterStatus(ClusterSize(1, 1), 1),
            "On tcp://h:1: 1 worker, 1 unit at a time · lost workers, restarted 1 unit",
        ),
        (
            "dask:tcp://h:1",
            ClusterStatus(ClusterSize(0, 0), 2),
            "No workers at tcp://h:1; units wait until one connects · "
            "lost workers, restarted 2 units",
        ),
    ],
)
def test_words_of_a_scene(executor: str, scene: ClusterStatus, words: str) -> None:
    assert scene_text(executor, scene) == words


def test_an_address_is_checked_while_it_is_written(card: ExecutorCard, context: Context) -> None:
    assert card.problem() == ""
    assert not card.address.isVisible()
    card.on_cluster.setFocus()
    QTest.keyClick(card.on_cluster, Qt.Key.Key_Space)
    assert card.address.isVisible()
    assert not card.workers.isEnabled()
    assert card.verdict.text() == ENTER_ADDRESS
    QTest.keyClicks(card.address, "tcp://host")
    assert "has no port; write tcp://host:8786" in card.verdict.text()
    assert card.address.property("invalid")
    assert not card.check_button.isEnabled()
    assert "has no port" in card.problem()
    QTest.keyClicks(card.address, ":8786")
    assert card.problem() == ""
    assert not card.verdict.isVisible()
    assert not card.address.property("invalid")
    assert card.check_button.isEnabled()
    assert where(context.settings) == card.choice()
    QTest.mouseClick(card.here, Qt.MouseButton.LeftButton, pos=card.here.rect().center())
    card.here.setChecked(True)
    card.workers.setValue(3)
    assert where(context.settings).executor == "local:3"


@pytest.mark.processes
def test_check_says_what_it_found(qtbot: QtBot, card: ExecutorCard, cluster: Cluster) -> None:
    card.on_cluster.setChecked(True)
    card.address.setText(cluster.address)
    card.check_button.setFocus()
    QTest.keyClick(card.check_button, Qt.Key.Key_Space)
    assert card.focusWidget() is card.address  # one looks at the answer
    assert card.verdict.text() == "Connecting…"
    assert not card.check_button.isEnabled()
    qtbot.waitUntil(card.check_button.isEnabled, timeout=PATIENCE)
    assert card.verdict.text().startswith("The cluster has no workers; start some")
    cluster.add_worker()
    QTest.keyClick(card.address, Qt.Key.Key_Return)
    qtbot.waitUntil(card.check_button.isEnabled, timeout=PATIENCE)
    assert card.verdict.text() == "1 worker, 1 unit at a time, same version"
    assert not card.grab().toImage().isNull()
    card.address.setText(f"{cluster.address}0")  # the answer was about another address
    assert card.verdict.text() != "1 worker, 1 unit at a time, same version"


@pytest.fixture
def open_page(
    qtbot: QtBot, make_context: Callable[..., Context], tmp_path: Path
) -> Callable[[str], CampaignPage]:
    """A campaign of one small unit."""

    def make(policy: str) -> CampaignPage:
        ferry = EXAMPLES / "ferry"
        problem = ferry / "problems" / "p03.pddl"
        project = Project(str(ferry / "domain.pddl"), (str(problem),), (policy,))
        config = default_config(project)
        testing = replace(config.testing, oracles=("lookahead:depth=1",))
        config = replace(config, testing=testing, fuzzing=replace(config.fuzzing, size=20))
        with Workspace.create(tmp_path / "w.plumb") as store:
            store.set_project(replace(project, draft=config))
        page = CampaignPage(make_context(tmp_path / "w.plumb"))
        qtbot.addWidget(page)
        page.resize(1196, 750)
        with qtbot.waitExposed(page, timeout=PATIENCE):
            page.show()
        qtbot.waitUntil(lambda: not page.files.is_checking, timeout=PATIENCE)
        return page

    return make


@pytest.fixture
def page(open_page: Callable[[str], CampaignPage]) -> CampaignPage:
    return open_page("builtin:gc")


@pytest.fixture
def hold(tmp_path: Path) -> Path:
    """While this file is there, the unit of the endless page does not end."""
    hold = tmp_path / "hold"
    hold.touch()
    return hold


@pytest.fixture
def endless(
    open_page: Callable[[str], CampaignPage], settings: Settings, tmp_path: Path, hold: Path
) -> CampaignPage:
    policy = tmp_path / "slow.py"
    write_slow_policy(policy, hold)
    grant(settings, f"{policy}:factory")
    return open_page(f"{policy}:factory")


@pytest.mark.processes
def test_without_its_cluster_a_campaign_begins_here(qtbot: QtBot, page: CampaignPage) -> None:
    page.form.executor.on_cluster.setChecked(True)
    page.form.executor.address.setText("tls://127.0.0.1:1")  # there are no certificates
    page.run()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    message = page.context.messages.history[-1]
    assert message.text.startswith("The campaign could not start: ")
    assert "tls://127.0.0.1:1" in message.text
    ((words, run_here),) = message.actions
    assert words == "Run on this machine"
    run_here()
    assert page.form.executor.here.isChecked()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    answered(qtbot, page.context)
    assert page.list.lines.row(0).state is CampaignState.FINISHED


@pytest.mark.processes
def test_a_campaign_survives_its_cluster(
    qtbot: QtBot, endless: CampaignPage, cluster: Cluster, hold: Path
) -> None:
    page = endless
    cluster.add_worker()
    form = page.form
    form.executor.on_cluster.setChecked(True)
    form.executor.address.setText(cluster.address)
    page.run()
    qtbot.waitUntil(
        lambda: page.monitor.progress is not None and page.monitor.progress.states > 0,
        timeout=PATIENCE,
    )
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    assert view.where.isVisible()
    assert view.where.text() == f"On {cluster.address}: 1 worker, 1 unit at a time"
    QTest.mouseClick(view.pause, Qt.MouseButton.LeftButton)
    assert page.controller.state(page.list.lines.row(0).row) is CampaignState.PAUSED
    QTest.mouseClick(view.pause, Qt.MouseButton.LeftButton)
    QTest.mouseClick(view.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    answered(qtbot, page.context)
    assert page.list.lines.row(0).state is CampaignState.STOPPED
    assert not view.where.isVisible()
    found = page.context.document.store.pool_states(1)
    assert found > 0

    QTest.mouseClick(view.resume, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.controller.scene.cluster is not None, timeout=PATIENCE)
    cluster.scheduler.kill()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    (message,) = (m for m in page.context.messages.history if m.level == "error")
    assert "the connection to the cluster was lost; all results so far are kept" in message.text
    assert "resume there or on this machine" in message.text
    assert page.context.document.store.pool_states(1) >= found

    hold.unlink()
    form.executor.here.setChecked(True)
    ((title, resume),) = message.actions
    assert title == "Resume"
    resume()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.monitor.is_complete, timeout=PATIENCE)
    assert page.list.lines.row(0).state is CampaignState.FINISHED


def test_a_wrong_address_holds_a_campaign_back(qtbot: QtBot, page: CampaignPage) -> None:
    assert page.run_button.isEnabled()
    page.form.executor.on_cluster.setChecked(True)
    assert not page.run_button.isEnabled()
    assert "name the address of the scheduler" in page.run_button.toolTip()
    page.form.executor.address.setText("tcp://host:8786")
    assert page.run_button.isEnabled()


def test_a_limit_is_ticked_and_named(qtbot: QtBot, page: CampaignPage) -> None:
    form = page.form
    memory = form.field("limits.unit_megabytes")
    assert isinstance(memory, LimitField)
    assert memory.box.text() == "no limit"
    assert not memory.box.isEnabled()
    assert form.config().limits.unit_megabytes is None
    form.ensureWidgetVisible(memory)
    memory.tick.setFocus()
    QTest.keyClick(memory.tick, Qt.Key.Key_Space)
    assert form.config().limits.unit_megabytes == 4000
    memory.box.setFocus()
    memory.box.selectAll()
    QTest.keyClicks(memory.box, "500\t")
    assert memory.box.text() == "500 MB"
    assert form.config().limits.unit_megabytes == 500
    memory.box.setValue(3)
    assert form.config().limits.unit_megabytes == 64
    QTest.keyClick(memory.tick, Qt.Key.Key_Space)
    assert form.config().limits.unit_megabytes is None
    assert memory.box.text() == "no limit"
    seconds = form.field("limits.unit_seconds")
    assert isinstance(seconds, LimitField)
    seconds.setValue(2.5)
    assert form.config().limits.unit_seconds == 2.5
    assert seconds.box.text() == "2.5 s"
    page.form.show_config(default_config(page.files.project))
    assert seconds.value() is None


def test_a_unit_says_that_it_was_stopped_at_its_limit() -> None:
    limit = "stopped at its limit of 500 MB"
    unit = UnitRow(1, 1, "p", "y", 0, "finished", None, "", UnitStatistics(states=3, limit=limit))
    columns = {column.name: column for column in UNITS}
    assert columns["status"].value(unit) == "limit reached"
    assert columns["status"].icon is not None
    assert columns["status"].icon(unit) == "warning"
    assert columns["error"].value(unit) == limit


def test_a_campaign_of_units_at_their_limits_is_distinguished_from_a_finished_one(
    qtbot: QtBot, endless: CampaignPage
) -> None:
    page = endless
    seconds = page.form.field("limits.unit_seconds")
    assert isinstance(seconds, LimitField)
    seconds.setValue(0.3)
    page.run()
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.monitor.is_complete, timeout=PATIENCE)
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    words = {column.name: column.text_of(view.units.row(0)) for column in UNITS}
    assert words["status"] in ("limit reached", "failed")  # there may be no time for a state
    assert words["error"].startswith("stopped at its limit of 0.3 s")
    assert page.list.lines.row(0).words in ("finished, 1 at limit", "incomplete, 1 failed")
