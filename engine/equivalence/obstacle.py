"""Why two domains are not equivalent: no macro for an operator, or no mapping that fits all.

An operator has no macro if no images of its own predicates (and types) let the other domain do
it; whether it is covered depends on nothing else. The images are enumerated, and a projection that
fails cuts off all that extend it.
See docs/theory/equivalence.md, "No macro, or no mapping".
"""

from __future__ import annotations

from engine.equivalence.budget import Budget, LimitExceededError
from engine.equivalence.ground_cover import Gap
from engine.equivalence.mapping_search import MappingSearch, Outcome
from engine.equivalence.operator_cover import Image, Renaming
from engine.records.comparison import SIDES, Obstacle

MAX_TRIED = 20_000
"""Partial images of one operator's predicates; with more the reason stays unknown."""


class _TooManyError(Exception):
    """Internal: not all images were tried."""


def find_obstacle(
    search: MappingSearch, outcome: Outcome, budget: Budget
) -> tuple[Obstacle | None, str]:
    """For domains that are not equivalent; and the operator that has no macro, if one has none.

    Operators that the closest mapping covers have macros, so only the others are looked at.
    """
    operators = dict.fromkeys((item.direction, item.operator) for item in outcome.best.failures)
    is_known = True
    for direction, operator in operators:
        try:
            if not _has_macro(search, direction, operator, budget):
                name = search.directions[direction].covered.schemas[operator].name
                return Obstacle.NO_MACRO, f"{name} of {SIDES[direction]}"
        except (_TooManyError, LimitExceededError):
            is_known = False
    return (Obstacle.NO_MAPPING if is_known else None), ""


def _has_macro(search: MappingSearch, direction: int, operator: int, budget: Budget) -> bool:
    coverage = search.directions[direction]
    if not search.types_by_name:
        raise _TooManyError  # the types would have to be enumerated, too
    used = sorted(coverage.covered.schemas[operator].predicates)
    arities = coverage.covering.arities
    tried = 0

    def extend(chosen: dict[int, Image]) -> bool:
        nonlocal tried
        budget.tick()
        tried += 1
        if tried > MAX_TRIED:
            raise _TooManyError
        if len(chosen) == len(used):
            names = Renaming(chosen, None)
            return all(
                not isinstance(coverage.whole(operator, number, names), Gap)
                for number, _ in coverage.instances(operator)
            )
        predicate = used[len(chosen)]
        arity = coverage.covered.arities[predicate]
        taken = {image[0] for image in chosen.values()}
        for other, size in enumerate(arities):
            if size != arity or other in taken:
                continue
            for order in search.orders(arity):
                images = {**chosen, predicate: (other, order)}
                if coverage.part(operator, 0, Renaming(images, None)) is None and extend(images):
                    return True
        return False

    return extend({})
