"""Options of all commands: numbers that are too large, too small or none at all are named."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from engine.cli import build_parser, main
from engine.commands.options import positive_seconds
from engine.errors import ExitCode


def options() -> Iterator[tuple[str, argparse.Action]]:
    """Those of all commands that parse their value."""
    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    for name, parser in commands.choices.items():
        for action in parser._actions:
            if action.type not in (None, Path):
                yield f"{name} {action.option_strings[0]}", action


OPTIONS = dict(options())


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "", "9" * 30, "9" * 5000])
@pytest.mark.parametrize("name", OPTIONS)
def test_no_value_is_taken_that_the_program_cannot_handle(name: str, value: str) -> None:
    parse: Any = OPTIONS[name].type
    taken = None
    with suppress(argparse.ArgumentTypeError):
        taken = parse(value)
    if taken is not None:
        assert 0 < taken <= threading.TIMEOUT_MAX
        assert name.endswith(("--time-limit", "--learning-rate"))


def test_a_time_limit_may_be_as_long_as_timers_can_wait() -> None:
    assert positive_seconds("1e300") <= threading.TIMEOUT_MAX
    assert positive_seconds("0.5") == 0.5


@pytest.mark.parametrize(
    "words",
    [
        ["fuzz", "d.pddl", "p.pddl", "--out", "pool", "--walk-length", "99999999999999"],
        ["fuzz", "d.pddl", "p.pddl", "--out", "pool", "--size", "0"],
        ["run", "builtin:random", "d.pddl", "p.pddl", "--seed", "-1"],
        ["bugs", "w.plumb", "--bug", "99999999999999999999"],
        ["bugs", "w.plumb", "--bug", "1", "--duplicate-of", "99999999999999999999"],
        ["export", "w.plumb", "--out", "x", "--bug", "1", "99999999999999999999"],
    ],
)
def test_a_number_out_of_range_is_bad_input(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == ExitCode.BAD_INPUT
    message = capsys.readouterr().err
    assert f"argument {words[-2]}" in message or "argument --bug" in message
    assert f"'{words[-1]}' is not a whole number" in message
