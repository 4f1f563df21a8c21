"""Is what one ground action does also done by sequences of another set of operators?

`uniform_cover` looks for one sequence that works whatever holds besides the action's own atoms.
`exact_cover` splits cases: it serves the states of the action one by one (fewest true atoms
first), generalizes each plan to the cube of states it serves, and stops with a state that cannot
be served. Only the action's objects and the constants matter (small-object property).
See docs/theory/equivalence.md, "Covers".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from engine.equivalence.budget import Budget
from engine.equivalence.grounding import (
    Action,
    Rule,
    State,
    Step,
    TooManyStatesError,
    actions_within,
    all_actions_within,
    relevant_actions,
)
from engine.equivalence.instances import Change, GroundAtom

Node = TypeVar("Node")
Masks = tuple[int, int, int, int, Step]
"""Needed true, needed false, set true, set false; and the step that does it."""


@dataclass(frozen=True, slots=True)
class Case:
    """In states where `true` hold and `false` do not, besides the precondition: the steps."""

    true: frozenset[GroundAtom]
    false: frozenset[GroundAtom]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A state (its true local atoms) in which the change cannot be done."""

    state: State


Cover = tuple[Case, ...]
NOTHING_TO_DO: Cover = (Case(frozenset(), frozenset(), ()),)


def cover(
    target: Change, rules: Sequence[Rule], budget: Budget, bound: int | None = None
) -> Cover | Gap:
    """All cases in which `rules` do the target, or a state in which they cannot."""
    return uniform_cover(target, rules, budget) or exact_cover(target, rules, budget, bound)


def uniform_cover(target: Change, rules: Sequence[Rule], budget: Budget) -> Cover | None:
    """Breadth-first over what is known of the target's own atoms; nothing else may be touched."""
    if target.idle:
        return NOTHING_TO_DO
    bits = {atom: 1 << i for i, atom in enumerate(sorted(target.atoms))}
    true, false, plus, minus, _ = _masks(((0, ()), target), bits)
    goal = (true & ~minus | plus, false & ~plus | minus)
    actions = [_masks(action, bits) for action in actions_within(rules, target.atoms, budget)]
    reached: dict[tuple[int, int], tuple[tuple[int, int], Step] | None] = {(true, false): None}
    queue = deque(reached)
    while queue:
        known = queue.popleft()
        budget.tick(1)
        true, false = known
        for need, need_not, plus, minus, step in actions:
            if need & ~true or need_not & ~false:
                continue
            following = (true & ~minus | plus, false & ~plus | minus)
            if following not in reached:
                reached[following] = (known, step)
                if following == goal:
                    return (Case(frozenset(), frozenset(), _trace(reached, goal)),)
                queue.append(following)
    return None


def shortest_covers(
    target: Change, rules: Sequence[Rule], budget: Budget, most: int
) -> tuple[list[tuple[Step, ...]], bool]:
    """Return up to `most` shortest sequences that always do the target, and whether these are all.

    Searches breadth-first in layers, with every path to a node at its depth.
    """
    if target.idle:
        return [()], True
    bits = {atom: 1 << i for i, atom in enumerate(sorted(target.atoms))}
    true, false, plus, minus, _ = _masks(((0, ()), target), bits)
    start, goal = (true, false), (true & ~minus | plus, false & ~plus | minus)
    actions = [_masks(action, bits) for action in all_actions_within(rules, target.atoms, budget)]
    ways: dict[tuple[int, int], list[tuple[tuple[int, int], Step]]] = {start: []}
    layer = [start]
    while layer and goal not in ways:
        following: dict[tuple[int, int], list[tuple[tuple[int, int], Step]]] = {}
        for known in layer:
            budget.tick(1)
            true, false = known
            for need, need_not, plus, minus, step in actions:
                if need & ~true or need_not & ~false:
                    continue
                reached = (true & ~minus | plus, false & ~plus | minus)
                if reached not in ways:
                    following.setdefault(reached, []).append((known, step))
        ways.update(following)
        layer = list(following)
    if goal not in ways:
        return [], True
    found: list[tuple[Step, ...]] = []
    waiting: list[tuple[tuple[int, int], tuple[Step, ...]]] = [(goal, ())]
    while waiting:
        node, rest = waiting.pop()
        if node == start:
            if len(found) == most:
                return found, False
            found.append(rest)
            continue
        waiting += [(before, (step, *rest)) for before, step in reversed(ways[node])]
    return found, True


