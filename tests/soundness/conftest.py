"""What those need who forge claims: the command in this process, and a workspace that is true."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from reference.forged_claims import make_true_workspace

from engine.cli import main

Verify = Callable[[Path], tuple[int, dict[str, Any]]]


@pytest.fixture(scope="session")
def true_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_true_workspace(tmp_path_factory.mktemp("true"))


@pytest.fixture(scope="session")
def translations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("translations")


@pytest.fixture
def verify(
    translations: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Verify:
    """The command in this process; files are translated once for all tests, by their contents."""

    @contextmanager
    def keep(_: str) -> Iterator[Path]:
        yield translations

    monkeypatch.setattr("engine.verify.stored.scratch_folder", keep)
    monkeypatch.setattr("engine.verify.stored.val_program", lambda: None)

    def call(path: Path) -> tuple[int, dict[str, Any]]:
        code = main(["verify", str(path), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call
