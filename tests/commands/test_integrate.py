"""`plumbline integrate`: says what it did, and where something is in its way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import cli
from engine.errors import ExitCode


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_what_was_written_and_removed_is_reported(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["integrate", "--json"]) == ExitCode.DONE
    written = json.loads(capsys.readouterr().out)
    assert written["installed"] is True
    assert str(home / "applications/plumbline.desktop") in written["files"]
    assert all(Path(name).is_file() for name in written["files"])
    assert cli.main(["integrate", "--remove", "--json"]) == ExitCode.DONE
    removed = json.loads(capsys.readouterr().out)
    assert removed["installed"] is False
    assert removed["files"] == written["files"]
    assert not any(home.iterdir())


def test_people_read_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = home / "applications/plumbline.desktop"
    cli.main(["integrate"])
    assert f"Wrote {entry}\n" in capsys.readouterr().out
    entry.write_text("changed")
    cli.main(["integrate", "--remove"])
    assert f"Kept {entry}, because it was changed\n" in capsys.readouterr().out
    cli.main(["integrate", "--remove"])
    assert capsys.readouterr().out == "Nothing to remove.\n"


def test_a_file_in_the_way_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = home / "applications/plumbline.desktop"
    entry.parent.mkdir()
    entry.write_text("mine")
    assert cli.main(["integrate"]) == ExitCode.BAD_INPUT
    assert f"error: {entry}: this file was not written by Plumbline" in capsys.readouterr().err
