"""The translator is killed, crashes, hangs, lies, or is not there: an error, never a hang."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from reference.faulty import EXPLODING_DOMAIN, Bench, exploding_problem, wait_for

from engine.errors import CancelledError, DiskError, LimitReachedError, TranslationError
from engine.task.load import load_task
from engine.task.translate import Limits

# What a translator may do instead of its work. It runs where domain.pddl and problem.pddl lie.
MISDEEDS = {
    "killed": (
        "os.kill(os.getpid(), signal.SIGKILL)",
        LimitReachedError,
        "was killed.*memory",
    ),
    "crashed": (
        "os.kill(os.getpid(), signal.SIGSEGV)",
        TranslationError,
        "terminated by SIGSEGV.*reinstall",
    ),
    "no output": ("sys.exit(0)", TranslationError, "left no task.*reinstall"),
    "garbage": (
        "open('output.sas', 'wb').write(os.urandom(1000)); sys.exit(0)",
        TranslationError,
        "left no task|output is broken",
    ),
    "half an output": (
        "open('output.sas', 'w').write('begin_version\\n3\\nend_version\\nbegin_metric\\n0\\n')",
        TranslationError,
        "output is broken.*try again",
    ),
    "complaint": (
        "print('Parsing...'); print('the sky is falling'); sys.exit(31)",
        TranslationError,
        "says: the sky is falling.*plumbline check",
    ),
    "exit": ("print('odd'); sys.exit(77)", TranslationError, "failed: odd"),
    "full disk": (
        "raise OSError(28, os.strerror(28))",
        DiskError,
        "disk is full.*free some space",
    ),
}


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    """Its own: here it matters what is translated."""
    return tmp_path / "home" / "cache"


def replace_translator(bench: Bench, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Another program under the translator's name."""
    root = bench.folder / "modules"
    bench.write("modules/fast_downward/__init__.py", "")
    bench.write("modules/fast_downward/translate/__init__.py", "")
    bench.write(
        "modules/fast_downward/translate/__main__.py",
        f"import os, signal, sys, time\n{body}\n",
    )
    monkeypatch.setenv("PYTHONPATH", str(root))


@pytest.mark.parametrize("name", MISDEEDS)
def test_a_translator_that_does_not_do_its_work(
    name: str, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, kind, words = MISDEEDS[name]
    replace_translator(bench, monkeypatch, body)
    with pytest.raises(kind, match=f"(?s){words}"):
        load_task(bench.folder / "domain.pddl", bench.folder / "p2.pddl")
    # Nothing of it is kept: the real one is asked again.
    monkeypatch.delenv("PYTHONPATH")
    assert load_task(bench.folder / "domain.pddl", bench.folder / "p2.pddl").operators


def test_a_translator_that_hangs_meets_its_limit_or_the_user(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_translator(bench, monkeypatch, "time.sleep(1e6)")
    files = bench.folder / "domain.pddl", bench.folder / "p2.pddl"
    with pytest.raises(LimitReachedError, match=r"did not finish in 0.3 s.*give it more time"):
        load_task(*files, limits=Limits(seconds=0.3))
    with pytest.raises(CancelledError):
        load_task(*files, cancelled=lambda: bool(bench.processes("fast_downward.translate")))


def test_a_translator_that_is_not_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("modules/fast_downward/__init__.py", "")
    monkeypatch.setenv("PYTHONPATH", str(bench.folder / "modules"))
    with pytest.raises(TranslationError, match=r"not installed properly.*pip install"):
        load_task(bench.folder / "domain.pddl", bench.folder / "p2.pddl")


@pytest.fixture
def explosion(bench: Bench) -> tuple[Path, Path]:
    domain = bench.write("explosion.pddl", EXPLODING_DOMAIN)
    return domain, bench.write("many.pddl", exploding_problem())


def test_a_problem_that_explodes_hits_the_limits(
    bench: Bench, explosion: tuple[Path, Path]
) -> None:
    with pytest.raises(LimitReachedError, match=r"ran out of memory with 150 MB.*more memory"):
        load_task(*explosion, limits=Limits(megabytes=150))
    said = bench.plumbline("task", *explosion, "--time-limit", "0.5")
    assert said.code == 3
    assert said.lines == [
        "error: the translator did not finish in 0.5 s; give it more time, or a smaller problem"
    ]


def test_a_translator_without_memory_that_does_not_end_is_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the real one does now and then: Python may try forever to raise its MemoryError."""
    replace_translator(
        bench,
        monkeypatch,
        "taken = []\n"
        "try:\n"
        "    while True: taken.append(bytearray(2**16))\n"
        "except MemoryError:\n"
        "    while True: pass",
    )
    with pytest.raises(LimitReachedError, match="ran out of memory with 100 MB"):
        load_task(
            bench.folder / "domain.pddl", bench.folder / "p2.pddl", limits=Limits(megabytes=100)
        )


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGKILL, 3, "memory"), (signal.SIGTERM, 2, "terminated by SIGTERM")],
)
def test_the_real_one_is_killed_in_the_middle(
    bench: Bench, explosion: tuple[Path, Path], number: int, code: int, words: str
) -> None:
    process = bench.start("task", *explosion)
    wait_for(lambda: bench.processes("-m fast_downward.translate"))
    (translator,) = bench.processes("-m fast_downward.translate")
    os.kill(translator, number)
    said = bench.end_of(process)
    assert said.code == code
    (line,) = said.lines
    assert line.startswith("error: the translator")
    assert words in line


def test_its_death_costs_one_unit_and_resuming_does_it_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as during:
        replace_translator(
            bench,
            during,
            "import runpy\n"
            "if 'p3' in open('problem.pddl').read(): os.kill(os.getpid(), signal.SIGKILL)\n"
            "sys.path[:] = [path for path in sys.path if 'modules' not in path]\n"
            "for name in [name for name in sys.modules if name.startswith('fast_downward')]:\n"
            "    del sys.modules[name]\n"
            "runpy.run_module('fast_downward.translate', run_name='__main__')",
        )
        said = bench.plumbline("campaign", "two.toml", "--out", "w.plumb")
    assert said.code == 3
    assert "error: unit 2: the translator was killed" in said.err
    assert "1 of 2 units are not done; run again with --resume" in said.out
    said = bench.plumbline("campaign", "two.toml", "--out", "w.plumb", "--resume")
    assert said.code == 0
    assert "units are not done" not in said.out
