"""Removing an experiment, which can be undone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from app.models.experiment_controller import ExperimentController
from app.services.context import Context
from engine.errors import PlumblineError, UsageError
from engine.workspace.experiments import RemovedExperiment


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
        if self._controller.is_busy and self._controller.experiment == self._experiment:
            raise UsageError(f"experiment {self._experiment} is running", hint="stop it first")
        self._removed = self._context.document.store.experiments.remove(self._experiment)
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
