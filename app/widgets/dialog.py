"""A dialog that asks for something: what it is about, fields, and a button that goes on.

It has room for its words, whatever the size of the text.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

WIDTH = 68  # characters


class Question(QDialog):
    """Fields go into `body`; `add_buttons` comes last. Names of widgets begin with `name`."""

    def __init__(self, name: str, title: str, about: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"{name}-dialog")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(WIDTH * self.fontMetrics().averageCharWidth())
        self.heading = QLabel(title)
        self.heading.setProperty("role", "title")
        words = QLabel(about)
        words.setWordWrap(True)
        words.setProperty("role", "muted")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(16, 16, 16, 16)
        self.body.setSpacing(12)
        self.body.addWidget(self.heading)
        self.body.addWidget(words)

    def add_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setHorizontalSpacing(12)
        self.body.addLayout(form)
        return form

    def add_buttons(self, resume: str, tells: str) -> QPushButton:
        """The one that accepts, which says `resume` and is read out as `tells`; and Cancel."""
        box = QDialogButtonBox()
        accept = box.addButton(resume, QDialogButtonBox.ButtonRole.AcceptRole)
        accept.setObjectName(f"{self._name}-go")
        accept.setAccessibleName(tells)
        accept.setProperty("primary", True)
        cancel = box.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName(f"{self._name}-cancel")
        cancel.setAccessibleName("Cancel")
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        self.body.addWidget(box)
        return accept


def grow(dialog: QDialog) -> None:
    """As high as all it says now: a layout does not ask for it when labels that wrap change."""
    layout = dialog.layout()
    if layout is None or not dialog.isVisible():
        return
    layout.activate()
    needed = layout.totalHeightForWidth(dialog.width())
    if needed > dialog.height():
        dialog.resize(dialog.width(), needed)