def _masks(action: Action, bits: Mapping[GroundAtom, int]) -> Masks:
    step, change = action
    parts = (change.pre, change.npre, change.add, change.delete)
    pre, npre, add, delete = (sum(bits[atom] for atom in part) for part in parts)
    return pre, npre, add, delete, step


def _trace(reached: Mapping[Node, tuple[Node, Step] | None], state: Node) -> tuple[Step, ...]:
    steps = []
    link = reached[state]
    while link is not None:
        steps.append(link[1])
        link = reached[link[0]]
    return tuple(reversed(steps))


def exact_cover(
    target: Change, rules: Sequence[Rule], budget: Budget, bound: int | None = None
) -> Cover | Gap:
    """Serve region after region of the target's states; a region is (known true, known false)."""
    if target.idle:
        return NOTHING_TO_DO
    hopeless = _never_done(target, rules)
    if hopeless is not None:
        return Gap(hopeless)
    cases: list[Case] = []
    regions = deque([(target.pre, target.npre)])
    while regions:
        true, false = regions.popleft()
        case = next((c for c in cases if c.true <= true and not c.false & true), None)
        if case is None:
            goal = true - target.delete | target.add
            plan = find_plan(rules, true, goal, budget, bound)
            if plan is None:
                return Gap(true)
            case = served_cube(target, plan)
            cases.append(case)
        for atom in sorted(case.false - false):
            regions.append((true | {atom}, false))
            false = false | {atom}
    return tuple(cases)


def _never_done(target: Change, rules: Sequence[Rule]) -> State | None:
    """A state in which the target changes a predicate that no rule changes that way."""
    added = {atom[0] for rule in rules for atom in rule.schema.add}
    if any(atom[0] not in added for atom in target.add):
        return target.pre
    deleted = {atom[0] for rule in rules for atom in rule.schema.delete}
    lasting = frozenset(atom for atom in target.delete if atom[0] not in deleted)
    return target.pre | lasting if lasting else None


def served_cube(target: Change, plan: Sequence[Action]) -> Case:
    """The states of the target in which the plan can be followed and ends as the target does."""
    need: dict[GroundAtom, bool] = {}
    final: dict[GroundAtom, bool] = {}
    for _, change in plan:
        for atoms, value in ((change.pre, True), (change.npre, False)):
            for atom in atoms:
                if atom not in final:
                    need[atom] = value
        final.update(dict.fromkeys(change.delete, False))
        final.update(dict.fromkeys(change.add, True))
    effects = target.add | target.delete
    need.update({atom: value for atom, value in final.items() if atom not in effects})
    for atoms, value in ((target.add, True), (target.delete, False)):
        for atom in atoms:
            if atom not in final:
                need[atom] = value
    true = frozenset(atom for atom, value in need.items() if value) - target.pre
    false = frozenset(atom for atom, value in need.items() if not value) - target.npre
    return Case(true, false, tuple(step for step, _ in plan))


def find_plan(
    rules: Sequence[Rule], state: State, goal: State, budget: Budget, bound: int | None = None
) -> list[Action] | None:
    """A shortest sequence from state to exactly goal, or None; breadth-first."""
    if state == goal:
        return []
    actions = relevant_actions(rules, state, goal, budget, bound)
    changes = dict(actions)
    touched = frozenset(atom for _, change in actions for atom in change.atoms)
    if not state ^ goal <= touched:
        return None
    bits = {atom: 1 << i for i, atom in enumerate(sorted(touched))}
    start, end = (sum(bits[atom] for atom in part & touched) for part in (state, goal))
    masks = [_masks(action, bits) for action in actions]
    reached: dict[int, tuple[int, Step] | None] = {start: None}
    queue = deque([start])
    while queue:
        current = queue.popleft()
        budget.tick(1)
        if bound is not None and len(reached) > bound:
            raise TooManyStatesError
        for need, need_not, plus, minus, step in masks:
            if need & ~current or need_not & current:
                continue
            following = current & ~minus | plus
            if following not in reached:
                reached[following] = (current, step)
                if following == end:
                    return [(taken, changes[taken]) for taken in _trace(reached, end)]
                queue.append(following)
    return None
