"""What later runs will ask a policy, to fill up the questions of the present one.

A policy outside the kernels is fastest when it is asked about many states at once, but a campaign
runs it from one state after the other. So runs from the next states are followed here, as far as
answers are known, and the states where they wait join the next question. Answers wait here until a
run needs them. States have ids of their own, so that nothing else depends on what is asked ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine.native.library import Int32Array
from engine.task.states import StateTable
from engine.task.task import Task

WIDTH = 64
"""States per question, if so many runs wait for an answer."""

_OVER = -1

MoreStarts = Callable[[int], Sequence[Sequence[int]]]
"""At most so many states from which the policy will be run later, each only once."""


class Ahead:
    """Answers by state, and runs that wait for one. Whoever uses it asks the policy."""

    def __init__(self, task: Task) -> None:
        self._table = StateTable(task)
        self._answers: dict[int, int] = {}
        self._after: dict[int, int] = {}  # where an answer leads
        self._waiting: dict[int, int] = {}  # later runs: where each stands, after how many steps
        self._left_out = 0

    def questions(
        self, start: Int32Array, limit: int | None, more: MoreStarts
    ) -> Iterator[Int32Array]:
        """What the run from a state asks until it is over or has made `limit` steps.

        Every question has states of later runs as well. Its answers must be noted before the
        next one.
        """
        if self._left_out:
            self._left_out -= 1
            return
        place, steps = self._follow(int(self._table.add(start)[0]), 0, limit)
        while place != _OVER:
            before, self._waiting = self._waiting, {place: steps}
            for state, so_far in before.items():
                self._wait(state, so_far, limit)
            self._begin(limit, more)
            if len(self._waiting) == 1:  # there is nothing to add
                return
            yield self._table.values(list(self._waiting))
            place, steps = self._follow(place, steps, limit)

    def note(self, states: Int32Array, answers: Int32Array) -> None:
        """Take over answers in states, given by their values."""
        ids = self._table.add(states)
        after = np.full(len(ids), _OVER, np.int32)
        possible = (answers >= 0) & (answers < len(self._table.task.operators))
        after[possible] = self._table.apply(ids[possible], answers[possible])
        self._answers.update(zip(ids.tolist(), answers.tolist(), strict=True))
        self._after.update(zip(ids.tolist(), after.tolist(), strict=True))
        self._end_in_goals(after[after != _OVER])

    def answers(self, states: Int32Array) -> list[int | None]:
        """What is known of the answers in states, given by their values."""
        return [self._answers.get(state) for state in self._table.find(states).tolist()]

    def leave_out(self) -> None:
        """The policy failed on a question: the next runs ask theirs alone."""
        self._waiting.clear()
        self._left_out = WIDTH

    def _begin(self, limit: int | None, more: MoreStarts) -> None:
        """Begin later runs until enough of them wait."""
        while (wanted := WIDTH - len(self._waiting)) > 0:
            if not (starts := more(wanted)):
                return
            ids = self._table.add(starts)
            self._end_in_goals(ids)
            for state in ids.tolist():
                self._wait(state, 0, limit)

    def _end_in_goals(self, states: Int32Array) -> None:
        goals = states[self._table.is_goal(states)]
        self._after.update(dict.fromkeys(goals.tolist(), _OVER))

    def _wait(self, state: int, steps: int, limit: int | None) -> None:
        """Where two runs meet, one goes on for both."""
        place, steps = self._follow(state, steps, limit)
        if place != _OVER:
            self._waiting.setdefault(place, steps)

    def _follow(self, state: int, steps: int, limit: int | None) -> tuple[int, int]:
        """Where a run needs an answer that is not known, or _OVER, and after how many steps."""
        passed: set[int] = set()
        while state != _OVER and state in self._after:
            if steps == limit or state in passed:
                return _OVER, steps
            passed.add(state)
            state, steps = self._after[state], steps + 1
        return state if steps != limit else _OVER, steps
