"""Logging, set up once: details to a file that is there when something goes wrong."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path

import platformdirs

from engine.plain_text import printable

LOG_BYTES = 1_000_000


def log_path() -> Path:
    return Path(platformdirs.user_log_dir("plumbline", appauthor=False)) / "plumbline.log"


def set_up_logging(verbose: bool = False) -> None:
    """Warnings and worse go to the log file, with `verbose` everything goes to stderr too."""
    root = logging.getLogger("engine")
    root.setLevel(logging.DEBUG if verbose else logging.WARNING)
    root.propagate = False
    logging.raiseExceptions = False  # a full disk must not fill the user's screen
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    form = _PlainFormatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    for handler in _handlers(verbose):
        handler.setFormatter(form)
        root.addHandler(handler)


class _PlainFormatter(logging.Formatter):
    """Lines after the first are indented, so that no message looks like another."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record)).replace("\n", "\n  ")


def _handlers(verbose: bool) -> list[logging.Handler]:
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose else []
    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(
            logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=2)
        )
    except OSError:
        pass  # a read-only home must not prevent work
    return handlers or [logging.NullHandler()]
