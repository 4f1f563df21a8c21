"""The relational graph network of Ståhlberg, Bonet and Geffner (KR 2022) for many states at once.

Nodes are the objects of each state, messages flow along its atoms, and one set of weights is used
in every iteration. The smooth maximum is taken relative to the largest message of a *group* of
states: the published networks were run on the successors of one state at a time, and their values
depend on that, so a group is one decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.policies.gnn.checkpoint import GnnCheckpoint, Head, Mlp

SHARPNESS = 8.0
FLOOR = 1e-16
UNSOLVABLE_PENALTY = 100000.0


@dataclass(frozen=True)
class GraphBatch:
    """States in groups; node `state * objects + object`, states of a group lie together."""

    objects: int
    group_of_state: Tensor
    groups: int
    atoms: list[tuple[int, Tensor]]  # relation, nodes (atoms, arity)


@dataclass(frozen=True)
class _Flow:
    """Where the messages of a batch go; the same in every iteration."""

    group_of_node: Tensor
    group_of_message: Tensor
    order: Tensor  # message rows sorted by the node they reach
    starts: Tensor  # the first of them per node


@torch.inference_mode()
def evaluate(checkpoint: GnnCheckpoint, noise: Tensor, batch: GraphBatch) -> Tensor:
    """The score of each state: its value, with a penalty if it is judged unsolvable.

    `noise` has one row per object: the second half of its first features.
    """
    states = len(batch.group_of_state)
    flow = _flow(batch)
    first = torch.zeros((batch.objects, checkpoint.hidden))
    first[:, checkpoint.hidden - noise.shape[1] :] = noise
    nodes = first.repeat(states, 1)
    for _ in range(checkpoint.iterations):
        messages = _messages(checkpoint, batch, nodes)
        pooled = _smooth_maximum(messages, flow, batch.groups)
        nodes = _apply(checkpoint.update, torch.cat((pooled, nodes), dim=1))
    value = _read_out(checkpoint.value, nodes, states).abs()
    if checkpoint.solvable is None:
        return value
    solvable = torch.sigmoid(_read_out(checkpoint.solvable, nodes, states)).round()
    return value + UNSOLVABLE_PENALTY * (1.0 - solvable)


def _flow(batch: GraphBatch) -> _Flow:
    group_of_node = batch.group_of_state.repeat_interleave(batch.objects)
    if batch.atoms:
        target = torch.cat([nodes.reshape(-1) for _, nodes in batch.atoms])
    else:
        target = torch.empty(0, dtype=torch.int64)
    order = torch.argsort(target, stable=True)
    counts = torch.bincount(target, minlength=len(group_of_node))
    return _Flow(group_of_node, group_of_node[target], order, torch.cumsum(counts, 0) - counts)


def _messages(checkpoint: GnnCheckpoint, batch: GraphBatch, nodes: Tensor) -> Tensor:
    """One row per atom and argument: what the atom tells the object."""
    parts = []
    for relation, arguments in batch.atoms:
        mlp = checkpoint.relations[relation]
        assert mlp is not None
        parts.append(_relation(mlp, nodes, arguments).view(-1, checkpoint.hidden))
    return torch.cat(parts) if parts else nodes[:0]


def _relation(mlp: Mlp, nodes: Tensor, arguments: Tensor) -> Tensor:
    """The first layer is linear in each argument: with more atoms than nodes, nodes go first."""
    atoms, arity = arguments.shape
    if atoms <= len(nodes):
        inputs = nodes.index_select(0, arguments.reshape(-1)).view(atoms, -1)
        return _apply(mlp, inputs)
    blocks = mlp.weight1.view(arity, nodes.shape[1], -1)
    hidden = torch.addmm(mlp.bias1, nodes, blocks[0]).index_select(0, arguments[:, 0])
    for position in range(1, arity):
        hidden += (nodes @ blocks[position]).index_select(0, arguments[:, position])
    return torch.addmm(mlp.bias2, hidden.relu_(), mlp.weight2)


def _smooth_maximum(messages: Tensor, flow: _Flow, groups: int) -> Tensor:
    """Overwrites the messages."""
    lowest = torch.full((groups,), -torch.inf)
    largest = lowest.scatter_reduce(0, flow.group_of_message, messages.amax(dim=1), "amax")
    largest = torch.where(torch.isfinite(largest), largest, 0.0).unsqueeze(1)  # no atoms at all
    weights = messages.sub_(largest[flow.group_of_message]).mul_(SHARPNESS).exp_()
    sums = functional.embedding_bag(flow.order, weights, flow.starts, mode="sum")
    return sums.add_(FLOOR).log_().div_(SHARPNESS).add_(largest[flow.group_of_node])


def _apply(mlp: Mlp, inputs: Tensor) -> Tensor:
    hidden = torch.addmm(mlp.bias1, inputs, mlp.weight1).relu_()
    return torch.addmm(mlp.bias2, hidden, mlp.weight2)


def _read_out(head: Head, nodes: Tensor, states: int) -> Tensor:
    summed = _apply(head.pre, nodes).view(states, -1, nodes.shape[1]).sum(dim=1)
    return _apply(head.post, summed).squeeze(1)
