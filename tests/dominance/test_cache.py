"""Functions on disk: the same after reading, never those of another task, never a crash."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.dominance import cache
from engine.dominance.compute import Variant, compute
from engine.records.config import Factorization
from engine.search.forward import SearchLimits
from engine.task.task import Task

Build = Callable[..., Task]
OPS = [({0: 0}, {0: 1, 1: 1}, 1), ({0: 1}, {0: 0}, 1), ({1: 1}, {2: 1}, 1)]


def task_of(build: Build, cost: int = 1) -> Task:
    return build((2, 2, 2), [*OPS, ({}, {0: 1}, cost)], (0, 0, 0), {1: 1, 2: 1})


def test_read_again_it_is_the_same(build: Build, own_cache: Path) -> None:
    first = cache.dominance_function(task_of(build), Factorization(30))
    (path,) = (own_cache / "dominance").iterdir()
    again = cache.read(path, task_of(build))
    assert again is not None
    assert again.finer is not None
    for one, other in zip(first.factors, again.factors, strict=True):
        assert one.variables == other.variables
        for name in ("lookup", "table", "base"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_it_is_computed_once(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_of(build)
    function = cache.dominance_function(task, Factorization())
    monkeypatch.setattr(cache, "compute", None)
    assert cache.dominance_function(task, Factorization()) is function
    assert cache.dominance_function(task_of(build), Factorization()).variant == "r"


def test_another_question_has_another_answer(build: Build, own_cache: Path) -> None:
    task = task_of(build)
    for variant in Variant:
        cache.dominance_function(task, Factorization(), variant)
    cache.dominance_function(task_of(build, cost=2), Factorization())
    assert len(list((own_cache / "dominance").iterdir())) == 4


def test_a_function_of_another_encoding_is_not_used(build: Build, own_cache: Path) -> None:
    """P14: a file under the wrong name."""
    cache.dominance_function(task_of(build), Factorization())
    (path,) = (own_cache / "dominance").iterdir()
    assert cache.read(path, task_of(build, cost=2)) is None


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", b"x" * 100], ids=len)
def test_a_damaged_file_is_computed_again(build: Build, own_cache: Path, damage: bytes) -> None:
    function = cache.dominance_function(task_of(build), Factorization())
    (path,) = (own_cache / "dominance").iterdir()
    path.write_bytes(damage)
    again = cache.dominance_function(task_of(build), Factorization())
    assert np.array_equal(again.factors[0].table, function.factors[0].table)
    assert cache.read(path, task_of(build)) is not None


def test_what_a_limit_made_weaker_is_not_kept(build: Build, own_cache: Path) -> None:
    limits = SearchLimits(expansions=1)
    function = cache.dominance_function(task_of(build), Factorization(), limits=limits)
    assert not function.complete
    assert not (own_cache / "dominance").exists()


def test_a_folder_that_cannot_be_written_does_not_matter(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "file"))
    assert cache.dominance_function(task_of(build), Factorization()).complete


def test_the_folder_stays_small_and_the_least_recently_used_go_first(
    build: Build, tmp_path: Path
) -> None:
    functions = [compute(task_of(build, cost), Factorization()) for cost in (1, 2, 3)]
    paths = [tmp_path / "kept" / f"{number}.npz" for number in range(3)]
    cache.write(paths[0], functions[0])
    most = int(2.5 * paths[0].stat().st_size)
    cache.write(paths[1], functions[1], most)
    for number, path in enumerate(paths[:2]):
        os.utime(path, (number + 1, number + 1))
    assert cache.read(paths[0], task_of(build, 1)) is not None  # used last of the two
    cache.write(paths[2], functions[2], most)
    assert sorted(paths[0].parent.iterdir()) == [paths[0], paths[2]]


def test_too_big_a_function_is_not_kept(build: Build, tmp_path: Path) -> None:
    cache.write(tmp_path / "kept" / "0.npz", compute(task_of(build), Factorization()), 100)
    assert not (tmp_path / "kept").exists()
