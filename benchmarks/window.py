"""How quick the window is: when it appears, how it keeps up with a campaign, how it stops.

    python benchmarks/window.py start [--times 5]
    python benchmarks/window.py lag [CONFIG.toml] [--seconds 60]

`start` runs the program again and again, in turn with version 0.1 if `baseline.py` has built it,
until its window has been painted and the files of the example have been checked. `lag` runs a
campaign as a user does, looks at all screens meanwhile, and measures with a timer how late the
event loop is; before that the same without a campaign, to tell the machine from the program. Then
it stops the campaign and measures how long that takes. Works without a screen
(QT_QPA_PLATFORM=offscreen).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from baseline import BASELINE_PROGRAMS, TREE, build
from measurement import Row, Setting, compared

if TYPE_CHECKING:
    from app.shell.application import Application
    from app.shell.main_window import MainWindow

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "resources" / "examples" / "parcel-delivery" / "campaign.toml"
PATIENCE_SECONDS = 300.0
PROBE_MILLISECONDS = 10
LOOK_SECONDS = 3.0
WORST = 8
LATE_MILLISECONDS = 80.0
FRAMES = 3

# The program as it is, except for an eye on the first picture of its window, and on its project.
_START = """
import sys, time
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

class Eye(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and type(watched).__name__ == "MainWindow":
            print(time.time(), time.process_time(), flush=True)
            QApplication.instance().removeEventFilter(self)
            self.timer = QTimer(interval=5)
            self.timer.timeout.connect(self.look)
            self.timer.start()
            self.document = watched.context.document
        return False

    def look(self):
        from app.models.project_files import ProjectFiles
        files = self.document.findChild(ProjectFiles)
        if files.policies and not files.is_busy:
            self.timer.stop()
            print(time.time(), flush=True)
            QApplication.exit(0)

original = QApplication.exec
def execute(*args):
    eye = Eye()
    QApplication.instance().installEventFilter(eye)
    for window in QApplication.topLevelWidgets():
        window.update()
    return original()
QApplication.exec = execute
from app.__main__ import main
sys.exit(main([]))
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["start", "lag"])
    parser.add_argument("config", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with at_home_elsewhere():
        if options.what == "start":
            measure_start(options.times)
        else:
            measure_lag(options.config, options.seconds)
    return 0


@contextmanager
def at_home_elsewhere() -> Iterator[None]:
    """So that the user's settings and workspaces stay as they are."""
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as home:
        os.environ |= {f"XDG_{name}_HOME": home for name in ("CONFIG", "DATA", "STATE")}
        if not os.environ.get("DISPLAY"):
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        yield


def rows(setting: Setting) -> Iterator[Row]:
    with at_home_elsewhere():
        if not setting.quick:
            build()
        yield from start_rows(measure_start(setting.choose(7, 1)))
        lag = measure_lag(long_campaign(setting.data), setting.choose(45.0, 15.0))
    for what, clock in (("busy", ""), ("late", "clock; ")):
        running, idle = (
            sorted(getattr(tick, what) for tick in ticks) for ticks in (lag.running, lag.idle)
        )
        yield Row(
            f"event loop {what} while a campaign runs, 99 %",
            running[int(len(running) * 0.99)],
            "ms",
            "without a campaign",
            idle[int(len(idle) * 0.99)],
            instances=len(running),
            remark=f"{clock}at most {running[-1]:.0f} ms, without {idle[-1]:.0f} ms",
        )
    remark = "clock" if lag.stopping is not None else "it had come to its end before"
    yield Row("until a campaign has stopped", lag.stopping, "s", remark=remark)


SATELLITE = """\
domain = "{0}/domain.pddl"
problems = ["{0}/problems/pfile5.pddl"]
policies = ["{0}/*.policy"]
fuzzing.size = 20000
fuzzing.budget = 100000
testing.oracles = ["aras-ehc:expansions=1000", "lookahead:depth=1", "bmo"]
"""


def long_campaign(data: Path | None) -> Path:
    """A campaign that outlasts the measurement: with a published policy, or else the example's."""
    from engine.campaign.config_reader import read_config
    from engine.campaign.config_writer import config_text

    path = workspace_path().with_suffix(".toml")
    published = data and data / "asnets" / "satellite"
    if published and published.is_dir():
        path.write_text(SATELLITE.format(published))
    else:
        path.write_text(config_text(read_config(EXAMPLE).with_seeds(*range(200)), path))
    return path


@dataclass(frozen=True, slots=True)
class Lag:
    """Ticks without and with a campaign, and how long it took to stop it, if it still ran."""

    idle: list[Tick]
    running: list[Tick]
    stopping: float | None


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds until the window is painted, and until all is known about the example's files."""

    painted: float
    cpu: float  # of the window's process, until it is painted
    checked: float


def measure_start(times: int) -> list[tuple[Start, Start | None]]:
    """Starts now, and of version 0.1 if there is one."""
    trees = [ROOT, TREE] if BASELINE_PROGRAMS.exists() else [ROOT]
    starts = []
    for number in range(times + 1):
        pair = [start_once(tree) for tree in trees]
        if number > 0:  # the first one is cold
            starts.append((pair[0], pair[1] if len(pair) > 1 else None))
    for row in start_rows(starts):
        print(f"{row.what}: {row.ours:.2f} s; 0.1: {row.theirs or 0:.2f} s; {row.ratio or 0:.2f}")
    return starts


def start_once(tree: Path) -> Start:
    """In a home of its own: one version cannot read the workspaces of the other."""
    home = Path(os.environ["XDG_DATA_HOME"]) / tree.name
    home.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **{f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "DATA", "STATE")},
        "PLUMBLINE_CACHE_DIR": str(home / "cache"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has been compiled
    before = time.time()
    done = subprocess.run(
        [tree / ".venv" / "bin" / "python", "-c", _START],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    painted, cpu, checked = map(float, done.stdout.split())
    return Start(painted - before, cpu, checked - before)


def start_rows(starts: list[tuple[Start, Start | None]]) -> Iterator[Row]:
    for what, name, remark in (
        ("from the start to the window", "painted", "clock"),
        ("from the start to the window, CPU", "cpu", "of its process"),
        ("from the start to the example, checked", "checked", "clock"),
    ):
        ours = [getattr(now, name) for now, _ in starts]
        theirs = [getattr(before, name) for _, before in starts if before is not None]
        if theirs:
            yield compared(what, "version 0.1", list(zip(ours, theirs, strict=True)), "s", remark)
        else:
            yield Row(what, statistics.median(ours), "s", instances=len(ours), remark=remark)


def workspace_path() -> Path:
    from app.services.folders import workspaces_folder

    return workspaces_folder() / "lag.plumb"


def open_window(config: Path) -> tuple[Application, MainWindow]:
    """On a new workspace with a campaign to be started; all screens have been seen once."""
    from PySide6.QtWidgets import QApplication

    from app.shell.application import Application
    from app.shell.warm_up import steps_for
    from engine.campaign.config_reader import read_config
    from engine.records.project import Project
    from engine.workers.launch import prepare
    from engine.workspace.workspace import Workspace

    path = workspace_path()
    read = read_config(config)
    with Workspace.create(path) as store:
        store.set_project(
            Project(
                domain=read.domain,
                problems=tuple(read.problems),
                policies=tuple(read.policies),
                portfolio=tuple(read.portfolio),
                unit_costs=read.unit_costs,
                draft=read,
            )
        )
    prepare()
    application = Application(QApplication([]))
    application.start(path)
    (window,) = application.windows
    for page in window.pages:
        window.show_page(page.name)
    for step in steps_for(window):
        step()
    wait_for(lambda: not window.context.jobs.running)
    return application, window


def measure_lag(config: Path, seconds: float) -> Lag:
    application, window = open_window(config)
    screens = [page.name for page in window.pages]

    def screen() -> str:
        return window.current_page.name

    def look_around(until: Callable[[], bool], limit: float) -> None:
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline and not until():
            for screen in screens:
                window.show_page(screen)
                wait_for(until, LOOK_SECONDS)

    idle = probe(lambda: look_around(lambda: False, seconds / 3), screen)
    report("nothing runs", idle)
    window.show_page("campaign")
    campaign = window.page("campaign")
    (run, *_) = campaign.page_actions()
    run.trigger()
    assert window.context.jobs.running, "the campaign did not start"
    (job,) = window.context.jobs.running
    ended: list[float] = []
    job.ended.connect(lambda: ended.append(time.monotonic()))
    running = probe(lambda: look_around(lambda: bool(ended), seconds), screen)
    report("a campaign runs", running)
    stopping = None
    if ended:
        print("the campaign ended before it could be stopped: give it a longer one")
    else:
        asked = time.monotonic()
        job.stop()
        wait_for(lambda: bool(ended))
        stopping = ended[0] - asked
        print(f"stopped after {stopping:.2f} s")
    application.quit()
    return Lag(idle, running, stopping)


def wait_for(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop, deadline = QEventLoop(), time.monotonic() + seconds
    timer = QTimer()
    timer.setInterval(PROBE_MILLISECONDS)
    timer.timeout.connect(
        lambda: loop.quit() if condition() or time.monotonic() > deadline else None
    )
    timer.start()
    loop.exec()


@dataclass(frozen=True, order=True)
class Tick:
    """How late the event loop was, and how long it was busy itself; the rest is the machine's."""

    late: float
    busy: float
    screen: str
    where: str = ""


BEAT = f"""
import sys, threading, time
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
late, last = [], time.monotonic()
while not over.wait({PROBE_MILLISECONDS / 1000}):
    now = time.monotonic()
    late.append((now - last) * 1000 - {PROBE_MILLISECONDS})
    last = now
late.sort()
print(late[int(len(late) * 0.99)], late[-1])
"""


class Beat:
    """A process that does nothing but wake up as often: how late it is, is the machine's fault."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def end(self) -> tuple[float, float]:
        """How late in 99 % of all times, and at most, in milliseconds."""
        p99, most = self._process.communicate()[0].split()
        return float(p99), float(most)


class Watch:
    """Looks from another thread where the window's thread is whenever it is late."""

    def __init__(self) -> None:
        self._window = threading.main_thread().ident
        self._task = threading.get_native_id()
        self._since = time.monotonic()
        self._where = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def turn(self) -> str:
        """The event loop has turned; where it was if it took too long."""
        self._since, where, self._where = time.monotonic(), self._where, ""
        return where

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(PROBE_MILLISECONDS / 1000):
            if self._where or (time.monotonic() - self._since) * 1000 < LATE_MILLISECONDS:
                continue
            kernel = Path(f"/proc/self/task/{self._task}/wchan").read_text()
            self._where = f"{self._frames()} ({kernel})"

    def _frames(self) -> str:
        """Quickly: what a frame holds must not be freed in this thread."""
        assert self._window is not None
        frame: FrameType | None = sys._current_frames()[self._window]
        places = []
        while frame is not None and len(places) < FRAMES:
            places.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        return " < ".join(f"{Path(name).name}:{line}" for name, line in places)


def probe(do: Callable[[], None], screen: Callable[[], str]) -> list[Tick]:
    """One tick every few milliseconds; times in milliseconds."""
    from PySide6.QtCore import Qt, QTimer

    ticks: list[Tick] = []
    watch = Watch()
    last, busy = time.monotonic(), time.thread_time()

    def tick() -> None:
        nonlocal last, busy
        now, used = time.monotonic(), time.thread_time()
        late = max(0.0, (now - last) * 1000 - PROBE_MILLISECONDS)
        ticks.append(Tick(late, (used - busy) * 1000, screen(), watch.turn()))
        last, busy = now, used

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(PROBE_MILLISECONDS)
    timer.timeout.connect(tick)
    timer.start()
    do()
    timer.stop()
    watch.close()
    return ticks


def report(what: str, ticks: list[Tick]) -> None:
    for name, values in (
        ("late", sorted(tick.late for tick in ticks)),
        ("busy", sorted(tick.busy for tick in ticks)),
    ):
        median, p99 = values[len(values) // 2], values[int(len(values) * 0.99)]
        print(
            f"{what}: {name} for {median:.1f} ms (median), {p99:.1f} ms (p99), "
            f"{values[-1]:.1f} ms (most)"
        )
    for tick in sorted(ticks)[: -WORST - 1 : -1]:
        print(f"  {tick.late:.0f} ms late, {tick.busy:.0f} ms busy on {tick.screen} {tick.where}")


if __name__ == "__main__":
    sys.exit(main())
