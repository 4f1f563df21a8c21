"""Garbage with widgets in it is collected in the window's thread, never in another."""

from __future__ import annotations

import gc
import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.shell.garbage import GarbageCollector


class Watched(QObject):
    """Part of a cycle, so that only the collector can free it."""

    died_in: list[str] = []  # noqa: RUF012  written by all of them

    def __init__(self) -> None:
        super().__init__()
        self.me = self

    def __del__(self) -> None:
        self.died_in.append(threading.current_thread().name)


def make_garbage() -> None:
    kept = [[] for _ in range(5000)]  # more than enough to make Python collect
    del kept


def test_only_the_windows_thread_collects(qtbot: QtBot) -> None:
    Watched.died_in.clear()
    collector = GarbageCollector()
    try:
        assert not gc.isenabled()
        Watched()
        thread = threading.Thread(target=make_garbage, name="another")
        thread.start()
        thread.join()
        assert Watched.died_in == []
        hoard: list[list[object]] = []

        def is_collected() -> bool:
            hoard.extend([] for _ in range(1000))  # what others free meanwhile counts against it
            return bool(Watched.died_in)

        qtbot.waitUntil(is_collected, timeout=300_000)
        assert Watched.died_in == [threading.current_thread().name]
    finally:
        collector.close()
    assert gc.isenabled()
    collector.deleteLater()
