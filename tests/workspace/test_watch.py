"""Where a workspace is saved to that is lost while a campaign writes to it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from engine.errors import WorkspaceError
from engine.workspace import backup
from engine.workspace.workspace import Workspace


def test_a_user_without_a_home_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container the user may have no home folder."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    folder, last = tmp_path / "work", tmp_path / "last"
    for each in (folder, last):
        each.mkdir()
    monkeypatch.setattr(backup.Path, "home", no_home)
    monkeypatch.setattr(backup, "LAST_RESORT", last)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "ends with the process"))
    lost = pytest.raises(WorkspaceError, match=r"last.w-rescued\.plumb")
    with Workspace.create(folder / "w.plumb") as store, lost, store.writing():
        shutil.rmtree(folder)
    with Workspace.open(last / "w-rescued.plumb") as rescued:
        assert rescued.campaigns() == []


def test_a_folder_that_became_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner has closed it, or the server is gone that had it."""
    folder, home = tmp_path / "work", tmp_path / "home"
    for each in (folder, home):
        each.mkdir()
    look = Path.stat

    def closed(path: Path, **options: bool) -> os.stat_result:
        if path.is_relative_to(folder):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path, **options)

    with Workspace.create(folder / "w.plumb") as store:
        monkeypatch.setattr(backup.Path, "home", lambda: home)
        with pytest.raises(WorkspaceError, match=r"home.w-rescued\.plumb"), store.writing():
            monkeypatch.setattr(Path, "stat", closed)
