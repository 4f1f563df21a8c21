"""Checks of values in configurations: each returns the value, or raises ValueError with the reason.

Campaigns and experiments use the same ones, so that a mistake is put into the same words in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

MAX_NUMBER = 10**9

Check = Callable[[Any], Any]


def true_or_false(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is expected here")
    return value


def quoted_text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text in quotes is expected here")
    return value


def positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_NUMBER:
        raise ValueError("a positive number is expected here")
    return float(value)


def whole_number(low: int, high: int = MAX_NUMBER) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError("a whole number is expected here")
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low} and {high}")
        return value

    return check


def one_of(choices: Iterable[str]) -> Callable[[Any], str]:
    known = [str(choice) for choice in choices]

    def check(value: Any) -> str:
        if value not in known:
            close = get_close_matches(str(value), known, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"choose one of {', '.join(known)}"
            raise ValueError(f"unknown value '{value}'; {hint}")
        return str(value)

    return check
