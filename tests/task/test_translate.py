from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from engine.errors import CancelledError, LimitReachedError, TranslationError
from engine.task import translate as module
from engine.task.sas import parse_sas
from engine.task.translate import Limits, translate
from engine.task.translation_cache import TranslationCache


@pytest.fixture
def cache(tmp_path: Path) -> TranslationCache:
    return TranslationCache(tmp_path / "cache")


@pytest.fixture
def big(courier) -> tuple[bytes, bytes]:
    """A problem that takes many seconds to translate."""
    letters = " ".join(f"x{number}" for number in range(2000))
    places = " ".join(f"y{number}" for number in range(60))
    paths = " ".join(f"(path y{a} y{b})" for a in range(60) for b in range(60))
    lies = " ".join(f"(lies x{number} home)" for number in range(2000))
    text = courier.problem.read_text()
    text = text.replace("(:objects", f"(:objects {letters} - letter {places} - place")
    text = text.replace("(:init", f"(:init (path home y0) {lies} {paths}")
    return courier.domain.read_bytes(), text.encode()


def test_keeps_what_the_goal_does_not_need(courier, cache: TranslationCache) -> None:
    translation = translate(courier.domain.read_bytes(), courier.problem.read_bytes(), cache=cache)
    task = parse_sas(translation.sas)
    facts = {name for variable in task.variables for name in variable.values}
    assert "Atom rested()" in facts
    assert "rest" in task.operator_index


def test_it_is_never_loaded_into_this_process(courier, cache: TranslationCache) -> None:
    translate(courier.domain.read_bytes(), courier.problem.read_bytes(), cache=cache)
    assert not any(name.partition(".")[0] == "fast_downward" for name in sys.modules)


def test_second_time_comes_from_the_cache(courier, cache: TranslationCache) -> None:
    stages: list[str] = []
    texts = courier.domain.read_bytes(), courier.problem.read_bytes()
    first = translate(*texts, cache=cache, progress=stages.append)
    assert not first.from_cache
    assert stages[0] == "Parsing"
    assert "Instantiating" in stages
    second = translate(*texts, cache=cache)
    assert second.from_cache
    assert second.sas == first.sas
    assert not translate(texts[0], texts[1] + b";", cache=cache).from_cache


def test_another_translator_version_is_another_entry(
    courier, cache: TranslationCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = courier.domain.read_bytes(), courier.problem.read_bytes()
    translate(*texts, cache=cache)
    monkeypatch.setattr(module, "translator_version", lambda: "0.0")
    assert not translate(*texts, cache=cache).from_cache


def test_cancel_does_not_wait_for_the_end(big, cache: TranslationCache) -> None:
    started = time.monotonic()
    with pytest.raises(CancelledError):
        translate(*big, cache=cache, cancelled=lambda: time.monotonic() - started > 0.5)


def test_time_limit(big, cache: TranslationCache) -> None:
    with pytest.raises(LimitReachedError, match=r"did not finish in 0\.5 s"):
        translate(*big, cache=cache, limits=Limits(seconds=0.5))


@pytest.mark.parametrize("megabytes", [4, 60])
def test_memory_limit(big, cache: TranslationCache, megabytes: int) -> None:
    with pytest.raises(LimitReachedError, match=f"out of memory with {megabytes} MB"):
        translate(*big, cache=cache, limits=Limits(megabytes=megabytes))


def test_its_complaint_is_passed_on(courier, cache: TranslationCache) -> None:
    problem = courier.problem.read_text().replace("(here home)", "(here moon)")
    with pytest.raises(TranslationError, match="moon"):
        translate(courier.domain.read_bytes(), problem.encode(), cache=cache)


def test_its_crash_is_passed_on(courier, cache: TranslationCache) -> None:
    deep = b"(" * 5000 + b")" * 5000
    with pytest.raises(TranslationError, match="failed: RecursionError"):
        translate(deep, courier.problem.read_bytes(), cache=cache)


def test_says_how_to_get_it(courier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", "no-such-package")
    with pytest.raises(TranslationError, match="pip install"):
        translate(b"", b"")
