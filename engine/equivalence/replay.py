"""A plain simulator of lifted actions over named objects: applies, searches, nothing clever.

It shares nothing with the prover but the PDDL model; counterexamples and certificates are checked
with it. Literal conditions only; states are sets of `(predicate, object, ...)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from engine.pddl.model import (
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Equality,
    Imply,
    Not,
    Or,
    Term,
    effects,
)
from engine.pddl.types import Types

Fact = tuple[str, ...]
Facts = frozenset[Fact]
ANY_TYPE: None = None


class TooLargeError(Exception):
    """The search passed its bound without an answer."""


def named(atom: Atom, names: Mapping[str, str]) -> Fact:
    """The fact that an atom stands for under a binding of its variables."""
    return (atom.predicate, *(names.get(term.name, term.name) for term in atom.arguments))


def holds(condition: Condition, state: Facts, names: Mapping[str, str]) -> bool:
    """Truth of a quantifier-free condition."""
    if isinstance(condition, Atom):
        return named(condition, names) in state
    if isinstance(condition, Equality):
        left, right = (names.get(t.name, t.name) for t in (condition.left, condition.right))
        return left == right
    if isinstance(condition, Not):
        return not holds(condition.part, state, names)
    if isinstance(condition, And):
        return all(holds(part, state, names) for part in condition.parts)
    if isinstance(condition, Or):
        return any(holds(part, state, names) for part in condition.parts)
    assert isinstance(condition, Imply), "quantifiers are refused before anything is simulated"
    return not holds(condition.premise, state, names) or holds(condition.conclusion, state, names)


def literals(condition: Condition, true: bool = True) -> Iterator[tuple[Atom | Equality, bool]]:
    """The literals of a conjunction: each with whether it has to be true."""
    if isinstance(condition, Atom | Equality):
        yield condition, true
    elif isinstance(condition, Not):
        yield from literals(condition.part, not true)
    elif isinstance(condition, Imply):
        yield from literals(condition.premise, not true)
        yield from literals(condition.conclusion, true)
    else:
        assert isinstance(condition, And | Or)
        for part in condition.parts:
            yield from literals(part, true)


@dataclass(frozen=True, slots=True)
class Step:
    action: Action
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return "(" + " ".join((self.action.name, *self.arguments)) + ")"


class Simulator:
    """One domain with some objects; `objects` gives each its type, or None to fit everywhere."""

    def __init__(self, domain: Domain, objects: Mapping[str, str | None], distinct: bool) -> None:
        types = Types.of(domain)
        self._domain = domain
        self._distinct = distinct
        self._fitting = {
            action.name: [
                [
                    name
                    for name, own in objects.items()
                    if own is ANY_TYPE or types.covers(parameter.types, own)
                ]
                for parameter in action.parameters
            ]
            for action in domain.actions
        }

        self._order = {action.name: _tested_first(action) for action in domain.actions}

    def apply(self, state: Facts, name: str, arguments: tuple[str, ...]) -> Facts | None:
        """The next state, or None if the action does not exist or cannot be applied."""
        action = self._domain.action(name)
        if action is None or len(action.parameters) != len(arguments):
            return None
        fitting = self._fitting[name]
        if any(value not in some for value, some in zip(arguments, fitting, strict=True)):
            return None
        if self._distinct and len(set(arguments)) < len(arguments):
            return None
        names = {p.name: value for p, value in zip(action.parameters, arguments, strict=True)}
        if not holds(action.precondition, state, names):
            return None
        return result(action, state, names)

    def steps(self, state: Facts, look: Callable[[], None]) -> Iterator[tuple[Step, Facts]]:
        """Every applicable ground action with its result; `look` is called now and then."""
        for action in self._domain.actions:
            for arguments in self._applicable(action, state, {}, look):
                values = tuple(arguments[parameter.name] for parameter in action.parameters)
                yield Step(action, values), result(action, state, arguments)

    def _applicable(
        self, action: Action, state: Facts, names: dict[str, str], look: Callable[[], None]
    ) -> Iterator[dict[str, str]]:
        if not _still_possible(action.precondition, state, names):
            return
        if len(names) == len(action.parameters):
            if holds(action.precondition, state, names):
                yield names
            return
        if len(names) < 3:
            look()
        place = self._order[action.name][len(names)]
        for value in self._fitting[action.name][place]:
            if not (self._distinct and value in names.values()):
                known = {**names, action.parameters[place].name: value}
                yield from self._applicable(action, state, known, look)

    def search(
        self, start: Facts, goal: Facts, bound: int, look: Callable[[], None]
    ) -> tuple[list[Step] | None, int]:
        """A shortest plan to exactly the goal state, and how many states were seen.

        A fact that the goal excludes and that no action can ever delete (or the reverse) is a
        dead end.
        """
        added, deleted = self._changeable()
        parents: dict[Facts, tuple[Facts, Step] | None] = {start: None}
        queue = deque([start])
        while queue:
            look()
            state = queue.popleft()
            if state == goal:
                return _plan(parents, state), len(parents)
            for step, following in self.steps(state, look):
                spoiled = any(f[0] not in deleted for f in following - goal)
                spoiled = spoiled or any(f[0] not in added for f in goal - following)
                if following not in parents and not spoiled:
                    parents[following] = (state, step)
                    queue.append(following)
                    if len(parents) > bound:
                        raise TooLargeError
        return None, len(parents)

    def _changeable(self) -> tuple[set[str], set[str]]:
        parts = [part for action in self._domain.actions for part in effects(action.effect)]
        added = {part.atom.predicate for part in parts if isinstance(part, Add)}
        return added, {part.atom.predicate for part in parts if isinstance(part, Delete)}


def _tested_first(action: Action) -> list[int]:
    """The places of the parameters, those in positive tests first, test by test."""
    tested = [
        term.name
        for part, true in literals(action.precondition)
        if true and isinstance(part, Atom)
        for term in part.arguments
    ]
    names = [parameter.name for parameter in action.parameters]
    return [names.index(name) for name in dict.fromkeys([*tested, *names]) if name in names]


def _still_possible(condition: Condition, state: Facts, names: Mapping[str, str]) -> bool:
    """False if a positive atom with all its arguments known does not hold."""
    parts = condition.parts if isinstance(condition, And) else (condition,)
    return all(
        named(part, names) in state
        for part in parts
        if isinstance(part, Atom) and all(_known(term, names) for term in part.arguments)
    )


def _known(term: Term, names: Mapping[str, str]) -> bool:
    return not term.is_variable or term.name in names


def result(action: Action, state: Facts, names: Mapping[str, str]) -> Facts:
    """Delete, then add."""
    parts = list(effects(action.effect))
    deleted = {named(part.atom, names) for part in parts if isinstance(part, Delete)}
    added = {named(part.atom, names) for part in parts if isinstance(part, Add)}
    return state - deleted | added


def _plan(parents: Mapping[Facts, tuple[Facts, Step] | None], state: Facts) -> list[Step]:
    steps = []
    link = parents[state]
    while link is not None:
        steps.append(link[1])
        link = parents[link[0]]
    return steps[::-1]
