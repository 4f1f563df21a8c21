"""The form of a campaign: presets, fields, TOML, drafts, and why it cannot run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSpinBox
from pytestqt.qtbot import QtBot
from reference.campaign_screen import checked, copy, ended, small, view_of
from reference.screens import PATIENCE

from app.views.campaign.page import CampaignPage
from app.widgets.fields import MAX_NUMBER, show_value
from engine.campaign.config_reader import read_config
from engine.records.config import Mode
from engine.records.project import PolicyChecked, Project
from engine.workspace.workspace import Workspace


def test_settings_that_this_version_does_not_know(
    qtbot: QtBot, open_page: Callable[[Path], CampaignPage], tmp_path: Path, folder: Path
) -> None:
    config = small(folder)
    oracles = ("astar", "oracle-of-delphi", "bmo:tripod=1")
    strange = replace(
        config,
        testing=replace(config.testing, oracles=oracles, objective="prophecy"),
        fuzzing=replace(config.fuzzing, bias="fate", novelty=99, size=2**40),
        limits=replace(config.limits, unit_megabytes=2**40),
    )
    path = tmp_path / "strange.plumb"
    with Workspace.create(path) as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=strange))
    page = open_page(path)
    checked(qtbot, page)
    told = [message.text for message in page.context.messages.history]
    assert ["oracle-of-delphi" in told[0], "tripod" in told[1]] == [True, True]
    assert page.form.config().testing.oracles == ("astar",)
    assert not page.form.problem()
    page.form.seeds.setText("5")
    config, store = page.form.config(), page.context.document.store
    qtbot.waitUntil(lambda: store.project().draft == config, timeout=PATIENCE)
    stored = store.project().draft
    assert (stored.seeds, stored.fuzzing.bias, stored.testing.objective) == ((5,), "none", "any")
    assert stored.fuzzing.size == stored.limits.unit_megabytes == MAX_NUMBER


def test_why_it_cannot_run_is_reported(qtbot: QtBot, page: CampaignPage, folder: Path) -> None:
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


def test_a_file_that_vanishes_at_the_last_moment_is_reported(
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


def test_the_time_is_estimated_from_the_last_campaign_alike(
    open_page: Callable[[Path], CampaignPage], finished: Path, tmp_path: Path
) -> None:
    copy(finished, tmp_path / "w.plumb")
    page = open_page(tmp_path / "w.plumb")
    page.new_action.trigger()
    assert ", about " in page.form.plan.text()
    show_value(page.form.field("testing.mode"), Mode.COMPARE)
    assert ", about " not in page.form.plan.text()
