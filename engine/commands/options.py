"""Arguments and options of commands, declared a line each, and those that several commands share.

A help text ends with the default, unless it mentions the default itself.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class Options:
    """What a command takes; `add` is argparse's own `add_argument`."""

    def __init__(self, parser: argparse._ActionsContainer) -> None:
        self._parser = parser
        self.add = parser.add_argument

    def epilog(self, text: str) -> None:
        """Text below the options."""
        assert isinstance(self._parser, argparse.ArgumentParser)
        self._parser.epilog = text

    def group(self, title: str) -> Options:
        return Options(self._parser.add_argument_group(title))

    def either(self, *, required: bool = False) -> Options:
        """Options that exclude each other."""
        return Options(self._parser.add_mutually_exclusive_group(required=required))

    def flag(self, name: str, meaning: str) -> None:
        self.add(name, action="store_true", help=meaning)

    def text(self, name: str, metavar: str, meaning: str, **settings: Any) -> None:
        self.add(name, metavar=metavar, help=meaning, **settings)

    def path(self, name: str, metavar: str, meaning: str, **settings: Any) -> None:
        self.add(name, type=Path, metavar=metavar, help=meaning, **settings)

    def number(
        self,
        name: str,
        default: float | None,
        meaning: str,
        kind: Callable[[str], float] | None = None,
        metavar: str = "N",
    ) -> None:
        """A whole number, 0 or more, unless `kind` parses it."""
        text = meaning if default is None else _with_default(meaning)
        self.add(name, type=kind or count, default=default, metavar=metavar, help=text)

    def choice(self, name: str, choices: Iterable[str], default: str, meaning: str) -> None:
        values = [str(choice) for choice in choices]
        self.add(name, choices=values, default=default, help=_with_default(meaning))

    def workspace(self) -> None:
        self.path("workspace", "W.plumb", "workspace")

    def bugs(self, meaning: str) -> None:
        text = f"{meaning}; may be repeated"
        self.add("--bug", type=count, action="append", metavar="ID", help=text)

    def domain(self) -> None:
        self.text("domain", "DOMAIN", "domain file")

    def problem(self, **settings: Any) -> None:
        self.text("problem", "PROBLEM", "problem file", **settings)

    def policy(self, *, or_folder: bool = False) -> None:
        folder = "a folder of such files (a portfolio), " if or_folder else ""
        self.text(
            "policy",
            "POLICY",
            f"a file (.policy, .ckpt, .pt), {folder}grpc://host:port, path/to/file.py:factory, "
            "or builtin:NAME, where NAME is random, gc, hadd, hff or optimal",
        )

    def task(self) -> None:
        self.text(
            "task",
            "TASK",
            "DOMAIN.pddl PROBLEM.pddl, or one FILE.sas from the Fast Downward translator",
            nargs="+",
        )
        self.unit_costs()

    def unit_costs(self) -> None:
        self.flag("--unit-costs", "let every action cost 1")

    def seed(self, what: str) -> None:
        self.number("--seed", 0, f"seed of {what}", SEED)

    def state(self, what: str) -> None:
        self.text(
            "--state",
            "V0,V1,...",
            f"{what}: one value per variable, in the order of 'plumbline task' "
            "(default: the initial state)",
            type=state_values,
        )

    def limits(
        self,
        time: str = "stop after this many seconds",
        memory: str = "stop when this many megabytes of memory are used",
    ) -> None:
        self.time_limit(time)
        self.number("--memory-limit", None, memory, positive_megabytes, "MB")

    def time_limit(self, meaning: str) -> None:
        self.number("--time-limit", None, meaning, positive_seconds, "S")


MOST_SECONDS = 1e9
"""Timers take no more, and nothing takes 30 years."""


def _with_default(meaning: str) -> str:
    return meaning if "(default" in meaning else f"{meaning} (default: %(default)s)"


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, 0 or more")
    return int(text)


def between(low: int, high: int) -> Callable[[str], int]:
    """A kind of whole number within limits."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
        if not low <= number <= high:
            message = f"'{text}' is not a whole number from {low} to {high}"
            raise argparse.ArgumentTypeError(message)
        return number

    return parse


SEED = between(0, 2**32 - 1)


def state_values(text: str) -> tuple[int, ...]:
    """A state of a command line: a value per variable."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of values like 0,2,1")
    return tuple(map(int, parts))


def positive_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds")
    return min(seconds, MOST_SECONDS)


def positive_megabytes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of megabytes")
    return int(text)
