"""The normal form of the effects of an operator.

Effects without a condition come first, sorted by variable, then the conditional ones in the order
of the file, their conditions sorted by variable. Conditions repeat nothing of the precondition. An
effect `v=x -> v:=x` stays: it can hide an earlier effect on v.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.task.task import ConditionalEffect, Fact


def normalize_effects(
    precondition: dict[int, int], effects: Iterable[ConditionalEffect]
) -> tuple[tuple[Fact, ...], tuple[ConditionalEffect, ...]]:
    """The unconditional and the conditional effects that together do what `effects` do in order."""
    always: dict[int, int] = {}
    conditional: dict[ConditionalEffect, None] = {}  # ordered by the last time each was seen
    for condition, (variable, value) in effects:
        if any(precondition.get(v, x) != x for v, x in condition):
            continue  # never fires
        open_condition = tuple(sorted({fact for fact in condition if fact[0] not in precondition}))
        line = open_condition, (variable, value)
        conditional.pop(line, None)
        if open_condition:
            conditional[line] = None
            continue
        always[variable] = value
        for hidden in [item for item in conditional if item[1][0] == variable]:
            del conditional[hidden]
    return tuple(sorted(always.items())), tuple(conditional)
