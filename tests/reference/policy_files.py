"""Policy files with random weights, in the formats of others and in ours."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import torch

from engine.pddl.model import Domain
from engine.policies.asnets.relatedness import Relatedness, domain_hash
from engine.policies.asnets.weights import action_inputs, proposition_inputs

Rows = dict[tuple[int, int, int], tuple[str, bytes | None]]


def cpddl_rows(relatedness: Relatedness, hidden: int, layers: int, seed: int) -> Rows:
    """Random weights by (layer, signature, index), as names and little-endian floats."""
    generator = np.random.default_rng(seed)

    def blob(size: int) -> bytes | None:
        values = generator.normal(scale=0.5, size=size).astype("<f4")
        return values.tobytes() if size else None

    rows: Rows = {}
    for layer in range(layers + 1):
        outputs = 1 if layer == layers else hidden
        for index, schema in enumerate(relatedness.schemas):
            inputs = action_inputs(len(schema.related), layer, hidden)
            rows[layer, 0, index] = (schema.name, blob(inputs * outputs))
            rows[layer, 1, index] = (schema.name, blob(outputs))
        for index, slots in enumerate(relatedness.slots if layer < layers else ()):
            inputs = proposition_inputs(len(slots), layer, hidden)
            rows[layer, 2, index] = (relatedness.predicates[index], blob(inputs * hidden))
            rows[layer, 3, index] = (relatedness.predicates[index], blob(hidden))
    return rows


def write_cpddl(
    database: sqlite3.Connection, domain: Domain, hidden: int, layers: int, rows: Rows
) -> None:
    database.execute(
        "CREATE TABLE asnets_info (parameter TEXT, int_value INT DEFAULT -1,"
        " flt_value REAL DEFAULT -1., str_value TEXT DEFAULT NULL)"
    )
    database.execute(
        "CREATE TABLE asnets_weights (id INT PRIMARY KEY, layer INT, sig INT, name TEXT,"
        " idx INT, weights BLOB)"
    )
    database.executemany(
        "INSERT INTO asnets_info (parameter, int_value) VALUES (?, ?)",
        [("cfg_hidden_dimension", hidden), ("cfg_num_layers", layers), ("epoch", 3)],
    )
    database.executemany(
        "INSERT INTO asnets_info (parameter, str_value) VALUES (?, ?)",
        [("domain_name", domain.name), ("domain_hash", domain_hash(domain))],
    )
    database.execute("INSERT INTO asnets_info (parameter, flt_value) VALUES ('success_rate', 0.5)")
    database.executemany(
        "INSERT INTO asnets_weights VALUES (?, ?, ?, ?, ?, ?)",
        [
            (number, layer, signature, name, index, blob)
            for number, ((layer, signature, index), (name, blob)) in enumerate(rows.items())
        ],
    )
    database.commit()


def gnn_contents(
    domain: Domain, solvable: bool = False, seed: int = 1, *, hidden: int = 4, iterations: int = 3
) -> dict[str, Any]:
    """What a checkpoint of a relational GNN holds."""
    generator = torch.Generator().manual_seed(seed)
    names = [(predicate.name, predicate.arity) for predicate in reversed(domain.predicates)]
    names += [(f"{name}_goal", arity) for name, arity in names]
    weights: dict[str, torch.Tensor] = {"model.dummy": torch.empty(0)}

    def mlp(name: str, inputs: int, middle: int, outputs: int) -> None:
        for layer, (rows, columns) in {"0": (middle, inputs), "2": (outputs, middle)}.items():
            scale = columns**-0.5
            weights[f"{name}.{layer}.weight"] = scale * torch.randn(
                rows, columns, generator=generator
            )
            weights[f"{name}.{layer}.bias"] = torch.randn(rows, generator=generator)

    for number, (_, arity) in enumerate(names):
        if arity:
            size = arity * hidden
            mlp(f"model.relation_network.relation_modules.{number}", size, size, size)
    mlp("model.relation_network.update", 2 * hidden, 2 * hidden, hidden)
    for head in ("readout", *(["solvable_readout"] if solvable else [])):
        mlp(f"{head}.pre", hidden, hidden, hidden)
        mlp(f"{head}.post", hidden, hidden, 1)
    settings = {"predicates": names, "hidden_size": hidden, "iterations": iterations}
    return {"epoch": 2, "state_dict": weights, "hyper_parameters": settings}
