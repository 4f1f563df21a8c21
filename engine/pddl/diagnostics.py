"""What is wrong or doubtful in a file: message, place and what to do, all of it at once.

Reading continues after an error where possible, so that users see all errors of a file at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from engine.errors import Location, PddlError, PlumblineError
from engine.pddl.model import Position

COMPARISONS_PER_FILE = 10_000
"""Comparisons of similar names, which are slow: half a second for all of them."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    severity: Severity
    message: str
    hint: str
    location: Location
    about_costs: bool = False  # of no interest where every action costs 1
    is_refusal: bool = False  # an error only because there is no task for what is legal PDDL
    is_idle: bool = False  # legal, but there is nothing to test

    def __str__(self) -> str:
        return self.location.report(self.message, self.hint)

    @classmethod
    def of_error(cls, error: PlumblineError) -> Diagnostic:
        return cls(Severity.ERROR, error.message, error.hint, error.location)


class InvalidPddlError(PddlError):
    """Reports the first error of a file and carries all that were found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        errors = [item for item in self.diagnostics if item.severity is Severity.ERROR]
        hint = errors[0].hint
        if len(errors) > 1:
            more = "1 more error" if len(errors) == 2 else f"{len(errors) - 1} more errors"
            hint = f"{hint} ({more}: 'plumbline check' lists them)".strip()
        super().__init__(errors[0].message, errors[0].location, hint)

    def __reduce__(self) -> tuple[type[InvalidPddlError], tuple[tuple[Diagnostic, ...]]]:  # type: ignore[override]
        return type(self), (self.diagnostics,)


class MalformedError(Exception):
    """Stops the reading of one part; the reader of the file records it and continues."""

    def __init__(self, position: Position, message: str, hint: str) -> None:
        super().__init__(message)
        self.position = position
        self.message = message
        self.hint = hint


class Diagnostics:
    """Collects what is found in one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Diagnostic] = []
        self._comparisons_left = COMPARISONS_PER_FILE

    def errors_since(self, start: int) -> bool:
        """Whether there are errors among what was found after the first `start` findings."""
        return any(item.severity is Severity.ERROR for item in self.found[start:])

    def error(self, position: Position, message: str, hint: str) -> None:
        self._add(Severity.ERROR, position, message, hint)

    def warning(
        self,
        position: Position,
        message: str,
        hint: str,
        *,
        about_costs: bool = False,
        is_idle: bool = False,
    ) -> None:
        self._add(Severity.WARNING, position, message, hint, about_costs, is_idle=is_idle)

    def _add(
        self,
        severity: Severity,
        position: Position,
        message: str,
        hint: str,
        about_costs: bool = False,
        *,
        is_idle: bool = False,
    ) -> None:
        known = position.line > 0
        location = Location(
            self.path or None, position.line if known else None, position.column if known else None
        )
        self.found.append(
            Diagnostic(severity, message, hint, location, about_costs, is_idle=is_idle)
        )

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Record what stops the reading of a part, and continue with the next."""
        try:
            yield
        except MalformedError as malformed:
            self.error(malformed.position, malformed.message, malformed.hint)

    def similar(self, name: str, candidates: Iterable[str], otherwise: str) -> str:
        """The hint for an unknown name."""
        compared = list(islice(candidates, self._comparisons_left))
        self._comparisons_left -= len(compared)
        matches = difflib.get_close_matches(name, compared, n=1)
        return f"did you mean '{matches[0]}'?" if matches else otherwise


def raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    found = tuple(diagnostics)
    if any(item.severity is Severity.ERROR for item in found):
        raise InvalidPddlError(found)
