"""The states that a unit tests: from random walks, now or before, or from a pool of the user."""

from __future__ import annotations

from collections.abc import Callable

from engine.fuzzing.biases import make_bias
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.fuzzing.imported_pool import ImportedPool, MadePool
from engine.policies.runs import PolicyRuns
from engine.records.config import Unit

_WALKS, _WALKS_PER_STATE = 200, 20
"""The number of walks without a time limit: a small problem may not have enough states."""


def make_fuzzer(
    unit: Unit, runs: PolicyRuns, cancelled: Callable[[], bool]
) -> Fuzzer | ImportedPool | MadePool:
    if unit.pool:
        return ImportedPool(unit.pool, runs.table.task)
    if unit.made:
        return MadePool(unit.made)
    settings = unit.fuzzing
    bias = make_bias(
        settings.bias,
        runs,
        horizon=settings.horizon or None,
        budget=settings.budget or None,
        cancelled=cancelled,
    )
    options = FuzzOptions(
        size=settings.size,
        walk_length=settings.walk_length,
        seed=unit.seed,
        novelty=settings.novelty,
        unsolved=settings.unsolved,
        seconds=settings.seconds,
        walks=None if settings.seconds else _WALKS + _WALKS_PER_STATE * settings.size,
    )
    return Fuzzer(runs.table, bias, options, cancelled)
