"""The log entries of the workspace and of the window, as a table."""

from __future__ import annotations

import time
from dataclasses import dataclass

from app.models.table_model import Column
from app.services.messages import Message
from engine.workspace.rows import LogRow

LEVELS = ("info", "warning", "error")
_TOKENS = {"info": "muted", "warning": "undecided", "error": "bad"}


@dataclass(frozen=True, eq=False)
class LogEntry:
    """`source` is the unit of a campaign, the workspace or the window."""

    time: float
    level: str
    source: str
    text: str
    details: str = ""

    @classmethod
    def of_workspace(cls, row: LogRow) -> LogEntry:
        source = "workspace" if row.unit is None else f"unit {row.unit}"
        return cls(row.time, row.level, source, row.text)

    @classmethod
    def of_window(cls, message: Message) -> LogEntry:
        return cls(message.time, message.level, "window", message.text, message.details)

    def passes(self, level: str, words: str) -> bool:
        """At least as bad as the level, and all words occur somewhere."""
        text = f"{self.source} {self.text}".casefold()
        return _rank(self.level) >= _rank(level) and all(
            word in text for word in words.casefold().split()
        )


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else 0


def clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


COLUMNS: tuple[Column[LogEntry], ...] = (
    Column("time", "Time", lambda entry: entry.time, lambda entry: clock(entry.time), mono=True),
    Column(
        "level",
        "Level",
        lambda entry: _rank(entry.level),
        lambda entry: entry.level,
        token=lambda entry: _TOKENS.get(entry.level, "text"),
        icon=lambda entry: entry.level if entry.level in LEVELS else "",
    ),
    Column(
        "source",
        "Source",
        lambda entry: entry.source,
        tip="The unit of a campaign, the workspace or the window",
    ),
    Column("text", "Message", lambda entry: entry.text),
)
