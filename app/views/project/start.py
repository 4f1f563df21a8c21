"""What the project screen shows in an empty workspace: a drop area, examples, recent workspaces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.services.folders import example_names, example_title, short_path
from app.services.theme import Theme
from app.widgets.builders import button, heading
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
        self.setObjectName("project-start")
        self.setAccessibleName("Getting started")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._theme = theme
        self._recent = QVBoxLayout()
        self._recent.setSpacing(8)
        self._recent_title = heading("Recent workspaces")
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(heading("Examples"))
        names = sorted(example_names(), key=lambda name: (name != FIRST, name))
        for name in names:
            right.addWidget(self._example(name))
        right.addSpacing(16)
        right.addWidget(self._recent_title)
        right.addLayout(self._recent)
        right.addStretch(1)
        content = QWidget()
        layout = QHBoxLayout(content)
        layout.setContentsMargins(32, 32, 32, 32)
        layout.setSpacing(32)
        layout.addWidget(self._drop_area(), 11)
        layout.addLayout(right, 9)
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
        title = QLabel("Drop a domain, problems and a policy here")
        title.setProperty("role", "title")
        title.setWordWrap(True)
        text = QLabel(
            "Drop files or folders. Plumbline recognizes them by their contents: PDDL domains and "
            "problems, tasks from the Fast Downward translator, policies (.pt, .policy, .ckpt), "
            "Python plug-ins, and the pools, bugs files and policy caches of other tools."
        )
        text.setProperty("role", "muted")
        text.setWordWrap(True)
        self.files = button(
            "Open files…", "start-files", clicked=self.files_requested, primary=True
        )
        self.folder = button("Open folder…", "start-folder", clicked=self.folder_requested)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.files)
        buttons.addWidget(self.folder)
        buttons.addStretch(1)
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(48, 32, 48, 32)
        layout.setSpacing(12)
        layout.addStretch(2)
        layout.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignHCenter)
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
