"""`plumbline dominance`: by how much some values of variables are better than others."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from engine.commands.arguments import (
    add_limits,
    add_task_argument,
    load_task_argument,
    seconds_left,
)
from engine.commands.console import Console
from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS, Variant
from engine.dominance.function import NO_VALUE, DominanceFunction, FactorTable
from engine.errors import ExitCode
from engine.records.config import Factorization
from engine.task.atoms import format_fact
from engine.task.task import Task

SHOWN = 10
"""Entries per factor that the text for people shows."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_task_argument(parser)
    add_limits(parser)
    parser.add_argument(
        "--factors",
        default="atomic",
        metavar="atomic|merged[:TRANSITIONS]",
        help="one factor per variable (default), or products of variables of limited size",
    )
    parser.add_argument(
        "--variant",
        choices=[variant.value for variant in Variant],
        default=Variant.R.value,
        help="closure of the tables: a none, b as in the published tool, r strongest (default)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    factorization = Factorization.parse(args.factors)
    task = load_task_argument(args, console)
    limits = replace(DEFAULT_LIMITS, seconds=seconds_left(args.time_limit, started))
    began = time.perf_counter()
    function = dominance_function(task, factorization, Variant(args.variant), limits=limits)
    seconds = time.perf_counter() - began
    document = {
        "factors": [_document(function, number) for number in range(len(function.factors))],
        "seconds": round(seconds, 3),
        "variant": args.variant,
        "complete": function.complete,
    }
    console.result(document, _text(task, function, seconds))
    return ExitCode.DONE


def _document(function: DominanceFunction, number: int) -> dict[str, object]:
    """Atomic factors speak of the variable's values, merged ones of states with values."""
    factor = function.factors[number]
    values = function.factor_values(number).tolist()
    is_atomic = len(factor.variables) == 1
    names = [row[0] for row in values] if is_atomic else list(range(factor.n_states))
    document: dict[str, object] = {
        "variables": list(factor.variables),
        "states": factor.n_states,
        "entries": [[names[s], names[t], value] for s, t, value in _entries(factor)],
    }
    if not is_atomic:
        document["values"] = values
    return document


def _entries(factor: FactorTable) -> list[tuple[int, int, int]]:
    known = factor.table != NO_VALUE
    np.fill_diagonal(known, False)
    s, t = np.nonzero(known)
    return list(zip(s.tolist(), t.tolist(), factor.table[s, t].tolist(), strict=True))


def _text(task: Task, function: DominanceFunction, seconds: float) -> str:
    lines = []
    for number, factor in enumerate(function.factors):
        entries = _entries(factor)
        title = ", ".join(f"variable {variable}" for variable in factor.variables)
        lines.append(f"{title}: {factor.n_states} states, {len(entries)} comparisons")
        values = function.factor_values(number).tolist()
        best = sorted(entries, key=lambda entry: -entry[2])[:SHOWN]
        for s, t, value in best:
            worse, better = (_facts(task, factor, values[state]) for state in (s, t))
            lines.append(f"  {better} instead of {worse}: {_change(value)}")
        if len(entries) > SHOWN:
            lines.append(f"  and {len(entries) - SHOWN} more")
    if not function.complete:
        lines.append("stopped at a limit; more time may give more comparisons")
    lines.append(f"computed in {seconds:.2f} s")
    return "\n".join(lines)


def _facts(task: Task, factor: FactorTable, values: list[int]) -> str:
    facts = [
        format_fact(task.variables[variable].values[value])
        for variable, value in zip(factor.variables, values, strict=True)
    ]
    return " ".join(facts)


def _change(value: int) -> str:
    if value > 0:
        return f"cheaper by at least {value}"
    return "never more expensive" if value == 0 else f"more expensive by at most {-value}"
