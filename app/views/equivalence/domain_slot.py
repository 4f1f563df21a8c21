"""A slot for one of the two domains: drop or open a file, and see what it is or what is wrong."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QFrame

from app.models.comparison_tables import with_folder
from app.services.theme import Theme
from app.widgets.builders import button, label
from app.widgets.layouts import hbox, vbox
from engine.errors import PlumblineError
from engine.files import read_bytes
from engine.pddl import Domain, parse_domain
from engine.pddl.reader import decode, text_of
from engine.records.inputs import File
from engine.report.words import count_text


class DomainSlot(QFrame):
    """`file` is what was read, `domain` the parsed domain; both are None if there is none."""

    changed = Signal()

    def __init__(self, theme: Theme, letter: str) -> None:
        super().__init__()
        self.setProperty("card", True)
        self.setObjectName(f"slot-{letter}")
        self.setAcceptDrops(True)
        self.file: File | None = None
        self.domain: Domain | None = None
        self.folder = ""
        self._letter = letter
        self._name = label(selectable=True)
        self.state = label(wrap=True)
        self.open_button = button(
            "Open…",
            f"open-{letter}",
            f"Open domain {letter}",
            clicked=self._choose,
            icon=(theme, "open"),
            accessible=f"Open domain {letter}",
        )
        heading = label(letter, "title")
        heading.setFixedWidth(28)
        words = vbox(self._name, self.state, spacing=2)
        hbox(heading, (words, 1), self.open_button, parent=self, margins=(12, 8, 12, 8))
        self._show()

    @property
    def problem(self) -> str:
        """Return why this domain cannot be compared, or an empty string."""
        if self.file is None:
            return f"domain {self._letter} is missing"
        return "" if self.domain is not None else f"domain {self._letter} has an error"

    @property
    def text(self) -> str:
        return "" if self.file is None else text_of(self.file.content)

    def load(self, path: Path) -> None:
        try:
            self.take(File(path.name, read_bytes(path, "domain"), str(path.absolute())))
        except PlumblineError as error:
            self.file, self.domain = None, None
            self._show(str(error))
            self.changed.emit()

    def take(self, file: File | None) -> None:
        """Show a file, or nothing."""
        self.file, self.domain, problem = file, None, ""
        if file is not None:
            self.folder = str(Path(file.path).parent)
            try:
                self.domain = parse_domain(decode(file.content, file.name), file.name)
            except PlumblineError as error:
                problem = str(error)
        self._show(problem)
        self.changed.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802  Qt's name
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802  Qt's name
        local = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if local:
            event.acceptProposedAction()
            self.load(Path(local[0]))

    @Slot()
    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, f"Open domain {self._letter}", self.folder, "PDDL files (*.pddl);;All files (*)"
        )
        if name:
            self.load(Path(name))

    def _show(self, problem: str = "") -> None:
        name = with_folder(self.file.path) if self.file else ""
        self._name.setText(name or f"Drop domain {self._letter} here")
        self._name.setToolTip(self.file.path if self.file else "Drop a PDDL domain file")
        if problem:
            self._say(problem, "bad")
        elif self.domain is not None:
            counts = (
                (len(self.domain.predicates), "predicate"),
                (len(self.domain.actions), "action"),
                (len(self.domain.types), "type"),
            )
            words = ", ".join(count_text(number, noun) for number, noun in counts)
            self._say(f"{self.domain.name}: {words}", "muted")
        else:
            self._say("or open a file", "muted")

    def _say(self, text: str, role: str) -> None:
        self.state.setText(text)
        self.state.setProperty("role", role)
        self.state.style().unpolish(self.state)
        self.state.style().polish(self.state)
