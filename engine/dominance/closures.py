"""What stable tables imply beyond themselves: closures B and R.

R is the default. B, walking by labels that concern one factor only, is what the published tool
computes; it is here for comparison. See docs/theory/dominance.md, "Closures".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.dominance.factors import FactoredSystem
from engine.dominance.labels import CompiledSystem
from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.dominance import NO_VALUE
from engine.native.library import Int32Array, Int64Array, Outcome
from engine.search.forward import SearchLimits
from engine.workers.link import NULL_LINK

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
