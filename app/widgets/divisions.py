"""How the user has divided a screen, remembered."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSplitter

from app.services.settings import Settings


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
