"""Biases: how interesting a candidate state is to a walk.

All candidates of a step are judged together: the policy runs from all of them in lockstep, and a
heuristic sees all states in one call. `inf` means "go there", `-inf` "do not".
See docs/theory/fuzzing.md, "Biases".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Protocol

import numpy as np

from engine.errors import UsageError
from engine.native.library import Int32Array, Int64Array
from engine.policies.runs import PolicyRun, PolicyRuns
from engine.records.finding import INFINITY, RunOutcome
from engine.search.heuristics import Evaluator
from engine.workers.link import NULL_LINK


class Bias(Protocol):
    """Weights of candidate states, and which of them the policy was seen to fail on."""

    def judge(self, states: Int32Array) -> Judgment: ...


@dataclass(frozen=True, slots=True)
class Judgment:
    weights: Sequence[float]
    failed: Sequence[bool]


class Even:
    """No bias: every candidate is as good as any other."""

    def judge(self, states: Int32Array) -> Judgment:
        return Judgment([1.0] * len(states), [False] * len(states))


@dataclass(frozen=True)
class HeuristicBias:
    """The heuristic's estimate: states that look far from the goal."""

    runs: PolicyRuns
    evaluator: Evaluator

    def judge(self, states: Int32Array) -> Judgment:
        values = self.evaluator(self.runs.table.values(states)).tolist()
        weights = [-math.inf if value == INFINITY else float(value) for value in values]
        return Judgment(weights, [False] * len(states))


class Shape(Enum):
    """What a fragment of a policy run is searched for."""

    DETOUR = "detour"  # the policy takes longer between two states than it should
    LOOPINESS = "loopiness"  # it nearly comes back to where it was
    SURFACE = "surface"  # it pays without getting nearer to the goal


@dataclass(frozen=True)
class PolicyBias:
    """Judges a candidate by the policy's run from it, at most `horizon` steps long.

    Without a shape the weight is the plan's length: its cost if the policy reaches the goal,
    `horizon + 1` if it was stopped. With one it is the worst pair of states on the fragment, or
    with `ends_only` its two ends. At most `budget` states are put to the policy per step of the
    walk; candidates beyond that are left out.
    """

    runs: PolicyRuns
    shape: Shape | None = None
    horizon: int = 50
    budget: int = 200
    ends_only: bool = False
    cancelled: Callable[[], bool] = NULL_LINK.cancelled

    def judge(self, states: Int32Array) -> Judgment:
        before = self.runs.statistics.evaluated
        weights: list[float] = []
        failed: list[bool] = []
        for begin in range(0, len(states), _BATCH):
            if self.runs.statistics.evaluated - before >= self.budget:
                break
            results = self.runs.run(states[begin : begin + _BATCH], self.horizon, self.cancelled)
            for state, outcome, cost in zip(
                results.starts.tolist(), results.outcome, results.cost.tolist(), strict=True
            ):
                failed.append(outcome == RunOutcome.FAILED)
                weights.append(self._weight(state, outcome, cost))
        left_out = len(states) - len(weights)
        return Judgment(weights + [-math.inf] * left_out, failed + [False] * left_out)

    def _weight(self, state: int, outcome: RunOutcome, cost: int) -> float:
        if self.shape is not None:
            return self._shape_weight(self.runs.trace(state))
        if outcome is RunOutcome.SOLVED:
            return float(cost)
        return math.inf if outcome is RunOutcome.FAILED else float(self.horizon + 1)

    def _shape_weight(self, run: PolicyRun) -> float:
        states = run.states[: self.horizon + 1]
        if len(states) < 2:
            return -math.inf
        operators = self.runs.table.task.operators
        steps = [operators[operator].cost for operator in run.operators[: len(states) - 1]]
        spent = np.concatenate([[0], np.cumsum(steps)])
        values = self.runs.table.values(states)
        if self.shape is Shape.SURFACE:
            return self._surface(values, spent)
        return max(self._pairs(values, spent), default=-math.inf)

    def _pairs(self, values: Int32Array, spent: Int64Array) -> list[float]:
        """cost(i, j) minus the estimated distance from i to j, or back, for pairs i < j."""
        last = len(values) - 1
        pairs = [(0, last)] if self.ends_only else combinations(range(last + 1), 2)
        sources: dict[int, list[int]] = defaultdict(list)
        for i, j in pairs:
            source, target = (i, j) if self.shape is Shape.DETOUR else (j, i)
            sources[target].append(source)
        found: list[float] = []
        for target, others in sources.items():
            goal = list(enumerate(values[target].tolist()))
            distance = Evaluator(self.runs.table.task, "ff", goal)(values[others])
            known = distance != INFINITY
            cost = np.abs(spent[target] - spent[others])
            found += (cost[known] - distance[known]).astype(float).tolist()
        return found

    def _surface(self, values: Int32Array, spent: Int64Array) -> float:
        """cost(i, j) - (h(i) - h(j)): what was paid beyond what was gained."""
        h = Evaluator(self.runs.table.task, "ff")(values)
        if h[0] == INFINITY:
            return -math.inf
        if (h == INFINITY).any():
            return math.inf
        height = spent + h
        if self.ends_only:
            return float(height[-1] - height[0])
        lowest_before = np.minimum.accumulate(height)[:-1]
        return float((height[1:] - lowest_before).max())


_BATCH = 16

BIASES = ("none", "plan-length", "detour", "loopiness", "surface", "heuristic")


def make_bias(
    name: str,
    runs: PolicyRuns,
    *,
    horizon: int = 50,
    budget: int = 200,
    ends_only: bool = False,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> Bias:
    if name == "none":
        return Even()
    if name == "heuristic":
        return HeuristicBias(runs, Evaluator(runs.table.task, "ff"))
    if name not in BIASES:
        raise UsageError(f"unknown bias '{name}'", hint=f"choose one of {', '.join(BIASES)}")
    shape = None if name == "plan-length" else Shape(name)
    return PolicyBias(runs, shape, horizon, budget, ends_only, cancelled)
