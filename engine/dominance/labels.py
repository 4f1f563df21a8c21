"""Label groups, and the form in which the kernels take a factored system.

Labels that do the same in every factor are one label: only the cheapest of them can matter.
See docs/theory/dominance.md, "Label groups".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.dominance.factors import Factor, FactoredSystem
from engine.errors import UnsupportedError
from engine.native.dominance import RANGE, NativeSystem
from engine.native.library import Int32Array, Int64Array
from engine.workers.link import NULL_LINK

MAX_PAIRS = 2**24
"""Label pairs, and group pairs over all factors, up to which every label may answer every one."""

Arcs = tuple[Int32Array, Int32Array, Int32Array]


@dataclass(frozen=True)
class CompiledSystem:
    """A system with at least one state per factor, in the kernels' memory."""

    native: NativeSystem
    closing: NativeSystem  # with the labels that leave frozen factors alone
    frozen: tuple[bool, ...]
    heights: tuple[Int32Array, ...]  # h_i by factor
    goals: tuple[np.ndarray, ...]
    all_answers: bool

    @property
    def n_states(self) -> tuple[int, ...]:
        return self.native.n_states


def compile_system(
    system: FactoredSystem, look: Callable[[], None] = NULL_LINK.check
) -> CompiledSystem:
    alive = np.flatnonzero(system.alive)
    groups = np.zeros((len(system.factors), len(alive)), np.int32)
    arcs: list[Arcs] = []
    for number, factor in enumerate(system.factors):
        look()
        groups[number], factor_arcs = _grouped(factor, alive)
        arcs.append(factor_arcs)
    costs = system.costs[alive]
    kept = _cheapest_of_equals(groups, costs)
    heights = [factor.heights(system.costs) for factor in system.factors]
    highest = max((int(column.max()) for column in heights), default=0)
    if highest > RANGE // 2:
        raise UnsupportedError(
            f"goal distances of {highest} are too large for dominance functions",
            hint="divide all action costs by a common factor, or use --unit-costs",
        )
    pairs = [len(kept) ** 2, sum(int(row.max(initial=0) + 1) ** 2 for row in groups)]
    sizes = [factor.n_states for factor in system.factors]
    frozen = [factor.frozen for factor in system.factors]
    native = closing = NativeSystem(sizes, arcs, groups[:, kept], costs[kept])
    if any(frozen):
        free = kept[~groups[:, kept][frozen].any(axis=0)]
        used = [_arcs_of(columns, row) for columns, row in zip(arcs, groups[:, free], strict=True)]
        closing = NativeSystem(sizes, used, groups[:, free], costs[free])
    return CompiledSystem(
        native,
        closing,
        tuple(frozen),
        tuple(column.astype(np.int32) for column in heights),
        tuple(factor.goal for factor in system.factors),
        max(pairs) <= MAX_PAIRS,
    )


def _grouped(factor: Factor, alive: Int64Array) -> tuple[Int32Array, Arcs]:
    """The group of every label, and the arcs by group."""
    order = np.lexsort((factor.targets, factor.sources, factor.labels))
    sources, targets = factor.sources[order], factor.targets[order]
    begin = np.searchsorted(factor.labels[order], np.arange(len(factor.relevant) + 1))
    groups = np.zeros(len(alive), np.int32)
    known: dict[bytes, int] = {}
    members: list[tuple[int, int, int]] = []
    for position, label in enumerate(alive.tolist()):
        if not factor.relevant[label]:
            continue
        first, last = int(begin[label]), int(begin[label + 1])
        key = sources[first:last].tobytes() + targets[first:last].tobytes()
        group = known.setdefault(key, len(known) + 1)
        if group > len(members):
            members.append((group, first, last))
        groups[position] = group
    parts = [np.arange(first, last) for _, first, last in members]
    rows = np.concatenate(parts) if parts else np.empty(0, np.int64)
    numbers = np.repeat(
        np.array([group for group, _, _ in members], np.int32),
        [last - first for _, first, last in members],
    )
    return groups, (numbers, sources[rows], targets[rows])


def _arcs_of(arcs: Arcs, groups: Int32Array) -> Arcs:
    """Those of groups up to the last one that a label has."""
    numbers, sources, targets = arcs
    used = numbers <= groups.max(initial=0)
    return numbers[used], sources[used], targets[used]


def _cheapest_of_equals(groups: Int32Array, costs: Int64Array) -> Int64Array:
    best: dict[bytes, int] = {}
    columns = np.ascontiguousarray(groups.T)
    for label in range(len(costs)):
        key = columns[label].tobytes()
        if key not in best or costs[label] < costs[best[key]]:
            best[key] = label
    return np.array(sorted(best.values()), np.int64)
