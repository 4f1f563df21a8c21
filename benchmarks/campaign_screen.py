"""What a running campaign costs the window: how often plots are drawn, how long each step takes.

    python benchmarks/campaign_screen.py [CONFIG.toml] [--seconds 30]

Runs a campaign on the campaign screen and counts how often each plot is drawn (ten times a second
is the most). Of what the window does meanwhile the longest and the total processor time of the
window's own thread are given, which does not depend on how busy the machine is; the lag of its
event loop does. Works without a screen.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from measurement import Row, Setting
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.campaign_monitor import CampaignMonitor
from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.garbage import GarbageCollector
from app.shell.main_window import MainWindow
from app.views.campaign.campaign_list import CampaignList
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from app.widgets.plot import Plot
from engine.campaign.config_reader import read_config
from engine.records.project import Project

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "resources" / "examples" / "parcel-delivery" / "campaign.toml"
PROBE_MILLISECONDS = 10
MOST_DRAWINGS = 10
PATIENCE_SECONDS = 300.0


class Costs:
    """Processor time of methods, by name."""

    def __init__(self) -> None:
        self.times: defaultdict[str, list[float]] = defaultdict(list)

    def watch(self, owner: type, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def measured(*arguments: Any) -> Any:
            began = time.thread_time()
            try:
                return original(*arguments)
            finally:
                self.times[f"{owner.__name__}.{name}"].append(time.thread_time() - began)

        setattr(owner, name, measured)

    def lines(self, seconds: float) -> list[str]:
        return [
            f"{name:<32} {len(times) / seconds:6.1f}/s   longest {1000 * max(times):6.1f} ms   "
            f"{100 * sum(times) / seconds:5.2f} % of a core"
            for name, times in sorted(self.times.items())
        ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as home:
        measure(options.config, options.seconds, Path(home), watched())
    return 0


def rows(setting: Setting) -> Iterator[Row]:
    costs = watched()
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as home:
        spent, rates = measure(EXAMPLE, setting.choose(20.0, 3.0), Path(home), costs)
    what = "drawings of a plot in a second, at most"
    yield Row(what, max(rates), "1/s", "allowed", MOST_DRAWINGS, instances=len(rates))
    name, longest = max(costs.times.items(), key=lambda item: max(item[1]))
    drawing = 100 * sum(costs.times["Plot._draw"]) / spent
    yield Row(
        "longest step of the window while a campaign runs",
        1000 * max(longest),
        "ms",
        instances=sum(map(len, costs.times.values())),
        remark=f"{name}; drawing takes {drawing:.2f} % of a core",
    )


def watched() -> Costs:
    """What the window does while a campaign runs."""
    costs = Costs()
    costs.watch(Plot, "_draw")
    costs.watch(CampaignMonitor, "_on_look")
    costs.watch(CampaignView, "refresh")
    costs.watch(CampaignList, "refresh")
    return costs


def measure(config: Path, seconds: float, home: Path, costs: Costs) -> tuple[float, list[float]]:
    """Seconds of the clock, and how often a second each plot was drawn."""
    application = QApplication([])
    garbage = GarbageCollector(application)
    garbage.keep()
    theme = Theme()
    theme.set_mode("light")
    document = Document.create(home / "w.plumb")
    read = read_config(config)
    document.store.set_project(
        Project(read.domain, read.problems, read.policies, read.portfolio, draft=read)
    )
    window = MainWindow(document, Settings(home / "settings.json"), theme)
    window.show()
    window.show_page("campaign")
    page = window.current_page
    assert isinstance(page, CampaignPage)
    _wait(lambda: not page.files.is_busy)
    lags = _probe(window)
    page.run()
    _wait(lambda: page.monitor.progress is not None and page.monitor.progress.states > 0)
    costs.times.clear()
    lags.clear()
    drawn = _count_draws(page)
    began = time.monotonic()
    _wait(lambda: not page.controller.is_busy or time.monotonic() - began > seconds)
    spent = time.monotonic() - began
    print(f"{page.monitor.progress.states} states in {spent:.1f} s")
    for name, count in drawn.items():
        print(f"{name:<32} {count[0] / spent:6.1f} drawings/s")
    print("\n".join(costs.lines(spent)))
    lags.sort()
    print(
        f"event loop late by {1000 * lags[len(lags) // 2]:.0f} ms (median), "
        f"{1000 * lags[-1 - len(lags) // 100]:.0f} ms (99 %), {1000 * lags[-1]:.0f} ms (most)"
    )
    window.context.jobs.stop_all(wait=True)
    _wait(lambda: not window.context.jobs.running)
    window.close()
    garbage.close()
    application.processEvents()
    return spent, [count[0] / spent for count in drawn.values()]


def _probe(window: MainWindow) -> list[float]:
    lags: list[float] = []
    last = [time.monotonic()]

    def tick() -> None:
        now = time.monotonic()
        lags.append(max(0.0, now - last[0] - PROBE_MILLISECONDS / 1000))
        last[0] = now

    timer = QTimer(window)
    timer.timeout.connect(tick)
    timer.start(PROBE_MILLISECONDS)
    return lags


def _count_draws(page: CampaignPage) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for plot in page.findChildren(Plot):
        count = counts[plot.objectName()] = [0]

        def add(count: list[int] = count) -> None:
            count[0] += 1

        plot.drawn.connect(add)
    return counts


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        QTest.qWait(5)


if __name__ == "__main__":
    raise SystemExit(main())
