"""A window on a real X server, if only one in memory: opened, used by keyboard, grabbed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from app.models.project_files import project_files
from app.shell.application import Application

qt = QApplication([])
assert qt.platformName() == "xcb"
application = Application(qt)
application.start()
(window,) = application.windows
assert QTest.qWaitForWindowExposed(window, 60_000)
window.activateWindow()  # there is no window manager to do it
assert QTest.qWaitForWindowActive(window, 60_000)
seen = []
for number in range(len(window.pages)):
    QTest.keyClick(window, Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.ControlModifier)
    seen.append(window.current_page.name)
    assert not window.grab().toImage().isNull()
assert seen == [page.name for page in window.pages], seen
window.grab().save(sys.argv[1])
while project_files(window.context).is_busy:
    QTest.qWait(20)
application.quit()
assert not application.windows
print("shown", *seen)
"""


@pytest.fixture
def display() -> Iterator[str]:
    """The server chooses a free number by itself and tells it."""
    program = shutil.which("Xvfb")
    assert program is not None, "tools/setup.py installs it"
    read, write = os.pipe()
    with subprocess.Popen(
        [program, "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        assert number, "the X server did not start"
        yield f":{number}"
        server.terminate()


def test_the_window_works_on_an_x_server(display: str, own_folders: Path, tmp_path: Path) -> None:
    del own_folders
    picture = tmp_path / "window.png"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(picture)],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shown ")
    assert picture.stat().st_size > 10_000
