"""PDDL to FDR with the Fast Downward translator, in a process of its own.

The translator is under the GPL and may run for minutes, so it is never imported: it is a program
that is started, watched and killed. Variables that the goal does not need are kept, so that a
state of the task is the whole PDDL state.
"""

from __future__ import annotations

import logging
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from engine.errors import (
    CancelledError,
    DiskError,
    LimitReachedError,
    Location,
    PlumblineError,
    TranslationError,
    UnsupportedError,
)
from engine.files import scratch_errors, scratch_folder
from engine.task.translation_cache import TranslationCache, cache_key
from engine.workers.link import NULL_LINK
from engine.workers.program import Ending, ProcessResult, run_process, signal_name
from engine.workers.translator import Translator

PACKAGE = "fast-downward.translate"
MODULE = "fast_downward.translate"
OPTIONS = ("--keep-unimportant-variables",)

_STAGE = re.compile(r"([A-Z][A-Za-z ]+)\.\.\.")
_OUT_OF_MEMORY = 20
_INPUT_ERROR = 31
_MEMORY_SIGNS = ("MemoryError", "Cannot allocate memory", "failed to map segment")
_CHECK = "run 'plumbline check' on both files"
_REINSTALL = f"pip install --force-reinstall {PACKAGE}"
_DISK_SIGNS = ("No space left on device", "File too large", "Disk quota exceeded")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a translation may use: seconds of wall-clock time, megabytes of memory."""

    seconds: float | None = None
    megabytes: int | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Translation:
    sas: str
    seconds: float  # seconds it took now; almost none from the cache
    from_cache: bool
    cache: TranslationCache
    key: str

    def forget(self) -> None:
        """Forget a broken translation, so that it is made again next time."""
        self.cache.drop(self.key)


def warm_translator() -> Translator:
    """A translator for several problems; use it as a context manager."""
    return Translator(OPTIONS)


def translator_version() -> str:
    from importlib import metadata  # e-mail and more, for one number

    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        raise TranslationError(
            "the Fast Downward translator is not installed", hint=f"pip install {PACKAGE}"
        ) from None


class TranslateOptions(TypedDict, total=False):
    """`cancelled` is asked often and ends the work with `CancelledError`; `progress` receives the
    translator's stages. For several problems, pass a warm `translator`, which reports no stages.
    """

    limits: Limits
    cancelled: Callable[[], bool]
    progress: Callable[[str], None] | None
    cache: TranslationCache | None
    translator: Translator | None


def translate(
    domain: bytes,
    problem: bytes,
    *,
    limits: Limits = NO_LIMITS,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    progress: Callable[[str], None] | None = None,
    cache: TranslationCache | None = None,
    translator: Translator | None = None,
) -> Translation:
    """Return the translator's output for the two file contents (see `TranslateOptions`)."""
    started = time.monotonic()
    cache = cache or TranslationCache.of_user()
    options = " ".join(OPTIONS)
    key = cache_key(translator_version().encode(), options.encode(), domain, problem)
    sas = cache.get(key)
    from_cache = sas is not None
    if sas is None:
        sas = _run_translator((domain, problem), limits, cancelled, progress, translator)
        cache.put(key, sas)
    return Translation(sas, time.monotonic() - started, from_cache, cache, key)


def _run_translator(
    texts: tuple[bytes, bytes],
    limits: Limits,
    cancelled: Callable[[], bool],
    progress: Callable[[str], None] | None,
    translator: Translator | None,
) -> str:
    memory = limits.megabytes * 2**20 if limits.megabytes else None
    with scratch_errors(), scratch_folder("translate") as folder:
        for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
            (folder / name).write_bytes(text)
        if translator is not None:
            result = translator.run(
                folder, time_limit=limits.seconds, memory_limit=memory, cancelled=cancelled
            )
        else:
            result = run_process(
                # -P: modules of ours or of the user must not shadow the translator's
                [sys.executable, "-P", "-u", "-m", MODULE, *OPTIONS, "domain.pddl", "problem.pddl"],
                folder=folder,
                environment={"PYTHONHASHSEED": "0"},
                time_limit=limits.seconds,
                memory_limit=memory,
                cancelled=cancelled,
                on_line=_stages(progress),
            )
        _log.debug("translator ended with %d after %.2f s", result.return_code, result.seconds)
        if result.ending is Ending.EXITED and result.return_code == 0:
            return _output(folder / "output.sas")
        raise _failure(result, limits)


def _output(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        raise TranslationError(
            "the translator ended without an error but left no task", hint=_REINSTALL
        ) from None


def _stages(progress: Callable[[str], None] | None) -> Callable[[str], None] | None:
    if progress is None:
        return None

    def on_line(line: str) -> None:
        if stage := _STAGE.match(line):
            progress(stage[1])

    return on_line


def _failure(result: ProcessResult, limits: Limits) -> PlumblineError:
    if result.ending is Ending.CANCELLED:
        return CancelledError()
    return _limit_reached(result, limits) or _trouble(result)


def _limit_reached(result: ProcessResult, limits: Limits) -> LimitReachedError | None:
    if result.ending is Ending.TIME_LIMIT:
        return LimitReachedError(
            f"the translator did not finish in {limits.seconds:g} s",
            hint="give it more time, or a smaller problem",
        )
    if result.return_code == -signal.SIGKILL and limits.megabytes is None:
        return LimitReachedError(
            "the translator was killed, perhaps because memory ran out",
            hint="try again with more memory or a smaller problem",
        )
    if _ran_out_of_memory(result, limits):
        allowed = f" with {limits.megabytes} MB" if limits.megabytes else ""
        return LimitReachedError(
            f"the translator ran out of memory{allowed}",
            hint="give it more memory, or a smaller problem",
        )
    return None


def _trouble(result: ProcessResult) -> PlumblineError:
    if any(sign in line for line in result.output for sign in _DISK_SIGNS):
        return DiskError(
            "the disk is full: the translator could not write its task",
            Location.of(tempfile.gettempdir()),
            "free some space there, or set TMPDIR to another folder",
        )
    if any("not stratifiable" in line for line in result.output):
        return UnsupportedError(
            "a derived predicate depends on its own negation, so that it has no meaning",
            hint="rewrite the rules so that no predicate needs the negation of one that needs it",
        )
    if result.return_code < 0:
        return TranslationError(
            f"the translator was terminated by {signal_name(result.return_code)}",
            hint=f"try again, or {_REINSTALL}",
        )
    if any("No module named" in line for line in result.output):
        message = "the Fast Downward translator is not installed properly"
        return TranslationError(message, hint=_REINSTALL)
    if result.return_code == _INPUT_ERROR:
        return TranslationError(f"the translator says: {_input_error(result.output)}", hint=_CHECK)
    last = result.output[-1] if result.output else "no message"
    return TranslationError(f"the translator failed: {last}", hint=_CHECK)


def _ran_out_of_memory(result: ProcessResult, limits: Limits) -> bool:
    output = "\n".join(result.output)
    if result.ending is Ending.MEMORY_LIMIT:
        return True
    if result.return_code in (_OUT_OF_MEMORY, -9) or any(sign in output for sign in _MEMORY_SIGNS):
        return True
    # With so little memory that the interpreter cannot start, it cannot say so either.
    return limits.megabytes is not None and not output and result.return_code != 0


def _input_error(lines: tuple[str, ...]) -> str:
    """Return its message, which follows the line of the stage in which it happened."""
    start = max((number for number, line in enumerate(lines) if _STAGE.match(line)), default=-1)
    return " ".join(line.strip() for line in lines[start + 1 :]) or "the input is wrong"
