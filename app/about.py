"""What this program is, and the versions of what it stands on: to read and to copy."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

import engine
from app.crash import crash_folder
from app.icons import application_icon
from app.settings import settings_path
from engine.logs import log_path

PACKAGES = ("torch", "numpy", "z3-solver", "pyqtgraph")


def versions() -> list[tuple[str, str]]:
    return [
        ("Plumbline", engine.__version__),
        ("Python", platform.python_version()),
        ("Qt", qVersion()),
        *((name, metadata.version(name)) for name in PACKAGES),
        ("System", platform.platform()),
        ("Settings", str(settings_path())),
        ("Log", str(log_path())),
        ("Crash reports", str(crash_folder())),
    ]


class AboutDialog(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("about")
        self.setWindowTitle("About Plumbline")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._text = "\n".join(f"{name}: {value}" for name, value in versions())
        picture = QLabel()
        picture.setPixmap(application_icon().pixmap(64, 64))
        title = QLabel("Plumbline")
        title.setProperty("role", "title")
        what = QLabel(
            "Finds out where a learned action policy is wrong,\n"
            "and whether two domain models mean the same."
        )
        body = QLabel(self._text)
        body.setProperty("role", "muted")
        body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words = QVBoxLayout()
        for widget in (title, what, body):
            words.addWidget(widget)
        words.setSpacing(12)
        top = QHBoxLayout()
        top.setSpacing(20)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(16)
        layout.addLayout(top)
        layout.addWidget(self._buttons())

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setObjectName("about-close")
        close.setAccessibleName("Close")
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.setObjectName("about-copy")
        copy.setAccessibleName("Copy the versions")
        copy.clicked.connect(self._copy)
        copy.setAutoDefault(False)
        close.setDefault(True)
        return buttons

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
