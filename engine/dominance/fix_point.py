"""The tables of a dominance function: variant A, and closures B and R of it.

Variant A are the greatest tables that satisfy (B), (G) and (T). The iteration comes from above, so
tables are worth nothing before they are stable (P1). Values can fall one by one for a long time
before they count as nothing. When a limit is reached, they therefore have to fall less far; after
that the largest factors give up (their tables become the identity), each time with the others
lowered until they are stable again (P2).

Closures are what stable tables imply beyond themselves. R is the default. B, walking by labels that
concern one factor only, is what the published tool computes; it is here for comparison.
See docs/theory/dominance.md, "Fix-point" and "Closures".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from engine.dominance.factors import FactoredSystem
from engine.dominance.labels import CompiledSystem
from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.dominance import NO_VALUE, RANGE
from engine.native.library import Int32Array, Int64Array, Outcome
from engine.search.forward import SearchLimits
from engine.workers.link import NULL_LINK

LEAST_TRUNCATION = 1000
SHARES = (0.4, 0.2, 0.2, 0.1)
"""Of the limits: to be stable as wanted, with less depth, after one factor gave up, after two."""


def initial_tables(system: CompiledSystem) -> list[Int32Array]:
    """What (B) and (G) allow: h_i(s) - h_i(t), and a goal state is only matched by goal states.

    The table of a frozen factor is the identity, which never falls.
    """
    tables = []
    for heights, goal, frozen in zip(system.heights, system.goals, system.frozen, strict=True):
        if frozen:
            tables.append(_identity(len(heights)))
            continue
        table = heights[:, None] - heights[None, :]
        table[np.ix_(goal, ~goal)] = NO_VALUE
        np.fill_diagonal(table, 0)
        tables.append(table)
    return tables


def default_truncation(system: CompiledSystem) -> int:
    """Values below minus this count as nothing; needed for termination, sound at any number."""
    highest = max((int(heights.max(initial=0)) for heights in system.heights), default=0)
    return min(max(LEAST_TRUNCATION, 2 * highest), RANGE)


def fix_point(
    system: CompiledSystem,
    truncation: int,
    limits: SearchLimits,
    control: Control,
) -> tuple[list[Int32Array], bool]:
    """Return stable tables, and whether they were computed without giving anything up."""
    tables = initial_tables(system)
    by_size = sorted(range(len(tables)), key=lambda i: len(tables[i]))
    for attempt, share in enumerate(SHARES):
        if attempt >= 2 and by_size:
            given_up = by_size.pop()
            tables[given_up] = _identity(len(tables[given_up]))
        depth = truncation if attempt == 0 else min(truncation, _least_useful(system))
        if _stabilize(system, tables, depth, scaled(limits, share), control):
            return tables, attempt == 0
    return [_identity(len(table)) for table in tables], False


def _least_useful(system: CompiledSystem) -> int:
    """Return the depth of values to keep: gaps beyond the way to the goal are rarely useful."""
    return max((int(heights.max(initial=0)) for heights in system.heights), default=0)


def scaled(limits: SearchLimits, share: float) -> SearchLimits:
    return replace(
        limits,
        seconds=None if limits.seconds is None else limits.seconds * share,
        expansions=None if limits.expansions is None else int(limits.expansions * share),
    )


def _stabilize(
    system: CompiledSystem,
    tables: list[Int32Array],
    truncation: int,
    limits: SearchLimits,
    control: Control,
) -> bool:
    flat = np.concatenate([table.reshape(-1) for table in tables])
    outcome = control.run(
        lambda: system.native.fix_point(
            flat, truncation, system.all_answers, limits.native(), control.progress
        )
    )
    if outcome is Outcome.CANCELLED:
        raise CancelledError
    begin = 0
    for number, table in enumerate(tables):
        tables[number] = flat[begin : begin + table.size].reshape(table.shape)
        begin += table.size
    return outcome is Outcome.SOLVED


def _identity(size: int) -> Int32Array:
    table = np.full((size, size), NO_VALUE, np.int32)
    np.fill_diagonal(table, 0)
    return table


_NEVER = -(2**62)


def r_closure(
    system: CompiledSystem, tables: Sequence[Int32Array], limits: SearchLimits, control: Control
) -> tuple[list[Int32Array], bool]:
    """The R-closure, and whether it was finished; what a limit leaves is sound as well."""
    flat = np.concatenate([table.reshape(-1) for table in tables])
    heights = np.concatenate(system.heights)
    outcome = control.run(
        lambda: system.closing.closure(flat, heights, limits.native(), control.progress)
    )
    if outcome is Outcome.CANCELLED:
        raise CancelledError
    ends = np.cumsum([table.size for table in tables])
    parts = np.split(flat, ends[:-1])
    closed = [part.reshape(table.shape) for part, table in zip(parts, tables, strict=True)]
    return closed, outcome is Outcome.SOLVED


def b_closure(
    system: FactoredSystem,
    tables: Sequence[Int32Array],
    look: Callable[[], None] = NULL_LINK.check,
) -> list[Int32Array]:
    """D_i(s, t) = max over u of D_i(s, u) - d_i(t, u), d_i by labels relevant in factor i only."""
    relevant_in = np.sum([factor.relevant for factor in system.factors], axis=0)
    closed = []
    for factor, table in zip(system.factors, tables, strict=True):
        if factor.frozen:
            closed.append(table)
            continue
        own = relevant_in[factor.labels] == 1
        walks = _identity_of(factor.n_states)
        np.maximum.at(
            walks,
            (factor.targets[own], factor.sources[own]),
            -system.costs[factor.labels[own]],
        )
        for middle in range(factor.n_states):
            look()
            walks = np.maximum(walks, _through(walks, walks, middle))
        wide = np.where(table == NO_VALUE, _NEVER, table.astype(np.int64))
        best = wide.copy()
        for middle in range(factor.n_states):
            look()
            best = np.maximum(best, _through(wide, walks, middle))
        closed.append(np.where(best == _NEVER, NO_VALUE, best).astype(np.int32))
    return closed


def _identity_of(size: int) -> Int64Array:
    """Row u, column t is minus the price of walking from t to u."""
    walks = np.full((size, size), _NEVER)
    np.fill_diagonal(walks, 0)
    return walks


def _through(first: Int64Array, second: Int64Array, middle: int) -> Int64Array:
    a, b = first[:, middle, None], second[None, middle, :]
    return np.where((a == _NEVER) | (b == _NEVER), _NEVER, a + b)
