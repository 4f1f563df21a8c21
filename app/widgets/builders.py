"""Buttons, labels, actions and cards, built the same way on every screen."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.services.theme import Theme
from app.widgets.layouts import vbox

ELLIPSIS = "…"
"""Ends the text of a button or a menu entry that opens a dialog."""


def button(
    text: str,
    name: str,
    tip: str = "",
    *,
    clicked: object = None,
    icon: tuple[Theme, str] | None = None,
    token: str = "",
    primary: bool = False,
    accessible: str = "",
) -> QPushButton:
    """`icon` is drawn in the color of `token`; `accessible` is read out instead of the text."""
    made = QPushButton(text)
    made.setProperty("primary", primary)
    describe(made, name, accessible or text.rstrip(ELLIPSIS), tip)
    if icon is not None:
        theme, drawing = icon
        theme.keep_icon(made, drawing, token or ("on_accent" if primary else "text"))
    if clicked is not None:
        made.clicked.connect(clicked)
    return made


def icon_button(
    theme: Theme, icon: str, name: str, title: str, tip: str = "", *, clicked: object = None
) -> QToolButton:
    """A flat button without text; its title is read out and, unless there is a tip, shown."""
    made = QToolButton()
    made.setAutoRaise(True)
    describe(made, name, title, tip or title)
    theme.keep_icon(made, icon, "muted")
    if clicked is not None:
        made.clicked.connect(clicked)
    return made


def describe(widget: QWidget, name: str, title: str, tip: str = "") -> None:
    """`name` is for tests and settings, `title` for screen readers, `tip` for the mouse."""
    widget.setObjectName(name)
    widget.setAccessibleName(title)
    widget.setToolTip(tip)


def label(
    text: str = "", role: str = "", name: str = "", *, wrap: bool = False, selectable: bool = False
) -> QLabel:
    """`role` is its look in the style sheet: title, heading, muted, bad."""
    made = QLabel(text)
    made.setProperty("role", role)
    made.setObjectName(name)
    made.setWordWrap(wrap)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def heading(text: str, tip: str = "") -> QLabel:
    made = label(text, "heading")
    made.setToolTip(tip)
    return made


def paragraph(
    text: str = "", role: str = "muted", name: str = "", *, selectable: bool = False
) -> QLabel:
    """Text that wraps."""
    return label(text, role, name, wrap=True, selectable=selectable)


def action(parent: QWidget, text: str, triggered: object, *keys: str, name: str = "") -> QAction:
    made = QAction(text, parent)
    made.setObjectName(name)
    made.setShortcuts([QKeySequence(key) for key in keys])
    made.triggered.connect(triggered)
    return made


def card(title: str) -> tuple[QFrame, QVBoxLayout]:
    frame = QFrame()
    frame.setProperty("card", True)
    layout = vbox(heading(title), parent=frame, spacing=8, margins=12)
    return frame, layout


def form(layout: QVBoxLayout) -> QFormLayout:
    """Rows of labels and fields, added to a card."""
    made = QFormLayout()
    made.setHorizontalSpacing(12)
    made.setVerticalSpacing(6)
    made.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    made.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    layout.addLayout(made)
    return made
