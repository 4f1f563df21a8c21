"""`plumbline dominance` as a user sees it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reference.random_tasks import make_task

from engine.cli import main
from engine.commands import dominance
from engine.errors import ExitCode
from engine.task.sas import write_sas
from engine.task.task import Operator


@pytest.fixture
def sas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A truck with three places in a row and a package."""
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "cache"))
    drives = [
        Operator(f"drive {x} {y}", ((0, x),), ((0, y),), 4)
        for x, y in ((0, 1), (1, 0), (1, 2), (2, 1))
    ]
    load = Operator("load", ((0, 0), (1, 0)), ((1, 1),), 1)
    drop = Operator("drop", ((0, 2), (1, 1)), ((1, 2),), 1)
    task = make_task((3, 3), (*drives, load, drop), (0, 0), ((1, 2),))
    path = tmp_path / "task.sas"
    path.write_text(write_sas(task))
    return lambda: str(path)


def test_atomic_values(sas: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dominance", sas(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    truck, package = document["factors"]
    assert truck["variables"] == [0]
    assert truck["states"] == 3
    assert [0, 2, -8] in truck["entries"]
    assert all(s != t for s, t, _ in truck["entries"])
    assert [1, 2, 1] in package["entries"] or [0, 1, 1] in package["entries"]
    assert document["seconds"] >= 0


def test_merged_values(sas: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dominance", sas(), "--factors", "merged:1000", "--json"]) == 0
    (factor,) = json.loads(capsys.readouterr().out)["factors"]
    assert sorted(factor["variables"]) == [0, 1]
    assert len(factor["values"]) == factor["states"]


def test_text(sas: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dominance", sas(), "--variant", "b"]) == 0
    assert "more expensive by at most 8" in capsys.readouterr().out


def test_a_wrong_factorization(sas: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dominance", sas(), "--factors", "merged:x"]) == 2
    assert "merged:1000" in capsys.readouterr().err


def test_a_time_limit_ends_merging(
    sas: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The limit has passed when the task is read: what takes time is not begun."""
    words = ["dominance", sas(), "--factors", "merged:1000", "--time-limit", "1e-9", "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert not document["complete"]
    assert [factor["variables"] for factor in document["factors"]] == [[0], [1]]


def test_a_memory_limit_ends_the_computation(
    sas: Callable[..., str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def large(*_: object, **__: object) -> None:
        np.ones(2**29)

    monkeypatch.setattr(dominance, "dominance_function", large)
    assert main(["dominance", sas(), "--memory-limit", "100"]) == ExitCode.LIMIT_REACHED
    assert "the memory limit was reached" in capsys.readouterr().err
    assert np.ones(2**26).size == 2**26  # the limit is that of the command alone
