"""Temporary folders: for us alone, gone afterwards, whenever we are interrupted."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from types import FrameType

import pytest

from engine.errors import DiskError
from engine.files import scratch_folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def fill_one() -> None:
    with scratch_folder("test") as folder:
        (folder / "below").mkdir()
        (folder / "below" / "file").touch()


def test_it_is_ours_alone_and_gone_afterwards(temporary: Path) -> None:
    with scratch_folder("test") as folder, scratch_folder("test") as other:
        assert {folder.parent, other.parent} == {temporary}
        assert folder != other
        assert folder.name.startswith("plumbline-test-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("text")
    assert not list(temporary.iterdir())


def is_interrupted(moment: int) -> bool:
    """Before so many lines, of ours or of Python's library, were run; false if that is too late.

    Of the library's own removal only the calls count: between two of its lines it cannot cope.
    """
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal lines
        removal = frame.f_code.co_filename == shutil.__file__
        lines += event == "call" or (event == "line" and not removal)
        if lines == moment:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        fill_one()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_moment_leaves_nothing(temporary: Path) -> None:
    moment = 1
    while is_interrupted(moment):
        assert not list(temporary.iterdir()), moment
        moment += 1
    assert moment > 100


def test_no_place_for_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    with pytest.raises(DiskError, match="temporary files cannot be handled"):
        fill_one()
