"""The pool of test states that measurements of oracles share: unbiased walks, as in the papers."""

from __future__ import annotations

from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.oracles.session import Origin
from engine.task.states import StateTable

WALKS_PER_STATE = 5


def fuzzed_pool(table: StateTable, size: int, seed: int) -> dict[int, Origin | None]:
    """State ids with where they come from, in the order in which they were found."""
    options = FuzzOptions(size=size, walks=WALKS_PER_STATE * size, seed=seed)
    fuzzer = Fuzzer(table, None, options)
    for _ in fuzzer.grow():
        pass
    ids = table.add([entry.state for entry in fuzzer.entries]).tolist()
    return {
        state: Origin(ids[entry.reference], entry.operators) if entry.reference >= 0 else None
        for state, entry in zip(ids, fuzzer.entries, strict=True)
    }
