"""Rows, columns and divisions of a screen, written the way they are nested.

How the user has divided a screen is remembered.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSplitter, QVBoxLayout, QWidget

from app.services.settings import Settings

Item = QWidget | QLayout | int | tuple[Any, ...]
"""A tuple adds a stretch factor, and maybe an alignment, to a widget or layout; a number is a
stretch of its own.
"""
Margins = int | tuple[int, int, int, int] | None
"""Pixels on all sides, or left, top, right and bottom; None: those of the style."""

_Box = TypeVar("_Box", bound=QBoxLayout)


def hbox(
    *items: Item, parent: QWidget | None = None, spacing: int | None = None, margins: Margins = 0
) -> QHBoxLayout:
    return _filled(QHBoxLayout(parent) if parent else QHBoxLayout(), items, spacing, margins)


def vbox(
    *items: Item, parent: QWidget | None = None, spacing: int | None = None, margins: Margins = 0
) -> QVBoxLayout:
    return _filled(QVBoxLayout(parent) if parent else QVBoxLayout(), items, spacing, margins)


def _filled(box: _Box, items: tuple[Item, ...], spacing: int | None, margins: Margins) -> _Box:
    if margins is not None:
        sides = (margins,) * 4 if isinstance(margins, int) else margins
        box.setContentsMargins(*sides)
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
        else:
            thing, *rest = item if isinstance(item, tuple) else (item,)
            add = box.addLayout if isinstance(thing, QLayout) else box.addWidget
            add(thing, *rest)
    return box


def pane(*items: Item, spacing: int | None = None, margins: Margins = 0) -> QWidget:
    """A widget with a column in it."""
    made = QWidget()
    vbox(*items, parent=made, spacing=spacing, margins=margins)
    return made


def hsplit(*parts: QWidget, **settings: Any) -> QSplitter:
    """Parts beside each other, with handles to resize them; `settings` are those of `_divided`."""
    return _divided(QSplitter(Qt.Orientation.Horizontal), parts, **settings)


def vsplit(*parts: QWidget, **settings: Any) -> QSplitter:
    """Parts below each other, with handles to resize them."""
    return _divided(QSplitter(Qt.Orientation.Vertical), parts, **settings)


def _divided(
    made: QSplitter,
    parts: tuple[QWidget, ...],
    *,
    stretch: tuple[int, ...] = (),
    sizes: tuple[int, ...] = (),
    handle: int | None = None,
    collapsible: bool = False,
) -> QSplitter:
    """`stretch` factors and first `sizes` go by part; `handle` is a width in pixels."""
    for part in parts:
        made.addWidget(part)
    for number, factor in enumerate(stretch):
        made.setStretchFactor(number, factor)
    if sizes:
        made.setSizes(list(sizes))
    if handle is not None:
        made.setHandleWidth(handle)
    made.setChildrenCollapsible(collapsible)
    return made


class _Keeper(QObject):
    """Belongs to a splitter, and goes with it."""

    def __init__(self, splitter: QSplitter, settings: Settings) -> None:
        super().__init__(splitter)
        self._splitter, self._settings = splitter, settings
        self._key = f"divided/{splitter.objectName()}"
        sizes = settings.get(self._key, cast("list[int]", []))
        if len(sizes) == splitter.count() and all(isinstance(size, int) for size in sizes):
            splitter.setSizes(sizes)
        splitter.splitterMoved.connect(self._keep)

    @Slot()
    def _keep(self) -> None:
        self._settings.set(self._key, self._splitter.sizes())


def remember_division(splitter: QSplitter, name: str, settings: Settings) -> None:
    """Divide it as the user did last time, and keep every change; its parts are there already."""
    splitter.setObjectName(name)
    _Keeper(splitter, settings)
