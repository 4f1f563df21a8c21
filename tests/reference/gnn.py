"""The relational graph network of KR 2022 for one group of states, one message at a time.

Plain numbers and loops, written from the formulas; `weights` is a state_dict of a checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Vector = list[float]
GroundAtom = tuple[str, ...]


def linear(weights: Mapping, name: str, inputs: Vector) -> Vector:
    matrix, bias = weights[f"{name}.weight"].tolist(), weights[f"{name}.bias"].tolist()
    return [
        sum(w * x for w, x in zip(row, inputs, strict=True)) + b
        for row, b in zip(matrix, bias, strict=True)
    ]


def mlp(weights: Mapping, name: str, inputs: Vector) -> Vector:
    hidden = [max(0.0, x) for x in linear(weights, f"{name}.0", inputs)]
    return linear(weights, f"{name}.2", hidden)


def values(
    weights: Mapping,
    settings: Mapping,
    noise: Mapping[str, Vector],
    states: Sequence[Sequence[GroundAtom]],
) -> list[tuple[float, float | None]]:
    """Value and solvability logit of each state; atoms of the goal end in `_goal`."""
    hidden, iterations = settings["hidden_size"], settings["iterations"]
    prefix = "model.relation_network"
    index = {name: number for number, (name, _) in enumerate(settings["predicates"])}
    features = [
        {name: [0.0] * (hidden - hidden // 2) + list(row) for name, row in noise.items()}
        for _ in states
    ]
    for _ in range(iterations):
        received: list[dict[str, list[Vector]]] = []
        for atoms, nodes in zip(states, features, strict=True):
            inbox: dict[str, list[Vector]] = {name: [] for name in nodes}
            for predicate, *arguments in atoms:
                if not arguments:
                    continue
                inputs = [x for name in arguments for x in nodes[name]]
                output = mlp(weights, f"{prefix}.relation_modules.{index[predicate]}", inputs)
                for position, name in enumerate(arguments):
                    inbox[name].append(output[position * hidden : (position + 1) * hidden])
            received.append(inbox)
        entries = [x for inbox in received for box in inbox.values() for m in box for x in m]
        largest = max(entries, default=0.0)
        for nodes, inbox in zip(features, received, strict=True):
            for name, messages in inbox.items():
                pooled = [
                    math.log(1e-16 + sum(math.exp(8 * (m[c] - largest)) for m in messages)) / 8
                    + largest
                    for c in range(hidden)
                ]
                nodes[name] = mlp(weights, f"{prefix}.update", pooled + nodes[name])
    return [
        (abs(read_out(weights, "readout", nodes)), solvability(weights, nodes))
        for nodes in features
    ]


def read_out(weights: Mapping, name: str, nodes: Mapping[str, Vector]) -> float:
    rows = [mlp(weights, f"{name}.pre", vector) for vector in nodes.values()]
    return mlp(weights, f"{name}.post", [sum(column) for column in zip(*rows, strict=True)])[0]


def solvability(weights: Mapping, nodes: Mapping[str, Vector]) -> float | None:
    if "solvable_readout.pre.0.weight" not in weights:
        return None
    return read_out(weights, "solvable_readout", nodes)
