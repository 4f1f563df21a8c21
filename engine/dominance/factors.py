"""Factored transition systems: the task seen through a few variables at a time.

Labels are the operators, by number; where effects have conditions, the cases of operators. A
factor stores the transitions of the labels that matter to it; every other label is a self-loop at
each of its states. States that cannot be reached, or from which the factor's goal cannot be, are
pruned; so is a label that nothing is left of in some factor.
See docs/theory/dominance.md, "Factored transition system".

Variables that axioms depend on, and derived ones, are frozen: their factors compare a value with
itself only, so that nothing is pruned there. See docs/theory/conditional-effects.md, "Frozen
factors".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.records.finding import INFINITY
from engine.task.cases import all_cases
from engine.task.task import Task
from engine.workers.link import NULL_LINK


@dataclass(frozen=True)
class Factor:
    """States count from 0; `lookup` finds them by the values of the variables.

    The values are read as a number in mixed radix, the last variable counting fastest; -1 is a
    pruned combination. Arcs are sorted by label, then source.
    """

    variables: tuple[int, ...]
    lookup: Int32Array
    goal: BoolArray  # by state
    initial: int  # -1: pruned
    relevant: BoolArray  # by label
    labels: Int32Array
    sources: Int32Array
    targets: Int32Array
    frozen: bool = False

    @property
    def n_states(self) -> int:
        return len(self.goal)

    @property
    def matters_for_goal(self) -> bool:
        return not bool(self.goal.all())

    def arcs_per_label(self) -> Int64Array:
        """The number of arcs per label, with the self-loops of labels that do not matter here."""
        counts = np.bincount(self.labels, minlength=len(self.relevant))
        return np.where(self.relevant, counts, self.n_states)

    def heights(self, costs: Int64Array) -> Int64Array:
        """h_i: the distance to the factor's goal by state."""
        heights = np.where(self.goal, 0, INFINITY)
        while True:
            known = np.flatnonzero(heights[self.targets] != INFINITY)
            through = heights[self.targets[known]] + costs[self.labels[known]]
            lower = heights.copy()
            np.minimum.at(lower, self.sources[known], through)
            if np.array_equal(lower, heights):
                return heights
            heights = lower


@dataclass(frozen=True)
class FactoredSystem:
    """All factors of a task and which labels are alive."""

    costs: Int64Array
    alive: BoolArray
    factors: tuple[Factor, ...]

    @property
    def has_states(self) -> bool:
        """Whether the goal is within reach in every factor by itself."""
        return all(factor.n_states for factor in self.factors)


def atomic_system(task: Task, look: Callable[[], None] = NULL_LINK.check) -> FactoredSystem:
    """One factor per variable, derived ones included, pruned."""
    frozen = task.cone | set(task.derived_variables)
    arcs: list[list[tuple[int, int, int]]] = [[] for _ in task.variables]
    touched: list[list[int]] = [[] for _ in task.variables]
    sizes = task.domain_sizes
    costs = []
    for label, case in enumerate(all_cases(task)):
        look()
        costs.append(task.operators[case.operator].cost)
        for variable, image in case.images.items():
            # An effect without a precondition leads from everywhere (P7).
            arcs[variable] += [(label, source, target) for source, target in image.items()]
            touched[variable].append(label)
    wanted = dict(task.goal)
    n_labels = len(costs)
    factors = []
    for variable, size in enumerate(sizes):
        goal = np.ones(size, np.bool_)
        if variable in wanted and variable not in frozen:
            goal[:] = False
            goal[wanted[variable]] = True
        labels, sources, targets = np.array(arcs[variable], np.int32).reshape(-1, 3).T
        relevant = np.zeros(n_labels, np.bool_)
        relevant[touched[variable]] = True
        lookup = np.arange(size, dtype=np.int32)
        initial = task.init[variable]
        ends = (labels, sources, targets)
        factors.append(
            Factor((variable,), lookup, goal, initial, relevant, *ends, variable in frozen)
        )
    alive = np.ones(n_labels, np.bool_)
    return prune(FactoredSystem(np.array(costs, np.int64), alive, tuple(factors)), look)


