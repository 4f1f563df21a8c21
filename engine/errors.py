"""Every error a user can cause, with where it happened and what to do about it.

A `PlumblineError` is expected: its text goes to the user as it is. Anything else that reaches
the top of the program is a defect of Plumbline and is reported as an internal error.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """Exit codes, the same for every command."""

    DONE = 0
    ANSWER_IS_NO = 1
    BAD_INPUT = 2
    LIMIT_REACHED = 3
    INTERNAL = 70
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a user's file. Lines and columns count from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return ":".join(parts)

    def report(self, message: str, hint: str) -> str:
        """Return what is wrong here, and what to do."""
        text = f"{message}; {hint}" if hint else message
        return f"{self}: {text}" if str(self) else text

    @classmethod
    def of(cls, path: str | Path, line: int | None = None, column: int | None = None) -> Location:
        return cls(str(path), line, column)


MAX_MESSAGE = 4000
"""Characters of what is wrong."""


class PlumblineError(Exception):
    """An error that the user can fix: what is wrong, where, and what to do."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, message: str, location: Location | None = None, hint: str = "") -> None:
        if len(message) > MAX_MESSAGE:  # it quotes a stranger's file
            message = f"{message[: MAX_MESSAGE // 2]} … {message[-MAX_MESSAGE // 2 :]}"
        super().__init__(message)
        self.message = message
        self.location = location or Location()
        self.hint = hint

    def __str__(self) -> str:
        return self.location.report(self.message, self.hint)

    def __reduce__(self) -> tuple[type[PlumblineError], tuple[str, Location, str]]:
        """Errors cross process boundaries whole."""
        return type(self), (self.message, self.location, self.hint)


class UnreadableFileError(PlumblineError):
    """A file that is missing, not readable, not text or empty."""


class DiskError(PlumblineError):
    """A file or folder that cannot be written: the disk is full, or it is not ours."""


class PddlError(PlumblineError):
    """A domain or problem file that is not valid PDDL."""


class UnsupportedError(PlumblineError):
    """Valid input with a construct that this stage cannot handle; the message names it."""


class TranslationError(PlumblineError):
    """The translator could not turn a domain and a problem into a task."""


class SasError(PlumblineError):
    """A `.sas` file that is not a Fast Downward task of version 3."""


class PlanError(PlumblineError):
    """A plan file that cannot be read, or names actions the task does not have."""


class ProfileError(PlumblineError):
    """An animation profile that cannot be read, or does not fit the domain."""


class PolicyError(PlumblineError):
    """A policy that cannot be loaded, does not fit the domain, or broke while it ran."""


class PolicyLostError(PolicyError):
    """A policy somewhere else that does not answer anymore; later it may."""


class PlannerError(PlumblineError):
    """An external planner that is missing or failed in a way that is not an answer."""


class UsageError(PlumblineError):
    """Options that are wrong or do not go together."""


class ConfigurationError(PlumblineError):
    """A campaign configuration that is not TOML, or says something that makes no sense."""


class WorkspaceError(PlumblineError):
    """A workspace file that cannot be opened, read or written, or is used by another process."""


class DamagedRecordError(PlumblineError):
    """Stored or received data that is not what its type says; the message names the field."""


class WorkerLostError(PlumblineError):
    """A process died before it was done with its work."""

    exit_code = ExitCode.LIMIT_REACHED


class LimitReachedError(PlumblineError):
    """A time or memory limit ended the work before there was an answer."""

    exit_code = ExitCode.LIMIT_REACHED


class CancelledError(PlumblineError):
    """The user asked to stop."""

    exit_code = ExitCode.INTERRUPTED

    def __init__(
        self, message: str = "stopped", location: Location | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, location, hint)
