"""A network with its weights, unrolled over one task and handed to the kernel.

It works on numpy arrays alone: testing a policy does not import torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from engine.native.networks import LANES, FloatArray, IndexRows, NativeNetwork, NetworkArrays
from engine.policies.asnets.grounding import Grounding
from engine.policies.asnets.weights import Module, Part
from engine.policies.asnets.wiring import Ints, Wiring
from engine.task.task import Task

Weights = Mapping[tuple[Part, int, int], Module]
"""Modules by part, layer, and index of the schema or predicate."""


class CompiledNetwork:
    """What does not depend on the weights is made once; `with_weights` gives what decides.

    `facts` are rows (variable, value) by wired fact; variable -1: it never changes, and holds if
    the value is 1.
    """

    def __init__(self, grounding: Grounding, task: Task, hidden: int, layers: int) -> None:
        self.wiring = Wiring(grounding)
        self._relatedness = grounding.relatedness
        self._given, self._layers = hidden, layers
        self._hidden = -(-hidden // LANES) * LANES
        self._n_variables = len(task.variables)
        self.facts = _places(task, [grounding.facts[fact] for fact in self.wiring.facts])
        self._arrays = self._wire()

    def with_weights(self, weights: Weights) -> NativeNetwork:
        if self._hidden != self._given:
            weights = {key: self._padded(*key[:2], module) for key, module in weights.items()}
        first = [
            (module.weight, module.bias)
            for schema in range(len(self._relatedness.schemas))
            for module in [weights[Part.ACTION, 0, schema]]
        ]
        table = self.wiring.first.table(first)
        parts = [
            part.ravel() for layer in range(self._layers) for part in self._layer(weights, layer)
        ]
        flat = np.concatenate(parts).astype(np.float32, copy=False)
        return NativeNetwork(self._arrays, self._n_variables, table, flat)

    def _padded(self, part: Part, layer: int, module: Module) -> Module:
        """The module with further hidden units that stay zero and count nothing."""
        more = self._hidden - self._given
        outputs = 0 if part is Part.ACTION and layer == self._layers else more
        weight = module.weight
        if part is Part.PROPOSITION or layer > 0:  # the inputs are hidden vectors
            vectors = weight.reshape(len(weight), -1, self._given)
            weight = np.pad(vectors, ((0, 0), (0, 0), (0, more))).reshape(len(weight), -1)
        return Module(np.pad(weight, ((0, outputs), (0, 0))), np.pad(module.bias, (0, outputs)))

    def _layer(self, weights: Weights, layer: int) -> Iterator[FloatArray]:
        """The weights of one layer in the kernel's order, matrices as inputs by outputs."""
        hidden = self._hidden
        for block in self.wiring.blocks:
            module = weights[Part.PROPOSITION, layer, block.predicate]
            yield module.weight.T
            yield module.bias
        modules = [
            weights[Part.ACTION, layer + 1, schema]
            for schema in range(len(self._relatedness.schemas))
        ]
        for block in self.wiring.blocks:
            for slot in self._relatedness.slots[block.predicate]:
                start = slot.position * hidden
                yield modules[slot.schema].weight[:, start : start + hidden].T
        for module in modules:
            yield module.weight[:, -hidden:].T
        for module in modules:
            yield module.bias

    def _wire(self) -> NetworkArrays:
        wiring = self.wiring
        first = wiring.first
        counts = [np.diff(part.starts, append=len(part.sources)) for part in first.selections]
        sources = np.concatenate([part.sources for part in first.selections])
        blocks = [(block.size, block.slots, int(block.has_missing)) for block in wiring.blocks]
        return NetworkArrays(
            hidden=self._hidden,
            layers=self._layers,
            schemas=len(self._relatedness.schemas),
            facts=self.facts.astype(np.int32),
            required=_rows(wiring.positive, wiring),
            forbidden=_rows(wiring.negative, wiring),
            base=first.base.astype(np.int32),
            # Only its own applicability is ever read by an operator: the place after the facts.
            sources=_index_rows(
                _begin(np.concatenate(counts)), sources.clip(max=len(wiring.facts))
            ),
            values=np.concatenate([part.values for part in first.selections]).astype(np.int32),
            schema=wiring.schema_of_operator.astype(np.int32),
            products=_index_rows(wiring.sum_begin, wiring.sum_rows),
            pools=_index_rows(wiring.pool_begin, wiring.pool_members),
            blocks=np.array(blocks, np.int32).reshape(-1, 3),
        )


def _places(task: Task, atoms: list[tuple[str, ...]]) -> Ints:
    known = {
        atom: (variable, value)
        for variable, values in enumerate(task.fact_atoms)
        for value, atom in enumerate(values)
        if atom is not None
    }
    rows = [known.get(atom, (-1, int(atom in task.static_atoms))) for atom in atoms]
    return np.array(rows, np.int64).reshape(-1, 2)


def _rows(columns: list[Ints], wiring: Wiring) -> IndexRows:
    """By operator what stands in its columns, without the padding."""
    table = np.stack(columns, axis=1) if columns else np.empty((wiring.operators, 0), np.int64)
    present = table < len(wiring.facts)
    return _index_rows(_begin(present.sum(axis=1)), table[present])


def _begin(counts: Ints) -> Ints:
    return np.append(0, np.cumsum(counts))


def _index_rows(begin: Ints, entries: Ints) -> IndexRows:
    return IndexRows(begin.astype(np.int32), entries.astype(np.int32))
