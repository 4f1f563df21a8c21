"""Cards for pool files and bugs files: what each holds, and which problem it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.services.theme import Theme
from app.views.project.file_card import FileCard, drop_cards, show_text
from app.widgets.builders import button, heading, paragraph
from engine.records.project import PoolChecked
from engine.report.policy_text import TaskFit, pool_text, pool_verdict


class PoolCards(QWidget):
    """Hidden while there are none."""

    remove_requested = Signal(str)
    task_requested = Signal(str)  # the one in the file, as a problem

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cards: dict[str, PoolCard] = {}
        about = "A campaign can test these states instead of states found by random walks."
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 8, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(heading("States to test"))
        self._layout.addWidget(paragraph(about))
        self.hide()

    def show_pools(self, paths: Iterable[str]) -> None:
        wanted = list(paths)
        drop_cards(self.cards, wanted)
        for path in wanted:
            if path not in self.cards:
                self.cards[path] = card = PoolCard(self._theme, path)
                card.remove_requested.connect(self.remove_requested)
                card.task_requested.connect(self.task_requested)
                self._layout.addWidget(card)
        self.setVisible(bool(self.cards))

    def show_check(self, path: str, checked: PoolChecked | None, fit: TaskFit) -> None:
        if path in self.cards:
            self.cards[path].show_check(checked, fit)


class PoolCard(FileCard):
    task_requested = Signal(str)

    def __init__(self, theme: Theme, path: str) -> None:
        name = Path(path).name
        super().__init__(theme, "pool", path, name)
        self.setAccessibleName(f"States to test: {name}")
        self.words = paragraph()
        self.task = button(
            "Add its task as a problem",
            f"task-of-{name}",
            "Save the task in this file beside the workspace and add it as a problem",
            clicked=self._use_task,
            accessible=f"Add the task of {name} as a problem",
        )
        row = QHBoxLayout()
        row.addWidget(self.task)
        row.addStretch(1)
        self.rows.addWidget(self.words)
        self.rows.addWidget(self.verdict)
        self.rows.addLayout(row)
        self.show_check(None, TaskFit())

    def show_check(self, checked: PoolChecked | None, fit: TaskFit) -> None:
        show_text(self.words, pool_text(checked))
        self.verdict.show_verdict(pool_verdict(checked, fit), "\n".join(fit.misfits))
        found = checked.contents if checked is not None else None
        has_task = found is not None and found.has_task
        self.task.setVisible(has_task and fit.is_known and not fit.problems)

    @Slot()
    def _use_task(self) -> None:
        self.task_requested.emit(self.source)
