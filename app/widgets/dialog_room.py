"""Room for the words of a dialog, whatever the size of the text."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog


def set_width(dialog: QDialog, characters: int) -> None:
    dialog.setMinimumWidth(characters * dialog.fontMetrics().averageCharWidth())


def grow(dialog: QDialog) -> None:
    """As high as all it says now: a layout does not ask for it when labels that wrap change."""
    layout = dialog.layout()
    if layout is None or not dialog.isVisible():
        return
    layout.activate()
    needed = layout.totalHeightForWidth(dialog.width())
    if needed > dialog.height():
        dialog.resize(dialog.width(), needed)
