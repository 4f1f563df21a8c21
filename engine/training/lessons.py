"""All lessons of one problem: states with what is right in them, and how much they matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.native.library import Int32Array, Int64Array
from engine.task.successors import State
from engine.training.teacher import Lesson
from engine.training.unrolled import UnrolledNetwork

MAX_LESSONS = 3000
MAX_VISITS = 4


class LessonBook:
    """Lessons stay in the order in which they came; a state the policy visits counts more."""

    def __init__(self, unrolled: UnrolledNetwork) -> None:
        self._unrolled = unrolled
        self._states: list[State] = []
        self._rows: dict[State, int] = {}  # where a state stands in the lists
        self._right: list[tuple[int, ...]] = []
        self._visits: list[int] = []

    def __len__(self) -> int:
        return len(self._right)

    def add(self, lessons: Iterable[Lesson]) -> None:
        for lesson in lessons:
            places = self._unrolled.places(lesson.right)
            if places and lesson.state not in self._rows and len(self) < MAX_LESSONS:
                self._rows[lesson.state] = len(self)
                self._states.append(lesson.state)
                self._right.append(places)
                self._visits.append(0)

    def visit(self, states: Int32Array) -> None:
        for state in map(tuple, states.tolist()):
            row = self._rows.get(state)
            if row is not None:
                self._visits[row] = min(self._visits[row] + 1, MAX_VISITS)

    def batch(self, rows: Int64Array) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (facts, states), right operators (operators, states), weights (states)."""
        numbers = rows.tolist()
        states = [self._states[row] for row in numbers]
        truth = self._unrolled.truth(np.array(states, dtype=np.int32))
        right = torch.zeros((self._unrolled.operators, len(numbers)), dtype=torch.bool)
        for column, row in enumerate(numbers):
            right[list(self._right[row]), column] = True
        weights = torch.tensor([1.0 + self._visits[row] for row in numbers])
        return truth, right, weights

    def contents(self) -> dict[str, Any]:
        """Plain values that `restore` takes."""
        return {
            "states": [list(state) for state in self._states],
            "right": [list(places) for places in self._right],
            "visits": list(self._visits),
        }

    def restore(self, contents: Mapping[str, Any]) -> None:
        self._states = [tuple(state) for state in contents["states"]]
        self._rows = {state: row for row, state in enumerate(self._states)}
        self._right = [tuple(places) for places in contents["right"]]
        self._visits = list(contents["visits"])
