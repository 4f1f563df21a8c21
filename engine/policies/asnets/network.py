"""The action schema network in torch, for training: all operators and a whole batch of states.

Decisions come from a kernel (`compiled.py`), which computes the same.

Formulas: Toyer et al. (JAIR 2020) in the form of the published cpddl policies. A weight matrix
over the concatenation of hidden vectors is applied block by block to each fact first and then
summed over the facts of an operator: there are far fewer facts than (operator, fact) pairs.
See docs/theory/policies.md, "Action schema networks".
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.policies.asnets.relatedness import Relatedness
from engine.policies.asnets.tensors import TensorWiring, elu
from engine.policies.asnets.weights import Module, Part, action_inputs, proposition_inputs

EMPTY_POOL = -1.0
"""What an empty pool and a missing fact count as: the lowest value of ELU."""


@dataclass(frozen=True)
class Arrangement:
    """The weights cut into the blocks a forward pass uses; made once for many passes.

    Layers count from 1: the first action layer is a table of its own.
    """

    first: list[tuple[Tensor, Tensor]]  # [schema]: matrix, bias
    actions: list[ActionLayer]
    propositions: list[list[Proposition | None]]  # [layer][predicate]


@dataclass(frozen=True)
class ActionLayer:
    facts: list[Tensor | None]  # [predicate]: a matrix per slot
    skips: list[Tensor]  # [schema]: what an operator makes of itself
    bias: Tensor  # (schemas, outputs)


@dataclass(frozen=True)
class Proposition:
    pools: Tensor  # (slots * hidden, hidden)
    skip: Tensor | None  # (hidden, hidden); the first layer has none
    bias: Tensor


class Asnets(nn.Module):
    """Weights of one network for one domain; `layers` counts the proposition layers.

    Action layer l of schema a is `action[l][a]`, proposition layer l of predicate q is
    `proposition[l][q]`; predicates that no schema mentions have none.
    """

    def __init__(self, relatedness: Relatedness, hidden: int = 16, layers: int = 2) -> None:
        super().__init__()
        self.relatedness = relatedness
        self.hidden = hidden
        self.layers = layers
        self.action = nn.ModuleList(
            nn.ModuleList(
                nn.Linear(
                    action_inputs(len(schema.related), layer, hidden),
                    1 if layer == layers else hidden,
                )
                for schema in relatedness.schemas
            )
            for layer in range(layers + 1)
        )
        self.proposition = nn.ModuleList(
            nn.ModuleList(
                nn.Linear(proposition_inputs(len(slots), layer, hidden), hidden)
                if slots
                else nn.Identity()
                for slots in relatedness.slots
            )
            for layer in range(layers)
        )

    def arrange(self) -> Arrangement:
        schemas = range(len(self.relatedness.schemas))
        return Arrangement(
            [_weights(self.action[0], schema) for schema in schemas],
            [self._action_layer(layer) for layer in range(1, self.layers + 1)],
            [self._propositions(layer) for layer in range(self.layers)],
        )

    def _action_layer(self, layer: int) -> ActionLayer:
        """The columns for each related fact and for the operator itself, transposed."""
        weights, biases = zip(
            *(_weights(self.action[layer], i) for i in range(len(self.relatedness.schemas))),
            strict=True,
        )
        facts: list[Tensor | None] = []
        for slots in self.relatedness.slots:
            starts = [(slot.schema, slot.position * self.hidden) for slot in slots]
            columns = [weights[i][:, start : start + self.hidden].t() for i, start in starts]
            facts.append(torch.stack(columns) if slots else None)
        skips = [weight[:, -self.hidden :].t() for weight in weights]
        return ActionLayer(facts, skips, torch.stack(biases))

    def _propositions(self, layer: int) -> list[Proposition | None]:
        blocks: list[Proposition | None] = []
        for predicate, slots in enumerate(self.relatedness.slots):
            if not slots:
                blocks.append(None)
                continue
            weight, bias = _weights(self.proposition[layer], predicate)
            pooled = len(slots) * self.hidden
            skip = weight[:, pooled:].t() if layer > 0 else None
            blocks.append(Proposition(weight[:, :pooled].t(), skip, bias))
        return blocks

    def modules_by_part(self) -> dict[tuple[Part, int, int], Module]:
        """A copy of the weights as they are now, in the form of `StoredNetwork.modules`."""
        found = {}
        for part, layers in ((Part.ACTION, self.action), (Part.PROPOSITION, self.proposition)):
            for layer, modules in enumerate(layers):
                assert isinstance(modules, nn.ModuleList)
                for index, linear in enumerate(modules):
                    if isinstance(linear, nn.Linear):
                        weight, bias = (
                            values.detach().float().numpy().copy()
                            for values in (linear.weight, linear.bias)
                        )
                        found[part, layer, index] = Module(weight, bias)
        return found

    def forward(
        self, wiring: TensorWiring, arrangement: Arrangement, truth: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits and applicability (operators, states) for truth values (facts, states)."""
        applicable = wiring.applicable(truth)
        actions = wiring.first_layer(arrangement.first, truth, applicable)
        facts: dict[int, Tensor] = {}
        for layer in range(self.layers):
            pools = wiring.pool(actions, EMPTY_POOL)
            facts = _proposition_layer(wiring, arrangement.propositions[layer], pools, facts)
            actions = _action_layer(wiring, arrangement.actions[layer], facts, actions)
            if layer + 1 < self.layers:
                actions = elu(actions)
        return actions.squeeze(2), applicable


