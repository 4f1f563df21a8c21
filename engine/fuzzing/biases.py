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
from engine.records.finding import INFINITY, EndReason, RunOutcome
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
    SURFACE = "surface"  # it has costs without getting closer to the goal


@dataclass(frozen=True)
class PolicyBias:
    """Judges a candidate by the policy's run from it, cut after `horizon` steps.

    Without a shape the weight is the number of steps to the goal; a run that was cut weighs more
    than all that were not. With one it is the worst pair of states on the fragment, or with
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
        runs: list[PolicyRun] = []
        at_once = _BATCH if self.budget is not None else max(len(states), 1)
        for begin in range(0, len(states), at_once):
            asked = self.runs.statistics.evaluated - before
            if self.budget is not None and asked >= self.budget:
                break
            results = self.runs.run(states[begin : begin + at_once], self._limit, self.cancelled)
            runs += map(self._cut, results.starts.tolist())
        failed = [run.outcome is RunOutcome.FAILED for run in runs]
        weights = _lengths(runs) if self.shape is None else list(map(self._shape_weight, runs))
        left_out = len(states) - len(runs)
        return Judgment(weights + [-math.inf] * left_out, failed + [False] * left_out)

    @property
    def _limit(self) -> int:
        return STEP_LIMIT if self.horizon is None else self.horizon

    def _cut(self, state: int) -> PolicyRun:
        """The run from a state; what is known of it beyond the horizon, by whomever, is left out.

        It takes another decision to see that the policy fails.
        """
        run, limit = self.runs.trace(state), self._limit
        if len(run.operators) + (run.outcome is RunOutcome.FAILED) <= limit:
            return run
        states, operators = run.states[: limit + 1], run.operators[:limit]
        return PolicyRun(RunOutcome.ABORTED, EndReason.STEP_LIMIT, None, states, operators)

    def _shape_weight(self, run: PolicyRun) -> float:
        states = run.states
        if len(states) < 2:
            return -math.inf
        operators = self.runs.table.task.operators
        steps = [operators[operator].cost for operator in run.operators]
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


def _lengths(runs: Sequence[PolicyRun]) -> list[float]:
    """Count a run that was cut as longer than all others, and one that fails as endless."""
    known = [len(run.operators) for run in runs if run.outcome is not RunOutcome.FAILED]
    weights = {RunOutcome.FAILED: math.inf, RunOutcome.ABORTED: max(known, default=0) + 1.0}
    return [weights.get(run.outcome, float(len(run.operators))) for run in runs]


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
