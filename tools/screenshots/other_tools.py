"""Files and servers of other tools: pools and caches in a project, serving, exporting."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDialog, QPushButton

from app.services.folders import EXAMPLES, FIRST_EXAMPLE
from app.shell.main_window import MainWindow
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.views.project.page import ProjectPage
from app.views.project.policy_cards import ServingStrip
from app.views.project.server_dialogs import ServerDialog
from engine.campaign.exchange import FORMATS, export_unit, unit_called
from tools.screenshots.stage import Stage, child

FOLDER = EXAMPLES / FIRST_EXAMPLE


def take(stage: Stage) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _export(stage, folder)
        window = stage.blank()
        window.show_page("project", [FOLDER / "domain.pddl", FOLDER / "problems" / "p03.pddl"])
        page = window.current_page
        assert isinstance(page, ProjectPage)
        page.add_files([folder / name for name in ("unit.pool", "unit.bugs", "unit.cache")])
        page.add_files([FOLDER / "problems" / "p01.pddl"])  # which they do not fit
        page.files.add_policy("builtin:hadd")
        stage.wait(lambda: not page.files.is_busy, "for the files")
        stage.grab("project-other-tools")
        page.files.remove([str(folder / "unit.cache"), str(folder / "unit.bugs")])
        _servers(stage, page)
        _form(stage, window)
        page.context.document.undo_stack.clear()


def _export(stage: Stage, folder: Path) -> None:
    """What the finished campaign has of one unit, and the dialog for it."""
    window = stage.finished()
    window.show_page("campaign")
    page = window.current_page
    assert isinstance(page, CampaignPage)
    stage.settle()
    stage.wait(lambda: page.monitor.is_complete)
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    QTest.mouseClick(view.export, Qt.MouseButton.LeftButton)
    dialog = _dialog(window)
    stage.grab("export-for-other-tools", dialog)
    dialog.reject()
    store = window.context.document.store
    unit = unit_called(store, store.units()[0].id)
    for name, form in FORMATS.items():
        export_unit(store, unit, name, folder / f"unit{form.suffix}")


def _servers(stage: Stage, page: ProjectPage) -> None:
    card = page.cards.cards["builtin:hadd"]
    QTest.mouseClick(card.serve, Qt.MouseButton.LeftButton)
    dialog = _dialog(page)
    stage.grab("serve-policy", dialog)
    child(dialog, QComboBox, "serve-problem").setCurrentIndex(0)
    QTest.mouseClick(child(dialog, QPushButton, "serve-go"), Qt.MouseButton.LeftButton)
    strip = child(card, ServingStrip)
    stage.wait(lambda: "127.0.0.1" in strip.address.text(), "for the server")
    page.servers.choose_server()
    adding = _dialog(page)
    assert isinstance(adding, ServerDialog)
    adding.address.setText(strip.address.text().rpartition(" ")[2])
    QTest.mouseClick(adding.test, Qt.MouseButton.LeftButton)
    stage.wait(lambda: "Found a policy server" in adding.verdict.text(), "for its answer")
    stage.grab("add-policy-server", adding)
    QTest.mouseClick(adding.add, Qt.MouseButton.LeftButton)
    stage.wait(lambda: not page.files.is_busy, "for the files")
    QTest.qWait(300)
    page.cards.choose("builtin:hadd")
    stage.grab("project-servers", docs=True)


def _form(stage: Stage, window: MainWindow) -> None:
    window.show_page("campaign")
    page = window.current_page
    assert isinstance(page, CampaignPage)
    stage.wait(lambda: not page.files.is_checking, "for the files")
    QTest.qWait(300)
    stage.grab("campaign-form-pool")


def _dialog(parent: MainWindow | ProjectPage) -> QDialog:
    (dialog,) = (item for item in parent.findChildren(QDialog) if item.isVisible())
    return dialog
