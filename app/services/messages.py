"""Messages to the user: shown as banners and kept in the log.

Only for the thread of the window; background work reports through its job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from engine.plain_text import printable

MAX_MESSAGES = 1000
"""How many messages are remembered."""

Action = tuple[str, Callable[[], None]]


@dataclass(frozen=True, eq=False)
class Message:
    """`level` is info, warning or error; an action is a button: its text and what it does.

    A message disappears after a while unless it is `lasting`.
    """

    level: str
    text: str
    details: str = ""
    actions: tuple[Action, ...] = ()
    lasting: bool = False
    time: float = field(default_factory=time.time)


class Messages(QObject):
    posted = Signal(object)  # Message
    withdrawn = Signal(object)  # Message

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history: list[Message] = []

    def info(
        self, text: str, details: str = "", actions: Sequence[Action] = (), *, lasting: bool = False
    ) -> Message:
        return self._post("info", text, details, actions, lasting=lasting)

    def warning(self, text: str, details: str = "", actions: Sequence[Action] = ()) -> Message:
        return self._post("warning", text, details, actions)

    def error(self, text: str, details: str = "", actions: Sequence[Action] = ()) -> Message:
        return self._post("error", text, details, actions)

    def failure(self, what: str) -> Callable[[Exception], object]:
        """Return a function that reports an error and what it prevented."""
        return lambda error: self.error(f"{what}: {error}")

    def withdraw(self, message: Message) -> None:
        """Remove the banner of a message that is no longer true; the log keeps it."""
        self.withdrawn.emit(message)

    def _post(
        self,
        level: str,
        text: str,
        details: str,
        actions: Sequence[Action],
        *,
        lasting: bool = False,
    ) -> Message:
        message = Message(level, printable(text), printable(details), tuple(actions), lasting)
        self.history.append(message)
        del self.history[:-MAX_MESSAGES]
        self.posted.emit(message)
        return message
