"""The train screen: train a policy for the project's domain and watch its progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import (
    QComboBox,
    QProgressBar,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.models.project_files import project_files
from app.models.table_model import TableModel
from app.models.training import EPOCH_COLUMNS, with_epoch
from app.services.context import Context
from app.services.jobs import Failure, Job, JobProgress, in_words
from app.views.train.form import TrainingForm
from app.widgets.builders import action, button, describe, heading
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, pane, remember_division, vbox, vsplit
from app.widgets.page import Page
from app.widgets.progress import show_running
from app.widgets.table_view import TableView
from engine.errors import PlumblineError
from engine.files import real_path
from engine.records.events import EpochFinished, ProblemSkipped
from engine.records.training import Training, TrainingPlan, TrainingStatus
from engine.usecases.train import Trained, can_resume, train

if TYPE_CHECKING:
    from app.widgets.plot import Plot

WHAT_IT_IS = (
    "An action schema network learns from a teacher on small problems and can then act on "
    "problems of any size. Every epoch saves a checkpoint. You can test each checkpoint, and use "
    "all of them as a portfolio for the policy comparison oracles."
)
NO_DOMAIN = "A policy is trained for one domain on small problems. Add both on the Project screen."
CHECKPOINTS_TIP = "The policy after each epoch; the check marks the best one so far"
FORM_WIDTH, FORM_CHARACTERS = 340, 48
"""Pixels at least, and characters, because text may be larger."""


def running_text(what: str, seconds_left: float | None) -> str:
    left = "" if seconds_left is None else f" · {in_words(seconds_left)} left"
    return f"{what[:1].upper()}{what[1:]}{left}"


class TrainPage(Page):
    name: ClassVar[str] = "train"
    title: ClassVar[str] = "Train"
    icon: ClassVar[str] = "train"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._job: Job | None = None
        self._training: Training | None = None
        self._files = project_files(context)
        self.form = TrainingForm(context)
        self.run_button = self._button("run", "Train", primary=True)
        self.resume_button = self._button("redo", "Resume")
        self.stop_button = self._button("stop", "Stop")
        self.use_button = self._button("policy", "Use as policy")
        self.portfolio_button = self._button("duplicate", "Use all as portfolio")
        self.earlier = QComboBox()
        self.state = ElidedLabel("")
        self.bar = QProgressBar()
        self.epochs = TableModel(EPOCH_COLUMNS, context.theme, self)
        self.table = TableView("training-epochs", "Epochs")
        self.table.setModel(self.epochs)
        self.table.remember(context.settings)
        self._stack = QStackedWidget()
        self._left = QWidget()
        self._plots: tuple[Plot, Plot] | None = None
        self._plot_place = QSplitter(Qt.Orientation.Horizontal)
        self._build()
        self._connect()
        self._show_project()
        self._show_earlier()

    def page_actions(self) -> list[QAction]:
        return [self._run_action, self._stop_action]

    def table_actions(self) -> list[QAction]:
        return list(self.form.uses)

    def may_close(self) -> str:
        if self._job is None:
            return ""
        return "Training is running; you can resume it after its last epoch."

    @Slot()
    def start(self) -> None:
        self._begin(self.form.plan(), resume=False)

    @Slot()
    def resume(self) -> None:
        """Go on with the training that is shown."""
        if self._training is not None:
            if not self._is_ours(Path(self._training.plan.folder)):
                self.context.messages.warning(
                    f"{self._training.plan.folder} holds no training to resume. "
                    "Choose a folder and start a new training."
                )
                return
            epochs = self.form.numbers["epochs"].value()
            patience = self.form.numbers["patience"].value()
            plan = replace(self._training.plan, epochs=epochs, patience=patience)
            self._begin(plan, resume=True)

    def _is_ours(self, folder: Path) -> bool:
        """A workspace from elsewhere must not make Plumbline write to arbitrary folders."""
        beside = self.context.document.path.parent in real_path(folder).parents
        return beside or can_resume(folder)

    @Slot()
    def stop(self) -> None:
        if self._job is not None:
            self.state.setText("Stopping…")
            self._job.stop()

    def _begin(self, plan: TrainingPlan, resume: bool) -> None:
        if self._blocker():
            return
        known = self._training.epochs if resume and self._training is not None else ()
        self._training = Training(plan, TrainingStatus.RUNNING, epochs=known)
        self._save()
        title = f"Train {Path(plan.folder).name}"
        self._job = self.context.jobs.start(title, train, plan, resume)
        self._job.events.connect(self._on_events)
        self._job.progressed.connect(self._on_progressed)
        self._job.finished.connect(self._on_finished)
        self._job.failed.connect(self._on_failed)
        self._job.stopped.connect(self._on_stopped)
        self._job.ended.connect(self._on_ended)
        self._show_training()
        self._show_earlier()
        self._update()

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        if self._training is None:
            return
        before = self._training
        for event in events:
            if isinstance(event, EpochFinished):
                self._training = with_epoch(self._training, event.record)
            elif isinstance(event, ProblemSkipped):
                self.context.messages.warning(f"Skipped {event.problem}: {event.reason}")
        if self._training is not before:
            self._save()
            self._show_training()

    @Slot(object)
    def _on_progressed(self, progress: JobProgress) -> None:
        show_running(self.bar, progress.done, progress.total)
        seconds = self._job.seconds_left() if self._job is not None else None
        self.state.setText(running_text(progress.text, seconds))

    @Slot(object)
    def _on_finished(self, found: Trained) -> None:
        self._set_status(TrainingStatus.FINISHED, found.reason)

    @Slot(object)
    def _on_failed(self, failure: Failure) -> None:
        self._set_status(TrainingStatus.FAILED, failure.message)

    @Slot()
    def _on_stopped(self) -> None:
        self._set_status(TrainingStatus.STOPPED, "")

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        self._update()
        self._show_earlier()

    def _set_status(self, status: TrainingStatus, reason: str) -> None:
        if self._training is not None:
            self._training = replace(self._training, status=status, reason=reason)
            self._save()
            self._show_training()

    def _save(self) -> None:
        assert self._training is not None
        try:
            self.context.document.store.save_training(self._training)
        except PlumblineError as error:
            self.context.messages.error(f"Cannot save the training: {error}")
        self.context.document.notify("training")

    def _show_training(self) -> None:
        training = self._training
        if training is None:
            return
        self._stack.setCurrentIndex(1)
        epochs = training.epochs
        row = self.table.currentIndex().row()
        self.epochs.set_rows(epochs)
        best = next((n for n, epoch in enumerate(epochs) if epoch.best), 0)
        self.table.select_row(row if row >= 0 and training.status == "running" else best)
        numbers = [epoch.epoch for epoch in epochs]
        loss, success = self._drawn()
        from app.widgets.plot import Curve

        loss.set_curves([Curve("loss", numbers, [epoch.loss for epoch in epochs], "accent")])
        success.set_curves(
            [Curve("solved", numbers, [100 * epoch.success for epoch in epochs], "better")]
        )
        if training.status != "running":
            words = {"finished": "Finished", "stopped": "Stopped", "failed": "Failed"}
            reason = f": {training.reason}" if training.reason else ""
            self.state.setText(f"{words[training.status]}{reason}")
        self._update()

    def _drawn(self) -> tuple[Plot, Plot]:
        """The plots, made when they are first needed."""
        if self._plots is None:
            from app.widgets.plot import Plot

            theme = self.context.theme
            self._plots = (
                Plot(theme, "training-loss", "Loss by epoch", ("epoch", "loss"), x_counts=True),
                Plot(
                    theme,
                    "training-success",
                    "Solved problems by epoch",
                    ("epoch", "solved problems (%)"),
                    x_counts=True,
                    from_zero=True,
                ),
            )
            for plot in self._plots:
                self._plot_place.addWidget(plot)
        return self._plots

    @Slot()
    def _show_project(self) -> None:
        project = self._files.project
        self.form.show_domain(project.domain, project.problems)
        if self._training is None:
            self._stack.setCurrentIndex(0 if project.domain is not None else 2)
        if not self.form.folder.text():
            self.form.folder.setText(self._free_folder())
        self._update()

    def _free_folder(self) -> str:
        document, number = self.context.document, 1
        known = document.store.training_folders()
        while (path := document.path.parent / f"{document.name}-training-{number}").exists() or str(
            path
        ) in known:
            number += 1
        return str(path)

    def _show_earlier(self) -> None:
        trainings = self.context.document.store.training_folders()
        self.earlier.blockSignals(True)
        self.earlier.clear()
        self.earlier.addItem("New training", "")
        for folder in reversed(trainings):
            self.earlier.addItem(Path(folder).name, folder)
        here = self._training.plan.folder if self._training else ""
        self.earlier.setCurrentIndex(max(self.earlier.findData(here), 0))
        self.earlier.blockSignals(False)
        self.earlier.setVisible(bool(trainings))

    @Slot()
    def _choose_earlier(self) -> None:
        folder = self.earlier.currentData()
        if not folder:
            self._training = None
            self.form.folder.setText(self._free_folder())
            self._show_project()
            return
        try:
            self._training = self.context.document.store.training(folder)
        except PlumblineError as error:
            self.context.messages.error(f"Cannot show training {folder}: {error}")
            return
        if self._training.status == "running":  # its process was lost with the window
            self._training = replace(self._training, status=TrainingStatus.STOPPED)
        self.form.show_plan(self._training.plan)
        self._show_training()

    @Slot()
    def _use_policy(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < self.epochs.rowCount():
            self._files.add_policy(self.epochs.row(row).checkpoint)
            self.page_requested.emit("project", None)

    @Slot()
    def _use_portfolio(self) -> None:
        if self._training is not None:
            self._files.add([Path(self._training.plan.folder) / "checkpoints"])
            self.page_requested.emit("project", None)

    def _blocker(self) -> str:
        if self._job is not None:
            return "a training is running"
        return self.form.problem()

    @Slot()
    def _update(self) -> None:
        blocker, training = self._blocker(), self._training
        if not blocker and training is not None and training.plan.folder == self.form.plan().folder:
            taken = "this folder holds a training; resume it or choose another folder"
        else:
            taken = ""
        for item in (self.run_button, self._run_action):
            item.setEnabled(not (blocker or taken))
            reason = blocker or taken
            item.setToolTip(f"Unavailable: {reason}" if reason else "Train a policy (F5)")
        self.resume_button.setEnabled(not blocker and training is not None)
        self.resume_button.setToolTip(
            "Resume after the last epoch; increase the epochs or the patience first"
        )
        for item in (self.stop_button, self._stop_action):
            item.setEnabled(self._job is not None)
        has_epochs = training is not None and bool(training.epochs)
        self.use_button.setEnabled(has_epochs)
        self.use_button.setToolTip("Add the selected checkpoint to the project")
        self.portfolio_button.setEnabled(has_epochs)
        self.portfolio_button.setToolTip(
            "Add all checkpoints to the project as a portfolio for the policy comparison oracles "
            "(pco-p, pco-e)"
        )
        self.bar.setVisible(self._job is not None)
        self.earlier.setEnabled(self._job is None)  # what it reports belongs to the one shown

    @Slot()
    def _fit_form(self) -> None:
        """Make room for larger text."""
        letter = QFontMetrics(self.context.theme.ui_font).averageCharWidth()
        self._left.setFixedWidth(max(FORM_WIDTH, FORM_CHARACTERS * letter))

    def _build(self) -> None:
        describe(
            self.earlier,
            "training-earlier",
            "Trainings of this workspace",
            "Choose an earlier training of this workspace to see or resume it",
        )
        self.bar.setObjectName("training-progress")
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        left = self._left
        buttons = hbox(self.run_button, self.resume_button, self.stop_button)
        vbox(self.earlier, (self.form, 1), buttons, parent=left)
        uses = hbox(
            (heading("Checkpoints", CHECKPOINTS_TIP), 1), self.use_button, self.portfolio_button
        )
        below = pane(uses, (self.table, 1))
        split = vsplit(self._plot_place, below, sizes=(320, 320), handle=9)
        remember_division(split, "training-plots", self.context.settings)
        shown = pane(self.state, self.bar, (split, 1))
        self._stack.addWidget(EmptyState(self.context.theme, "train", "Train a policy", WHAT_IT_IS))
        self._stack.addWidget(shown)
        self._stack.addWidget(self._without_domain())
        hbox(left, (self._stack, 1), parent=self, spacing=16, margins=16)

    def _without_domain(self) -> EmptyState:
        return EmptyState(
            self.context.theme,
            "domain",
            "No domain to train for",
            NO_DOMAIN,
            action_text="Show project",
            on_action=self._go_to_project,
        )

    def _go_to_project(self) -> None:
        self.page_requested.emit("project", None)

    def _connect(self) -> None:
        self.context.theme.changed.connect(self._fit_form)
        self._fit_form()
        self._run_action = action(self, "Train", self.start, "F5")
        self._stop_action = action(self, "Stop training", self.stop, "Shift+F5")
        self.run_button.clicked.connect(self.start)
        self.resume_button.clicked.connect(self.resume)
        self.stop_button.clicked.connect(self.stop)
        self.use_button.clicked.connect(self._use_policy)
        self.portfolio_button.clicked.connect(self._use_portfolio)
        self.earlier.currentIndexChanged.connect(self._choose_earlier)
        self.form.changed.connect(self._update)
        self._files.changed.connect(self._show_project)
        self.context.theme.changed.connect(self.epochs.restyle)

    def _button(self, icon: str, text: str, primary: bool = False) -> QPushButton:
        theme = self.context.theme
        return button(text, f"training-{icon}-button", icon=(theme, icon), primary=primary)
