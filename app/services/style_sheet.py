"""Flat controls, quiet headers and cards, which a palette alone cannot describe.

A rule on a kind of widget switches off Fusion's drawing of it, so every kind that occurs here is
styled completely.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtGui import QColor

PICTURES = {
    "down": ("chevron-down", "muted"),
    "up": ("chevron-up", "muted"),
    "tick": ("check", "on_accent"),
    "menu_tick": ("check", "text"),
    "right": ("chevron-right", "muted"),
}
"""Icons and their colors that the rules need as files."""

_FRAME = """
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 4px 6px; }}
QStatusBar {{ background: {window}; border-top: 1px solid {border}; }}
QStatusBar::item {{ border: none; }}
QSplitter::handle:horizontal {{ width: 8px; }}
QSplitter::handle:vertical {{ height: 8px; }}
QMenuBar {{ background: {window}; border-bottom: 1px solid {border}; padding: 1px 4px; }}
QMenuBar::item {{ background: transparent; padding: 4px 8px; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {hover}; }}
QMenu {{ background: {raised}; border: 1px solid {border}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 28px; border-radius: 4px; }}
QMenu::item:selected {{ background: {selection}; }}
QMenu::item:disabled {{ color: {disabled}; }}
QMenu::icon {{ padding-left: 6px; }}
QMenu::indicator {{ width: 14px; height: 14px; margin-left: 8px; }}
QMenu::indicator:checked {{ image: url({menu_tick}); }}
QMenu::right-arrow {{ image: url({right}); width: 12px; height: 12px; }}
QMenu::separator {{ height: 1px; background: {border}; margin: 4px 8px; }}
QFrame[card="true"] {{ background: {raised}; border: 1px solid {border}; border-radius: 6px; }}
QFrame[card="true"]:focus {{ border-color: {accent}; }}
QGraphicsView {{ border: 1px solid {surface}; }}
QGraphicsView:focus, QGraphicsView[focused="true"] {{ border-color: {accent}; }}
QFrame[frameShape="4"], QFrame[frameShape="5"] {{ color: {border}; }}
QGroupBox {{ border: none; margin-top: 22px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; subcontrol-position: top left; left: 0; }}
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
    border-radius: 0; padding: 8px 3px 6px 0; font-size: {small}pt;
}}
QWidget#rail QToolButton:hover, QWidget#rail QToolButton:focus {{ background: {hover}; }}
QWidget#rail QToolButton:checked {{ color: {text}; border-left-color: {accent}; }}
"""

_LISTS = """
QAbstractItemView {{
    background: {surface}; border: 1px solid {border}; outline: 0;
    selection-background-color: {selection}; selection-color: {text};
}}
QTableView {{ gridline-color: {grid}; }}
QTableView::item {{ padding: 0 5px; }}
QTreeView::item {{ padding: 4px 2px; }}
QTableCornerButton::section {{ background: {surface}; border: none; }}
QAbstractItemView:focus, QPlainTextEdit:focus, QTextEdit:focus {{ border-color: {accent}; }}
QHeaderView {{ background: {surface}; border: none; }}
QHeaderView::section {{
    background: {surface}; color: {muted}; border: none; border-bottom: 1px solid {border};
    padding: 4px 8px; font-weight: 600;
}}
QHeaderView::section:hover {{ color: {text}; }}
QPlainTextEdit, QTextEdit {{ background: {surface}; border: 1px solid {border}; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: {scroll}; border-radius: 3px; margin: 3px; }}
QScrollBar::handle:vertical {{ min-height: 28px; }}
QScrollBar::handle:horizontal {{ min-width: 28px; }}
QScrollBar::handle:hover {{ background: {disabled}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {border}; }}
QTabBar {{ background: transparent; }}
QTabBar::tab {{
    background: transparent; color: {muted}; border: none; border-bottom: 2px solid transparent;
    padding: 6px 12px;
}}
QTabBar::tab:hover {{ color: {text}; }}
QTabBar::tab:selected {{ color: {text}; border-bottom-color: {accent}; }}
QTabBar::tab:focus {{ color: {accent}; }}
QTabBar::tab:disabled {{ color: {disabled}; }}
"""

_CONTROLS = """
QPushButton {{
    background: {raised}; color: {text}; border: 1px solid {border}; border-radius: 6px;
    padding: 4px 12px; min-height: {line}px;
}}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {selection}; }}
QPushButton:focus {{ border-color: {accent}; }}
QPushButton:disabled {{ color: {disabled}; background: {window}; }}
QPushButton::menu-indicator {{
    image: url({down}); width: 12px; height: 12px;
    subcontrol-position: right center; subcontrol-origin: padding; right: 4px;
}}
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
QToolButton {{
    background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 3px;
}}
QToolButton:hover {{ background: {hover}; }}
QToolButton:pressed, QToolButton:checked {{ background: {selection}; }}
QToolButton:focus {{ border-color: {accent}; }}
QToolButton::menu-indicator {{ image: none; width: 0; }}
QLineEdit, QAbstractSpinBox, QComboBox {{
    background: {surface}; color: {text}; border: 1px solid {border}; border-radius: 6px;
    padding: 4px 8px; min-height: {line}px; selection-background-color: {selection};
    selection-color: {text};
}}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {{ border-color: {accent}; }}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {{
    color: {disabled}; background: {window};
}}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"] {{
    border-color: {bad};
}}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{
    background: transparent; border: none; padding: 0; min-height: 0;
}}
QComboBox {{ padding-right: 22px; }}
QComboBox::drop-down {{ border: none; width: 22px; }}
QComboBox::down-arrow {{ image: url({down}); width: 12px; height: 12px; }}
QComboBox QAbstractItemView {{ background: {raised}; padding: 4px; }}
QAbstractSpinBox {{ padding: 2px 20px 3px 8px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
    subcontrol-origin: border; border: none; width: 20px; background: transparent;
}}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url({up}); width: 10px; height: 10px; }}
QAbstractSpinBox::down-arrow {{ image: url({down}); width: 10px; height: 10px; }}
QCheckBox, QRadioButton {{ spacing: 6px; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {disabled}; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator,
QGroupBox::indicator {{
    width: 14px; height: 14px; background: {surface}; border: 1px solid {disabled};
}}
QCheckBox::indicator, QAbstractItemView::indicator, QGroupBox::indicator {{ border-radius: 3px; }}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked, QGroupBox::indicator:checked {{
    background: {accent}; border-color: {accent}; image: url({tick});
}}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {accent}; }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ border-color: {accent}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{
    background: {window}; border-color: {border};
}}
QProgressBar {{
    background: {surface}; border: 1px solid {border}; border-radius: 5px; text-align: center;
    min-height: 10px;
}}
QProgressBar::chunk {{ background: {accent}; border-radius: 4px; }}
"""


def style_sheet(
    color: Callable[[str], QColor], pictures: Mapping[str, str], point_size: int
) -> str:
    """`pictures` are the files for `PICTURES`."""
    accent = color("accent")
    hover = accent.lighter(112) if accent.lightness() > 150 else accent.darker(112)
    values = {token: color(token).name() for token in _TOKENS}
    values |= {
        "accent_hover": hover.name(),
        "title": str(point_size + 4),
        "small": str(point_size - 1),
        "line": str(round(1.6 * point_size) + 2),  # a line of text, in pixels
        **pictures,
    }
    return (_FRAME + _LISTS + _CONTROLS).format(**values)


_TOKENS = (
    *("window", "surface", "raised", "hover", "text", "muted", "disabled", "border", "grid"),
    *("scroll", "accent", "on_accent", "selection", "bad", "bad_surface"),
    *("warning_surface", "info_surface"),
)
