"""Settings: kept, versioned, and never an obstacle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.services.settings import (
    MAX_RECENT,
    RECENT,
    VERSION,
    Settings,
    forget_workspace,
    last_workspace,
    recent_workspaces,
    remember_workspace,
)


def test_values_are_kept(tmp_path: Path, settings: Settings) -> None:
    settings.set("theme", "dark")
    settings.write()
    assert Settings(settings.path).get("theme", "system") == "dark"
    assert json.loads(settings.path.read_text())["version"] == VERSION


def test_changes_are_written_soon_and_told(qtbot: QtBot, settings: Settings) -> None:
    told: list[str] = []
    settings.changed.connect(told.append)
    settings.set("columns", [1, 2])
    settings.set("columns", [1, 2])
    assert told == ["columns"]
    qtbot.waitUntil(settings.path.exists, timeout=300_000)


def test_values_of_another_type_are_not_trusted(settings: Settings) -> None:
    settings.set("font-size", "large")
    assert settings.get("font-size", 10) == 10


def test_older_settings_are_migrated(settings: Settings) -> None:
    settings.path.write_text(json.dumps({"version": 1, "dark": True, "font-size": 12}))
    newer = Settings(settings.path)
    assert newer.get("theme", "system") == "dark"
    assert newer.get("font-size", 10) == 12
    assert newer.problem == ""


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": "x"}', "\x00", '{"version": 0}'])
def test_broken_settings_are_set_aside(settings: Settings, text: str) -> None:
    settings.path.write_text(text)
    again = Settings(settings.path)
    assert again.get("theme", "system") == "system"
    aside = settings.path.with_suffix(".broken.json")
    assert aside.read_text() == text
    assert str(aside) in again.problem


def test_settings_of_a_newer_version_are_kept_beside(settings: Settings) -> None:
    text = json.dumps({"version": VERSION + 1, "theme": {"name": "sepia"}})
    settings.path.write_text(text)
    older = Settings(settings.path)
    assert older.get("theme", "system") == "system"
    assert settings.path.with_suffix(f".version-{VERSION + 1}.json").read_text() == text


def test_two_programs_do_not_undo_each_others_changes(settings: Settings) -> None:
    other = Settings(settings.path)
    settings.set("theme", "dark")
    settings.write()
    other.set("font-size", 12)
    other.write()
    both = Settings(settings.path)
    assert (both.get("theme", ""), both.get("font-size", 0)) == ("dark", 12)


def test_a_place_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(tmp_path / "file" / "settings.json")
    settings.set("theme", "dark")
    settings.write()
    assert settings.get("theme", "") == "dark"


def test_recent_workspaces_are_those_that_still_exist(tmp_path: Path, settings: Settings) -> None:
    paths = [tmp_path / f"{number}.plumb" for number in range(MAX_RECENT + 2)]
    for path in paths:
        path.touch()
        remember_workspace(settings, path)
    assert recent_workspaces(settings) == paths[:1:-1]
    remember_workspace(settings, paths[5])
    assert recent_workspaces(settings)[0] == paths[5]
    paths[5].unlink()
    assert paths[5] not in recent_workspaces(settings)
    assert last_workspace(settings) == paths[5]
    forget_workspace(settings, paths[5])
    assert last_workspace(settings) == paths[-1]


def test_a_workspace_that_cannot_be_looked_at_is_left_out(
    settings: Settings, tmp_path: Path
) -> None:
    """As on a network drive that is gone: Python raises other errors than for a missing file."""
    path = tmp_path / "there.plumb"
    path.touch()
    settings.set(RECENT, [str(tmp_path / ("n" * 300)), str(path)])
    assert recent_workspaces(settings) == [path]
