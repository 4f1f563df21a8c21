"""Output of commands: one result on stdout, progress and messages on stderr.

`Console.link` is what a use case sees of the command: a progress bar, Ctrl-C and `--time-limit`.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import IO, Any, Protocol

from engine.commands.stop_signal import stop_signal
from engine.errors import CancelledError, DiskError, LimitReachedError
from engine.native.control import Control
from engine.plain_text import printable, printable_json
from engine.workers.link import NULL_LINK, Link, giving_up_when


def _abandon(stream: IO[str]) -> None:
    """Give up on a closed stream; Python would report it again at exit."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())


class ProgressBar(Protocol):
    def update(self, done: float, text: str = "", total: float | None = None) -> None: ...


class ConsoleLink(Link):
    """The link of a command, which is cancelled after `seconds`."""

    def __init__(
        self, bar: ProgressBar, hear: Callable[[Any], object], seconds: float | None
    ) -> None:
        self._control, self._bar, self._hear = Control(), bar, hear
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self.interrupted = False  # by the user, not by the time limit

    @property
    def control(self) -> Control:
        return self._control

    def emit(self, event: object) -> None:
        self._hear(event)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self._bar.update(done, text, total)

    def cancelled(self) -> bool:
        if time.monotonic() >= self._end:  # the timer may be late on a busy machine
            self._control.cancel()
        return self._control.cancelled

    def interrupt(self) -> None:
        self.interrupted = True
        self._control.cancel()


class Console:
    """`result` is called exactly once per command."""

    def __init__(
        self, as_json: bool, stdout: IO[str] | None = None, stderr: IO[str] | None = None
    ) -> None:
        self.as_json = as_json
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr

    def result(self, document: Mapping[str, Any], text: str) -> None:
        """Print the answer: the JSON document with `--json`, else the text."""
        self.long_result(((name, (value,), False) for name, value in document.items()), (text,))

    def long_result(
        self, document: Iterable[tuple[str, Iterable[Any], bool]], lines: Iterable[str]
    ) -> None:
        """Print an answer that comes bit by bit: the document by its keys, or the lines.

        A key has one value, or with True a list of those that come.
        """
        pieces = _json_pieces(document) if self.as_json else _text_pieces(lines)
        try:
            for piece in pieces:
                self.stdout.write(piece)
            self.stdout.flush()
        except OSError as problem:
            _abandon(self.stdout)
            if isinstance(problem, BrokenPipeError):
                raise
            raise DiskError(
                f"the result cannot be printed: {problem.strerror or problem}",
                hint="free space where the output goes, or redirect it",
            ) from problem

    def message(self, text: str) -> None:
        """Print a message on stderr; ignore errors, because they could not be reported."""
        try:
            self.stderr.write(printable(text) + "\n")
            self.stderr.flush()
        except OSError:
            _abandon(self.stderr)

    @contextmanager
    def link(
        self,
        title: str,
        *,
        keeps_results: bool = False,
        seconds: float | None = None,
        hear: Callable[[Any], object] = NULL_LINK.emit,
    ) -> Iterator[ConsoleLink]:
        """Open a link that is cancelled after `seconds`; `hear` receives its events.

        Ctrl-C ends everything at once, unless the work `keeps_results` and stops by itself.
        """
        with self.progress(title) as bar:
            link = ConsoleLink(bar, hear, seconds)
            timer = None
            if seconds is not None:
                timer = threading.Timer(seconds, link.control.cancel)
                timer.daemon = True
                timer.start()
            try:
                stopping = stop_signal(link.interrupt) if keeps_results else nullcontext()
                with stopping, giving_up_when(link.cancelled):
                    yield link
            except CancelledError:
                if seconds is None or link.interrupted:
                    raise
                raise LimitReachedError("the time limit was reached before an answer") from None
            finally:
                if timer is not None:
                    timer.cancel()

    @contextmanager
    def progress(self, title: str, total: float | None = None) -> Iterator[ProgressBar]:
        """A bar on stderr when it is a terminal, silence otherwise; `total=None` means unknown."""
        if not self.stderr.isatty():
            yield _Silent()
            return
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=RichConsole(file=self.stderr), transient=True) as bars:
            yield _RichBar(bars, bars.add_task(title, total=total), title)


def _json_pieces(document: Iterable[tuple[str, Iterable[Any], bool]]) -> Iterator[str]:
    yield "{"
    for number, (name, values, is_list) in enumerate(document):
        yield f"{', ' if number else ''}{json.dumps(name)}: {'[' if is_list else ''}"
        for place, value in enumerate(values):
            text = printable_json(json.dumps(value, ensure_ascii=False))
            yield f", {text}" if place else text
        yield "]" if is_list else ""
    yield "}\n"


def _text_pieces(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        text = printable(line)
        yield text if text.endswith("\n") or not text else text + "\n"


class _Silent:
    def update(self, done: float, text: str = "", total: float | None = None) -> None:
        pass


class _RichBar:
    def __init__(self, bars: Any, task: Any, title: str) -> None:
        self._bars, self._task, self._title = bars, task, title

    def update(self, done: float, text: str = "", total: float | None = None) -> None:
        description = printable(f"{self._title} {text}".rstrip())
        self._bars.update(self._task, completed=done, total=total, description=description)
