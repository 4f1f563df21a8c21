"""The card of the campaign form for where units run: on this machine or on a Dask cluster."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QLineEdit, QRadioButton, QWidget

from app.models.campaign_settings import MAX_WORKERS, ExecutorChoice, keep_where, size_text, where
from app.services.context import Context
from app.services.jobs import Failure, Job
from app.widgets.builders import button, card, describe, label
from app.widgets.fields import calm, number
from app.widgets.layouts import hbox, pane, vbox
from engine.records.events import ClusterSize
from engine.report.words import sentence
from engine.usecases.connect import check_cluster

INDENT = 24
"""Pixels, so that fields align with the text of their radio button."""
_SIGN = QSize(16, 16)
ENTER_ADDRESS = "Enter the address that 'dask scheduler' printed when it started."


class ExecutorCard(QWidget):
    changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._job: Job | None = None
        frame, layout = card("Where units run")
        vbox(frame, parent=self)
        self._make_fields()
        layout.addLayout(self._local_row())
        layout.addWidget(self.on_cluster)
        layout.addWidget(self._cluster_pane())
        self._show(where(context.settings))
        self.here.toggled.connect(self._on_edited)
        self.workers.valueChanged.connect(self._on_edited)
        self.address.textChanged.connect(self._on_address_edited)
        self.address.returnPressed.connect(self.check)

        context.theme.changed.connect(self._show_sign)

    def choice(self) -> ExecutorChoice:
        return ExecutorChoice(
            self.on_cluster.isChecked(), self.workers.value(), self.address.text().strip()
        )

    def problem(self) -> str:
        problem = self.choice().problem()
        return f"Where units run: {problem}." if problem else ""

    @Slot()
    def check(self) -> None:
        """Connect to the cluster; the answer is ignored if the address changes meanwhile."""
        if self.choice().problem() or self._job is not None:
            return
        self._say("", "muted", "Connecting…")
        job = self._context.jobs.start(
            "Check cluster", check_cluster, self.choice().address, banner=False
        )
        job.finished.connect(self._show_size)
        job.failed.connect(self._show_failure)
        job.stopped.connect(self._show_stop)
        job.ended.connect(self._on_ended)
        self._job = job
        self._show_state()

    def _make_fields(self) -> None:
        self.here = QRadioButton("On this machine")
        describe(
            self.here, "campaign-on-this-machine", "On this machine", "Run units on this machine"
        )
        self.on_cluster = QRadioButton("On a Dask cluster")
        describe(
            self.on_cluster,
            "campaign-on-cluster",
            "On a Dask cluster",
            "Run units on the workers of a cluster that you have started (see docs/clusters.md). "
            "The findings are the same.",
        )
        self._choices = QButtonGroup(self)
        for choice in (self.here, self.on_cluster):
            self._choices.addButton(choice)
        self.workers = number(1, MAX_WORKERS)
        describe(
            self.workers,
            "campaign-workers",
            "Units at a time",
            "Run this many units at a time, each in a process of its own",
        )
        calm(self.workers)
        self.address = QLineEdit()
        describe(self.address, "campaign-cluster-address", "Scheduler address", ENTER_ADDRESS)
        self.address.setPlaceholderText("tcp://host:8786")
        self.check_button = button(
            "Check",
            "campaign-cluster-check",
            "Connect to the cluster and count its workers",
            clicked=self.check,
            accessible="Check the cluster",
        )

    def _local_row(self) -> QHBoxLayout:
        return hbox(self.here, self.workers, QLabel("units at a time"), 1, spacing=8)

    def _cluster_pane(self) -> QWidget:
        self._sign, self._look = QLabel(), ("", "muted")
        self.verdict = label(name="campaign-cluster-verdict", wrap=True, selectable=True)
        entry = hbox((self.address, 1), self.check_button, spacing=8)
        sign = self._sign, 0, Qt.AlignmentFlag.AlignTop
        answer = hbox(sign, (self.verdict, 1), spacing=8)
        self.pane = pane(entry, answer, spacing=6, margins=(INDENT, 0, 0, 0))
        return self.pane

    def _show(self, choice: ExecutorChoice) -> None:
        (self.on_cluster if choice.on_cluster else self.here).setChecked(True)
        self.workers.setValue(choice.workers)
        self.address.setText(choice.address)
        self._say_nothing()
        self._show_state()

    @Slot()
    def _on_edited(self) -> None:
        keep_where(self._context.settings, self.choice())
        self._show_state()
        self.changed.emit()

    @Slot()
    def _on_address_edited(self) -> None:
        if self._job is not None:
            self._job.stop()
            self._job = None
        self._say_nothing()
        self._on_edited()

    def _show_state(self) -> None:
        choice = self.choice()
        problem = choice.problem()
        self.workers.setEnabled(not choice.on_cluster)
        self.pane.setVisible(choice.on_cluster)
        may_check = not problem and self._job is None
        if self.check_button.hasFocus() and not may_check:
            self.address.setFocus()  # else the form jumps to whatever comes next
        self.check_button.setEnabled(may_check)
        is_wrong = bool(problem and choice.address)
        if self.address.property("invalid") != is_wrong:
            self.address.setProperty("invalid", is_wrong)
            self.address.style().polish(self.address)
        if is_wrong:
            self._say("error", "bad", sentence(problem))
        elif problem:
            self._say("", "muted", ENTER_ADDRESS)

    @Slot(object)
    def _show_size(self, size: ClusterSize) -> None:
        if self.sender() is self._job:
            self._say("check", "proven", f"{size_text(size)}, same version")

    @Slot(object)
    def _show_failure(self, failure: Failure) -> None:
        if self.sender() is self._job:
            self._say("error", "bad", sentence(failure.text))

    @Slot()
    def _show_stop(self) -> None:
        if self.sender() is self._job:
            self._say_nothing()

    @Slot()
    def _on_ended(self) -> None:
        if self.sender() is self._job:
            self._job = None
            self._show_state()

    def _say_nothing(self) -> None:
        self._say("", "muted", "")

    def _say(self, icon: str, token: str, words: str) -> None:
        self._look = icon, token
        self.verdict.setText(words)
        role = token if token in ("bad", "muted") else ""
        self.verdict.setProperty("role", role)
        self.verdict.style().polish(self.verdict)
        self._show_sign()

    @Slot()
    def _show_sign(self) -> None:
        icon, token = self._look
        self._sign.setVisible(bool(icon))
        self.verdict.setVisible(bool(self.verdict.text()))
        if icon:
            picture = self._context.theme.icon(icon, token)
            self._sign.setPixmap(picture.pixmap(_SIGN, self._sign.devicePixelRatioF()))
