"""Policies that decide in the kernels, and the runs of any policy on the states of a table.

Kernels that may take long work for a slice of time and return, so that their caller can look
whether to stop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.errors import CancelledError
from engine.native.library import (
    BoolArray,
    Int32Array,
    Int64Array,
    as_array,
    call,
    create,
    destroy_with,
)
from engine.native.networks import IndexRows, NativeNetwork
from engine.native.searches import NativeEvaluator
from engine.native.states import NativeStates, NativeTask
from engine.records.finding import INFINITY

SLICE_SECONDS = 0.05

BY_LOOKAHEAD = 2
"""Who found a step of a proof; others are numbered as in bounds."""


class NativePolicy:
    """A policy of the kernels. Not for use by two threads at once."""

    def __init__(self, task: NativeTask, handle: ctypes.c_void_p, *used: object) -> None:
        self._task = task
        self.handle = handle
        destroy_with(self, "policy_destroy", handle, task, *used)

    @classmethod
    def greedy(cls, value: NativeEvaluator) -> NativePolicy:
        """Goes to the successor with the smallest value."""
        return cls(value.task, create("policy_greedy", value.task.handle, value.handle), value)

    @classmethod
    def random(cls, task: NativeTask, keys: Int64Array) -> NativePolicy:
        """Chooses by the keys of a state's facts, combined by exclusive or."""
        keys = as_array(keys, np.int64, (task.n_facts,))
        return cls(task, create("policy_random", task.handle, keys))

    @classmethod
    def network(
        cls, task: NativeTask, network: NativeNetwork, operators: IndexRows, tolerance: float
    ) -> NativePolicy:
        """Takes the first action that is nearly the best; `operators` are those of its actions."""
        rows = operators.checked(network.n_operators)
        handle = create("policy_network", network.handle, task.handle, *rows, tolerance)
        return cls(task, handle, network)

    def decide(self, states: Int32Array) -> Int32Array:
        """An operator per row of values, or what stands for none."""
        states = as_array(states, np.int32, (None, self._task.n_variables))
        answers = np.empty(len(states), np.int32)
        call("policy_decide", self.handle, self._task.handle, len(states), states, answers)
        return answers


@dataclass(frozen=True)
class BoundedRuns:
    """Runs with bounds on their costs, one entry each: how far they are and what they answer."""

    states: Int32Array
    bounds: Int64Array
    spent: Int64Array
    steps: Int64Array
    answers: Int64Array
    ended: BoolArray

    @classmethod
    def begin(cls, starts: Int32Array, bounds: Int64Array) -> BoundedRuns:
        n = len(starts)
        spent, steps, answers = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        return cls(starts.copy(), bounds, spent, steps, answers, np.zeros(n, np.bool_))


@dataclass(frozen=True)
class NativeResults:
    """By state the codes of outcome and reason, and the cost; see interface/policies.cpp."""

    outcomes: Int32Array
    reasons: Int32Array
    costs: Int64Array


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """Codes of outcome and reason, the cost, all states of a run, and the decision in each."""

    outcome: int
    reason: int
    cost: int
    steps: tuple[list[int], list[int]]


