"""The relational graph network of Ståhlberg, Bonet and Geffner (KR 2022) for many states at once.

Nodes are the objects of each state, messages flow along its atoms, and one set of weights is used
in every iteration. The smooth maximum is taken relative to the largest message of a *group* of
states: the published networks were run on the successors of one state at a time, and their values
depend on that, so a group is one decision. Almost all time goes into matrix products, and what
lies between them is arranged to copy nothing.
See docs/theory/policies.md, "Relational graph networks".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
class _Relation:
    """The atoms of one relation, and how the first layer of its network is applied to them.

    That layer is linear in each argument. Where there are more atoms than objects in them, it is
    applied to the objects, and `arguments` are rows of the results, to be added up.
    """

    mlp: Mlp
    messages: slice
    arguments: Tensor
    objects: Tensor | None


@dataclass(frozen=True)
class _Flow:
    """Where the messages of a batch come from and go to; the same in every iteration."""

    relations: list[_Relation]
    group_of_node: Tensor
    group_of_message: Tensor
    order: Tensor  # message rows sorted by the node they reach
    starts: Tensor  # the first of them per node


class GnnNetwork:
    """`noise` has one row per object: the second half of its first features."""

    def __init__(self, checkpoint: GnnCheckpoint, noise: Tensor) -> None:
        self._iterations, self._hidden = checkpoint.iterations, checkpoint.hidden
        self._value, self._solvable = checkpoint.value, checkpoint.solvable
        # Messages are multiplied by the sharpness and divided by it again. It is a power of two,
        # so weights that already contain it give the same bits.
        self._relations = [
            mlp and replace(mlp, weight2=mlp.weight2 * SHARPNESS, bias2=mlp.bias2 * SHARPNESS)
            for mlp in checkpoint.relations
        ]
        weight = checkpoint.update.weight1.clone()
        weight[: self._hidden] /= SHARPNESS
        self._update = replace(checkpoint.update, weight1=weight)
        self._first = torch.zeros((len(noise), self._hidden))
        self._first[:, self._hidden - noise.shape[1] :] = noise

    @torch.inference_mode()
    def evaluate(self, batch: GraphBatch) -> Tensor:
        """The score of each state: its value, with a penalty if it is judged unsolvable."""
        states = len(batch.group_of_state)
        flow = self._flow(batch)
        inputs = torch.empty((states * batch.objects, 2 * self._hidden))
        pooled, nodes = inputs[:, : self._hidden], inputs[:, self._hidden :]
        nodes.view(states, batch.objects, -1).copy_(self._first)
        messages = torch.empty((len(flow.group_of_message), self._hidden))
        for _ in range(self._iterations):
            for relation in flow.relations:
                _send(relation, nodes, messages)
            _smooth_maximum(messages, flow, batch.groups, pooled)
            hidden = torch.addmm(self._update.bias1, inputs, self._update.weight1).relu_()
            torch.addmm(self._update.bias2, hidden, self._update.weight2, out=nodes)
        value = _read_out(self._value, nodes, states).abs()
        if self._solvable is None:
            return value
        solvable = torch.sigmoid(_read_out(self._solvable, nodes, states)).round()
        return value + UNSOLVABLE_PENALTY * (1.0 - solvable)

    def _flow(self, batch: GraphBatch) -> _Flow:
        relations = []
        first = 0
        for index, nodes in batch.atoms:
            mlp = self._relations[index]
            assert mlp is not None
            relations.append(_relation(mlp, nodes, slice(first, first + nodes.numel())))
            first += nodes.numel()
        targets = [nodes.reshape(-1) for _, nodes in batch.atoms]
        target = torch.cat([*targets, torch.empty(0, dtype=torch.int64)])
        group_of_node = batch.group_of_state.repeat_interleave(batch.objects)
        order = torch.argsort(target, stable=True)
        counts = torch.bincount(target, minlength=len(group_of_node))
        starts = torch.cumsum(counts, 0) - counts
        return _Flow(relations, group_of_node, group_of_node[target], order, starts)


def _relation(mlp: Mlp, nodes: Tensor, messages: slice) -> _Relation:
    atoms, arity = nodes.shape
    objects, places = torch.unique(nodes, return_inverse=True)
    if arity == 1 or atoms <= len(objects):
        return _Relation(mlp, messages, nodes.reshape(-1), None)
    # Side by side the blocks of the arguments; the bias is added with the first.
    blocks = mlp.weight1.view(arity, -1, mlp.weight1.shape[1]).transpose(0, 1).flatten(1)
    bias = functional.pad(mlp.bias1, (0, blocks.shape[1] - len(mlp.bias1)))
    split = replace(mlp, weight1=blocks, bias1=bias)
    return _Relation(split, messages, places * arity + torch.arange(arity), objects)


def _send(relation: _Relation, nodes: Tensor, messages: Tensor) -> None:
    """One row per atom and argument: what the atom tells the object."""
    mlp = relation.mlp
    out = messages[relation.messages].view(-1, mlp.weight2.shape[1])
    if relation.objects is None:
        inputs = nodes.index_select(0, relation.arguments).view(len(out), -1)
        hidden = torch.addmm(mlp.bias1, inputs, mlp.weight1)
    else:
        inputs = nodes.index_select(0, relation.objects)
        terms = torch.addmm(mlp.bias1, inputs, mlp.weight1).view(-1, mlp.weight2.shape[0])
        hidden = functional.embedding_bag(relation.arguments, terms, mode="sum")
    torch.addmm(mlp.bias2, hidden.relu_(), mlp.weight2, out=out)


def _smooth_maximum(messages: Tensor, flow: _Flow, groups: int, out: Tensor) -> None:
    """Messages and result are multiplied by the sharpness; the messages are overwritten."""
    lowest = torch.full((groups,), -torch.inf)
    largest = lowest.scatter_reduce(0, flow.group_of_message, messages.amax(dim=1), "amax")
    largest = torch.where(torch.isfinite(largest), largest, 0.0).unsqueeze(1)  # no atoms at all
    weights = messages.sub_(largest[flow.group_of_message]).exp_()
    sums = functional.embedding_bag(flow.order, weights, flow.starts, mode="sum")
    torch.add(sums.add_(FLOOR).log_(), largest[flow.group_of_node], out=out)


def _apply(mlp: Mlp, inputs: Tensor) -> Tensor:
    hidden = torch.addmm(mlp.bias1, inputs, mlp.weight1).relu_()
    return torch.addmm(mlp.bias2, hidden, mlp.weight2)


def _read_out(head: Head, nodes: Tensor, states: int) -> Tensor:
    summed = _apply(head.pre, nodes).view(states, -1, nodes.shape[1]).sum(dim=1)
    return _apply(head.post, summed).squeeze(1)
