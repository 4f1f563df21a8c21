"""An action schema network as a policy: the applicable operator with the largest logit.

Symmetric operators have equal logits up to rounding, so every operator within a small tolerance
of the best counts as best and the first by name wins, as in cpddl. In float32 the tolerance is
5e-5; where that might merge different actions, ask for float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.asnets.checkpoint import read_checkpoint
from engine.policies.asnets.cpddl_file import read_cpddl_file
from engine.policies.asnets.grounding import ground
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.relatedness import domain_hash, relate
from engine.policies.asnets.weights import StoredNetwork
from engine.policies.asnets.wiring import Wiring
from engine.policies.policy import NO_ACTION, NO_OPERATION, PolicyInfo, pddl_source, require_domain
from engine.task.task import GroundAtom, PddlSource, Task

Precision = Literal["float32", "float64"]

TIE_TOLERANCE = {torch.float32: 5e-5, torch.float64: 1e-9}
CHUNK_BYTES = 7 * 2**19
"""What one layer of a batch may fill: more leaves the caches of a core, less makes many passes."""


class AsnetsPolicy:
    def __init__(self, stored: StoredNetwork, precision: Precision = "float32") -> None:
        self._stored = stored
        self._precision = precision

    @classmethod
    def from_cpddl(cls, path: Path, precision: Precision = "float32") -> AsnetsPolicy:
        return cls(read_cpddl_file(path), precision)

    @classmethod
    def from_checkpoint(
        cls, path: Path, contents: Mapping[str, Any], precision: Precision = "float32"
    ) -> AsnetsPolicy:
        return cls(read_checkpoint(path, contents), precision)

    def describe(self) -> PolicyInfo:
        stored = self._stored
        details = {
            "hidden": stored.hidden,
            "layers": stored.layers,
            "actions": list(stored.actions),
            "predicates": [name for name in stored.predicates if name != "="],
            **stored.details,
        }
        return PolicyInfo("asnets", stored.domain_name, details)

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        return self._stored.misfits(domain)

    def bind(self, task: Task) -> BoundAsnets:
        source = pddl_source(task, self._stored.path)
        require_domain(self, source.domain, str(self._stored.path))
        notes = []
        if self._stored.domain_hash not in (None, domain_hash(source.domain)):
            notes.append("the policy was trained on a domain with other types")
        network = self._stored.build(relate(source.domain))
        return BoundAsnets(network, task, source, self._precision, tuple(notes))


class BoundAsnets:
    """The network unrolled over one task; `notes` says what the user should know about it."""

    def __init__(
        self,
        network: Asnets,
        task: Task,
        source: PddlSource,
        precision: Precision = "float32",
        notes: tuple[str, ...] = (),
    ) -> None:
        self._dtype = torch.float64 if precision == "float64" else torch.float32
        self._network = network.to(self._dtype)
        self.grounding = ground(network.relatedness, source.domain, source.problem)
        self.wiring = Wiring(self.grounding, self._dtype)
        with torch.inference_mode():
            self._arrangement = network.arrange()
            self._first = self.wiring.first.table(self._arrangement.first)
        self._inputs = StateInputs(task, [self.grounding.facts[fact] for fact in self.wiring.facts])
        self._tasks_operators = len(task.operators)
        self._operator_ids = np.array(
            [task.operator_index.get(name, NO_OPERATION) for name in self.grounding.operators],
            dtype=np.int32,
        )
        self.notes = (*notes, *self._notes_on_operators())
        rows = max(1, self.wiring.operators, self.wiring.product_rows)
        self._chunk = max(1, CHUNK_BYTES // (rows * network.hidden * self._dtype.itemsize))

    def _notes_on_operators(self) -> Iterator[str]:
        absent = np.flatnonzero(self._operator_ids == NO_OPERATION)
        if len(absent):
            yield (
                f"{len(absent)} of the network's {len(self._operator_ids)} actions have no "
                f"operator in the task, such as ({self.grounding.operators[absent[0]]}): choosing "
                "one ends a run; if the problem lacks costs, try unit costs"
            )

    @torch.inference_mode()
    def decide(self, states: Int32Array) -> Int32Array:
        decisions = np.full(len(states), NO_ACTION, dtype=np.int32)
        for part, logits, applicable in self._evaluate(states):
            logits.masked_fill_(~applicable, -torch.inf)
            best = logits.amax(dim=0)
            near = logits >= best - TIE_TOLERANCE[self._dtype]
            first = near.t().contiguous().numpy().argmax(axis=1)
            some = torch.isfinite(best).numpy()
            decisions[part][some] = self._operator_ids[first[some]]
        return decisions

    @torch.inference_mode()
    def distribution(self, states: Int32Array) -> NDArray[np.float64]:
        """Probabilities as cpddl computes them; they need not sum to one.

        What the task has no operator for is left out.
        """
        result = np.zeros((len(states), self._tasks_operators))
        known = np.flatnonzero(self._operator_ids >= 0)
        for part, logits, applicable in self._evaluate(states):
            weights = torch.exp(logits - logits.amax(dim=0)) * applicable
            weights /= weights.sum(dim=0).clamp_min(1e-6)
            result[part, self._operator_ids[known]] = weights.numpy()[known].T
        return result

    def _evaluate(self, states: Int32Array) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
        """Logits and applicability chunk by chunk, with the states of each chunk."""
        if not self.wiring.operators:
            return
        passes = max(1, -(-len(states) // self._chunk))
        size = max(1, -(-len(states) // passes))  # equal parts: a small last one costs as much
        for start in range(0, len(states), size):
            part = slice(start, min(start + size, len(states)))
            truth = torch.from_numpy(self._inputs.truth(states[part])).to(self._dtype)
            logits, applicable = self._network(self.wiring, self._arrangement, truth, self._first)
            yield part, logits, applicable


class StateInputs:
    """Truth values of given atoms in states of a task."""

    def __init__(self, task: Task, atoms: list[GroundAtom]) -> None:
        places = {
            atom: (variable, value)
            for variable, values in enumerate(task.fact_atoms)
            for value, atom in enumerate(values)
            if atom is not None
        }
        # An atom without a variable never changes; -1 is the value of no variable.
        found = [places.get(atom, (0, -1)) for atom in atoms]
        self._variables = np.array([variable for variable, _ in found], dtype=np.int64)
        self._values = np.array([[value] for _, value in found], dtype=np.int32)
        fixed = [atom not in places and atom in task.static_atoms for atom in atoms]
        self._always = np.flatnonzero(fixed)

    def truth(self, states: Int32Array) -> NDArray[np.bool_]:
        """One row per atom, one column per state."""
        held: NDArray[np.bool_] = states.T[self._variables] == self._values
        held[self._always] = True
        return held
