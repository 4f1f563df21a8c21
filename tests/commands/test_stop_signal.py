"""A command can be stopped at any moment, whatever it is doing."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable

import pytest

from engine.commands.stop_signal import ended_like_interrupted, stop_signal


class Deleted:
    """Something happens when it is."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens

    def __del__(self) -> None:
        self._happens()


def delete_something(happens: Callable[[], object]) -> None:
    Deleted(happens)


def interrupted_there(number: signal.Signals) -> None:
    delete_something(lambda: signal.raise_signal(number))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.001)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_is_heard_while_something_is_deleted(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python drops what is raised there."""
    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), ended_like_interrupted():
        interrupted_there(number)
    assert sys.unraisablehook is before
    assert capsys.readouterr().err == ""


def test_a_second_one_is_heard_there_too() -> None:
    with ended_like_interrupted(), stop_signal() as stop:
        delete_something(lambda: signal.raise_signal(signal.SIGINT))
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            interrupted_there(signal.SIGINT)


def test_other_errors_go_where_they_went_before(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", heard.append)
    with ended_like_interrupted():
        delete_something(lambda: 1 // 0)
    assert len(heard) == 1
