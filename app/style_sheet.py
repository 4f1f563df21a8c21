"""The few things that Fusion and a palette cannot do: flat headers, quiet buttons, cards.

A rule on tabs or progress bars would switch off Fusion's drawing of them, so there is none, or
one that says everything.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QColor

_RULES = """
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 4px 6px; }}
QMenuBar {{ background: {window}; }}
QStatusBar {{ background: {window}; border-top: 1px solid {border}; }}
QStatusBar::item {{ border: none; }}
QSplitter::handle {{ background: {border}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}

QHeaderView {{ background: {surface}; border: none; }}
QHeaderView::section {{
    background: {surface}; color: {muted}; border: none; border-bottom: 1px solid {border};
    padding: 4px 8px; font-weight: 600;
}}
QHeaderView::section:hover {{ color: {text}; }}
QTableView, QTreeView, QListView {{
    background: {surface}; border: 1px solid {border}; gridline-color: {grid};
    selection-background-color: {selection}; selection-color: {text};
}}
QPlainTextEdit, QTextEdit, QTextBrowser {{ background: {surface}; border: 1px solid {border}; }}
QTableView:focus, QTreeView:focus, QListView:focus, QPlainTextEdit:focus, QTextEdit:focus {{
    border-color: {accent};
}}

QPushButton {{
    background: {raised}; color: {text}; border: 1px solid {border}; border-radius: 6px;
    padding: 4px 12px; min-height: 18px;
}}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {selection}; }}
QPushButton:focus {{ border-color: {accent}; }}
QPushButton:disabled {{ color: {disabled}; }}
QPushButton::menu-indicator {{ width: 0; }}
QPushButton[primary="true"] {{
    background: {accent}; color: {on_accent}; border-color: {accent}; font-weight: 600;
}}
QPushButton[primary="true"]:hover {{ background: {accent_hover}; }}
QPushButton[primary="true"]:focus {{ border-color: {text}; }}
QPushButton[primary="true"]:disabled {{
    background: {window}; color: {disabled}; border-color: {border};
}}
QPushButton[flat="true"] {{ background: transparent; border-color: transparent; padding: 2px 6px; }}
QPushButton[flat="true"]:hover {{ background: {hover}; }}
QPushButton[flat="true"]:focus {{ border-color: {accent}; }}

QFrame[card="true"] {{ background: {raised}; border: 1px solid {border}; border-radius: 6px; }}
QLabel[role="heading"] {{ font-weight: 600; }}
QLabel[role="title"] {{ font-size: {title}pt; font-weight: 600; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="bad"] {{ color: {bad}; }}

QFrame#banner {{ border: none; border-bottom: 1px solid {border}; }}
QFrame#banner[level="info"] {{ background: {info_surface}; }}
QFrame#banner[level="warning"] {{ background: {warning_surface}; }}
QFrame#banner[level="error"] {{ background: {bad_surface}; }}

QWidget#rail {{ background: {window}; border-right: 1px solid {border}; }}
QWidget#rail QToolButton {{
    background: transparent; color: {muted}; border: none; border-left: 3px solid transparent;
    padding: 8px 0 6px 0;
}}
QWidget#rail QToolButton:hover {{ background: {hover}; color: {text}; }}
QWidget#rail QToolButton:checked {{ color: {text}; border-left-color: {accent}; font-weight: 600; }}
QWidget#rail QToolButton:focus {{ background: {hover}; }}
"""


def style_sheet(color: Callable[[str], QColor], point_size: int) -> str:
    colors = {token: color(token).name() for token in _tokens()}
    accent = color("accent")
    hover = accent.lighter(112) if accent.lightness() > 150 else accent.darker(112)
    return _RULES.format(**colors, accent_hover=hover.name(), title=point_size + 4)


def _tokens() -> tuple[str, ...]:
    return (
        *("window", "surface", "raised", "hover", "text", "muted", "disabled", "border", "grid"),
        *("accent", "on_accent", "selection", "bad", "bad_surface"),
        *("warning_surface", "info_surface"),
    )
