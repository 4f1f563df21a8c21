"""The workspaces somebody worked with lately, the latest first."""

from __future__ import annotations

from pathlib import Path

from app.settings import Settings

KEPT = 10
_NAME = "recent"


def recent_workspaces(settings: Settings) -> list[Path]:
    """Those that are still there."""
    names: list[object] = settings.get(_NAME, [])
    paths = [Path(name) for name in names if isinstance(name, str)]
    return [path for path in paths if path.exists()]


def last_workspace(settings: Settings) -> Path | None:
    """The one to start with, whether it is still there or not."""
    names: list[object] = settings.get(_NAME, [])
    return Path(names[0]) if names and isinstance(names[0], str) else None


def remember_workspace(settings: Settings, path: Path) -> None:
    others = [known for known in recent_workspaces(settings) if known != path]
    settings.set(_NAME, [str(known) for known in [path, *others][:KEPT]])


def forget_workspace(settings: Settings, path: Path) -> None:
    settings.set(_NAME, [str(known) for known in recent_workspaces(settings) if known != path])
