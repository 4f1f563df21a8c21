"""Our own files are found; temporary folders are gone afterward, also when interrupted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

import pytest

from engine import files
from engine.errors import DiskError
from engine.files import resource, scratch_folder


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
    """Before this many lines, of ours or of Python's library, were run; false if that is too late.

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


def test_no_place_for_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    with pytest.raises(DiskError, match="temporary files cannot be written"):
        fill_one()


def test_icons_and_examples_are_found_in_a_checkout() -> None:
    assert resource("icons", "plumbline.svg").is_file()
    assert list(resource("examples").glob("*/campaign.toml"))


def test_an_installed_package_has_files_of_its_own(tmp_path: Path) -> None:
    """Another package named `resources` may be beside ours then."""
    (tmp_path / "engine").mkdir()
    for name in ("__init__", "errors", "files"):
        shutil.copy(Path(files.__file__).with_name(f"{name}.py"), tmp_path / "engine")
    for name in ("plumbline_resources", "resources"):
        (tmp_path / name).mkdir()
    script = "from engine.files import resource; print(resource('icons'))"
    # Without site-packages the checkout is unknown, and the current folder is the installation.
    command = [sys.executable, "-S", "-c", script]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert found.strip() == str(tmp_path / "plumbline_resources" / "icons")
