"""How quick the bug browser is with very many bugs: python benchmarks/bug_browser.py [W.plumb]

Opens a workspace, or one that is made for it with as many bugs as wanted (`many_findings.py`), in
the bug browser without a screen, and measures what a user waits for: until the first bugs are seen,
and until filters, orders and groups are answered, with the longest time for which the window was
deaf meanwhile. Times are medians and maxima in milliseconds, of the clock and of the processor.
The first questions after opening are asked before anything was read ahead.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from many_findings import make
from measurement import Row, Setting
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.models.bug_table import GroupBy
from app.models.table_model import DESCENDING
from app.services.context import Context
from app.services.document import Document
from app.services.jobs import Jobs
from app.services.messages import Messages
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.garbage import GarbageCollector
from app.views.bugs.page import BugsPage

PATIENCE = 600.0
FILTERS = ("gap>5", "gap>5 kind:fails", "status:new p06 -oracle:bmo", "worst:sail loss>1", "sail")


def nothing() -> None:
    """When there is nothing to prepare."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a user does, and for how long the window is busy with it: medians in milliseconds."""

    name: str
    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Browsing:
    """What was measured with one workspace."""

    bugs: int
    seconds: float  # of the clock until the first bugs are seen
    cpu: float  # of the processor until then, in all threads
    deaf: float  # 99 % of the turns of the event loop take less, in milliseconds of the processor
    actions: list[Action]
    megabytes: int


class Bench:
    def __init__(self, path: Path) -> None:
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.application = application
        self._garbage = GarbageCollector(application)
        self._garbage.keep()
        messages = Messages()
        messages.posted.connect(lambda message: print("  message:", message.text))
        self.context = Context(
            Document.open(path),
            Jobs(messages),
            messages,
            Settings(path.with_suffix(".json")),
            Theme(),
        )
        self.context.theme.apply()
        self.lags: list[float] = []
        self.work: list[float] = []
        self.actions: list[Action] = []
        self.page = BugsPage(self.context)
        self.page.resize(1280, 800)
        self.page.show()

    def turn(self) -> None:
        """One turn of the event loop; how long it takes is how long the window was deaf."""
        wall, cpu = time.perf_counter(), time.thread_time()
        self.application.processEvents()
        self.lags.append((time.perf_counter() - wall) * 1000)
        self.work.append((time.thread_time() - cpu) * 1000)

    def wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "this takes too long"
            self.turn()
            time.sleep(0.0005)  # not to count our own waiting

    def measure(
        self, name: str, act: Callable[[], None], times: int, prepare: Callable[[], None] = nothing
    ) -> None:
        walls, cpus = [], []
        for _ in range(times):
            prepare()
            self.settle()
            wall, cpu = time.perf_counter(), time.process_time()
            act()
            self.settle()
            walls.append((time.perf_counter() - wall) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
        print(
            f"  {name:34} median {statistics.median(walls):7.1f}  max {max(walls):7.1f}"
            f"   processor {statistics.median(cpus):7.1f}  ({times} times)",
            flush=True,
        )
        self.actions.append(Action(name, statistics.median(walls), statistics.median(cpus)))

    def settle(self) -> None:
        """Wait for all answers of the workspace, and let everything be drawn."""
        told: list[object] = []
        self.context.document.reader.ask(self.page, lambda _: None, told.append, told.append)
        self.wait(lambda: bool(told))
        self.turn()

    def close(self) -> None:
        self.page.close()
        self._garbage.close()
        self.context.document.close()


def opened(path: Path) -> Bench:
    bench = Bench(path)
    bench.wait(lambda: bench.page.feed.complete)
    return bench


def measure_first(path: Path) -> None:
    """Each question is the first one after opening."""
    questions: dict[str, Callable[[BugsPage], None]] = {
        **{f"filter '{text}'": partial(_filter, text=text) for text in FILTERS},
        "sort by one column": lambda page: page.table.sort_by([(_place(page, "time"), DESCENDING)]),
        "group: action schema": partial(_group, group=GroupBy.SCHEMA),
    }
    for name, ask in questions.items():
        bench = opened(path)
        bench.wait(lambda bench=bench: bench.page.detail.known is not None)
        bench.wait(lambda bench=bench: not bench.context.document.store.awaits_check)
        bench.measure(f"first: {name}", partial(ask, bench.page), 1)
        bench.close()


def measure(path: Path) -> Browsing:
    begin, cpu = time.perf_counter(), time.process_time()
    bench = opened(path)
    page = bench.page
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(f"{page.table.total} bugs, seen after {seconds:.1f} s, processor {cpu:.1f} s")
    bench.wait(lambda: page.detail.known is not None)
    bench.wait(lambda: not page.context.document.store.awaits_check)
    view = page.view
    view.setFocus()

    def press(key: Qt.Key) -> Callable[[], None]:
        return lambda: QTest.keyClick(view, key)

    def walk(key: Qt.Key) -> Callable[[], None]:
        """Until all of the bug is shown."""

        def go() -> None:
            QTest.keyClick(view, key)
            bench.wait(lambda: page.detail.known is not None)

        return go

    bench.measure("select the next bug", walk(Qt.Key.Key_Down), 200)
    bench.measure("a page down", walk(Qt.Key.Key_PageDown), 50)
    bench.measure("to the end and back", _to_the_end_and_back(view), 10)
    bench.measure("confirm and go on", walk(Qt.Key.Key_C), 50)
    scroll = view.verticalScrollBar()
    bench.measure("scroll by a row and draw", lambda: _scroll(page, scroll.singleStep()), 100)
    bench.measure("scroll by a page and draw", lambda: _scroll(page, scroll.pageStep()), 50)
    bench.lags.clear()
    bench.work.clear()
    for text in FILTERS:
        ask, reset = partial(_filter, page, text), partial(_filter, page, "")
        bench.measure(f"filter '{text}'", ask, 5, reset)

        def decide(reset: Callable[[], None] = reset) -> None:
            reset()
            bench.settle()
            QTest.keyClick(view, Qt.Key.Key_C)

        bench.measure(f"filter '{text}' after a decision", ask, 5, decide)
    bench.measure("filter no more", partial(_filter, page, ""), 5, partial(_filter, page, "gap>5"))
    one = [(_place(page, "gap"), DESCENDING)]
    two = [(_place(page, "problem"), DESCENDING), (_place(page, "gap"), DESCENDING)]
    bench.measure("sort by one column", lambda: page.table.sort_by(list(one)), 5)
    bench.measure("sort by two columns", lambda: page.table.sort_by(list(two)), 5)
    page.table.sort_by([])
    groups = (GroupBy.PATTERN, GroupBy.ROOT_CAUSE, GroupBy.REGION, GroupBy.SCHEMA, GroupBy.PROBLEM)
    for group in (*groups, GroupBy.NOTHING):
        bench.measure(
            f"group: {group.value}",
            lambda group=group: _group(page, group),
            3,
            lambda: _group(page, GroupBy.KIND),
        )
    deaf = sorted(bench.work)[int(len(bench.work) * 0.99)]
    print(f"  deaf meanwhile (processor): 99 % under {deaf:.1f} ms, at most {max(bench.work):.1f}")
    late = sorted(bench.lags)[int(len(bench.lags) * 0.99)]
    print(f"  deaf meanwhile (wall clock): 99 % under {late:.1f} ms, at most {max(bench.lags):.1f}")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"  at most {megabytes} MB of memory")
    found = Browsing(page.table.total, seconds, cpu, deaf, bench.actions, megabytes)
    bench.close()
    return found


