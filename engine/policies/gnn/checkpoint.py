"""Published `.ckpt` files of relational GNN value functions (Ståhlberg, Bonet, Geffner, KR 2022).

A checkpoint of PyTorch Lightning: the predicates the network knows and its weights. Of the model
classes that existed only the one with smooth maximum aggregation is read; others are refused by
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Location, PolicyError

GOAL_SUFFIX = "_goal"

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Mlp:
    """Linear, ReLU, linear; weights transposed, ready to be multiplied from the right."""

    weight1: Floats
    bias1: Floats
    weight2: Floats
    bias2: Floats


@dataclass(frozen=True)
class Head:
    pre: Mlp
    post: Mlp


@dataclass(frozen=True)
class GnnCheckpoint:
    path: Path
    predicates: tuple[tuple[str, int], ...]  # the index is the relation's
    hidden: int
    iterations: int
    relations: tuple[Mlp | None, ...]  # none for relations without arguments
    update: Mlp
    value: Head
    solvable: Head | None
    details: Mapping[str, Any]


def read_gnn_checkpoint(path: Path, contents: Mapping[str, Any]) -> GnnCheckpoint:
    """The network in the loaded contents of a `.ckpt` file."""
    settings, weights = contents.get("hyper_parameters"), contents.get("state_dict")
    if not isinstance(settings, Mapping) or not isinstance(weights, Mapping):
        raise _refused(path, "the file is not a checkpoint of a known kind of policy")
    try:
        if not isinstance(settings["predicates"], list | tuple):  # a tensor may be without end
            raise ValueError("the predicates are not a list")
        predicates = tuple((_name(name), int(arity)) for name, arity in settings["predicates"])
        hidden, iterations = int(settings["hidden_size"]), int(settings["iterations"])
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise _refused(path, f"the checkpoint lacks usable settings ({error})") from error
    known = domain_predicates(predicates)
    if predicates != (*known, *((name + GOAL_SUFFIX, arity) for name, arity in known)):
        raise _refused(path, "the checkpoint does not list every predicate with its goal version")
    if any(not 0 <= arity <= 16 for _, arity in known):
        raise _refused(path, "the checkpoint has predicates of unusable arity")
    if not (0 < hidden <= 4096 and 0 < iterations <= 1000):
        raise _refused(path, "the checkpoint has unusable sizes")
    if not all(isinstance(name, str) for name in weights):
        raise _refused(path, "the checkpoint has weights without a name")
    reader = _Weights(path, dict(weights))
    reader.refuse_variants(settings, hidden)
    prefix = "model.relation_network"
    checkpoint = GnnCheckpoint(
        path,
        predicates,
        hidden,
        iterations,
        tuple(
            reader.mlp(f"{prefix}.relation_modules.{index}", [arity * hidden] * 3)
            if arity
            else None
            for index, (_, arity) in enumerate(predicates)
        ),
        reader.mlp(f"{prefix}.update", [2 * hidden, 2 * hidden, hidden]),
        reader.head("readout", hidden),
        reader.head("solvable_readout", hidden) if reader.has("solvable_readout") else None,
        {
            "format": "KR 2022 checkpoint",
            "epoch": contents["epoch"] if isinstance(contents.get("epoch"), int) else None,
            "hidden": hidden,
            "iterations": iterations,
            "predicates": [f"{name}/{arity}" for name, arity in domain_predicates(predicates)],
            "solvable_head": reader.has("solvable_readout"),
        },
    )
    reader.refuse_leftovers()
    return checkpoint


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a predicate has no name")
    return value


def domain_predicates(predicates: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The first half of the list; the second repeats it for the atoms of the goal."""
    return tuple(predicates[: len(predicates) // 2])


class _Weights:
    """A state_dict whose entries are taken one by one, with their shapes checked."""

    def __init__(self, path: Path, entries: dict[str, Any]) -> None:
        self.path = path
        self.entries = entries
        self.taken: set[str] = set()

    def has(self, prefix: str) -> bool:
        return any(name.startswith(prefix + ".") and "dummy" not in name for name in self.entries)

    def refuse_variants(self, settings: Mapping[str, Any], hidden: int) -> None:
        variants = {
            "readout.linear": "an older readout",
            "value_readout": "another model class (value_readout)",
            "global_readout": "another model class (global_readout)",
        }
        for prefix, meaning in variants.items():
            if self.has(prefix):
                raise _refused(self.path, f"the checkpoint has {meaning}, which is not supported")
        aggregation = settings.get("aggregation", "max")
        if not isinstance(aggregation, str):
            aggregation = "something else"
        update = self.entries.get("model.relation_network.update.0.weight")
        if isinstance(update, np.ndarray) and update.shape == (2 * hidden, 3 * hidden):
            aggregation = "addmax"
        if aggregation != "max":
            raise _refused(
                self.path, f"the checkpoint aggregates by '{aggregation}', only 'max' is supported"
            )

    def head(self, prefix: str, hidden: int) -> Head:
        return Head(
            self.mlp(f"{prefix}.pre", [hidden, hidden, hidden]),
            self.mlp(f"{prefix}.post", [hidden, hidden, 1]),
        )

    def mlp(self, prefix: str, sizes: list[int]) -> Mlp:
        first, second = f"{prefix}.0", f"{prefix}.2"
        return Mlp(
            self._take(f"{first}.weight", (sizes[1], sizes[0])).T.copy(),
            self._take(f"{first}.bias", (sizes[1],)),
            self._take(f"{second}.weight", (sizes[2], sizes[1])).T.copy(),
            self._take(f"{second}.bias", (sizes[2],)),
        )

    def _take(self, name: str, shape: tuple[int, ...]) -> Floats:
        values = self.entries.get(name)
        if not isinstance(values, np.ndarray) or values.shape != shape:
            raise _refused(self.path, f"the weights '{name}' are missing or have a wrong size")
        if values.dtype.kind != "f" or not np.isfinite(values).all():
            raise _refused(self.path, f"the weights '{name}' contain values that are not numbers")
        self.taken.add(name)
        return values.astype(np.float32)

    def refuse_leftovers(self) -> None:
        for name in self.entries:
            if name not in self.taken and not name.endswith("dummy"):
                raise _refused(
                    self.path, f"the checkpoint has weights of another kind of network ('{name}')"
                )


def _refused(path: Path, message: str) -> PolicyError:
    return PolicyError(
        message, Location.of(path), "give a checkpoint of a KR 2022 network with max aggregation"
    )