def product(first: Factor, second: Factor, alive: BoolArray) -> Factor:
    """The synchronized product, not pruned."""
    n = second.n_states
    relevant = (first.relevant | second.relevant) & alive
    labels_a, sources_a, targets_a = _with_loops(first, relevant)
    labels_b, sources_b, targets_b = _with_loops(second, relevant)
    # Every arc of the first factor meets all arcs of the second with the same label.
    counts = np.bincount(labels_b, minlength=len(alive))
    begin = np.concatenate([[0], np.cumsum(counts)])
    repeats = counts[labels_a]
    rows = np.repeat(np.arange(len(labels_a)), repeats)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    partners = begin[labels_a[rows]] + within
    found = first.lookup[:, None] * n + second.lookup[None, :]
    known = (first.lookup[:, None] >= 0) & (second.lookup[None, :] >= 0)
    return Factor(
        variables=first.variables + second.variables,
        lookup=np.where(known, found, -1).astype(np.int32).reshape(-1),
        goal=(first.goal[:, None] & second.goal[None, :]).reshape(-1),
        initial=first.initial * n + second.initial,
        relevant=relevant,
        labels=labels_a[rows],
        sources=(sources_a[rows] * n + sources_b[partners]).astype(np.int32),
        targets=(targets_a[rows] * n + targets_b[partners]).astype(np.int32),
    )


def _with_loops(factor: Factor, wanted: BoolArray) -> tuple[Int32Array, Int32Array, Int32Array]:
    """All arcs of some labels, sorted by label, self-loops included."""
    idle = np.flatnonzero(wanted & ~factor.relevant).astype(np.int32)
    states = np.arange(factor.n_states, dtype=np.int32)
    labels = np.concatenate([factor.labels, np.repeat(idle, factor.n_states)])
    loops = np.tile(states, len(idle))
    order = np.argsort(labels, kind="stable")
    return (
        labels[order],
        np.concatenate([factor.sources, loops])[order],
        np.concatenate([factor.targets, loops])[order],
    )


def prune(system: FactoredSystem, look: Callable[[], None] = NULL_LINK.check) -> FactoredSystem:
    """Remove states and labels until nothing is left to remove."""
    alive, factors = system.alive, list(system.factors)
    waiting = list(range(len(factors)))
    while waiting:
        dead = np.zeros_like(alive)
        for number in waiting:
            look()
            factor = _without_labels(factors[number], alive)
            if not factor.frozen:
                factor = _restricted(factor, _useful_states(factor))
            factors[number] = factor
            lost = factor.relevant & alive
            lost[factor.labels] = False
            dead |= lost
        alive = alive & ~dead
        waiting = [i for i, factor in enumerate(factors) if bool((factor.relevant & dead).any())]
    return FactoredSystem(system.costs, alive, tuple(map(_without_idle_labels, factors)))


def _without_labels(factor: Factor, alive: BoolArray) -> Factor:
    kept = alive[factor.labels]
    return replace(
        factor,
        relevant=factor.relevant & alive,
        labels=factor.labels[kept],
        sources=factor.sources[kept],
        targets=factor.targets[kept],
    )


def _useful_states(factor: Factor) -> BoolArray:
    """Reachable from the initial state and able to reach the goal."""
    reached = np.zeros(factor.n_states, np.bool_)
    if factor.initial >= 0:
        reached[factor.initial] = True
    _spread(reached, factor.sources, factor.targets)
    useful = factor.goal & reached
    _spread(useful, factor.targets, factor.sources)
    return useful & reached


def _spread(marks: BoolArray, begin: Int32Array, end: Int32Array) -> None:
    while True:
        ends = end[marks[begin]]
        if bool(marks[ends].all()):
            return
        marks[ends] = True


def _restricted(factor: Factor, kept: BoolArray) -> Factor:
    if bool(kept.all()):
        return factor
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    arcs = kept[factor.sources] & kept[factor.targets]
    pruned = np.append(number, np.int32(-1))  # what was pruned before stays so
    return replace(
        factor,
        lookup=pruned[factor.lookup],
        goal=factor.goal[kept],
        initial=int(pruned[factor.initial]),
        labels=factor.labels[arcs],
        sources=number[factor.sources[arcs]],
        targets=number[factor.targets[arcs]],
    )


def _without_idle_labels(factor: Factor) -> Factor:
    """Labels that are left with exactly the self-loops of all states do not matter anymore."""
    moving = np.zeros_like(factor.relevant)
    moving[factor.labels[factor.sources != factor.targets]] = True
    counts = np.bincount(factor.labels, minlength=len(moving))
    relevant = factor.relevant & (moving | (counts < factor.n_states))
    kept = relevant[factor.labels]
    return replace(
        factor,
        relevant=relevant,
        labels=factor.labels[kept],
        sources=factor.sources[kept],
        targets=factor.targets[kept],
    )
