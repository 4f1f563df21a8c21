"""Reports from the campaign screen: asked for, named, written in the background, and told of."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, dialog_of, press, said, settled

from app.services.folders import workspaces_folder
from app.views.campaign import campaign_report
from app.views.campaign.campaign_report import BY_SUFFIX, KINDS, ReportDialog, report_filter
from app.views.campaign.page import CampaignPage
from engine.report.formats import FORMATS, SUFFIXES


@pytest.fixture
def page(workspace: Path, open_page: Callable[[Path], CampaignPage], qtbot: QtBot) -> CampaignPage:
    page = open_page(workspace)
    settled(qtbot, page)
    qtbot.waitUntil(lambda: page.list.lines.rowCount() > 0, timeout=PATIENCE)
    return page


def asked(page: CampaignPage) -> ReportDialog:
    QTest.keyClick(page, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    dialog = dialog_of(page)
    assert isinstance(dialog, ReportDialog)
    return dialog


def written(qtbot: QtBot, page: CampaignPage, dialog: ReportDialog) -> str:
    """What the window says in the end."""
    before = len(said(page.context))
    dialog.accept()
    qtbot.waitUntil(lambda: len(said(page.context)) > before, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not page.context.jobs.running, timeout=PATIENCE)
    return said(page.context)[before]


def test_the_formats_are_those_of_the_command_line() -> None:
    assert list(KINDS) == list(FORMATS)
    assert {suffix: SUFFIXES[suffix] for suffix in BY_SUFFIX} == BY_SUFFIX


def test_a_page_to_read_by_keyboard(
    qtbot: QtBot, page: CampaignPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = asked(page)
    number = dialog.campaign
    assert dialog.choice() == (tmp_path / f"carter-campaign-{number}.html", "html")
    text = written(qtbot, page, dialog)
    file = tmp_path / f"carter-campaign-{number}.html"
    assert text == f"Wrote the report to {file}"
    content = file.read_text()
    assert content.startswith("<!doctype html>")
    for bug in page.context.document.store.bugs(number)[:3]:
        assert f"Bug {bug.id}" in content
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
    (_, show), *_ = page.context.messages.history[-1].actions
    show()
    assert [url.toLocalFile() for url in opened] == [str(file)]
    file.unlink()
    show()
    assert "no longer exists" in said(page.context)[-1]


def test_reports_are_not_suggested_beside_a_hidden_workspace(
    bug_workspace: Path, open_page: Callable[[Path], CampaignPage], qtbot: QtBot
) -> None:
    page = open_page(Path(shutil.copy(bug_workspace, workspaces_folder() / "untitled-1.plumb")))
    qtbot.waitUntil(lambda: page.list.lines.rowCount() > 0, timeout=PATIENCE)
    dialog = asked(page)
    path, _ = dialog.choice()
    assert path.parent == Path.home()
    dialog.reject()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_name_follows_the_format(
    qtbot: QtBot, page: CampaignPage, tmp_path: Path, kind: str
) -> None:
    dialog = asked(page)
    dialog.selectNameFilter(report_filter(kind))
    dialog.filterSelected.emit(report_filter(kind))  # as if it was chosen from the list
    file = tmp_path / f"carter-campaign-{dialog.campaign}.{kind}"
    assert dialog.choice() == (file, kind)
    bugs = page.context.document.store.bugs(dialog.campaign)
    assert bugs
    written(qtbot, page, dialog)
    if kind == "csv":
        rows = list(csv.DictReader(file.read_text().splitlines()))
    else:
        rows = json.loads(file.read_text())["bugs"]
    assert [int(row["id"]) for row in rows] == [bug.id for bug in bugs]


def test_an_ending_that_was_written_decides(page: CampaignPage, tmp_path: Path) -> None:
    dialog = asked(page)
    dialog.selectFile(str(tmp_path / "nightly.xml"))
    assert dialog.choice() == (tmp_path / "nightly.xml", "junit")
    dialog.selectFile(str(tmp_path / "nightly"))
    assert dialog.choice() == (tmp_path / "nightly.html", "html")
    dialog.reject()


def test_a_place_that_cannot_be_written_is_reported(
    qtbot: QtBot, page: CampaignPage, tmp_path: Path
) -> None:
    press(page, "campaign-report")
    dialog = dialog_of(page)
    assert isinstance(dialog, ReportDialog)
    folder = tmp_path / "gone"
    folder.mkdir()
    dialog.selectFile(str(folder / "report.html"))
    folder.rmdir()
    assert "cannot be written" in written(qtbot, page, dialog)
    assert not folder.exists()


def test_before_the_first_campaign(
    tmp_path: Path, open_page: Callable[[Path], CampaignPage]
) -> None:
    page = open_page(tmp_path / "empty.plumb")
    QTest.keyClick(page, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert said(page.context)[-1] == "Run a campaign first; there is nothing to report yet."
    assert not page.findChildren(QFileDialog)


def test_the_folder_is_remembered(page: CampaignPage, qtbot: QtBot, tmp_path: Path) -> None:
    other = tmp_path / "reports"
    other.mkdir()
    dialog = asked(page)
    dialog.selectFile(str(other / "one.html"))
    written(qtbot, page, dialog)
    assert page.context.settings.get(campaign_report.FOLDER, "") == str(other)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow, timeout=PATIENCE)
    again = asked(page)
    assert again.choice()[0].parent == other
    again.reject()
