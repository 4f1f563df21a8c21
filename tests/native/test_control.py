"""Kernels answer while they run: progress, cancellation, Ctrl-C, two at once."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable

import pytest
from reference.random_tasks import dials

from engine.native.control import Control
from engine.search.forward import Outcome, SearchLimits, SearchResult, search

LONG = SearchLimits(seconds=60, bytes=2**31)  # ends a broken test, never a working one


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.001)


def endless(algorithm: str, heuristic: str, control: Control) -> SearchResult:
    task = dials(14, 8, solvable=False)
    return search(task, algorithm, heuristic, limits=LONG, control=control)


@pytest.mark.parametrize(
    ("algorithm", "heuristic"),
    [("astar", "blind"), ("astar", "lmcut"), ("gbfs", "ff"), ("ehc", "gc")],
)
def test_cancel_from_another_thread(algorithm: str, heuristic: str) -> None:
    control = Control()

    def cancel_when_running() -> None:
        wait_until(lambda: control.expanded > 0 or control.evaluated > 0)
        control.cancel()

    canceller = threading.Thread(target=cancel_when_running)
    canceller.start()
    result = endless(algorithm, heuristic, control)
    canceller.join()
    assert result.outcome is Outcome.CANCELLED
    assert result.plan is None


def test_two_searches_run_at_the_same_time() -> None:
    controls = [Control(), Control()]
    results: list[SearchResult] = []
    threads = [
        threading.Thread(target=lambda c=c: results.append(endless("astar", "blind", c)))
        for c in controls
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: all(control.expanded > 0 for control in controls))
    before = [control.expanded for control in controls]
    wait_until(lambda: all(c.expanded > b for c, b in zip(controls, before, strict=True)))
    assert all(thread.is_alive() for thread in threads)
    for control in controls:
        control.cancel()
    for thread in threads:
        thread.join()
    assert [result.outcome for result in results] == [Outcome.CANCELLED] * 2


def test_interrupt_reaches_the_main_thread_during_a_kernel() -> None:
    control = Control()

    def interrupt() -> None:
        wait_until(lambda: control.expanded > 0)
        _thread.interrupt_main()

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        endless("astar", "blind", control)
    interrupter.join()
    assert control.cancelled


def test_progress_is_what_the_result_says() -> None:
    control = Control()
    result = search(dials(4, 6), "astar", "blind", control=control)
    assert result.expanded == control.expanded > 0
    assert result.generated == control.generated > result.expanded
    assert result.evaluated == control.evaluated
    assert result.peak_bytes == control.peak_bytes > 0
    assert result.cost == control.best


def test_errors_in_a_kernel_reach_the_caller() -> None:
    def broken() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Control().run(broken)


def test_no_thread_where_signals_are_left_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers just end when they are told to, so their main thread may be in a kernel."""
    names: list[str] = []

    def note() -> None:
        names.append(threading.current_thread().name)

    Control().run(note)
    monkeypatch.setattr("engine.native.control.signal.getsignal", lambda _: signal.SIG_DFL)
    Control().run(note)
    assert names == ["kernel", threading.main_thread().name]
