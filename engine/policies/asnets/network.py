"""The action schema network in torch: all operators and a whole batch of states at once.

Formulas: Toyer et al. (JAIR 2020) in the form of the published cpddl policies. A weight matrix
over the concatenation of hidden vectors is applied block by block to each fact first and then
summed over the facts of an operator: there are far fewer facts than (operator, fact) pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.policies.asnets.relatedness import Relatedness
from engine.policies.asnets.wiring import Wiring

EMPTY_POOL = -1.0
"""What an empty pool and a missing fact count as: the lowest value of ELU."""


@dataclass(frozen=True)
class Arrangement:
    """The weights cut into the blocks a forward pass uses; made once for many passes."""

    fact_to_action: list[list[Tensor | None]]  # [layer][predicate]: (slots, inputs, outputs)
    action_skip: list[list[tuple[Tensor, Tensor]]]  # [layer][schema]: (inputs, outputs), bias
    proposition: list[list[tuple[Tensor, Tensor] | None]]  # [layer][predicate]: matrix, bias


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
        return Arrangement(
            [self._fact_blocks(layer) for layer in range(self.layers + 1)],
            [self._skip_blocks(layer) for layer in range(self.layers + 1)],
            [self._proposition_blocks(layer) for layer in range(self.layers)],
        )

    def _fact_blocks(self, layer: int) -> list[Tensor | None]:
        blocks: list[Tensor | None] = []
        for slots in self.relatedness.slots:
            parts = [self._slot_block(layer, slot.schema, slot.position) for slot in slots]
            blocks.append(torch.stack(parts) if parts else None)
        return blocks

    def _slot_block(self, layer: int, schema: int, position: int) -> Tensor:
        """The columns of a matrix that one related fact is multiplied with, transposed."""
        weight = _weight(self.action[layer], schema)
        if layer == 0:
            related = len(self.relatedness.schemas[schema].related)
            return weight[:, [position, related + position]].t()
        start = position * self.hidden
        return weight[:, start : start + self.hidden].t()

    def _skip_blocks(self, layer: int) -> list[tuple[Tensor, Tensor]]:
        width = 1 if layer == 0 else self.hidden
        return [
            (_weight(self.action[layer], schema)[:, -width:].t(), _bias(self.action[layer], schema))
            for schema in range(len(self.relatedness.schemas))
        ]

    def _proposition_blocks(self, layer: int) -> list[tuple[Tensor, Tensor] | None]:
        modules = self.proposition[layer]
        return [
            (_weight(modules, predicate).t(), _bias(modules, predicate)) if slots else None
            for predicate, slots in enumerate(self.relatedness.slots)
        ]

    def forward(
        self, wiring: Wiring, arrangement: Arrangement, truth: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits and applicability (operators, states) for truth values (facts, states)."""
        facts: dict[int, Tensor] = {}
        for block in wiring.blocks:
            own = truth[block.facts]
            facts[block.predicate] = torch.stack((own, block.goal.expand_as(own)), dim=2)
        applicable = wiring.applicable(truth)
        actions = applicable.to(truth.dtype).unsqueeze(2)
        for layer in range(self.layers + 1):
            actions = _action_layer(wiring, arrangement, layer, facts, actions)
            if layer == self.layers:
                break
            actions = functional.elu(actions)
            pools = wiring.pool(actions.view(len(actions), -1), EMPTY_POOL)
            facts = _proposition_layer(wiring, arrangement, layer, pools, facts)
        return actions.squeeze(2), applicable


def action_inputs(related: int, layer: int, hidden: int) -> int:
    return 2 * related + 1 if layer == 0 else (related + 1) * hidden


def proposition_inputs(slots: int, layer: int, hidden: int) -> int:
    return slots * hidden if layer == 0 else (slots + 1) * hidden


def _action_layer(
    wiring: Wiring,
    arrangement: Arrangement,
    layer: int,
    facts: dict[int, Tensor],
    actions: Tensor,
) -> Tensor:
    """What each operator makes of its facts and of itself, before the activation."""
    states = actions.shape[1]
    products = []
    for block in wiring.blocks:
        weight = arrangement.fact_to_action[layer][block.predicate]
        assert weight is not None
        own = facts[block.predicate]
        if block.has_missing:
            own = torch.cat((own, own.new_full((1, *own.shape[1:]), EMPTY_POOL)))
        flat = own.reshape(-1, own.shape[2]).expand(len(weight), -1, -1)
        products.append(torch.bmm(flat, weight).view(len(weight) * len(own), -1))
    skips = []
    for schema, members in wiring.schemas:
        weight, bias = arrangement.action_skip[layer][schema]
        own = actions[members].reshape(-1, actions.shape[2])
        skips.append(torch.addmm(bias, own, weight))
    outputs = skips[0].shape[1]
    summed = wiring.sum_related(torch.cat(products))
    return torch.cat(skips).view(-1, states, outputs).add_(summed.view(-1, states, outputs))


def _proposition_layer(
    wiring: Wiring,
    arrangement: Arrangement,
    layer: int,
    pools: Tensor,
    facts: dict[int, Tensor],
) -> dict[int, Tensor]:
    states = next(iter(facts.values())).shape[1]
    result: dict[int, Tensor] = {}
    for block in wiring.blocks:
        matrix = arrangement.proposition[layer][block.predicate]
        assert matrix is not None
        weight, bias = matrix
        hidden = len(bias)
        own = pools[block.pools].view(block.slots, -1, hidden).transpose(0, 1)
        inputs = own.reshape(-1, block.slots * hidden)
        if layer > 0:
            inputs = torch.cat((inputs, facts[block.predicate].view(-1, hidden)), dim=1)
        outputs = functional.elu(torch.addmm(bias, inputs, weight))
        result[block.predicate] = outputs.view(block.size, states, hidden)
    return result


def _weight(modules: nn.Module, index: int) -> Tensor:
    return _linear(modules, index).weight


def _bias(modules: nn.Module, index: int) -> Tensor:
    return _linear(modules, index).bias


def _linear(modules: nn.Module, index: int) -> nn.Linear:
    assert isinstance(modules, nn.ModuleList)
    linear = modules[index]
    assert isinstance(linear, nn.Linear)
    return linear
