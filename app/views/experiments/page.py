"""The experiments screen: a paper's tables and figures for the user's own domains and policies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QShowEvent, QUndoCommand
from PySide6.QtWidgets import QFileDialog, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.models.experiments import ExperimentController
from app.models.table_model import Column, TableModel
from app.services.context import Context
from app.services.folders import show_in_desktop
from app.services.jobs import Failure
from app.services.reader import LatestQuery
from app.views.experiments.form import ExperimentForm
from app.views.experiments.results_view import ResultsView
from app.widgets.builders import action, button, heading, label, paragraph
from app.widgets.header import Header
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hsplit, pane, remember_division, vbox
from app.widgets.page import Page
from app.widgets.progress import show_running
from app.widgets.table_view import TableView
from engine.errors import PlumblineError, UsageError
from engine.experiments.results import experiment_results, experiment_title
from engine.records.experiment import ExperimentResults
from engine.report.words import sentence
from engine.usecases.report import WrittenFiles, write_experiment
from engine.workspace.experiments import ExperimentRow, RemovedExperiment
from engine.workspace.reader import WorkspaceReader

NOTHING = "No experiments yet. Choose a paper and press Run (F5)."
READ_MILLISECONDS = 1000
LIST_WIDTH = 280


class ExperimentsPage(Page):
    """`show_item` takes the number of an experiment or the name of a preset."""

    name: ClassVar[str] = "experiments"
    title: ClassVar[str] = "Experiments"
    icon: ClassVar[str] = "experiments"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.controller = ExperimentController(context, self)
        self.form = ExperimentForm(context)
        self.results = ResultsView(context)
        self.shown: int | None = None  # the experiment whose tables are shown
        self._followed: int | None = None
        self._make_actions()
        self._lay_out()
        self._query = LatestQuery(
            context.document.reader,
            self,
            self._on_results,
            context.messages.failure("Cannot read the experiment"),
        )
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(READ_MILLISECONDS)
        self._soon.timeout.connect(self._ask)
        self._connect()
        self._read_list()
        if self.lines.rows:
            self.table.select_row(0)
        self._show_state()

    def show_item(self, item: object) -> None:
        if isinstance(item, int):
            self._select(item)
        elif isinstance(item, str) and item in self.form.papers:
            self.form.choose(item)
            self.show_form()

    def page_actions(self) -> list[QAction]:
        return [self.run_action, self.stop_action, self.new_action, self.export_action]

    def may_close(self) -> str:
        return "An experiment is still running." if self.controller.is_busy else ""

    @Slot()
    def run(self) -> None:
        """Start the experiment of the form."""
        if self._blocker():
            self.show_form()
            return
        try:
            config = self.form.config()
        except PlumblineError as error:
            self.context.messages.error(str(error))
            return
        self.controller.start(config, self.form.executor.choice().executor)

    @Slot()
    def show_form(self) -> None:
        self.table.clearSelection()
        self.shown = None
        self.stack.setCurrentIndex(0)
        self._show_state()

    def _make_actions(self) -> None:
        self.run_action = action(self, "Run", self.run, "F5")
        self.stop_action = action(self, "Stop", self.controller.stop, "Shift+F5")
        self.new_action = action(self, "New experiment", self.show_form, "Ctrl+Shift+N")
        self.export_action = action(self, "Write report…", self._choose_folder, "Ctrl+R")

    def _lay_out(self) -> None:
        self.lines: TableModel[ExperimentRow] = TableModel(
            self._columns(), self.context.theme, self
        )
        self.table = TableView("experiments", "Experiments of this workspace")
        self.table.setModel(self.lines)
        self.table.set_widths(4, 16, 8)
        self.table.remember(self.context.settings)
        self.nothing = paragraph(NOTHING)
        new = button(
            "New experiment",
            "experiment-new",
            "Choose another paper or other domains (Ctrl+Shift+N)",
            clicked=self.show_form,
            icon=(self.context.theme, "add"),
        )
        left = pane(
            heading("Experiments"),
            (self.nothing, 1, Qt.AlignmentFlag.AlignTop),
            (self.table, 1),
            new,
            spacing=8,
        )
        self.stack = QStackedWidget()
        self.stack.addWidget(self._form_pane())
        self.stack.addWidget(self._results_pane())
        split = hsplit(left, self.stack, stretch=(0, 1), sizes=(LIST_WIDTH, 900), handle=17)
        remember_division(split, "experiment-list", self.context.settings)
        vbox(split, parent=self, margins=(16, 12, 16, 12))

    def _columns(self) -> list[Column[ExperimentRow]]:
        return [
            Column("number", "No.", lambda row: row.id, numeric=True),
            Column("title", "Experiment", _short_name, row_tip=_when),
            Column(
                "status",
                "Status",
                lambda row: self.controller.state_text(row.id, row.status),
                row_tip=_when,
            ),
        ]

    def _form_pane(self) -> QWidget:
        title = label("New experiment", "title")
        self.reason = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        self.run_button = button(
            "Run",
            "experiment-run",
            clicked=self.run,
            icon=(self.context.theme, "run"),
            primary=True,
        )
        return _pane(Header((title, self.reason), (self.run_button,)), self.form)

    def _results_pane(self) -> QWidget:
        self.headline = label(role="title")
        self.state = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        theme = self.context.theme
        self.stop_button = button(
            "Stop",
            "experiment-stop",
            "Stop the experiment; keep everything (Shift+F5)",
            clicked=self.controller.stop,
            icon=(theme, "stop"),
        )
        self.resume_button = button(
            "Resume",
            "experiment-resume",
            "Run the remaining parts of the experiment",
            clicked=self._resume,
            icon=(theme, "run"),
        )
        self.export_button = button(
            "Write report…",
            "experiment-report",
            "Write HTML, CSV, LaTeX, SVG and PDF files into a folder (Ctrl+R)",
            clicked=self._choose_folder,
            icon=(theme, "report"),
        )
        self.remove_button = button(
            "Remove",
            "experiment-remove",
            "Remove the experiment; its campaigns and bugs stay, and Ctrl+Z restores it",
            clicked=self._remove,
            icon=(theme, "remove"),
        )
        buttons = self.stop_button, self.resume_button, self.export_button, self.remove_button
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(6)
        pane = _pane(Header((self.headline, self.state), buttons), self.results)
        layout = pane.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(1, self.bar)
        return pane

    def _connect(self) -> None:
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)
        self.form.changed.connect(self._show_state)
        self.controller.changed.connect(self._on_controller_changed)
        self.controller.advanced.connect(self._later)
        self.controller.failed.connect(self._tell_failure)
        self.context.document.changed.connect(self._on_document_changed)
        self.context.theme.changed.connect(self.lines.restyle)

    def _blocker(self) -> str:
        if self.controller.is_busy:
            return "an experiment is running; stop it or wait until it is finished"
        if self.context.document.read_only:
            return "the workspace is read-only; save a copy first"
        if self.context.document.writer() is not None:
            return "a campaign or an experiment is running in this workspace"
        return self.form.problem()

    @Slot()
    def _show_state(self) -> None:
        reason = self._blocker()
        self.run_button.setEnabled(not reason)
        self.run_action.setEnabled(not reason)
        tip = f"Unavailable: {reason}" if reason else "Start the experiment (F5)"
        self.run_button.setToolTip(tip)
        self.reason.setText(sentence(reason) if reason else "")
        busy = self.controller.is_busy and self.controller.experiment == self.shown
        self.stop_action.setEnabled(self.controller.is_busy)
        row = self._row()
        self.export_action.setEnabled(row is not None)
        if row is None:
            return
        state = self.controller.state_text(row.id, row.status)
        progress = self.controller.progress if busy else None
        words = state if progress is None else f"{state}, {progress.text}"
        scale = f", scale 1 : {row.config.scale}" if row.config.scale > 1 else ""
        self.headline.setText(experiment_title(row))
        self.state.setText(f"{words}{scale}")
        self.bar.setVisible(busy)
        if busy:
            done, total = (0.0, None) if progress is None else (progress.done, progress.total)
            show_running(self.bar, done, total)
        self.stop_button.setVisible(busy)
        self.resume_button.setVisible(not busy and row.status != "finished")
        is_free = not self.controller.is_running(row.id, row.status)
        self.resume_button.setEnabled(is_free and not self.controller.is_busy)
        self.remove_button.setVisible(not busy)
        self.remove_button.setEnabled(is_free and not self.context.document.read_only)

    def _row(self) -> ExperimentRow | None:
        return next((row for row in self.lines.rows if row.id == self.shown), None)

    def _read_list(self) -> None:
        try:
            rows = self.context.document.store.experiments.rows()
        except PlumblineError as error:
            self.context.messages.error(f"Cannot read the experiments: {error}")
            rows = []
        chosen = self.shown
        self.lines.set_rows(reversed(rows))
        self.nothing.setVisible(not rows)
        self.table.setVisible(bool(rows))
        if chosen is not None:
            self._select(chosen)

    def _select(self, experiment: int) -> None:
        for number in range(self.lines.rowCount()):
            if self.lines.row(number).id == experiment:
                self.table.select_row(number)

    @Slot()
    def _on_chosen(self) -> None:
        for number in self.table.selected_rows()[:1]:
            experiment = self.lines.row(number).id
            if experiment != self.shown:
                self.results.clear()
            self.shown = experiment
            self.stack.setCurrentIndex(1)
            self._show_state()
            self._ask()

    @Slot()
    def _on_controller_changed(self) -> None:
        begun = self.controller.experiment if self.controller.is_busy else None
        if begun is not None and begun != self._followed:
            self._followed = self.shown = begun
            self._read_list()
        elif not self.controller.is_busy and self._followed is not None:
            self._followed = None
            self._read_list()
        self._show_state()

    @Slot()
    def _later(self) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        self._ask()

    @Slot()
    def _ask(self) -> None:
        if self.shown is not None:
            self._query.ask(partial(_read, experiment=self.shown))

    def _on_results(self, answer: tuple[int, ExperimentResults]) -> None:
        experiment, results = answer
        if experiment == self.shown:
            self.results.show_results(results)

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic in ("experiments", "outside"):
            self._read_list()
            if self.shown is not None and self._row() is None:
                self.show_form()  # it was removed
            self._later()

    @Slot()
    def _resume(self) -> None:
        if self.shown is not None and not self.controller.is_busy:
            self.controller.resume(self.shown, self.form.executor.choice().executor)

    @Slot()
    def _remove(self) -> None:
        if self.shown is None:
            return
        command = RemovalCommand(self.shown, self.context, self.controller)
        self.context.document.undo_stack.push(command)

    @Slot()
    def _choose_folder(self) -> None:
        if self.shown is None:
            return
        name = QFileDialog.getExistingDirectory(self, "Folder for the report")
        if name:
            self.write_report(Path(name))

    def write_report(self, folder: Path) -> None:
        """Write the files of the shown experiment in the background."""
        job = self.context.jobs.start(
            "Write report", write_experiment, self.context.document.path, folder, self.shown
        )
        job.finished.connect(self._on_written)

    @Slot(object)
    def _on_written(self, written: WrittenFiles) -> None:
        self.context.messages.info(
            f"Wrote {len(written.files)} files to {written.folder}",
            actions=[
                ("Show folder", partial(show_in_desktop, written.folder, self.context.messages))
            ],
        )

    @Slot(object)
    def _tell_failure(self, failure: Failure) -> None:
        self.context.messages.error(
            f"The experiment could not run: {failure.text}", failure.details
        )


def _pane(header: QWidget, body: QWidget) -> QWidget:
    return pane(header, (body, 1), spacing=12)


def _read(store: WorkspaceReader, experiment: int) -> tuple[int, ExperimentResults]:
    return experiment, experiment_results(store, experiment)


def _short_name(row: ExperimentRow) -> str:
    return row.config.preset or row.config.kind.value


def _when(row: ExperimentRow) -> str:
    made = datetime.fromtimestamp(row.created).strftime("%Y-%m-%d %H:%M")
    return f"{experiment_title(row)}, begun {made}"


class RemovalCommand(QUndoCommand):
    """Takes an experiment out of the workspace, and puts it back."""

    def __init__(self, experiment: int, context: Context, controller: ExperimentController) -> None:
        super().__init__(f"remove experiment {experiment}")
        self._experiment, self._context, self._controller = experiment, context, controller
        self._removed: RemovedExperiment | None = None

    def redo(self) -> None:
        self._apply(self._remove)

    def undo(self) -> None:
        self._apply(self._restore)

    def _remove(self) -> None:
        experiments = self._context.document.store.experiments
        row = experiments.row(self._experiment)
        if self._controller.is_running(row.id, row.status):
            raise UsageError(f"experiment {row.id} is running", hint="stop it first")
        self._removed = experiments.remove(self._experiment)
        self._context.messages.info(
            f"Removed experiment {self._experiment}; its campaigns stay. Press Ctrl+Z to undo."
        )

    def _restore(self) -> None:
        assert self._removed is not None
        self._context.document.store.experiments.restore(self._removed)

    def _apply(self, change: Callable[[], None]) -> None:
        try:
            change()
        except PlumblineError as error:
            self.setObsolete(True)
            self._context.messages.error(f"Cannot change the experiments: {error}")
            return
        self._context.document.notify("experiments")