def _proposition_layer(
    wiring: TensorWiring,
    weights: list[Proposition | None],
    pools: list[Tensor],
    facts: dict[int, Tensor],
) -> dict[int, Tensor]:
    """The hidden vectors of the facts (facts * states, hidden) by predicate."""
    result: dict[int, Tensor] = {}
    for block, pooled in zip(wiring.blocks, pools, strict=True):
        own = weights[block.predicate]
        assert own is not None
        outputs = torch.mm(pooled, own.pools)
        if own.skip is not None:
            outputs.addmm_(facts[block.predicate], own.skip)
        result[block.predicate] = elu(outputs + own.bias)
    return result


def _action_layer(
    wiring: TensorWiring, weights: ActionLayer, facts: dict[int, Tensor], actions: Tensor
) -> Tensor:
    """What each operator makes of its facts and of itself, before the activation."""
    states = actions.shape[1]
    outputs = weights.bias.shape[1]
    products = _products(wiring, weights.facts, facts, states * outputs)
    summed = wiring.sum_related(products).view(-1, states, outputs)
    summed += weights.bias.index_select(0, wiring.schema_of_operator).unsqueeze(1)
    for schema, members in wiring.schemas:
        own = actions[members].view(-1, actions.shape[2])
        summed[members].view(-1, outputs).addmm_(own, weights.skips[schema])
    return summed


def _products(
    wiring: TensorWiring, weights: list[Tensor | None], facts: dict[int, Tensor], width: int
) -> Tensor:
    """Per predicate, slot and fact the fact's vector times the slot's matrix, as rows."""
    parts = [torch.empty((0, width))]
    for block in wiring.blocks:
        matrix = weights[block.predicate]
        assert matrix is not None
        vectors = facts[block.predicate]
        if block.has_missing:
            states = width // matrix.shape[2]
            vectors = torch.cat((vectors, vectors.new_full((states, vectors.shape[1]), EMPTY_POOL)))
        vectors = vectors.expand(block.slots, -1, -1)
        parts.append(torch.bmm(vectors, matrix).view(-1, width))
    return torch.cat(parts[1:] or parts)


def _weights(modules: nn.Module, index: int) -> tuple[Tensor, Tensor]:
    assert isinstance(modules, nn.ModuleList)
    linear = modules[index]
    assert isinstance(linear, nn.Linear)
    return linear.weight, linear.bias
