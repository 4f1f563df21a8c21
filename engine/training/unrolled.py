"""One problem of a training: the network unrolled over it, and its lessons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.native.library import Int32Array, Int64Array
from engine.native.networks import NativeNetwork
from engine.native.policies import NativePolicy
from engine.policies.asnets.action_operators import ActionOperators
from engine.policies.asnets.compiled import CompiledNetwork
from engine.policies.asnets.grounding import ground
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.policy import TIE_TOLERANCE
from engine.policies.asnets.tensors import TensorWiring
from engine.policies.policy import NO_ACTION
from engine.task.states import native_task
from engine.task.successors import State
from engine.task.task import PddlSource, Task
from engine.training.teacher import Lesson


class UnrolledNetwork:
    """Shares its weights with the other problems; only what connects them is its own."""

    def __init__(self, network: Asnets, task: Task, source: PddlSource) -> None:
        self.task = task
        self.network = network
        self.grounding = ground(network.relatedness, source.domain, source.problem)
        self._compiled = CompiledNetwork(self.grounding, task, network.hidden, network.layers)
        self._wiring = TensorWiring(self._compiled.wiring)
        self._operators = ActionOperators(task, self.grounding.operators)
        self._places = {name: place for place, name in enumerate(self.grounding.operators)}

    @property
    def operators(self) -> int:
        return len(self._operators)

    def places(self, operators: Iterable[int]) -> tuple[int, ...]:
        """Where operators of the task stand in the network; it may have merged some away."""
        names = (self.task.operators[operator].name for operator in operators)
        return tuple(self._places[name] for name in names if name in self._places)

    def truth(self, states: Int32Array) -> Tensor:
        """Truth values of the wired facts (facts, states)."""
        variables, values = self._compiled.facts.T
        held = np.where(
            variables[:, None] < 0, values[:, None], states.T[variables] == values[:, None]
        )
        return torch.from_numpy(held).float()

    def log_probabilities(self, truth: Tensor) -> Tensor:
        """(operators, states); minus infinity where an operator is not applicable."""
        logits: Tensor
        logits, applicable = self.network(self._wiring, self.network.arrange(), truth)
        return logits.masked_fill(~applicable, -torch.inf).log_softmax(dim=0)

    def freeze(self) -> FrozenPolicy:
        """The policy with the weights as they are now."""
        network = self._compiled.with_weights(self.network.modules_by_part())
        rows = self._operators.rows
        kernel = NativePolicy.network(native_task(self.task), network, rows, TIE_TOLERANCE)
        return FrozenPolicy(self.task, network, self._operators, kernel)


@dataclass(frozen=True)
class FrozenPolicy:
    task: Task
    _network: NativeNetwork
    _operators: ActionOperators
    kernel: NativePolicy

    def decide(self, states: Int32Array) -> Int32Array:
        """What the trained policy would do: the first by name of the best operators."""
        return self.kernel.decide(states)

    def sample(self, states: Int32Array, random: NDArray[np.float64]) -> Int32Array:
        """An operator per state, drawn from the policy's distribution by numbers in [0, 1)."""
        if not len(self._operators):
            return np.full(len(states), NO_ACTION, dtype=np.int32)
        logits, applicable = self._network.logits(states)
        weights = np.where(applicable, logits.astype(np.float64), -np.inf)
        best = weights.max(axis=1, keepdims=True)
        some = np.isfinite(best[:, 0])
        shares = np.exp(weights - np.where(np.isfinite(best), best, 0.0)).cumsum(axis=1)
        place = (shares <= random[:, None] * shares[:, -1:]).sum(axis=1)
        place = place.clip(max=len(self._operators) - 1)
        return np.where(some, self._operators.chosen(place, states), NO_ACTION).astype(np.int32)


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
