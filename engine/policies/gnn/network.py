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

import numpy as np
from numpy.typing import NDArray

from engine.policies.gnn.checkpoint import Floats, GnnCheckpoint, Head, Mlp

SHARPNESS = 8.0
FLOOR = np.float32(1e-16)
UNSOLVABLE_PENALTY = np.float32(100000.0)

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GraphBatch:
    """States in groups; node `state * objects + object`, states of a group lie together."""

    objects: int
    group_of_state: Ints
    groups: int
    atoms: list[tuple[int, Ints]]  # relation, nodes (atoms, arity)


@dataclass(frozen=True)
class _Relation:
    """The atoms of one relation, and how the first layer of its network is applied to them.

    That layer is linear in each argument. Where there are more atoms than objects in them, it is
    applied to the objects, and `arguments` are rows of the results, to be added up.
    """

    mlp: Mlp
    messages: slice
    arguments: Ints  # (atoms, arity)
    objects: Ints | None


@dataclass(frozen=True)
class _Flow:
    """Where the messages of a batch come from and go to; the same in every iteration."""

    relations: list[_Relation]
    group_of_node: Ints
    group_of_message: Ints
    blocks: Ints  # the first message of each block of messages of one group
    receivers: Ints  # nodes, those with the most messages first
    rounds: list[Ints]  # the first message of each receiver, the second of those that have one, ...


class GnnNetwork:
    """`noise` has one row per object: the second half of its first features."""

    def __init__(self, checkpoint: GnnCheckpoint, noise: Floats) -> None:
        self._iterations, self._hidden = checkpoint.iterations, checkpoint.hidden
        self._value, self._solvable = checkpoint.value, checkpoint.solvable
        # Messages are multiplied by the sharpness and divided by it again. It is a power of two,
        # so weights that already contain it give the same bits.
        sharp = np.float32(SHARPNESS)
        self._relations = [
            mlp and replace(mlp, weight2=mlp.weight2 * sharp, bias2=mlp.bias2 * sharp)
            for mlp in checkpoint.relations
        ]
        weight = checkpoint.update.weight1.copy()
        weight[: self._hidden] /= sharp
        self._update = replace(checkpoint.update, weight1=weight)
        self._first = np.zeros((len(noise), self._hidden), np.float32)
        self._first[:, self._hidden - noise.shape[1] :] = noise

    @np.errstate(all="ignore")  # a score that is no number decides nothing
    def evaluate(self, batch: GraphBatch) -> Floats:
        """The score of each state: its value, with a penalty if it is judged unsolvable."""
        states = len(batch.group_of_state)
        flow = self._flow(batch)
        inputs = np.empty((states * batch.objects, 2 * self._hidden), np.float32)
        pooled, nodes = inputs[:, : self._hidden], inputs[:, self._hidden :]
        nodes[:] = np.tile(self._first, (states, 1))
        messages = np.empty((len(flow.group_of_message), self._hidden), np.float32)
        for _ in range(self._iterations):
            for relation in flow.relations:
                _send(relation, nodes, messages)
            _smooth_maximum(messages, flow, batch.groups, pooled)
            _apply(self._update, inputs, nodes)
        value = np.abs(_read_out(self._value, nodes, states))
        if self._solvable is None:
            return value
        is_unsolvable = ~(_read_out(self._solvable, nodes, states) > 0)
        return value + UNSOLVABLE_PENALTY * is_unsolvable

    def _flow(self, batch: GraphBatch) -> _Flow:
        relations = []
        first = 0
        for index, nodes in batch.atoms:
            mlp = self._relations[index]
            assert mlp is not None
            relations.append(_relation(mlp, nodes, slice(first, first + nodes.size)))
            first += nodes.size
        target = np.concatenate(
            [np.empty(0, np.int64), *(nodes.ravel() for _, nodes in batch.atoms)]
        )
        group_of_node = np.repeat(batch.group_of_state, batch.objects)
        group_of_message = group_of_node[target]
        blocks = np.flatnonzero(np.diff(group_of_message, prepend=-1))
        order = np.argsort(target, kind="stable")
        nodes, starts, counts = np.unique(target[order], return_index=True, return_counts=True)
        most_first = np.argsort(-counts, kind="stable")
        starts, counts = starts[most_first], counts[most_first]
        rounds = [
            order[starts[: np.count_nonzero(counts > number)] + number]
            for number in range(counts.max(initial=0))
        ]
        return _Flow(relations, group_of_node, group_of_message, blocks, nodes[most_first], rounds)


def _relation(mlp: Mlp, nodes: Ints, messages: slice) -> _Relation:
    atoms, arity = nodes.shape
    objects, places = np.unique(nodes, return_inverse=True)
    if arity == 1 or atoms <= len(objects):
        return _Relation(mlp, messages, nodes, None)
    # Side by side the blocks of the arguments; the bias is added with the first.
    width = mlp.weight1.shape[1]
    blocks = np.hstack(np.split(mlp.weight1, arity))
    bias = np.append(mlp.bias1, np.zeros((arity - 1) * width, np.float32))
    split = replace(mlp, weight1=blocks, bias1=bias)
    return _Relation(
        split, messages, places.reshape(nodes.shape) * arity + np.arange(arity), objects
    )


def _send(relation: _Relation, nodes: Floats, messages: Floats) -> None:
    """One row per atom and argument: what the atom tells the object."""
    mlp = relation.mlp
    out = messages[relation.messages].reshape(-1, mlp.weight2.shape[1])
    if relation.objects is None:
        hidden = nodes[relation.arguments].reshape(len(out), -1) @ mlp.weight1
        hidden += mlp.bias1
    else:
        terms = nodes[relation.objects] @ mlp.weight1
        terms += mlp.bias1
        terms = terms.reshape(-1, mlp.weight2.shape[0])
        first, *others = relation.arguments.T
        hidden = terms[first]
        for argument in others:
            hidden += terms[argument]
    np.maximum(hidden, 0, out=hidden)
    np.matmul(hidden, mlp.weight2, out=out)
    out += mlp.bias2


def _smooth_maximum(messages: Floats, flow: _Flow, groups: int, out: Floats) -> None:
    """Messages and result are multiplied by the sharpness; the messages are overwritten."""
    largest = np.full(groups, -np.inf, np.float32)
    sums = np.zeros(out.shape, np.float32)
    if flow.rounds:
        of_block = np.maximum.reduceat(messages.ravel(), flow.blocks * messages.shape[1])
        np.maximum.at(largest, flow.group_of_message[flow.blocks], of_block)
        messages -= largest[flow.group_of_message, None]
        np.exp(messages, out=messages)
        first, *others = flow.rounds
        received = messages.take(first, axis=0)
        for more in others:
            received[: len(more)] += messages.take(more, axis=0)
        sums[flow.receivers] = received
    largest[np.isinf(largest)] = 0.0  # no atoms at all
    sums += FLOOR
    np.add(np.log(sums, out=sums), largest[flow.group_of_node, None], out=out)


def _apply(mlp: Mlp, inputs: Floats, out: Floats | None = None) -> Floats:
    hidden = inputs @ mlp.weight1
    hidden += mlp.bias1
    np.maximum(hidden, 0, out=hidden)
    result: Floats = np.matmul(hidden, mlp.weight2, out=out)
    result += mlp.bias2
    return result


def _read_out(head: Head, nodes: Floats, states: int) -> Floats:
    summed = _apply(head.pre, nodes).reshape(states, -1, nodes.shape[1]).sum(axis=1)
    return _apply(head.post, summed)[:, 0]
