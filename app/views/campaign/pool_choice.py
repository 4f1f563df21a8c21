"""The choice of the states that a campaign tests: found by random walks, or from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from app.models.campaign_settings import pool_problem, problem_of
from app.models.project_files import project_files
from app.services.context import Context
from app.widgets.builders import describe, paragraph
from app.widgets.fields import calm
from app.widgets.labels import VerdictLine
from app.widgets.layouts import hbox, vbox
from app.widgets.tick_list import TickList
from engine.report.policy_text import pool_text, pool_verdict

WALKS = "From random walks"
AS_THEY_ARE = "These states are tested as they are, without fuzzing."


class PoolChoice(QWidget):
    """Selects a file that is new in the project, and disables the fields of `fuzzing` for it.

    The form shows `label` and `box` if there are files to choose from. The widget itself shows
    what is known about the selected file.
    """

    changed = Signal()

    def __init__(
        self,
        context: Context,
        problems: TickList,
        fuzzing: Iterable[QWidget],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._files = project_files(context)
        self._problems, self._fuzzing = problems, list(fuzzing)
        self._known = self._files.project.pools
        self._counted: int | None = None
        self.box = QComboBox(self)
        describe(
            self.box,
            "campaign-pool",
            "States to test",
            "Test states from random walks, or from a pool or bugs file",
        )
        calm(self.box)
        self.words = paragraph()
        self.verdict = VerdictLine(context.theme)
        self.alone = QPushButton()
        self.alone.setObjectName("campaign-pool-problem")
        self.alone.clicked.connect(self._tick_alone)
        self.label = QLabel("States", self)
        self.label.setBuddy(self.box)
        button = hbox(self.alone, 1)
        vbox(self.words, self.verdict, button, parent=self, spacing=6)
        self._fill()
        self.box.currentIndexChanged.connect(self._choose)
        self._problems.changed.connect(self._show_words)
        self._files.changed.connect(self._fill)
        self._files.checked.connect(self._on_checked)

    @property
    def path(self) -> str | None:
        data = self.box.currentData()
        return None if data is None else str(data)

    @property
    def states(self) -> int | None:
        """How many there are, where a file says so."""
        checked = self._files.pools.get(self.path or "")
        return None if checked is None or checked.contents is None else checked.contents.states

    def show_pool(self, path: str | None) -> None:
        """Show the pool of a campaign, unless it is no longer in the project."""
        with QSignalBlocker(self.box):
            self.box.setCurrentIndex(max(0, self.box.findData(path)))
        self._show_words()

    def problem(self) -> str:
        """Why the file cannot be tested with the problems that are ticked, or nothing."""
        if self.path is None:
            return ""
        checked, fit = self._files.pools.get(self.path), self._files.task_fit(self.path)
        return pool_problem(self.path, checked, fit, self._problems.ticked())

    @Slot()
    def _fill(self) -> None:
        paths, before = self._files.project.pools, self.path
        new = [path for path in paths if path not in self._known]
        chosen = new[-1] if new else before
        self._known = paths
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItem(WALKS, None)
            for path in paths:
                self.box.addItem(f"From {Path(path).name}", path)
            self.box.setCurrentIndex(max(0, self.box.findData(chosen)))
        for item in (self.label, self.box):
            item.setVisible(bool(paths))
        self._show_words()
        if self.path != before:
            self.changed.emit()

    @Slot()
    def _choose(self) -> None:
        self._show_words()
        self.changed.emit()

    @Slot()
    def _on_checked(self) -> None:
        self._show_words()
        if self.states != self._counted:
            self._counted = self.states
            self.changed.emit()

    @Slot()
    def _show_words(self) -> None:
        path = self.path
        for field in self._fuzzing:
            field.setEnabled(path is None)
        checked, fit = self._files.pools.get(path or ""), self._files.task_fit(path or "")
        self.setVisible(path is not None)
        self.words.setText(". ".join(filter(None, [pool_text(checked), AS_THEY_ARE])))
        self.verdict.show_verdict(pool_verdict(checked, fit))
        ticked, wanted = self._problems.ticked(), problem_of(fit)
        self.alone.setText(f"Test {Path(wanted).name} only")
        self.alone.setAccessibleName(self.alone.text())
        is_good = len(ticked) == 1 and ticked[0] in fit.problems
        self.alone.setVisible(bool(path and wanted) and not is_good)

    @Slot()
    def _tick_alone(self) -> None:
        if self.path is not None and (wanted := problem_of(self._files.task_fit(self.path))):
            self._problems.tick_only({wanted})
