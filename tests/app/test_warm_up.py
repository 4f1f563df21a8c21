"""Slow modules are imported while nothing happens."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.warm_up import WarmUp


def test_modules_are_imported_one_after_the_other(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["first", "second"]
    imported: list[str] = []
    monkeypatch.setattr("app.warm_up.import_module", imported.append)
    warm_up = WarmUp(names)
    assert not imported
    qtbot.waitUntil(lambda: warm_up.done and not warm_up._timer.isActive(), timeout=60_000)
    assert imported == names
    warm_up.deleteLater()
