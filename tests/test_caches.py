"""Caches on disk: measured, limited by what the user says, cleared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.caches import DEFAULT_MEGABYTES, DOMINANCE, TRANSLATIONS, keep
from engine.task.translation_cache import TranslationCache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path))
    return tmp_path


def fill(names: str, size: int) -> None:
    for age, name in enumerate(names):
        path = DOMINANCE.folder / name
        keep(path, b"x" * size, DOMINANCE.max_bytes())
        os.utime(path, (age, age))


def test_nothing_is_there_at_first() -> None:
    assert TRANSLATIONS.size() == 0
    assert TRANSLATIONS.limit_megabytes() == DEFAULT_MEGABYTES
    TRANSLATIONS.clear()


def test_a_smaller_limit_holds_at_once_and_from_then_on() -> None:
    fill("abc", 900_000)
    assert DOMINANCE.size() == 2_700_000
    DOMINANCE.set_limit(2)
    assert sorted(path.name for path in DOMINANCE.folder.iterdir()) == ["b", "c"]
    keep(DOMINANCE.folder / "d", b"x" * 900_000, DOMINANCE.max_bytes())
    assert sorted(path.name for path in DOMINANCE.folder.iterdir()) == ["c", "d"]
    assert TRANSLATIONS.limit_megabytes() == DEFAULT_MEGABYTES


def test_a_limit_of_nothing_keeps_nothing() -> None:
    TRANSLATIONS.set_limit(0)
    cache = TranslationCache.of_user()
    cache.put("key", "text")
    assert cache.get("key") is None
    TRANSLATIONS.set_limit(1)
    cache = TranslationCache.of_user()
    cache.put("key", "text")
    assert cache.get("key") == "text"


def test_clearing_leaves_the_other_cache_alone() -> None:
    fill("ab", 10)
    TranslationCache.of_user().put("key", "text")
    DOMINANCE.clear()
    assert DOMINANCE.size() == 0
    assert TRANSLATIONS.size() > 0


@pytest.mark.parametrize("text", ["", "[]", "{", '{"dominance": "many"}', '{"dominance": -1}'])
def test_limits_that_make_no_sense_are_ignored(folder: Path, text: str) -> None:
    (folder / "limits.json").write_text(text)
    assert DOMINANCE.limit_megabytes() == DEFAULT_MEGABYTES
    DOMINANCE.set_limit(7)
    assert DOMINANCE.limit_megabytes() == 7
