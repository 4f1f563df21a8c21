"""The warm translator: byte-identical, isolated per problem, gone when its owner is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import CancelledError, LimitReachedError, TranslationError
from engine.files import resource
from engine.task.translate import Limits, translate, warm_translator
from engine.task.translation_cache import TranslationCache
from engine.workers.program import MemoryWatch
from engine.workers.translator import Translator

EXAMPLES = ("ferry", "crumbling-temple")


@pytest.fixture
def translator() -> Iterator[Translator]:
    with warm_translator() as warm:
        yield warm


def _texts() -> list[tuple[bytes, bytes]]:
    """Problems of several domains, mixed."""
    found = []
    for number in ("p01", "p03"):
        for name in EXAMPLES:
            folder = resource(f"examples/{name}")
            problem = folder / "problems" / f"{number}.pddl"
            found.append(((folder / "domain.pddl").read_bytes(), problem.read_bytes()))
    return found


class _Fresh:
    """A new cache each time: nothing may come from one."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0

    def __call__(self, texts: tuple[bytes, bytes], warm: Translator | None, **options) -> str:
        self._number += 1
        cache = TranslationCache(self._folder / str(self._number))
        return translate(*texts, cache=cache, translator=warm, **options).sas


@pytest.fixture
def fresh(tmp_path: Path) -> _Fresh:
    return _Fresh(tmp_path)


def test_15_byte_identical_to_a_process_per_problem_in_any_order_twice(
    fresh: _Fresh, translator: Translator
) -> None:
    texts = _texts()
    expected = {item: fresh(item, None) for item in texts}
    for item in (*texts, *reversed(texts)):
        assert fresh(item, translator) == expected[item]


def test_15_killed_in_the_middle_one_try_fails_and_a_new_one_starts(
    fresh: _Fresh, translator: Translator
) -> None:
    texts = _texts()[0]
    expected = fresh(texts, translator)
    first = translator.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    while _lives(first):
        time.sleep(0.001)
    # Its death may be seen before the question or only when there is no answer to it.
    assert fresh(texts, translator) == expected
    assert translator.pid != first


def test_15_a_process_that_dies_while_it_translates_costs_this_problem_alone(
    fresh: _Fresh, translator: Translator, courier_texts: tuple[bytes, bytes]
) -> None:
    fresh(_texts()[0], translator)

    def kill() -> bool:
        assert translator.pid is not None
        os.kill(translator.pid, signal.SIGKILL)
        return False

    with pytest.raises(LimitReachedError, match="killed"):
        fresh(courier_texts, translator, cancelled=kill)
    assert fresh(_texts()[0], translator)


def test_15_sigkill_of_the_worker_ends_it(tmp_path: Path) -> None:
    program = """
import sys, time
from engine.files import resource
from engine.task.translate import translate, warm_translator
from engine.task.translation_cache import TranslationCache
from pathlib import Path
folder = resource("examples/ferry")
warm = warm_translator()
texts = (folder / "domain.pddl").read_bytes(), (folder / "problems/p01.pddl").read_bytes()
translate(*texts, cache=TranslationCache(Path(sys.argv[1])), translator=warm)
print(warm.pid, flush=True)
time.sleep(60)
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    host = int(worker.stdout.readline())
    worker.kill()
    worker.wait()
    worker.stdout.close()
    deadline = time.monotonic() + 60
    while _lives(host):
        assert time.monotonic() < deadline, "the translator outlives its worker"
        time.sleep(0.005)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture
def courier_texts() -> tuple[bytes, bytes]:
    """A problem that takes many seconds to translate."""
    objects = " ".join(f"x{number}" for number in range(400))
    facts = " ".join(f"(p x{a} x{b})" for a in range(400) for b in range(0, 400, 7))
    domain = """(define (domain d) (:predicates (p ?a ?b) (q ?a) (r ?a ?b ?c))
      (:action a :parameters (?a ?b ?c) :precondition (and (p ?a ?b) (p ?b ?c))
        :effect (and (q ?a) (r ?a ?b ?c))))"""
    problem = f"""(define (problem p) (:domain d) (:objects {objects})
      (:init {facts}) (:goal (q x0)))"""
    return domain.encode(), problem.encode()


def test_limits_strike_one_problem_alone(
    fresh: _Fresh,
    translator: Translator,
    courier_texts: tuple[bytes, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MemoryWatch, "PATIENT_LOOKS", 2)  # a process may hang without memory
    expected = fresh(_texts()[0], translator)
    first = translator.pid
    with pytest.raises(LimitReachedError, match=r"did not finish in 0\.2 s"):
        fresh(courier_texts, translator, limits=Limits(seconds=0.2))
    with pytest.raises(LimitReachedError, match="ran out of memory with 110 MB"):
        fresh(courier_texts, translator, limits=Limits(megabytes=110))
    assert fresh(_texts()[0], translator) == expected
    assert translator.pid == first


def test_a_translation_can_be_cancelled(
    fresh: _Fresh, translator: Translator, courier_texts: tuple[bytes, bytes]
) -> None:
    with pytest.raises(CancelledError):
        fresh(courier_texts, translator, cancelled=lambda: True)
    assert fresh(_texts()[0], translator)


def test_errors_of_the_input_are_reported_as_before(fresh: _Fresh, translator: Translator) -> None:
    texts = b"(define (domain d) (:action", b"(define"
    told = []
    for warm in (None, translator):
        with pytest.raises(TranslationError) as error:
            fresh(texts, warm)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert fresh(_texts()[0], translator)
