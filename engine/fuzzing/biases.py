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
from engine.policies.runs import STEP_LIMIT, PolicyRun, PolicyRuns
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

    Without a shape the weight is the number of steps to the goal; a run that was stopped weighs
    more than all that were not. With one it is the worst pair of states on the fragment, or with
    `ends_only` its two ends. At most `budget` states are put to the policy per step of the walk;
    candidates beyond that are left out.
    """

    runs: PolicyRuns
    shape: Shape | None = None
    horizon: int | None = 50  # None: whole runs
    budget: int | None = 200  # None: no limit
    ends_only: bool = False
    cancelled: Callable[[], bool] = NULL_LINK.cancelled

    def judge(self, states: Int32Array) -> Judgment:
        before = self.runs.statistics.evaluated
        limit = STEP_LIMIT if self.horizon is None else self.horizon
        weights: list[float] = []
        outcomes: list[RunOutcome] = []
        at_once = _BATCH if self.budget is not None else max(len(states), 1)
        for begin in range(0, len(states), at_once):
            asked = self.runs.statistics.evaluated - before
            if self.budget is not None and asked >= self.budget:
                break
            results = self.runs.run(states[begin : begin + at_once], limit, self.cancelled)
            outcomes += results.outcome.tolist()
            weights += [self._weight(state) for state in results.starts.tolist()]
        if self.shape is None:
            weights = _longest_if_stopped(weights, outcomes)
        left_out = len(states) - len(weights)
        failed = [outcome is RunOutcome.FAILED for outcome in outcomes]
        return Judgment(weights + [-math.inf] * left_out, failed + [False] * left_out)

    def _weight(self, state: int) -> float:
        run = self.runs.trace(state)
        if self.shape is not None:
            return self._shape_weight(run)
        return math.inf if run.outcome is RunOutcome.FAILED else float(len(run.operators))

    def _shape_weight(self, run: PolicyRun) -> float:
        states = run.states[: None if self.horizon is None else self.horizon + 1]
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
            task = self.runs.table.task
            goal = [(v, int(values[target, v])) for v in task.state_variables]
            distance = Evaluator(task, "ff", goal)(values[others])
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


def _longest_if_stopped(lengths: list[float], outcomes: list[RunOutcome]) -> list[float]:
    """Count a stopped run as longer than all finished ones."""
    finite = [length for length in lengths if length != math.inf]
    longest = max(finite, default=0.0) + 1
    pairs = zip(lengths, outcomes, strict=True)
    return [longest if outcome is RunOutcome.ABORTED else length for length, outcome in pairs]


_BATCH = 16
"""Candidates after which a budget is looked at; without one all of them run together."""

BIASES = ("none", "plan-length", "detour", "loopiness", "surface", "heuristic")


def make_bias(
    name: str,
    runs: PolicyRuns,
    *,
    horizon: int | None = 50,
    budget: int | None = 200,
    ends_only: bool = False,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> Bias | None:
    """The bias of this name; None: every candidate is as good as any other."""
    if name == "none":
        return None
    if name == "heuristic":
        return HeuristicBias(runs, Evaluator(runs.table.task, "ff"))
    if name not in BIASES:
        raise UsageError(f"unknown bias '{name}'", hint=f"choose one of {', '.join(BIASES)}")
    shape = None if name == "plan-length" else Shape(name)
    return PolicyBias(runs, shape, horizon, budget, ends_only, cancelled)
