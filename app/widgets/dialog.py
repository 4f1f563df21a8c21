"""A dialog with an explanation, fields, a button that accepts them, and Cancel."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QPushButton, QWidget

from app.widgets.builders import describe, label, paragraph
from app.widgets.layouts import vbox

WIDTH = 68  # characters


class FormDialog(QDialog):
    """Fields go into `body`; `add_buttons` comes last. Names of widgets begin with `name`."""

    def __init__(self, name: str, title: str, about: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"{name}-dialog")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(WIDTH * self.fontMetrics().averageCharWidth())
        self.heading = label(title, "title")

        self.body = vbox(self.heading, paragraph(about), parent=self, spacing=12, margins=16)

    def add_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setHorizontalSpacing(12)
        self.body.addLayout(form)
        return form

    def add_buttons(self, text: str, title: str) -> QPushButton:
        """Return the button that accepts; it shows `text` and is read out as `title`."""
        box = QDialogButtonBox()
        accept = box.addButton(text, QDialogButtonBox.ButtonRole.AcceptRole)
        describe(accept, f"{self._name}-go", title)
        accept.setProperty("primary", True)
        cancel = box.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        describe(cancel, f"{self._name}-cancel", "Cancel")
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        self.body.addWidget(box)
        return accept


def close_button(dialog: QDialog) -> QDialogButtonBox:
    """Return a button box with Close, for a dialog that only shows something."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    box.rejected.connect(dialog.reject)
    close = box.button(QDialogButtonBox.StandardButton.Close)
    describe(close, f"{dialog.objectName()}-close", "Close")
    close.setDefault(True)
    return box


def grow(dialog: QDialog) -> None:
    """Make room for changed text: a layout does not notice when wrapping labels grow."""
    layout = dialog.layout()
    if layout is None or not dialog.isVisible():
        return
    layout.activate()
    needed = layout.totalHeightForWidth(dialog.width())
    if needed > dialog.height():
        dialog.resize(dialog.width(), needed)
