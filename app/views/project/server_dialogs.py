"""How to serve a policy: for which problem, to whom, on which port."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.models.served_policies import EVERYWHERE, HERE
from app.services.context import Context
from app.services.jobs import Failure, Job
from app.widgets.dialog import FormDialog, grow
from app.widgets.fields import choice, number
from app.widgets.labels import VerdictLine
from engine.report.policy_text import Verdict, policy_name
from engine.usecases.connect import ServerFound, try_server

HOSTS = {
    HERE: "Programs on this machine: nobody else can reach it",
    EVERYWHERE: "Programs on other machines, too: anybody who reaches this port may ask",
}


class ServeDialog(FormDialog):
    start_requested = Signal(str, str, str, int)  # policy, problem, host, port

    def __init__(
        self, spec: str, problems: Sequence[str], port: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "serve",
            "Serve a policy",
            "Other tools that speak the pheromone protocol can then ask this policy what it does "
            "in a state. A server speaks of one problem.",
            parent,
        )
        self._spec = spec
        self.heading.setText(f"Serve {policy_name(spec)}")
        self.problem = choice({path: Path(path).name for path in problems})
        self.problem.setObjectName("serve-problem")
        self.problem.setAccessibleName("Problem")
        self.host = choice(HOSTS)
        self.host.setObjectName("serve-host")
        self.host.setAccessibleName("Who may ask")
        self.warning = QLabel("There is no password: use it in networks you trust.")
        self.warning.setWordWrap(True)
        self.warning.setProperty("role", "bad")
        self.warning.hide()
        self.host.currentIndexChanged.connect(self._show_warning)
        self.port = number(1, 2**16 - 1)
        self.port.setGroupSeparatorShown(False)
        self.port.setObjectName("serve-port")
        self.port.setAccessibleName("Port")
        self.port.setValue(port)
        fields = self.add_form()
        fields.addRow("Problem", self.problem)
        fields.addRow("Who may ask", self.host)
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


SCHEME = "grpc://"


class ServerDialog(FormDialog):
    """`offer_task`: whether to suggest the server's task as a problem, as there is none yet."""

    server_requested = Signal(str, bool)  # its address, and whether its task becomes a problem

    def __init__(self, context: Context, offer_task: bool, parent: QWidget | None = None) -> None:
        super().__init__(
            "server",
            "Add a running policy server",
            "A server that speaks the pheromone protocol, of another tool or of Plumbline itself. "
            "It decides about states of the task that it serves.",
            parent,
        )
        self._context = context
        self._job: Job | None = None
        self._is_tested = False
        self.address = QLineEdit()
        self.address.setObjectName("server-address")
        self.address.setAccessibleName("Address of the server")
        self.address.setPlaceholderText("localhost:50051")
        self.address.setToolTip("host:port, or unix:path for a server on this machine")
        self.address.textChanged.connect(self._on_edited)
        self.test = QPushButton("Test")
        self.test.setObjectName("server-test")
        self.test.setAccessibleName("Test the server")
        self.test.setToolTip("Ask who answers there")
        self.test.clicked.connect(self._toggle_test)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.address, 1)
        line.addWidget(self.test)
        self.verdict = VerdictLine(context.theme)
        self.with_task = QCheckBox("Add the task of the server as a problem")
        self.with_task.setObjectName("server-task")
        self.with_task.setAccessibleName(self.with_task.text())
        self.with_task.setToolTip("It is saved as a .sas file beside the workspace")
        self.with_task.setChecked(offer_task)
        self.body.addLayout(line)
        self.body.addWidget(self.verdict)
        self.body.addWidget(self.with_task)
        self.add = self.add_buttons("Add", "Add the server")
        self._on_edited()

    def accept(self) -> None:
        self._stop()
        self.server_requested.emit(self._wanted(), self.with_task.isChecked())
        super().accept()

    def reject(self) -> None:
        self._stop()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802  Qt's name
        self._stop()
        super().closeEvent(event)

    def _wanted(self) -> str:
        return self.address.text().strip().removeprefix(SCHEME)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        """Enter after the address tests it first, and adds it then."""
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
        self._say(("", "muted", "Write host:port, or unix:path."))

    @Slot()
    def _toggle_test(self) -> None:
        if self._job is not None:
            self._stop()
            self._say(("", "muted", "The test was stopped."))
            return
        job = self._context.jobs.start("Test the server", try_server, self._wanted(), banner=False)
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        job.ended.connect(self._on_ended)
        self._job = job
        self.test.setText("Stop")
        self._say(("", "muted", "Asking who answers there…"))

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
            text = f"A policy server with {size}, but it cannot decide: {found.trouble}"
            self._say(("warning", "undecided", text))
            return
        does = f"it does ({found.action})" if found.action else "it does nothing"
        text = f"A policy server answers. It has {size}; in the initial state {does}."
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
