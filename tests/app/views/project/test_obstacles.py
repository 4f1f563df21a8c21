"""Problems that cannot be tested: marked before a campaign runs, and left out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.context import Context
from app.views.campaign.page import CampaignPage
from app.views.project.page import ProjectPage

DOMAIN = """(define (domain lamps)
  (:requirements :strips)
  (:predicates (lit ?l) (dark ?l))
  (:action light :parameters (?l)
    :precondition (dark ?l)
    :effect (and (lit ?l) (not (dark ?l)))))
"""
PROBLEM = """(define (problem p) (:domain lamps)
  (:objects a b)
  (:init (dark a) (dark b))
  (:goal GOAL))
"""
GOALS = {"p1": "(and (lit a) (lit b))", "p2": "(and)", "p3": "(preference soon (lit a))"}

UNSUPPORTED = {
    "numeric fluents": ("(lit ?l) (not", "(increase (fuel) 1) (not", "numeric effect"),
    "durative actions": ("(:action", "(:durative-action", "durative"),
    "object fluents": ("(lit ?l) (not", "(assign (keeper ?l) ?l) (not", "'assign'"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for name, goal in GOALS.items():
        (tmp_path / f"{name}.pddl").write_text(PROBLEM.replace("GOAL", goal))
    return tmp_path


def settled(qtbot: QtBot, page: ProjectPage | CampaignPage) -> None:
    qtbot.waitUntil(lambda: not page.files.is_busy, timeout=PATIENCE)


def statuses(page: ProjectPage) -> list[tuple[str, str]]:
    cells = [page.problems.index(row, 1) for row in range(page.problems.rowCount())]
    return [(str(cell.data()), str(cell.data(Qt.ItemDataRole.ToolTipRole))) for cell in cells]


def test_what_cannot_be_tested_is_marked_with_its_reason_and_place(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.add_files([folder])
    settled(qtbot, page)
    good, empty, soft = statuses(page)
    assert good[0] == "OK"
    assert empty[0] == "nothing to test"
    assert empty[1].startswith("Cannot be tested: p2.pddl:4:10: the goal is empty")
    assert soft[0] == "1 error"
    assert soft[1].startswith("Cannot be tested: p3.pddl:4:10: preferences are not supported")
    assert "3 · 2 cannot be tested" in page.count.text()
    assert page.run_button.isEnabled()


@pytest.mark.parametrize("construct", UNSUPPORTED)
def test_a_domain_that_cannot_be_tested_bars_all_its_problems(
    qtbot: QtBot, page: ProjectPage, folder: Path, construct: str
) -> None:
    before, after, words = UNSUPPORTED[construct]
    (folder / "domain.pddl").write_text(DOMAIN.replace(before, after))
    page.add_files([folder / "domain.pddl", folder / "p1.pddl"])
    settled(qtbot, page)
    ((status, tip),) = statuses(page)
    assert status == "domain error"
    assert "domain.pddl:4:" in tip or "domain.pddl:6:" in tip
    assert words in tip
    assert not page.run_button.isEnabled()
    assert page.run_button.toolTip().startswith("Unavailable: No problem can be tested: domain")
    assert page.state.text() in page.run_button.toolTip()
    (folder / "domain.pddl").write_text(DOMAIN)
    qtbot.waitUntil(lambda: statuses(page)[0][0] == "OK", timeout=PATIENCE)
    assert page.run_button.isEnabled()


def test_a_campaign_leaves_them_out_and_says_so(
    qtbot: QtBot, context: Context, show: Callable[[QWidget], None], folder: Path
) -> None:
    page = CampaignPage(context)
    show(page)
    page.files.add([folder])
    page.files.add_policy("builtin:gc")
    settled(qtbot, page)
    assert page.form.config().problems == (str(folder / "p1.pddl"),)
    assert page.form.unit_count == 1
    assert page.run_button.isEnabled()
    assert page.form.notes.text().startswith("Leaves out p2.pddl, p3.pddl: p2.pddl:4:10: the goal")
    item = page.form.problems.list.item(1)
    assert not item.flags() & Qt.ItemFlag.ItemIsEnabled
    assert "the goal is empty" in item.toolTip()
    assert page.form.problems.all.checkState() == Qt.CheckState.Checked
    later = CampaignPage(context)
    qtbot.addWidget(later)
    assert later.form.config().problems == page.form.config().problems
    page.files.remove([str(folder / "p1.pddl")])
    settled(qtbot, page)
    assert not page.run_button.isEnabled()
    assert not page.form.notes.isVisible()
    assert "No problem can be tested: p2.pddl:4:10" in page.run_button.toolTip()
    (folder / "p2.pddl").write_text(PROBLEM.replace("GOAL", "(lit b)"))
    qtbot.waitUntil(
        lambda: page.form.config().problems == (str(folder / "p2.pddl"),), timeout=PATIENCE
    )
    assert page.form.notes.text().startswith("Leaves out p3.pddl:")


DERIVED = DOMAIN.replace(
    "(dark ?l))\n", "(dark ?l) (bright))\n  (:derived (bright) (forall (?l) (lit ?l)))\n", 1
).replace(":strips", ":adl :derived-predicates")


def test_the_form_says_which_oracles_go_on_without_dominance(
    qtbot: QtBot, context: Context, show: Callable[[QWidget], None], folder: Path
) -> None:
    (folder / "domain.pddl").write_text(DERIVED)
    (folder / "p1.pddl").write_text(PROBLEM.replace("GOAL", "(bright)"))
    page = CampaignPage(context)
    show(page)
    page.files.add([folder / "domain.pddl", folder / "p1.pddl"])
    page.files.add_policy("builtin:gc")
    settled(qtbot, page)
    config = page.form.config()
    page.form.show_config(replace(config, testing=replace(config.testing, oracles=("bmo",))))
    assert page.form.notes.isVisible()
    text = page.form.notes.text()
    assert text.startswith("p1.pddl: dominance is unavailable: axioms depend on all variables")
    assert "bmo compares no states" in text
    page.form.show_config(replace(config, testing=replace(config.testing, oracles=("astar",))))
    assert not page.form.notes.isVisible()
