"""The dialogs that serve a policy and that add a policy server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.models.served_policies import EVERYWHERE, HERE
from app.services.context import Context
from app.services.jobs import Failure, Job
from app.widgets.builders import button, describe, paragraph
from app.widgets.dialog import FormDialog, grow
from app.widgets.fields import choice, number
from app.widgets.labels import VerdictLine
from app.widgets.layouts import hbox
from engine.errors import PolicyError
from engine.records.policy_spec import SERVER, require_address
from engine.report.policy_text import Verdict, policy_name
from engine.usecases.connect import ServerFound, try_server

HOSTS = {
    HERE: "This machine only: other machines cannot connect",
    EVERYWHERE: "All machines: anyone who can reach this port can connect",
}


class ServeDialog(FormDialog):
    start_requested = Signal(str, str, str, int)  # policy, problem, host, port

    def __init__(
        self, spec: str, problems: Sequence[str], port: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "serve",
            "Serve policy",
            "Lets other tools query this policy with the pheromone protocol. A server serves "
            "exactly one problem.",
            parent,
        )
        self._spec = spec
        self.heading.setText(f"Serve {policy_name(spec)}")
        self.problem = choice({path: Path(path).name for path in problems})
        describe(self.problem, "serve-problem", "Problem")
        self.host = choice(HOSTS)
        describe(self.host, "serve-host", "Accept connections from")
        self.warning = paragraph(
            "There is no password; use this only in networks you trust.", "bad"
        )
        self.warning.hide()
        self.host.currentIndexChanged.connect(self._show_warning)
        self.port = number(1, 2**16 - 1)
        self.port.setGroupSeparatorShown(False)
        describe(self.port, "serve-port", "Port")
        self.port.setValue(port)
        fields = self.add_form()
        fields.addRow("Problem", self.problem)
        fields.addRow("Accept connections from", self.host)
        fields.addRow(self.warning)
        fields.addRow("Port", self.port)
        self.add_buttons("Serve", "Serve")

    @Slot()
    def _show_warning(self) -> None:
        self.warning.setVisible(self.host.currentData() == EVERYWHERE)
        grow(self)

    def accept(self) -> None:
        problem, host = str(self.problem.currentData()), str(self.host.currentData())
        self.start_requested.emit(self._spec, problem, host, self.port.value())
        super().accept()


class ServerDialog(FormDialog):
    """`offer_task` suggests adding the server's task, for projects without a problem."""

    server_requested = Signal(str, bool)  # its address, and whether its task becomes a problem

    def __init__(self, context: Context, offer_task: bool, parent: QWidget | None = None) -> None:
        super().__init__(
            "server",
            "Add policy server",
            "Enter the address of a running server that uses the pheromone protocol. It decides "
            "in states of the task that it serves.",
            parent,
        )
        self._context = context
        self._job: Job | None = None
        self._is_tested = False
        self.address = QLineEdit()
        describe(
            self.address,
            "server-address",
            "Address of the server",
            "Enter host:port, or unix:path for a server on this machine",
        )
        self.address.setPlaceholderText("localhost:50051")
        self.address.textChanged.connect(self._on_edited)
        self.test = button(
            "Test",
            "server-test",
            "Check what answers at this address",
            clicked=self._toggle_test,
            accessible="Test the server",
        )
        line = hbox((self.address, 1), self.test, spacing=8)
        self.verdict = VerdictLine(context.theme)
        self.with_task = QCheckBox("Add the server's task as a problem")
        describe(
            self.with_task,
            "server-task",
            self.with_task.text(),
            "Save the task as a .sas file beside the workspace and add it as a problem",
        )
        self.with_task.setChecked(offer_task)
        self.body.addLayout(line)
        self.body.addWidget(self.verdict)
        self.body.addWidget(self.with_task)
        self.add = self.add_buttons("Add", "Add the server")
        self._on_edited()

    def accept(self) -> None:
        self._stop()
        try:
            require_address(self._wanted())
        except PolicyError as error:
            self._say(("error", "bad", str(error)))
            return
        self.server_requested.emit(self._wanted(), self.with_task.isChecked())
        super().accept()

    def reject(self) -> None:
        self._stop()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802  Qt's name
        self._stop()
        super().closeEvent(event)

    def _wanted(self) -> str:
        return self.address.text().strip().removeprefix(SERVER)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        """Enter in the address field tests the server first, then adds it."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (is_enter and self.address.hasFocus()):
            super().keyPressEvent(event)
        elif self._is_tested:
            self.accept()
        elif self._wanted() and self._job is None:
            self._toggle_test()

    @Slot()
    def _on_edited(self) -> None:
        self._stop()
        self._is_tested = False
        there = bool(self._wanted())
        self.test.setEnabled(there)
        self.add.setEnabled(there)
        self._say(("", "muted", "Enter host:port or unix:path."))

    @Slot()
    def _toggle_test(self) -> None:
        if self._job is not None:
            self._stop()
            self._say(("", "muted", "Test stopped."))
            return
        job = self._context.jobs.start("Test server", try_server, self._wanted(), banner=False)
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        job.ended.connect(self._on_ended)
        self._job = job
        self.test.setText("Stop")
        self._say(("", "muted", "Connecting…"))

    def _stop(self) -> None:
        if self._job is not None:
            job, self._job = self._job, None
            for signal, slot in (
                (job.finished, self._on_found),
                (job.failed, self._on_failed),
                (job.ended, self._on_ended),
            ):
                signal.disconnect(slot)
            job.stop()
            self.test.setText("Test")

    @Slot(object)
    def _on_found(self, found: ServerFound) -> None:
        size = f"a task with {found.variables:,} variables and {found.operators:,} operators"
        if found.trouble:
            text = f"Found a policy server for {size}, but it cannot decide: {found.trouble}"
            self._say(("warning", "undecided", text))
            return
        chooses = f"({found.action})" if found.action else "no action"
        text = f"Found a policy server for {size}. In the initial state it chooses {chooses}."
        self._say(("check", "proven", text))
        self._is_tested = True

    def _say(self, verdict: Verdict, tip: str = "") -> None:
        self.verdict.show_verdict(verdict, tip)
        grow(self)

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self._say(("error", "bad", failure.text), failure.details)

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        self.test.setText("Test")
