from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from engine.caches import cache_folder
from engine.task.translation_cache import TranslationCache, cache_key

KEY = cache_key(b"a", b"b")


def test_key_depends_on_where_one_part_ends() -> None:
    assert cache_key(b"ab", b"c") != cache_key(b"a", b"bc")


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    cache = TranslationCache(tmp_path / "new" / "folder")
    assert cache.get(KEY) is None
    cache.put(KEY, "some task")
    assert cache.get(KEY) == "some task"
    assert [path.suffix for path in cache.folder.iterdir()] == [".gz"]


CUT_SHORT = gzip.compress(b"some task", mtime=0)[:-3]


@pytest.mark.parametrize("damage", [b"", b"nonsense", CUT_SHORT], ids=["empty", "nonsense", "cut"])
def test_damaged_entries_are_ignored_and_replaced(tmp_path: Path, damage: bytes) -> None:
    cache = TranslationCache(tmp_path)
    cache.put(KEY, "some task")
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(damage)
    assert cache.get(KEY) is None
    cache.put(KEY, "some task")
    assert cache.get(KEY) == "some task"


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    texts = [os.urandom(400).hex() for _ in range(4)]
    cache = TranslationCache(tmp_path, max_bytes=1700)
    for number, text in enumerate(texts[:3]):
        cache.put(str(number), text)
        os.utime(tmp_path / f"{number}.sas.gz", (number + 1, number + 1))
    assert cache.get("0") == texts[0]
    cache.put("3", texts[3])
    kept = {key for key in "0123" if cache.get(key) is not None}
    assert kept == {"0", "3", "2"}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= cache.max_bytes


def test_too_big_an_entry_is_not_kept(tmp_path: Path) -> None:
    cache = TranslationCache(tmp_path, max_bytes=100)
    cache.put(KEY, os.urandom(400).hex())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_exist_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = TranslationCache(tmp_path / "file" / "folder")
    cache.put(KEY, "some task")
    assert cache.get(KEY) is None


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("PLUMBLINE_CACHE_DIR")
    assert cache_folder().name == "plumbline"
