"""Policies without a file: deterministic, imperfect, and good for tests and first tries.

`gc`, `hadd` and `hff` go to the successor with the smallest value, the operator with the lowest
id first; relaxation values count actions, not costs, as the reference tool's do. `random` is a
fixed function of the state; `optimal` looks at all states of a small task.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.errors import LimitReachedError, PolicyError
from engine.native.library import Int32Array, Int64Array
from engine.native.policies import NativePolicy
from engine.pddl.model import Domain
from engine.policies.kinds import PolicyKind
from engine.policies.policy import NO_ACTION, BoundPolicy, Policy, PolicyInfo
from engine.records.finding import INFINITY
from engine.records.policy_spec import BUILTIN, SpecKind
from engine.search.exhaustive import optimal_costs
from engine.search.forward import SearchLimits
from engine.search.heuristics import Evaluator
from engine.task.load import with_unit_costs
from engine.task.states import StateTable, native_task
from engine.task.task import Task

HEURISTICS = {"gc": "gc", "hadd": "hadd", "hff": "ff"}
NAMES = ("random", *HEURISTICS, "optimal")

MAX_STATES = 2**20
"""What counts as a small task for `optimal`."""

SCALE = 2**20
"""More than a plan without repetitions has actions: costs count first, then their number."""


def open_builtin(name: str, seed: int = 0) -> Policy:
    if name not in NAMES:
        known = ", ".join(f"{BUILTIN}{known}" for known in NAMES)
        raise PolicyError(f"unknown built-in policy '{name}'", hint=f"choose one of {known}")
    return BuiltinPolicy(name, seed)


class BuiltinPolicy:
    """Fits every domain."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._seed = seed

    def describe(self) -> PolicyInfo:
        details = {"name": self._name}
        return PolicyInfo("builtin", None, details | ({"seed": self._seed} if self._draws else {}))

    @property
    def _draws(self) -> bool:
        return self._name == "random"

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        return ()

    def bind(self, task: Task) -> BoundPolicy:
        if self._name == "optimal":
            return OptimalPolicy(task)
        return BoundBuiltin(self._kernel(task))

    def _kernel(self, task: Task) -> NativePolicy:
        if self._draws:
            # Always the same in the same state: one number per fact, combined by exclusive or.
            generator = np.random.default_rng(self._seed)
            keys = generator.integers(0, 2**64, size=sum(task.domain_sizes), dtype=np.uint64)
            return NativePolicy.random(native_task(task), keys.view(np.int64))
        return Evaluator(with_unit_costs(task), HEURISTICS[self._name]).greedy_policy()


class BoundBuiltin:
    """Decides in the kernel alone."""

    def __init__(self, kernel: NativePolicy) -> None:
        self.kernel = kernel

    def decide(self, states: Int32Array) -> Int32Array:
        return self.kernel.decide(states)


class OptimalPolicy:
    """Begins a cheapest plan, of those one with the fewest actions, or does nothing."""

    def __init__(self, task: Task) -> None:
        # Shorter is better among equally cheap: otherwise free actions could go in circles.
        priced = tuple(replace(item, cost=item.cost * SCALE + 1) for item in task.operators)
        self._costs = np.array([operator.cost for operator in priced], dtype=object)
        if max(self._costs, default=0) * MAX_STATES >= INFINITY:
            raise PolicyError("the costs of the task are too large for builtin:optimal")
        self._costs = self._costs.astype(np.int64)
        self._table = StateTable(replace(task, operators=priced))
        self._to_go = np.empty(0, dtype=np.int64)
        self._look_at(np.array([task.init], dtype=np.int32))

    def _look_at(self, states: Int32Array) -> None:
        """h* of the states and all that can be reached from them, unless it is known already."""
        if (self._table.find(states) >= 0).all():
            return
        self._table.add(states)
        limits = SearchLimits(expansions=MAX_STATES)
        try:
            self._to_go = optimal_costs(self._table, limits=limits)
        except LimitReachedError as error:
            raise PolicyError(
                "the task has too many states for builtin:optimal",
                hint="use a smaller problem, or builtin:hadd",
            ) from error

    def decide(self, states: Int32Array) -> Int32Array:
        self._look_at(states)
        row_begin, operators, successors = self._table.successors_of(self._table.find(states))
        to_go = self._to_go[successors]
        solvable = to_go < INFINITY
        totals = np.where(solvable, to_go, 0) + np.where(solvable, self._costs[operators], INFINITY)
        decisions = first_smallest(row_begin, operators, totals)
        decisions[self._to_go[self._table.find(states)] == INFINITY] = NO_ACTION
        return decisions


def first_smallest(row_begin: Int64Array, operators: Int32Array, values: Int64Array) -> Int32Array:
    """Per row the first operator with the smallest value, `NO_ACTION` in empty rows."""
    decisions = np.full(len(row_begin) - 1, NO_ACTION, dtype=np.int32)
    rows = np.repeat(np.arange(len(decisions)), np.diff(row_begin))
    order = np.lexsort((values, rows))  # stable: of equal values the first stays first
    some = np.flatnonzero(np.diff(row_begin))
    decisions[some] = operators[order[row_begin[some]]]
    return decisions


KIND = PolicyKind(
    "builtin",
    "Built-in policy",
    lambda source: source.spec.kind is SpecKind.BUILTIN,
    lambda source, seed: open_builtin(source.spec.place, seed),
)
