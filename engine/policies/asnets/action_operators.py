"""From the actions of a network to the operators of a task.

A ground action can have several operators, because the translator multiplies out conditions that
are not lists of facts; in a state at most one way to apply it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from engine.native.library import Int32Array, Int64Array
from engine.native.networks import IndexRows
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.task.successors import choose_operator
from engine.task.task import Task


class ActionOperators:
    """The operators of these ground actions; NO_OPERATION for those the task does not have."""

    def __init__(self, task: Task, actions: Sequence[str]) -> None:
        self._task, self._actions = task, actions
        self.first: Int32Array = np.array(
            [task.operator_index.get(name, NO_OPERATION) for name in actions], dtype=np.int32
        )
        self._is_ambiguous = np.array(
            [len(task.operators_of_action.get(name, ())) > 1 for name in actions], dtype=np.bool_
        )

    def __len__(self) -> int:
        return len(self._actions)

    @property
    def rows(self) -> IndexRows:
        """All operators of each action."""
        by_action = [self._task.operators_of_action.get(name, ()) for name in self._actions]
        begin = np.cumsum([0, *map(len, by_action)])
        operators = list(chain.from_iterable(by_action))
        return IndexRows(begin.astype(np.int32), np.array(operators, np.int32))

    def chosen(self, actions: Int32Array | Int64Array, states: Int32Array) -> Int32Array:
        """The operator of one action per state, none for -1: of several the applicable one."""
        result = np.append(self.first, np.int32(NO_ACTION))[actions]
        ambiguous = np.append(self._is_ambiguous, False)[actions]
        for row in np.flatnonzero(ambiguous).tolist():
            name = self._actions[int(actions[row])]
            operator = choose_operator(self._task, name, states[row].tolist())
            result[row] = NO_OPERATION if operator is None else operator
        return result
