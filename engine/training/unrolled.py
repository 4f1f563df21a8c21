"""The network in training, unrolled over one problem."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.native.library import Int32Array
from engine.policies.asnets.grounding import ground
from engine.policies.asnets.network import Arrangement, Asnets
from engine.policies.asnets.policy import TIE_TOLERANCE, StateInputs
from engine.policies.asnets.wiring import Wiring
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.task.task import PddlSource, Task


class UnrolledNetwork:
    """Shares its weights with the other problems; only what connects them is its own."""

    def __init__(self, network: Asnets, task: Task, source: PddlSource) -> None:
        self.task = task
        self.network = network
        grounding = ground(network.relatedness, source.domain, source.problem)
        self._wiring = Wiring(grounding)
        self._inputs = StateInputs(task, [grounding.facts[fact] for fact in self._wiring.facts])
        self._operator_ids = np.array(
            [task.operator_index.get(name, NO_OPERATION) for name in grounding.operators],
            dtype=np.int32,
        )
        self._places = {name: place for place, name in enumerate(grounding.operators)}

    @property
    def operators(self) -> int:
        return len(self._operator_ids)

    def places(self, operators: Iterable[int]) -> tuple[int, ...]:
        """Where operators of the task stand in the network; it may have merged some away."""
        names = (self.task.operators[operator].name for operator in operators)
        return tuple(self._places[name] for name in names if name in self._places)

    def truth(self, states: Int32Array) -> Tensor:
        return torch.from_numpy(self._inputs.truth(states)).float()

    def log_probabilities(self, truth: Tensor, arrangement: Arrangement) -> Tensor:
        """(operators, states); minus infinity where an operator is not applicable."""
        logits: Tensor
        logits, applicable = self.network(self._wiring, arrangement, truth)
        return logits.masked_fill(~applicable, -torch.inf).log_softmax(dim=0)

    def decide(self, states: Int32Array, arrangement: Arrangement) -> Int32Array:
        """What the trained policy would do: the first by name of the best operators."""
        if not self.operators:
            return np.full(len(states), NO_ACTION, dtype=np.int32)
        scores = self.log_probabilities(self.truth(states), arrangement).nan_to_num(-torch.inf)
        best = scores.amax(dim=0)
        near = scores >= best - TIE_TOLERANCE[torch.float32]
        chosen = self._operator_ids[near.t().contiguous().numpy().argmax(axis=1)]
        return np.where(torch.isfinite(best).numpy(), chosen, NO_ACTION).astype(np.int32)

    def sample(
        self, states: Int32Array, arrangement: Arrangement, random: NDArray[np.float64]
    ) -> Int32Array:
        """An operator per state, drawn from the policy's distribution by numbers in [0, 1)."""
        if not self.operators:
            return np.full(len(states), NO_ACTION, dtype=np.int32)
        logs = self.log_probabilities(self.truth(states), arrangement).double()
        shares = logs.exp().nan_to_num(0.0).numpy().cumsum(axis=0)
        place = (shares <= random * shares[-1]).sum(axis=0).clip(max=self.operators - 1)
        return np.where(shares[-1] > 0, self._operator_ids[place], NO_ACTION).astype(np.int32)