class NativeRuns:
    """The graph of a policy's decisions. Not for use by two threads at once.

    Without a policy of the kernels, answers are told; calls that need some return the states where
    they are missing, and are repeated when they have been told.
    """

    def __init__(self, states: NativeStates, policy: NativePolicy | None) -> None:
        self.handle = create("runs_create", states.handle)
        destroy_with(self, "runs_destroy", self.handle, states)
        self._policy = policy  # lives as long as this does
        self._by = None if policy is None else policy.handle
        self._counts, self._traced = np.zeros(4, np.int64), np.zeros(4, np.int64)
        self._count, self._adopted = np.zeros(1, np.int64), np.zeros(3, np.int64)
        self._steps, self._parents = _two_columns(64), _two_columns(16)

    @property
    def asked(self) -> int:
        """How often the kernels' policy was asked."""
        return int(self._counts[2])

    @property
    def inapplicable(self) -> int:
        """How many answers were no applicable operators."""
        return int(self._counts[3])

    def run(
        self, starts: Int32Array, limit: int, cancelled: Callable[[], bool], *, again: bool
    ) -> Int32Array:
        """Run from all starts until each has a result or `limit` steps (-1: any number).

        `again` continues the last runs. Returns the states where answers are missing.
        """
        starts = as_array(starts, np.int32)
        while not self._is_done(
            *("runs_run", self._by, len(starts), starts),
            *(int(again), limit, SLICE_SECONDS),
        ):
            again = True
            if cancelled():
                raise CancelledError
        return self._missing()

    def run_bounded(
        self, runs: BoundedRuns, limit: int, known: Int64Array, cancelled: Callable[[], bool]
    ) -> Int32Array:
        """Continue bounded runs until all have ended or made `limit` steps (-1: any number).

        A run ends in a state whose bound in `known` is good enough. Returns the states where
        answers are missing.
        """
        while not self._is_done(
            *("runs_bounded", self._by, len(runs.states), runs.states, runs.bounds),
            *(runs.spent, runs.steps, runs.answers, runs.ended),
            *(limit, len(known), known, SLICE_SECONDS),
        ):
            if cancelled():
                raise CancelledError
        return self._missing()

    def decide(self, states: Int32Array) -> tuple[Int32Array, Int32Array]:
        """The decisions in these states, and where answers are missing."""
        states = as_array(states, np.int32)
        decisions = np.empty(len(states), np.int32)
        self._is_done("runs_decide", self._by, len(states), states, decisions)
        return decisions, self._missing()

    def tell(self, states: Int32Array, answers: Int32Array) -> None:
        """What a policy answers in distinct states."""
        states, answers = as_array(states, np.int32), as_array(answers, np.int32, (len(states),))
        call("runs_tell", self.handle, len(states), states, answers)

    def adopt(self, other: NativeRuns, start: int) -> tuple[int, int | None]:
        """Take over a run of the same policy on another table.

        Returns the state where it starts in this table and, if it has no result, its cost so far.
        """
        call("runs_adopt", self.handle, other.handle, start, self._adopted)
        state, has_result, cost = self._adopted.tolist()
        return state, None if has_result else cost

    def fail(self, state: int) -> None:
        """The policy has no answer in a state: runs that come there end without a result."""
        call("runs_fail", self.handle, state)

    def results(self, starts: Int32Array) -> NativeResults:
        """What is known of these runs: as far as they were walked, if they have no result."""
        starts = as_array(starts, np.int32)
        n = len(starts)
        found = NativeResults(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64))
        call(
            *("runs_results", self.handle, n, starts),
            *(found.outcomes, found.reasons, found.costs),
        )
        return found

    def trace(self, start: int) -> NativeTrace:
        """The run from a state as far as it was walked."""
        while True:
            states, decisions = self._steps
            call("runs_trace", self.handle, start, len(states), states, decisions, self._traced)
            n, outcome, reason, cost = self._traced.tolist()
            if n <= len(states):
                steps = states[:n].tolist(), decisions[:n].tolist()
                return NativeTrace(outcome, reason, cost, steps)
            self._steps = _two_columns(2 * n)

    def parents(self, state: int) -> list[tuple[int, int]]:
        """The states from which the policy goes to this one, each with its decision."""
        while True:
            parents, decisions = self._parents
            call(
                *("runs_parents", self.handle, state, len(parents)),
                *(parents, decisions, self._count),
            )
            n = int(self._count[0])
            if n <= len(parents):
                return list(zip(parents[:n].tolist(), decisions[:n].tolist(), strict=True))
            self._parents = _two_columns(2 * n)

    def _is_done(self, name: str, *arguments: object) -> bool:
        """Call a kernel; false if only its time was over."""
        call(name, self.handle, *arguments, self._counts)
        return bool(self._counts[0] or self._counts[1])

    def _missing(self) -> Int32Array:
        states = np.empty(int(self._counts[1]), np.int32)
        if len(states):
            call("runs_missing", self.handle, states)
        return states


def _two_columns(n: int) -> tuple[Int32Array, Int32Array]:
    return np.empty(n, np.int32), np.empty(n, np.int32)


@dataclass(frozen=True, slots=True)
class NativeProof:
    """What look-ahead proves: the cost of its best plan, the bound of the state, and its steps.

    A step is an operator and who found it, as in bounds. There is none without a bound.
    """

    best: int
    bound: int
    operators: list[int]
    origins: list[int]
    touched: int  # states


class NativeScreen:
    """Tells where look-ahead proves nothing, and what elsewhere. Not for two threads at once.

    It follows all first steps and runs on states of its own. What it learns about the policy it
    keeps, so it is the same work for less. A proof knows nothing of other states.
    """

    _TIME_OVER, _NOTHING = 0, 1

    def __init__(self, states: NativeStates, policy: NativePolicy, depth: int) -> None:
        self._handle = create("screen_create", states.task.handle, policy.handle)
        self._states, self._depth = states, depth
        self._answer, self._proof = np.zeros(2, np.int64), np.zeros(5, np.int64)
        self._count, self._chain = np.zeros(1, np.int64), _two_columns(64)
        destroy_with(self, "screen_destroy", self._handle, states, policy)

    @property
    def asked(self) -> int:
        """How often the policy was asked."""
        return max(int(self._answer[1]), int(self._proof[1]))

    def is_vain(
        self, state: int, limit: int, step_limit: int | None, cancelled: Callable[[], bool]
    ) -> bool:
        """Whether nothing below the limit would be found from a state.

        A run with more steps than this may find something.
        """
        max_steps = -1 if step_limit is None else step_limit
        call("screen_begin", self._handle, self._states.handle, state, self._depth, limit)
        while True:
            call("screen_resume", self._handle, max_steps, SLICE_SECONDS, self._answer)
            if self._answer[0] != self._TIME_OVER:
                return bool(self._answer[0] == self._NOTHING)
            if cancelled():
                raise CancelledError

    def prove(
        self,
        runs: NativeRuns,
        state: int,
        reference: int | None,
        step_limit: int | None,
        cancelled: Callable[[], bool],
    ) -> NativeProof:
        """What is proven in the state of the last question, which is one of these runs."""
        max_steps = -1 if step_limit is None else step_limit
        origin = -1 if reference is None else reference
        call("screen_begin_proof", self._handle, runs.handle, state, origin)
        while True:
            call("screen_prove", self._handle, max_steps, SLICE_SECONDS, self._proof)
            if self._proof[0]:
                break
            if cancelled():
                raise CancelledError
        _, _, best, bound, touched = self._proof.tolist()
        steps = ([], []) if best == INFINITY else self._steps()
        return NativeProof(best, bound, *steps, touched)

    def _steps(self) -> tuple[list[int], list[int]]:
        while True:
            operators, origins = self._chain
            call("screen_chain", self._handle, len(operators), operators, origins, self._count)
            if (n := int(self._count[0])) <= len(operators):
                return operators[:n].tolist(), origins[:n].tolist()
            self._chain = _two_columns(2 * n)
