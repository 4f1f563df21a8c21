"""Crash reports: written at once, and shown at the next start.

An uncaught Python exception is written to a file and shown in the window if there is one; a crash
below Python leaves its trace in a file that is otherwise empty.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

import platformdirs

import engine
from engine.errors import PlumblineError
from engine.plain_text import printable

_SEEN = ".seen"
MAX_KEPT_FILES = 20
Tell = Callable[[str, str], None]
"""Called with a sentence and the details."""


def crash_folder() -> Path:
    return Path(platformdirs.user_log_dir("plumbline", appauthor=False)) / "crashes"


@dataclass
class CrashLog:
    """Installed once per process."""

    folder: Path = field(default_factory=crash_folder)
    tell: Tell | None = None
    _faults: IO[str] | None = None

    def install(self) -> None:
        sys.excepthook = self.on_exception
        threading.excepthook = self._on_thread_exception
        with contextlib.suppress(OSError):  # a full or read-only disk must not stop the program
            self.folder.mkdir(parents=True, exist_ok=True)
            name = self.folder / f"fault-{os.getpid()}.txt"
            self._faults = name.open("w", encoding="utf-8")
            faulthandler.enable(self._faults)

    def uninstall(self) -> None:
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()
            name = Path(self._faults.name)
            if name.exists() and name.stat().st_size == 0:
                name.unlink()
            self._faults = None

    def on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        if isinstance(error, PlumblineError) and self.tell is not None:
            self.tell(str(error), "")  # an error of the user, not a defect
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(printable(details))
        self.write(details)
        if self.tell is not None:
            sentence = (
                f"Internal error ({kind.__name__}: {error}); please report it and include the "
                "details"
            )
            self.tell(sentence, details)

    def write(self, details: str) -> None:
        """Keep a report for the next start."""
        head = (
            f"Plumbline {engine.__version__}, Python {platform.python_version()}, "
            f"{platform.platform()}, {time.strftime('%Y-%m-%d %H:%M:%S')}"
        )
        name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / name).open("a", encoding="utf-8") as file:
                file.write(f"{head}\n{printable(details)}\n")

    def unread(self) -> str:
        """Return the reports of earlier runs that were not shown yet, and mark them as seen."""
        texts = []
        for path in sorted(self.folder.glob("*.txt")):
            if _is_in_use(path):
                continue
            with contextlib.suppress(OSError):
                text = path.read_text(encoding="utf-8", errors="replace").strip()
                if text:
                    texts.append(text)
                    path.rename(path.with_suffix(_SEEN))
                else:
                    path.unlink()
        for old in sorted(self.folder.glob(f"*{_SEEN}"))[:-MAX_KEPT_FILES]:
            old.unlink(missing_ok=True)
        return "\n\n".join(texts)

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        """Write a report; other threads must not use Qt."""
        error = arguments.exc_value
        details = "".join(
            traceback.format_exception(arguments.exc_type, error, arguments.exc_traceback)
        )
        sys.stderr.write(printable(details))
        self.write(details)


def _is_in_use(path: Path) -> bool:
    """Whether the fault file belongs to a running Plumbline."""
    name, _, number = path.stem.rpartition("-")
    return name == "fault" and number.isdigit() and Path(f"/proc/{number}").exists()
