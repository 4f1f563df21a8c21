"""Folders: how the window writes them, where files go, and how to see them on the desktop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.messages import Messages
from app.settings import Settings
from app.workspaces import workspaces_folder


def show_in_desktop(path: Path, messages: Messages) -> None:
    """A folder in the file manager, or a file in the program for it."""
    if not path.exists():
        messages.warning(f"It is not there any more: {path}")
    elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        messages.warning(f"No program on this computer opens {path}")


def last_folder(settings: Settings, key: str, workspace: Path) -> Path:
    """Where the last file of a kind went; at first beside the workspace, if people look there."""
    hidden = workspace.resolve().parent == workspaces_folder().resolve()
    beside = Path.home() if hidden else workspace.parent
    last = Path(settings.get(key, str(beside)))
    return last if last.is_dir() else beside


def short_path(path: Path) -> str:
    """With ~ for the user's own folder."""
    home = Path.home()
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)
