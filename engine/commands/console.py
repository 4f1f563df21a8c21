"""How commands speak: one result on stdout, progress and messages on stderr.

`Console.link` is what a use case sees of the command: a progress bar, Ctrl-C and `--time-limit`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import IO, Any, Protocol

from engine.commands.stop_signal import stop_signal
from engine.errors import DiskError
from engine.native.control import Control
from engine.plain_text import printable, printable_json
from engine.workers.link import NULL_LINK, Link


def _abandon(stream: IO[str]) -> None:
    """Nothing can be written there; Python would complain about it once more at exit."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())


class ProgressBar(Protocol):
    def update(self, done: float, text: str = "", total: float | None = None) -> None: ...


class ConsoleLink(Link):
    """The link of a command."""

    def __init__(self, bar: ProgressBar, hear: Callable[[Any], object]) -> None:
        self._control, self._bar, self._hear = Control(), bar, hear
        self.interrupted = False  # by the user, not by the time limit

    @property
    def control(self) -> Control:
        return self._control

    def emit(self, event: object) -> None:
        self._hear(event)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self._bar.update(done, text, total)

    def cancelled(self) -> bool:
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
        """Print the answer: the JSON document with `--json`, else the text for people."""
        try:
            if self.as_json:
                text = printable_json(json.dumps(document, ensure_ascii=False))
            else:
                text = printable(text)
            self.stdout.write(text if text.endswith("\n") or not text else text + "\n")
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
        """Nobody can be told that nothing can be told."""
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
        """A link that is cancelled after so many seconds; `hear` takes its events.

        Ctrl-C ends everything at once, unless the work `keeps_results` and stops by itself.
        """
        with self.progress(title) as bar:
            link = ConsoleLink(bar, hear)
            timer = None
            if seconds is not None:
                timer = threading.Timer(seconds, link.control.cancel)
                timer.daemon = True
                timer.start()
            try:
                with stop_signal(link.interrupt) if keeps_results else nullcontext():
                    yield link
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


class _Silent:
    def update(self, done: float, text: str = "", total: float | None = None) -> None:
        pass


class _RichBar:
    def __init__(self, bars: Any, task: Any, title: str) -> None:
        self._bars, self._task, self._title = bars, task, title

    def update(self, done: float, text: str = "", total: float | None = None) -> None:
        description = printable(f"{self._title} {text}".rstrip())
        self._bars.update(self._task, completed=done, total=total, description=description)
