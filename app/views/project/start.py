"""What the project screen shows in an empty workspace: a drop area, examples, recent workspaces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

from app.services.folders import example_names, example_title, short_path
from app.services.theme import Theme
from app.widgets.builders import button, describe, heading, paragraph
from app.widgets.layouts import hbox, vbox
from app.widgets.link_card import LinkCard

SENTENCES = {
    "container-yard": "A crane rearranges stacks; the policy digs in the wrong order.",
    "crumbling-temple": "Tiles fall behind the explorer; the policy walks into dead ends.",
    "ferry": "Robots cross between islands; the policy wastes trips.",
    "parcel-delivery": "Trucks, fees and road lengths: valid plans that cost too much.",
    "workshop": "Workpieces share tools and machines; the policy swaps tools forever.",
}
FIRST = "parcel-delivery"
_ICON = QSize(48, 48)
MAX_RECENT = 5


class StartView(QScrollArea):
    files_requested = Signal()
    folder_requested = Signal()
    example_requested = Signal(str)
    workspace_requested = Signal(object)  # Path

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        describe(self, "project-start", "Getting started")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._theme = theme
        self._recent_title, self._recent = heading("Recent workspaces"), vbox(spacing=8)
        names = sorted(example_names(), key=lambda name: (name != FIRST, name))
        examples = vbox(heading("Examples"), *map(self._example, names), spacing=8)
        recent = vbox(self._recent_title, self._recent, 1, spacing=8)
        right = vbox(examples, (recent, 1), spacing=24)
        content = QWidget()
        hbox((self._drop_area(), 11), (right, 9), parent=content, spacing=32, margins=32)
        self.setWidget(content)
        theme.changed.connect(self._show_icon)
        self._show_icon()

    def show_recent(self, paths: Iterable[Path]) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        shown = list(paths)[:MAX_RECENT]
        self._recent_title.setVisible(bool(shown))
        for path in shown:
            link = self._link(path.stem, short_path(path.parent), f"recent-{path.stem}")
            link.setProperty("path", str(path))
            link.clicked.connect(self._open_recent)
            self._recent.addWidget(link)

    def _drop_area(self) -> QWidget:
        frame = QFrame()
        frame.setProperty("card", True)
        self._picture = QLabel()
        title = paragraph("Drop a domain, problems and a policy here", "title")
        text = paragraph(
            "Drop files or folders. Plumbline recognizes them by their contents: PDDL domains and "
            "problems, tasks from the Fast Downward translator, policies (.pt, .policy, .ckpt), "
            "Python plug-ins, and the pools, bugs files and policy caches of other tools."
        )
        self.files = button(
            "Open files…", "start-files", clicked=self.files_requested, primary=True
        )
        self.folder = button("Open folder…", "start-folder", clicked=self.folder_requested)
        buttons = hbox(1, self.files, self.folder, 1)
        layout = vbox(
            2,
            (self._picture, 0, Qt.AlignmentFlag.AlignHCenter),
            parent=frame,
            spacing=12,
            margins=(48, 32, 48, 32),
        )
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(label)
        layout.addLayout(buttons)
        layout.addStretch(3)
        return frame

    def _example(self, name: str) -> LinkCard:
        link = self._link(example_title(name), SENTENCES.get(name, ""), f"example-{name}")
        link.setProperty("example", name)
        link.clicked.connect(self._open_example)
        return link

    def _link(self, title: str, text: str, name: str) -> LinkCard:
        link = LinkCard(self._theme, "project", title, text)
        link.setObjectName(name)
        return link

    @Slot()
    def _open_example(self) -> None:
        self.example_requested.emit(self.sender().property("example"))

    @Slot()
    def _open_recent(self) -> None:
        self.workspace_requested.emit(Path(self.sender().property("path")))

    @Slot()
    def _show_icon(self) -> None:
        icon = self._theme.icon("open", "disabled")
        self._picture.setPixmap(icon.pixmap(_ICON, self.devicePixelRatioF()))
