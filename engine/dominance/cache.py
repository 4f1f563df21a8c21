"""Dominance functions kept on disk, because merged factors can take minutes.

An entry's name is the hash of the task's encoding and of everything asked for. Entries are plain
numpy archives (never pickled); a damaged one is ignored and computed again, and the least recently
used ones go when the folder grows too big. Only functions that no limit made weaker are kept, with
what computing them took.
"""

from __future__ import annotations

import io
import json
import logging
import weakref
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.caches import DOMINANCE, keep, read_kept
from engine.dominance.compute import DEFAULT_LIMITS, Variant, compute
from engine.dominance.function import DominanceFunction, FactorTable
from engine.native.control import Control
from engine.records.config import Factorization
from engine.search.effort import Effort, effort_so_far
from engine.search.forward import SearchLimits
from engine.task.task import Task
from engine.task.translation_cache import cache_key

VERSION = 2
"""Incremented when the same question would get another answer."""

_log = logging.getLogger(__name__)

_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zipfile.BadZipFile)
_in_memory: dict[int, dict[str, tuple[DominanceFunction, SearchLimits]]] = {}


def dominance_function(
    task: Task,
    factorization: Factorization,
    variant: Variant = Variant.R,
    *,
    limits: SearchLimits | None = DEFAULT_LIMITS,
    control: Control | None = None,
    folder: Path | None = None,
) -> DominanceFunction:
    """Return the function of a task, from memory, from disk, or computed.

    One that a limit made weaker is good for the same limits only, or where they are None.
    """
    known = _in_memory.get(id(task))
    if known is None:
        known = _in_memory[id(task)] = {}
        weakref.finalize(task, _in_memory.pop, id(task), None)
    question = f"{factorization} {variant.value}"
    if question in known:
        remembered, within = known[question]
        if remembered.complete or limits in (None, within):
            return remembered
    limits = limits or DEFAULT_LIMITS
    path = _path(task, question, folder or DOMINANCE.folder)
    function = read(path, task)
    if function is None:
        before = effort_so_far()
        function = compute(task, factorization, variant, limits=limits, control=control)
        function = replace(function, effort=effort_so_far().since(before))
        if function.complete:
            write(path, function)
    known[question] = function, limits
    return function


def _path(task: Task, question: str, folder: Path) -> Path:
    return folder / f"{cache_key(task.hash.encode(), question.encode(), bytes([VERSION]))}.npz"


def write(path: Path, function: DominanceFunction, max_bytes: int | None = None) -> None:
    """A folder that cannot be written means no cache, never an error."""
    arrays: dict[str, np.ndarray] = {}
    header = json.dumps(_describe(function, "", arrays))
    arrays["header"] = np.frombuffer(header.encode(), np.uint8)
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    try:
        keep(path, stream.getvalue(), DOMINANCE.max_bytes() if max_bytes is None else max_bytes)
    except OSError as error:
        _log.warning("could not keep a dominance function in %s: %s", path.parent, error)


def read(path: Path, task: Task) -> DominanceFunction | None:
    """Read the function from a file; None if it has none for this task."""
    try:
        data = read_kept(path)
        if data is None:
            return None
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            function = _assemble(header, "", arrays)
    except _DAMAGE as error:
        _log.warning("ignored the damaged dominance function %s: %s", path, error)
        return None
    if function.task_hash != task.hash or function.domain_sizes != task.domain_sizes:
        _log.warning("ignored a dominance function of another task: %s", path)  # P14
        return None
    return function


def _describe(
    function: DominanceFunction, prefix: str, arrays: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Everything but the arrays, which are collected under names with the prefix."""
    for number, factor in enumerate(function.factors):
        arrays[f"{prefix}{number}.lookup"] = factor.lookup
        arrays[f"{prefix}{number}.table"] = factor.table
        arrays[f"{prefix}{number}.base"] = factor.base
    return {
        "task": function.task_hash,
        "sizes": function.domain_sizes,
        "variant": function.variant,
        "variables": [factor.variables for factor in function.factors],
        "effort": [function.effort.cpu, function.effort.seconds],
        "finer": function.finer and _describe(function.finer, f"{prefix}finer.", arrays),
    }


def _assemble(
    header: Mapping[str, Any], prefix: str, arrays: Mapping[str, np.ndarray]
) -> DominanceFunction:
    factors = []
    for number, variables in enumerate(header["variables"]):
        lookup, table, base = (
            arrays[f"{prefix}{number}.{name}"] for name in ("lookup", "table", "base")
        )
        n = len(table)
        if not (table.dtype == base.dtype == lookup.dtype == np.int32):
            raise ValueError("tables of another type")
        if table.shape != (n, n) or base.shape != (n, n) or lookup.max(initial=-1) >= n:
            raise ValueError("tables that do not fit each other")
        factors.append(FactorTable(tuple(map(int, variables)), lookup, table, base))
    finer = header["finer"] and _assemble(header["finer"], f"{prefix}finer.", arrays)
    return DominanceFunction(
        str(header["task"]),
        tuple(map(int, header["sizes"])),
        str(header["variant"]),
        tuple(factors),
        finer or None,
        effort=Effort(*map(float, header["effort"])),
    )
