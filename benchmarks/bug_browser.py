"""How quick the bug browser is with very many bugs: python benchmarks/bug_browser.py W.plumb

Copies a workspace with real bugs, duplicates its units with their findings, proofs and runs up to
the wanted numbers, opens the bug browser on it without a screen, and measures what a user waits
for. Times are medians and maxima in milliseconds, of the wall clock and of the processor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from localize import workspace
from measurement import EXAMPLES, Row, Setting
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

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


def fill(path: Path, wanted: int) -> None:
    """Duplicate units with all their findings, as if there were more seeds."""
    columns = "state, kind, policy_cost, bound, gap, oracle, evidence_kind, retrospective, region"
    columns += ", seconds, status, note"
    with closing(sqlite3.connect(path)) as connection, connection:
        units = connection.execute("SELECT id FROM units ORDER BY id").fetchall()
        (count,) = connection.execute("SELECT count(*) FROM findings").fetchone()
        copy = 0
        while count < wanted:
            copy += 1
            for (unit,) in units:
                if count >= wanted:
                    break
                new_unit = connection.execute(
                    "INSERT INTO units (campaign, problem, policy, seed, status) "
                    "SELECT campaign, problem, policy, seed + ?, status FROM units WHERE id = ?",
                    (1000 * copy, unit),
                ).lastrowid
                findings = connection.execute(
                    "SELECT id FROM findings WHERE unit = ? LIMIT ?", (unit, wanted - count)
                ).fetchall()
                for (finding,) in findings:
                    new = connection.execute(
                        f"INSERT INTO findings (unit, {columns}) "
                        f"SELECT ?, {columns} FROM findings WHERE id = ?",
                        (new_unit, finding),
                    ).lastrowid
                    for table, rest in (
                        ("evidence", "document"),
                        ("runs", "outcome, reason, cost, operators, last_decision"),
                    ):
                        connection.execute(
                            f"INSERT INTO {table} SELECT ?, {rest} FROM {table} WHERE finding = ?",
                            (new, finding),
                        )
                    count += 1


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
    """Turns of the event loop while bugs are read (in milliseconds of the processor), actions."""

    reading: list[float]
    seconds: float  # until all are read
    actions: list[Action]


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

    def measure(
        self, name: str, act: Callable[[], None], times: int, prepare: Callable[[], None] = nothing
    ) -> None:
        walls, cpus = [], []
        for _ in range(times):
            prepare()
            self.application.processEvents()
            wall, cpu = time.perf_counter(), time.process_time()
            act()
            self.application.processEvents()
            walls.append((time.perf_counter() - wall) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
        print(
            f"  {name:34} median {statistics.median(walls):7.1f}  max {max(walls):7.1f}"
            f"   processor {statistics.median(cpus):7.1f}  ({times} times)",
            flush=True,
        )
        self.actions.append(Action(name, statistics.median(walls), statistics.median(cpus)))

    def close(self) -> None:
        self.page.close()
        self._garbage.close()
        self.context.document.close()


def measure(path: Path) -> Browsing:
    begin = time.perf_counter()
    bench = Bench(path)
    page = bench.page
    bench.wait(lambda: page.detail.known is not None or page.feed.complete)
    bench.wait(lambda: page.feed.complete)
    seconds = time.perf_counter() - begin
    print(f"{page.table.total} bugs, all read after {seconds:.1f} s")
    for name, values in (("wall clock", bench.lags), ("processor", bench.work)):
        late = sorted(values)[int(len(values) * 0.99)]
        print(f"  deaf while reading ({name}): 99 % under {late:.1f} ms, at most {max(values):.1f}")
    reading = list(bench.work)
    bench.wait(lambda: page.detail.known is not None)
    page.feed.stop()
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
    for text in ("gap>5", "gap>5 kind:fails", "status:new p0 -oracle:bmo"):
        bench.measure(
            f"filter '{text}'",
            lambda text=text: page.filter.set_text(text),
            5,
            lambda: page.filter.set_text(""),
        )
    bench.measure(
        "filter no more", lambda: page.filter.set_text(""), 5, lambda: page.filter.set_text("gap>5")
    )
    columns = {column.name: number for number, column in enumerate(page.table.columns)}
    one = [(columns["gap"], DESCENDING)]
    two = [(columns["problem"], DESCENDING), (columns["gap"], DESCENDING)]
    bench.measure("sort by one column", lambda: page.table.sort_by(list(one)), 5)
    bench.measure("sort by two columns", lambda: page.table.sort_by(list(two)), 5)
    page.table.sort_by([])
    for group in (GroupBy.REGION, GroupBy.PROBLEM, GroupBy.NOTHING):
        bench.measure(
            f"group: {group.value}",
            lambda group=group: _group(page, group),
            3,
            lambda: _group(page, GroupBy.KIND),
        )
    bench.close()
    return Browsing(reading, seconds, bench.actions)


def _to_the_end_and_back(view: BugsPage) -> Callable[[], None]:
    def go() -> None:
        QTest.keyClick(view, Qt.Key.Key_End)
        QTest.keyClick(view, Qt.Key.Key_Home)

    return go


def _scroll(page: BugsPage, by: int) -> None:
    bar = page.view.verticalScrollBar()
    bar.setValue((bar.value() + by) % max(1, bar.maximum()))
    page.view.viewport().repaint()


def _group(page: BugsPage, group: GroupBy) -> None:
    page.group.setCurrentIndex(page.group.findData(group))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--bugs", type=int, nargs="+", default=[10_000, 100_000])
    args = parser.parse_args()
    application = QApplication(sys.argv[:1])
    for count in args.bugs:
        measure_with(args.workspace, count)
    application.quit()
    return 0


def measure_with(workspace: Path, bugs: int) -> Browsing:
    """The browser on a copy of a workspace that has so many bugs."""
    with tempfile.TemporaryDirectory(prefix="plumbline-browser-") as folder:
        path = Path(folder) / "bugs.plumb"
        shutil.copy(workspace, path)
        fill(path, bugs)
        return measure(path)


def rows(setting: Setting) -> Iterator[Row]:
    application = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory(prefix="plumbline-browser-") as folder:
        real = workspace(EXAMPLES / "container-yard" / "campaign.toml", Path(folder))
        for bugs in setting.choose((10_000,), (1000,)):
            found = measure_with(real, bugs)
            next_bug, slowest = found.actions[0], max(found.actions, key=lambda a: a.processor)
            deaf = sorted(found.reading)[int(len(found.reading) * 0.99)]
            for what, milliseconds, remark in (
                ("deaf while reading, 99 %", deaf, f"all read after {found.seconds:.0f} s"),
                (next_bug.name, next_bug.processor, f"{next_bug.wall:.0f} ms of the clock"),
                ("slowest action", slowest.processor, slowest.name),
            ):
                yield Row(f"{bugs:,} bugs: {what}", milliseconds, "ms", remark=remark)
    application.quit()


if __name__ == "__main__":
    sys.exit(main())
