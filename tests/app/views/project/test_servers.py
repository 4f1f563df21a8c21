"""Policy servers in the window: one of others tested and used, a policy of ours served."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QMessageBox, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from reference.ports import free_port
from reference.screens import PATIENCE, dialog_of, press, said, settled

from app.models.served_policies import served_policies
from app.services.context import Context
from app.services.document import Document
from app.services.messages import Message
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.views.project.page import ProjectPage
from app.views.project.policy_servers import task_path
from app.views.project.server_dialogs import ServeDialog, ServerDialog
from app.views.unit_export import UnitExportDialog
from engine.campaign.config_reader import read_config
from engine.native.library import Int32Array
from engine.policies.policy import BoundPolicy, open_policy
from engine.policies.remote.policy import open_remote
from engine.policies.remote.server import PolicyServer
from engine.records.project import Project
from engine.task.load import load_sas, load_task
from engine.workspace.workspace import Workspace

POLICY = "builtin:hadd"

pytestmark = pytest.mark.processes  # servers are asked and run by them


@contextmanager
def server_of_others(folder: Path) -> Iterator[str]:
    """A running policy server, and its address."""
    task = load_task(folder / "domain.pddl", folder / "p2.pddl")
    with PolicyServer(open_policy(POLICY).bind(task), task, "127.0.0.1:0") as server:
        yield server.address


def test_a_server_is_tested_added_and_tried(qtbot: QtBot, page: ProjectPage, folder: Path) -> None:
    page.show_item([folder / "domain.pddl"])
    with server_of_others(folder) as address:
        press(page, "project-server")
        dialog = dialog_of(page)
        assert isinstance(dialog, ServerDialog)
        assert not dialog.test.isEnabled()
        for wrong, complaint in (
            ("nonsense", "is not the address of a policy server"),
            (f"127.0.0.1:{free_port()}", "no server answers"),
        ):
            dialog.address.setText(wrong)
            press(dialog, "server-test")
            qtbot.waitUntil(lambda c=complaint: c in dialog.verdict.text(), timeout=PATIENCE)
        dialog.activateWindow()
        dialog.address.setFocus()
        qtbot.waitUntil(dialog.address.hasFocus, timeout=PATIENCE)
        dialog.address.setText(f"grpc://{address}")
        QTest.keyClick(dialog.address, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: "Found a policy server" in dialog.verdict.text(), timeout=PATIENCE)
        assert "operators. In the initial state it chooses (" in dialog.verdict.text()
        assert dialog.with_task.isChecked()  # there is no problem yet
        QTest.keyClick(dialog.address, Qt.Key.Key_Return)
        spec = f"grpc://{address}"
        assert page.files.project.policies == (spec,)
        task_file = str(task_path(page.context.document.path, address))
        qtbot.waitUntil(lambda: page.files.project.problems == (task_file,), timeout=PATIENCE)
        settled(qtbot, page)
        card = page.cards.cards[spec]
        assert card.kind.text().startswith("Policy server, a task with ")
        assert card.verdict.text() == f"Fits {Path(task_file).name}"
        assert not card.serve.isVisible()
        served = load_sas(task_file)
        assert served.hash == load_task(folder / "domain.pddl", folder / "p2.pddl").hash
        assert page.files.rows[task_file].runs[spec].outcome in ("solved", "failed")
    page.files.check_again()
    qtbot.waitUntil(lambda: "no server answers" in card.verdict.text(), timeout=PATIENCE)
    assert card.again.isVisible()
    settled(qtbot, page)


class Mortal:
    """Decides as another does; about more than `left` states its server goes away."""

    def __init__(self, policy: BoundPolicy) -> None:
        self._policy, self.left = policy, 10**6
        self.die: Callable[[], object] = lambda: None

    def decide(self, states: Int32Array) -> Int32Array:
        self.left -= len(states)
        if self.left < 0:
            self.die()
        return np.asarray(self._policy.decide(states))


def test_a_server_that_goes_away_is_reported_and_the_campaign_resumed(
    qtbot: QtBot, context: Context, show: Callable[[QWidget], None], folder: Path
) -> None:
    task = load_task(folder / "domain.pddl", folder / "p2.pddl")
    mortal = Mortal(open_policy(POLICY).bind(task))
    config = read_config(folder / "campaign.toml")
    context.document.store.set_project(Project(config.domain, config.problems, draft=config))
    page = CampaignPage(context)
    show(page)
    with PolicyServer(mortal, task, f"127.0.0.1:{free_port()}") as server:
        page.files.add_server(server.address)
        settled(qtbot, page)  # it was tried on the problem
        page.form.show_config(replace(config, policies=(f"grpc://{server.address}",)))
        mortal.left, mortal.die = 15, lambda: server._server.stop(0)
        page.run()
        qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    (text,) = said(context)
    assert text.startswith("1 unit of campaign 1 failed: the connection to ")
    assert text.endswith("All findings are kept; resume the campaign to run the rest.")
    assert context.document.store.pool_states() > 0
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    qtbot.waitUntil(view.resume.isVisible, timeout=PATIENCE)
    withdrawn: list[Message] = []
    context.messages.withdrawn.connect(withdrawn.append)
    with PolicyServer(open_policy(POLICY).bind(task), task, server.address):
        press(view, "campaign-resume")
        assert [message.text for message in withdrawn] == [text]
        qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    (unit,) = context.document.store.units()
    assert (unit.status, unit.statistics.states) == ("finished", 24)
    assert said(context) == [text]
    qtbot.waitUntil(lambda: not view.resume.isVisible(), timeout=PATIENCE)


def test_dialogs_have_names_for_everything(page: ProjectPage, folder: Path) -> None:
    with Workspace.open(folder / "w.plumb") as store:
        rows = store.units()
    dialogs = [
        ServerDialog(page.context, True, page),
        ServeDialog(POLICY, ["p2.pddl"], 50051, page),
        UnitExportDialog(rows, None, page),
    ]
    for dialog in dialogs:
        parts = [
            part
            for kind in (QAbstractButton, QComboBox, QLineEdit, QSpinBox)
            for part in dialog.findChildren(kind)
            if not part.objectName().startswith("qt_")
        ]
        assert len(parts) > 3
        assert all(part.objectName() and part.accessibleName() for part in parts)


def test_what_is_not_an_address_is_not_added(page: ProjectPage) -> None:
    press(page, "project-server")
    dialog = dialog_of(page)
    assert isinstance(dialog, ServerDialog)
    dialog.address.setText("nowhere")
    press(dialog, "server-go")
    assert "'nowhere' is not the address of a policy server" in dialog.verdict.text()
    assert dialog.isVisible()
    assert page.files.project.is_empty
    press(dialog, "server-cancel")


def test_a_test_can_be_stopped(qtbot: QtBot, page: ProjectPage) -> None:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        page.servers.choose_server()
        dialog = dialog_of(page)
        assert isinstance(dialog, ServerDialog)
        dialog.address.setText(f"127.0.0.1:{silent.getsockname()[1]}")
        press(dialog, "server-test")
        assert dialog.test.text() == "Stop"
        press(dialog, "server-test")
        assert dialog.verdict.text() == "Test stopped."
        press(dialog, "server-test")
        press(dialog, "server-cancel")
        qtbot.waitUntil(lambda: not page.context.jobs.running, timeout=PATIENCE)
    assert page.files.project.is_empty


def serve(page: ProjectPage, port: int, problem: str = "p2.pddl") -> None:
    QTest.mouseClick(page.cards.cards[POLICY].serve, Qt.MouseButton.LeftButton)
    dialog = dialog_of(page)
    box, number = dialog.findChild(QComboBox, "serve-problem"), dialog.findChild(QSpinBox)
    box.setCurrentIndex(box.findText(problem))
    number.setValue(port)
    press(dialog, "serve-go")


def test_a_policy_is_served_to_others_until_it_is_stopped(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder / name for name in ("domain.pddl", "p1.pddl", "p2.pddl")])
    page.files.add_policy(POLICY)
    settled(qtbot, page)
    card, port = page.cards.cards[POLICY], free_port()
    serve(page, port)
    address = f"127.0.0.1:{port}"
    qtbot.waitUntil(lambda: address in card.serving.address.text(), timeout=PATIENCE)
    assert card.serving.address.text() == f"Serving p2.pddl at {address}"
    assert not card.serve.isVisible()
    assert card.serving.answered.text() == "0 requests answered"
    press(card, f"copy-address-{POLICY}")
    assert QGuiApplication.clipboard().text() == address
    task = load_task(folder / "domain.pddl", folder / "p2.pddl")
    states = np.array([task.init] * 3, dtype=np.int32)
    with open_remote(address) as policy:
        here = open_policy(POLICY).bind(task).decide(states)
        assert policy.bind(task).decide(states).tolist() == here.tolist()
    qtbot.waitUntil(lambda: card.serving.answered.text() == "3 requests answered", timeout=PATIENCE)
    page.files.add_server(address)  # our own server, asked by our own client
    settled(qtbot, page)
    assert page.cards.cards[f"grpc://{address}"].verdict.text() == "Fits p2.pddl only"
    runs = page.files.rows[str(folder / "p2.pddl")].runs
    assert runs[f"grpc://{address}"].cost == runs[POLICY].cost
    press(card, f"stop-serving-{POLICY}")
    qtbot.waitUntil(lambda: not page.context.jobs.running, timeout=PATIENCE)
    assert not card.serving.isVisible()
    assert card.serve.isVisible()
    assert not said(page.context)


def test_a_port_may_be_taken_and_a_served_policy_removed(
    qtbot: QtBot, page: ProjectPage, folder: Path
) -> None:
    page.show_item([folder / "domain.pddl", folder / "p2.pddl"])
    page.files.add_policy(POLICY)
    settled(qtbot, page)
    with socket.create_server(("127.0.0.1", 0)) as other:
        serve(page, other.getsockname()[1])
        qtbot.waitUntil(lambda: bool(said(page.context)), timeout=PATIENCE)
    assert "another program may use this port" in said(page.context)[0]
    qtbot.waitUntil(lambda: not page.context.jobs.running, timeout=PATIENCE)
    assert page.cards.cards[POLICY].serve.isVisible()
    serve(page, free_port())
    served = served_policies(page.context)
    qtbot.waitUntil(lambda: bool(served.by_spec[POLICY].address), timeout=PATIENCE)
    page.files.remove([POLICY])
    qtbot.waitUntil(lambda: not served.by_spec, timeout=PATIENCE)
    settled(qtbot, page)


def test_closing_the_window_asks_once_and_ends_the_server(
    qtbot: QtBot, settings: Settings, theme: Theme, folder: Path, tmp_path: Path
) -> None:
    window = MainWindow(Document.create(tmp_path / "w.plumb"), settings, theme)
    with qtbot.waitExposed(window, timeout=PATIENCE):
        window.show()
    window.show_page("project", [folder / "domain.pddl", folder / "p2.pddl"])
    page = window.current_page
    assert isinstance(page, ProjectPage)
    page.files.add_policy(POLICY)
    settled(qtbot, page)
    port = free_port()
    serve(page, port)
    served = served_policies(window.context)
    qtbot.waitUntil(lambda: bool(served.by_spec[POLICY].address), timeout=PATIENCE)
    window.close()
    question = window.findChild(QMessageBox, "close-question")
    assert f"Still running: Serve {POLICY}." in question.informativeText()
    with qtbot.waitSignal(window.closed, timeout=PATIENCE):
        press(question, "close-yes")
    with socket.socket() as probe:  # the port is free again
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
    window.deleteLater()
