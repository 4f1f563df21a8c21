"""Cards for files of the project: a name, a verdict, and a button that removes the file.

Cards of pool files and bugs files also show what each holds and which problem it belongs to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.services.theme import Theme
from app.widgets.builders import button, heading, icon_button, paragraph
from app.widgets.labels import ElidedLabel, VerdictLine
from app.widgets.layouts import hbox, vbox
from engine.records.project import PoolChecked
from engine.report.policy_text import TaskFit, pool_text, pool_verdict


class FileCard(QFrame):
    """The Delete key removes the file. Subclasses add their widgets to `rows`."""

    remove_requested = Signal(str)

    def __init__(
        self, theme: Theme, kind: str, source: str, name: str, beside: Sequence[QWidget] = ()
    ) -> None:
        """`source` is the file as the project names it, `name` what the card calls it."""
        super().__init__()
        self.source = source
        self.setProperty("card", True)
        self.setObjectName(f"{kind}-{name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(source)
        self.name = ElidedLabel(name, role="heading")
        self.verdict = VerdictLine(theme)
        self.remove = icon_button(
            theme,
            "close",
            f"remove-{kind}-{name}",
            f"Remove {name}",
            "Remove from the project; the file itself is kept",
            clicked=self._remove,
        )
        top = hbox((self.name, 1), *beside, self.remove)
        self.rows = vbox(top, parent=self, spacing=4, margins=(12, 8, 8, 10))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_requested.emit(self.source)
        else:
            super().keyPressEvent(event)

    @Slot()
    def _remove(self) -> None:
        self.remove_requested.emit(self.source)


def show_text(label: QLabel, text: str) -> None:
    """Show a text, or hide the label if there is none."""
    label.setText(text)
    label.setVisible(bool(text))


Card = TypeVar("Card", bound=FileCard)


def drop_cards(cards: dict[str, Card], wanted: Collection[str]) -> None:
    for source in [source for source in cards if source not in wanted]:
        card = cards.pop(source)
        card.hide()
        card.deleteLater()


class PoolCards(QWidget):
    """Hidden while there are none."""

    remove_requested = Signal(str)
    task_requested = Signal(str)  # the one in the file, as a problem

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cards: dict[str, PoolCard] = {}
        about = "A campaign can test these states instead of states found by random walks."
        self._layout = vbox(
            heading("States to test"),
            paragraph(about),
            parent=self,
            spacing=8,
            margins=(0, 8, 0, 0),
        )
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
        row = hbox(self.task, 1)
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