def _to_the_end_and_back(view: QWidget) -> Callable[[], None]:
    def go() -> None:
        QTest.keyClick(view, Qt.Key.Key_End)
        QTest.keyClick(view, Qt.Key.Key_Home)

    return go


def _scroll(page: BugsPage, by: int) -> None:
    bar = page.view.verticalScrollBar()
    bar.setValue((bar.value() + by) % max(1, bar.maximum()))
    page.view.viewport().repaint()


def _filter(page: BugsPage, text: str) -> None:
    page.filter.set_text(text)


def _place(page: BugsPage, name: str) -> int:
    """Where a column is in the table."""
    return [column.name for column in page.table.columns].index(name)


def _group(page: BugsPage, group: GroupBy) -> None:
    page.group.setCurrentIndex(page.group.findData(group))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path, nargs="?")
    parser.add_argument("--bugs", type=int, default=100_000, help="without a workspace")
    args = parser.parse_args()
    application = QApplication(sys.argv[:1])
    if args.workspace is not None:
        measure(args.workspace)
        measure_first(args.workspace)
    else:
        measure_with(args.bugs)
    application.quit()
    return 0


def measure_with(bugs: int) -> Browsing:
    """The browser on a workspace that has this many bugs."""
    with tempfile.TemporaryDirectory(prefix="plumbline-browser-") as folder:
        path = Path(folder) / "bugs.plumb"
        make(path, bugs, 10 * bugs)
        return measure(path)


def rows(setting: Setting) -> Iterator[Row]:
    application = QApplication(sys.argv[:1])
    found = measure_with(setting.choose(100_000, 1000))
    next_bug, slowest = found.actions[0], max(found.actions, key=lambda action: action.processor)
    remark = f"{found.megabytes} MB of memory"
    bugs = f"{found.bugs:,} bugs"
    yield Row(f"{bugs}: seen after", found.cpu, "s of CPU time", remark=remark)
    for what, milliseconds, remark in (
        ("deaf while lists are made, 99 %", found.deaf, ""),
        (next_bug.name, next_bug.processor, f"{next_bug.wall:.0f} ms of the clock"),
        ("slowest answer", slowest.processor, slowest.name),
    ):
        yield Row(f"{bugs}: {what}", milliseconds, "ms", remark=remark)
    application.quit()


if __name__ == "__main__":
    sys.exit(main())
