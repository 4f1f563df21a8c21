"""The unexpected is written down, and offered at the next start."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.shell.crash import CrashLog
from engine.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def told() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def log(tmp_path: Path, told: list[tuple[str, str]]) -> CrashLog:
    return CrashLog(tmp_path / "crashes", lambda text, details: told.append((text, details)))


def raised(error: Exception) -> Exception:
    try:
        raise error
    except type(error):
        return error


def test_an_exception_is_reported_and_read_once(
    log: CrashLog, told: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    error = raised(KeyError("surprise"))
    log.on_exception(KeyError, error, error.__traceback__)
    ((text, details),) = told
    assert "KeyError" in text
    assert "in raised" in details
    assert "KeyError: 'surprise'" in capsys.readouterr().err
    again = CrashLog(log.folder)
    report = again.unread()
    assert "Plumbline" in report
    assert "KeyError: 'surprise'" in report
    assert again.unread() == ""


def test_a_users_error_is_no_crash(log: CrashLog, told: list[tuple[str, str]]) -> None:
    error = raised(UsageError("no such thing", hint="choose another"))
    log.on_exception(UsageError, error, error.__traceback__)
    assert told == [("no such thing; choose another", "")]
    assert log.unread() == ""


def test_exceptions_of_threads_are_kept_too(
    log: CrashLog, capsys: pytest.CaptureFixture[str]
) -> None:
    log.install()
    try:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    finally:
        log.uninstall()
    assert "ZeroDivisionError" in log.unread()
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_crash_below_python_leaves_its_trace(tmp_path: Path) -> None:
    code = (
        "import sys, os, signal, pathlib; from app.shell.crash import CrashLog\n"
        "CrashLog(pathlib.Path(sys.argv[1])).install(); os.kill(os.getpid(), signal.SIGSEGV)"
    )
    folder = tmp_path / "crashes"
    done = subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, check=False)
    assert done.returncode < 0
    assert "Segmentation fault" in CrashLog(folder).unread()


def test_a_good_end_leaves_nothing(log: CrashLog) -> None:
    log.install()
    log.uninstall()
    assert list(log.folder.iterdir()) == []
    assert log.unread() == ""


def test_a_running_program_keeps_its_file(log: CrashLog) -> None:
    log.install()
    try:
        assert CrashLog(log.folder).unread() == ""
        assert len(list(log.folder.iterdir())) == 1
    finally:
        log.uninstall()


def test_a_disk_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = CrashLog(tmp_path / "file" / "crashes")
    log.install()
    log.write("nothing")
    log.uninstall()
    assert log.unread() == ""
