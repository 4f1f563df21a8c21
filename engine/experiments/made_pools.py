"""Pools that a workspace has already: they are made once and shared.

An experiment on the same problems, policies and seeds, with the same way of fuzzing, tests the same
states as one before it, so that their tables are about the same pools; and nobody waits twice.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.records.config import MadeState, Unit
from engine.workspace.reader import WorkspaceReader


def with_made_pool(unit: Unit, store: WorkspaceReader) -> Unit:
    """The unit, with what the same walks found before if another unit made them to their end.

    A full pool is the same however much time was left for walks.
    """
    if unit.pool is not None:
        return unit
    for other in store.repeated_units(unit.number):
        config = store.campaign(other.campaign).config
        settings = config.fuzzing
        if other.statistics.states == settings.size:
            settings = replace(settings, seconds=unit.fuzzing.seconds)
        is_same = (
            settings == unit.fuzzing
            and config.testing.step_limit == unit.testing.step_limit
            and not other.statistics.limit
        )
        if is_same:
            pool = store.pool(other.id)
            return replace(
                unit, made=tuple(MadeState(row.state, row.reference, row.walk) for row in pool)
            )
    return unit
