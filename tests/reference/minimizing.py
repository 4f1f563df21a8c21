"""Small problems of the examples, and policies that are scripted, for tests of witnesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from engine.files import resource
from engine.minimize.mistake import Laboratory, Mistake
from engine.minimize.moves import Moves
from engine.minimize.sense import Sense
from engine.minimize.situation import Situation
from engine.minimize.witness import Minimized, MinimizeLimits, minimize_mistake
from engine.native.library import Int32Array
from engine.pddl import check_texts, format_problem
from engine.pddl.model import Domain
from engine.policies.policy import NO_ACTION, NO_OPERATION, PolicyInfo
from engine.task.atoms import format_atom, state_atoms
from engine.task.export import export_state
from engine.task.load import load_models, load_task
from engine.task.task import PddlSource, Task
from engine.task.translate import warm_translator
from engine.task.translation_cache import NO_CACHE
from engine.workers.link import NULL_LINK, TimedLink

Decide = Callable[[frozenset[str], Task], str | None]
"""Facts such as `(at a)` and the task, to a ground action such as `drive a b`."""
WITHOUT_OPERATOR = "wait"
"""A decision for an action that the translator left out, because it changes nothing."""


@dataclass(frozen=True)
class Scripted:
    """A policy that a test writes down."""

    decide: Decide

    def describe(self) -> PolicyInfo:
        return PolicyInfo("builtin", None)

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        return ()

    def bind(self, task: Task) -> BoundScript:
        return BoundScript(self.decide, task)


@dataclass(frozen=True)
class BoundScript:
    script: Decide
    task: Task

    def decide(self, states: Int32Array) -> Int32Array:
        found = []
        for row in states.tolist():
            facts = frozenset(map(format_atom, state_atoms(self.task, row)))
            action = self.script(facts, self.task)
            known = {None: NO_ACTION, WITHOUT_OPERATOR: NO_OPERATION, **self.task.operator_index}
            found.append(known.get(action, 10**6))
        return np.array(found, np.int32)


def always(*actions: str) -> Decide:
    """The first of some actions that is applicable."""

    def decide(facts: frozenset[str], task: Task) -> str | None:
        return next((action for action in actions if is_possible(action, facts, task)), None)

    return decide


def is_possible(action: str, facts: frozenset[str], task: Task) -> bool:
    number = task.operator_index.get(action)
    if number is None:
        return False
    for variable, value in task.operators[number].precondition:
        atom = task.fact_atoms[variable][value]
        if atom is not None and format_atom(atom) not in facts:
            return False
    return True


@cache
def example_task(name: str, problem: str) -> Task:
    folder = resource(f"examples/{name}")
    return load_task(folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")


def task_of(domain: str, problem: str, *, unit_costs: bool = False) -> Task:
    """The task of two texts."""
    report = check_texts(domain, problem)
    assert report.ok, [str(item) for item in report.diagnostics]
    assert report.domain is not None
    assert report.problem is not None
    source = PddlSource(report.domain, report.problem, unit_costs)
    return load_models(source, (domain, problem), cache=NO_CACHE)


def sense_of(task: Task) -> Sense:
    return Sense.of(task, state_atoms(task, task.init))


def situation_of(task: Task) -> Situation:
    return Situation.of(export_state(task, task.init, "test"))


def moves_of(task: Task, *protected: str) -> Moves:
    assert task.source is not None
    return Moves(task.source.domain, situation_of(task), sense_of(task), protected)


@contextmanager
def laboratory(
    task: Task, domain_text: str, policy: object, end: float = math.inf
) -> Iterator[Laboratory]:
    assert task.source is not None
    exported = export_state(task, task.init, "witness")
    source = PddlSource(task.source.domain, exported, task.source.unit_costs)
    with warm_translator() as translator:
        link = TimedLink(NULL_LINK, end)
        yield Laboratory(source, domain_text, policy, translator, link)  # type: ignore[arg-type]


def minimized(
    texts: tuple[str, str],
    policy: object,
    mistake: Mistake,
    limits: MinimizeLimits | None = None,
    *,
    unit_costs: bool = False,
    seen: list[Situation] | None = None,
    end: float = math.inf,
) -> Minimized:
    """The smallest witness at the initial state of a problem."""
    task = task_of(*texts, unit_costs=unit_costs)
    with laboratory(task, texts[0], policy, end) as tools:
        return minimize_mistake(
            task,
            task.init,
            mistake,
            tools,
            limits=limits or MinimizeLimits(),
            tell=lambda _, best: None if seen is None else seen.append(best),
        )


def problem_text(found: Minimized) -> str:
    assert found.shown is not None
    return format_problem(found.shown.problem)
