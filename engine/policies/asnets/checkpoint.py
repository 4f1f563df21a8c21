"""Plumbline's own `.pt` files: a state_dict and a JSON text that says what it belongs to."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import Location, PolicyError
from engine.files import write_bytes
from engine.pddl.model import Domain
from engine.policies.asnets.relatedness import domain_hash
from engine.policies.asnets.weights import MAX_HIDDEN, MAX_LAYERS, Module, Part, StoredNetwork

if TYPE_CHECKING:
    from engine.policies.asnets.network import Asnets

VERSION = 1


def save_checkpoint(
    path: Path, network: Asnets, domain: Domain, details: Mapping[str, Any] | None = None
) -> None:
    """Write a network; `details` (training epoch, loss, ...) must be fit for JSON."""
    import torch

    metadata = {
        "kind": "asnets",
        "hidden": network.hidden,
        "layers": network.layers,
        "domain_name": domain.name,
        "domain_hash": domain_hash(domain),
        "actions": [schema.name for schema in network.relatedness.schemas],
        "predicates": list(network.relatedness.predicates),
        "details": dict(details or {}),
    }
    contents = {
        "plumbline": VERSION,
        "metadata": json.dumps(metadata),
        "state_dict": {name: value.float() for name, value in network.state_dict().items()},
    }
    stream = io.BytesIO()
    torch.save(contents, stream)
    write_bytes(path, stream.getvalue(), own_folder=True)


def read_checkpoint(path: Path, contents: Mapping[str, Any]) -> StoredNetwork:
    """The network in the loaded contents of a `.pt` file."""
    version = contents.get("plumbline")
    if not isinstance(version, int) or version != VERSION:
        known = version if isinstance(version, int) else "unknown"
        raise PolicyError(
            f"the checkpoint has format {known}, this version reads {VERSION}",
            Location.of(path),
            "use a newer Plumbline",
        )
    try:
        metadata = json.loads(contents["metadata"])
        hidden, layers = int(metadata["hidden"]), int(metadata["layers"])
        if metadata["kind"] != "asnets" or not (
            0 < hidden <= MAX_HIDDEN and 0 < layers <= MAX_LAYERS
        ):
            raise ValueError("unusable settings")
        return StoredNetwork(
            path,
            hidden,
            layers,
            str(metadata["domain_name"]),
            str(metadata["domain_hash"]),
            tuple(map(str, metadata["actions"])),
            tuple(map(str, metadata["predicates"])),
            _modules(contents["state_dict"], hidden, layers),
            {"format": "plumbline checkpoint", **dict(metadata["details"])},
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PolicyError(
            f"the checkpoint is damaged ({error})", Location.of(path), "train or copy it again"
        ) from error


def _modules(
    state_dict: Mapping[str, Any], hidden: int, layers: int
) -> dict[tuple[Part, int, int], Module]:
    modules: dict[tuple[Part, int, int], Module] = {}
    for name, weight in state_dict.items():
        kind, layer, index, role = name.split(".")
        if role == "bias":
            continue
        part = {"action": Part.ACTION, "proposition": Part.PROPOSITION}[kind]
        bias = state_dict[f"{kind}.{layer}.{index}.bias"]
        outputs = 1 if part is Part.ACTION and int(layer) == layers else hidden
        # Shapes first: a tensor can claim to be far larger than the file it came from.
        if weight.ndim != 2 or weight.size > 2**26:
            raise ValueError(f"'{name}' is not a matrix")
        if weight.shape[0] != outputs or tuple(bias.shape) != (outputs,):
            raise ValueError(f"'{name}' has a wrong size")
        if weight.dtype.kind != "f" or bias.dtype.kind != "f":
            raise ValueError(f"'{name}' does not hold real numbers")
        module = Module(weight.astype(np.float32), bias.astype(np.float32))
        if not (np.isfinite(module.weight).all() and np.isfinite(module.bias).all()):
            raise ValueError(f"'{name}' contains values that are not numbers")
        modules[part, int(layer), int(index)] = module
    return modules
