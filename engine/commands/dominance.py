"""`plumbline dominance`: by how much some values of variables are better than others."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from engine.commands.arguments import load_task_argument, seconds_left
from engine.commands.console import Console
from engine.commands.options import Options
from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS, Variant
from engine.dominance.function import NO_VALUE, DominanceFunction, FactorTable
from engine.errors import ExitCode
from engine.records.config import Factorization
from engine.task.atoms import format_fact
from engine.task.task import Task
from engine.workers.limits import bounded_memory

SHOWN = 10
"""Entries per factor that the text output shows."""


def configure(options: Options) -> None:
    options.task()
    options.limits()
    options.text(
        "--factors",
        "atomic|merged[:TRANSITIONS]",
        "one factor per variable (default), or products of variables of limited size",
        default="atomic",
    )
    options.choice(
        "--variant",
        [variant.value for variant in Variant],
        Variant.R.value,
        "closure of the tables: a none, b as in the published tool, r strongest (default)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    started = time.monotonic()
    factorization = Factorization.parse(args.factors)
    task = load_task_argument(args, console)
    limits = replace(DEFAULT_LIMITS, seconds=seconds_left(args.time_limit, started))
    began = time.perf_counter()
    with bounded_memory(args.memory_limit):
        function = dominance_function(task, factorization, Variant(args.variant), limits=limits)
    seconds = time.perf_counter() - began
    if not console.as_json:  # a document of millions of comparisons takes longer than they did
        console.result({}, _text(task, function, seconds))
        return ExitCode.DONE
    document = {
        "factors": [_document(function, number) for number in range(len(function.factors))],
        "seconds": round(seconds, 3),
        "variant": args.variant,
        "complete": function.complete,
        "declined": function.reason or None,
    }
    console.result(document, "")
    return ExitCode.DONE


def _document(function: DominanceFunction, number: int) -> dict[str, object]:
    """Describe a factor: by the values of its variable, or if merged by states with values."""
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


def _entries(factor: FactorTable, best: int | None = None) -> list[tuple[int, int, int]]:
    """All comparisons of two states, or only the best, the first of equal ones first."""
    s, t = np.nonzero(_known(factor))
    values = factor.table[s, t]
    if best is not None:
        order = np.argsort(-values.astype(np.int64), kind="stable")[:best]
        s, t, values = s[order], t[order], values[order]
    return list(zip(s.tolist(), t.tolist(), values.tolist(), strict=True))


def _known(factor: FactorTable) -> np.ndarray:
    known: np.ndarray = factor.table != NO_VALUE
    np.fill_diagonal(known, False)
    return known


def _text(task: Task, function: DominanceFunction, seconds: float) -> str:
    lines: list[str] = []
    for number, factor in enumerate(() if function.is_trivial else function.factors):
        count = int(np.count_nonzero(_known(factor)))
        title = ", ".join(f"variable {variable}" for variable in factor.variables)
        lines.append(f"{title}: {factor.n_states} states, {count} comparisons")
        values = function.factor_values(number).tolist()
        for s, t, value in _entries(factor, SHOWN):
            worse, better = (_facts(task, factor, values[state]) for state in (s, t))
            lines.append(f"  {better} instead of {worse}: {_change(value)}")
        if count > SHOWN:
            lines.append(f"  and {count - SHOWN} more")
    if function.is_trivial:
        lines.append(f"no dominance function: {function.reason}")
    elif not function.complete:
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
