"""Where a workspace is saved to that is lost while a campaign writes to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.campaign import keeping
from engine.campaign.keeping import Keeper
from engine.campaign.store import Store
from engine.errors import WorkspaceError


def test_a_user_without_a_home_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container nobody may have made a home for the user."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    folder, last = tmp_path / "work", tmp_path / "last"
    for each in (folder, last):
        each.mkdir()
    monkeypatch.setattr(keeping.Path, "home", no_home)
    monkeypatch.setattr(keeping, "LAST_RESORT", last)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "ends with the process"))
    with Store.create(folder / "w.plumb") as store:
        keeper = Keeper(store)
        shutil.rmtree(folder)
        with pytest.raises(WorkspaceError, match=r"last.w-rescued\.plumb"):
            keeper.refuse_loss()
    with Store.open(last / "w-rescued.plumb") as rescued:
        assert rescued.campaigns() == []
