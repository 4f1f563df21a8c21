"""An action schema network as a policy: the applicable operator with the largest logit.

Symmetric operators have equal logits up to rounding, so every operator within a small tolerance
of the best counts as best and the first by name wins, as in cpddl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.native.library import Int32Array
from engine.native.policies import NativePolicy
from engine.pddl.model import Domain
from engine.policies.asnets.action_operators import ActionOperators
from engine.policies.asnets.checkpoint import read_checkpoint
from engine.policies.asnets.compiled import CompiledNetwork, Weights
from engine.policies.asnets.cpddl_file import read_cpddl_file
from engine.policies.asnets.grounding import Grounding, ground
from engine.policies.asnets.relatedness import Relatedness, domain_hash, relate
from engine.policies.asnets.weights import StoredNetwork
from engine.policies.policy import NO_OPERATION, PolicyInfo, pddl_source, require_domain
from engine.task.states import native_task
from engine.task.task import Task

TIE_TOLERANCE = 5e-5
"""How far apart in float32 the logits of symmetric operators may come out."""


ENGINE = "kernel 1"
"""What decides, for descriptions: a change that may turn a near tie counts up."""


class AsnetsPolicy:
    def __init__(self, stored: StoredNetwork) -> None:
        self._stored = stored
        self._fitted: _Fitted | None = None  # to the domain it was last bound to

    @classmethod
    def from_cpddl(cls, path: Path) -> AsnetsPolicy:
        return cls(read_cpddl_file(path))

    @classmethod
    def from_checkpoint(cls, path: Path, contents: Mapping[str, Any]) -> AsnetsPolicy:
        return cls(read_checkpoint(path, contents))

    def describe(self) -> PolicyInfo:
        stored = self._stored
        details = {
            "hidden": stored.hidden,
            "layers": stored.layers,
            "actions": list(stored.actions),
            "predicates": [name for name in stored.predicates if name != "="],
            **stored.details,
            "engine": ENGINE,
        }
        return PolicyInfo("asnets", stored.domain_name, details)

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        return self._stored.misfits(domain)

    def bind(self, task: Task) -> BoundAsnets:
        source = pddl_source(task, self._stored.path)
        fitted, stored = self._fit(source.domain), self._stored
        grounding = ground(fitted.relatedness, source.domain, source.problem)
        network = CompiledNetwork(grounding, task, stored.hidden, stored.layers)
        return BoundAsnets(network, grounding, stored.modules, task, fitted.notes)

    def _fit(self, domain: Domain) -> _Fitted:
        """What depends on the domain alone: a policy may be bound to many problems of one."""
        if self._fitted is None or self._fitted.domain != domain:
            require_domain(self, domain, str(self._stored.path))
            notes: tuple[str, ...] = ()
            if self._stored.domain_hash not in (None, domain_hash(domain)):
                notes = ("the policy was trained on a domain with other types",)
            self._fitted = _Fitted(domain, relate(domain), notes)
        return self._fitted


@dataclass(frozen=True)
class _Fitted:
    """What a network makes of a domain."""

    domain: Domain
    relatedness: Relatedness
    notes: tuple[str, ...]


class BoundAsnets:
    """The network unrolled over one task; `notes` says what the user should know about it."""

    def __init__(
        self,
        network: CompiledNetwork,
        grounding: Grounding,
        weights: Weights,
        task: Task,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.grounding = grounding
        self._network = network.with_weights(weights)
        self._tasks_operators = len(task.operators)
        self._operators = ActionOperators(task, grounding.operators)
        self.kernel = NativePolicy.network(
            native_task(task), self._network, self._operators.rows, TIE_TOLERANCE
        )
        self.notes = (*notes, *self._notes_on_operators())

    def _notes_on_operators(self) -> Iterator[str]:
        absent = np.flatnonzero(self._operators.first == NO_OPERATION)
        if len(absent):
            yield (
                f"{len(absent)} of the network's {len(self._operators)} actions have no "
                f"operator in the task, such as ({self.grounding.operators[absent[0]]}): choosing "
                "one ends a run; if the problem lacks costs, try unit costs"
            )

    def decide(self, states: Int32Array) -> Int32Array:
        return self.kernel.decide(states)

    def distribution(self, states: Int32Array) -> NDArray[np.float64]:
        """Probabilities as cpddl computes them; they need not sum to one.

        What the task has no operator for is left out.
        """
        result = np.zeros((len(states), self._tasks_operators))
        if not len(self._operators):
            return result
        known = np.flatnonzero(self._operators.first >= 0)
        logits, applicable = self._network.logits(states)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)) * applicable
        weights /= weights.sum(axis=1, keepdims=True).clip(min=1e-6)
        for row, state in enumerate(states):
            here = self._operators.chosen(known, np.broadcast_to(state, (len(known), len(state))))
            result[row, here] = weights[row, known]
        return result
