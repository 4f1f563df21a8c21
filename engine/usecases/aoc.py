"""Decides whether an optimal plan from a state starts with a certain action."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.errors import UsageError
from engine.localize import action_optimality
from engine.localize.action_optimality import ActionVerdict, DecidedBy, Reason
from engine.records.config import Factorization
from engine.search.forward import SearchLimits
from engine.search.heuristics import ADMISSIBLE
from engine.task.atoms import format_fact
from engine.task.plans import operators_of_plan, parse_plan
from engine.task.states import require_state
from engine.task.successors import State, is_applicable
from engine.task.task import Task
from engine.workers.link import Link

__all__ = ["ALGORITHMS", "HEURISTICS", "ActionOptions", "CheckedAction", "DecidedBy", "Reason"]

ALGORITHMS = tuple(action_optimality.ALGORITHMS)
HEURISTICS = [name for name in ("lmcut", "cartesian", "ms", "hmax", "blind") if name in ADMISSIBLE]


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """Unless `solvable` or `plan_cost` says so, the state is not assumed to have a plan.

    Where it has none the answer is undecided, since no action is better there than another.
    """

    state: State | None = None  # None: the initial one
    algorithm: str = "aoca"
    heuristic: str = "lmcut"
    solvable: bool = False
    plan_cost: int | None = None
    dominance: Factorization | None = None  # try the dominance criteria first
    seconds: float | None = None
    megabytes: int | None = None
    greedy: bool = True  # whether a greedy search for some plan comes before AOCA*


@dataclass(frozen=True, slots=True)
class CheckedAction:
    operator: int
    answer: ActionVerdict
    cpu_seconds: float


def check_action(link: Link, task: Task, action: str, options: ActionOptions) -> CheckedAction:
    """Check the action with a name and arguments as in a plan."""
    started = time.monotonic()
    state = task.init if options.state is None else require_state(task, options.state)
    operator = _operator(task, state, action)
    dominance = None
    if options.dominance is not None:
        limits = replace(DEFAULT_LIMITS, seconds=options.seconds)
        dominance = dominance_function(task, options.dominance, limits=limits, control=link.control)
    seconds = options.seconds
    if seconds is not None:
        seconds = max(seconds - (time.monotonic() - started), 0.001)
    memory = None if options.megabytes is None else options.megabytes * 2**20
    began = time.process_time()
    answer = action_optimality.check_action(
        task,
        state,
        operator,
        options.algorithm,
        options.heuristic,
        solvable=options.solvable,
        plan_cost=options.plan_cost,
        dominance=dominance,
        limits=SearchLimits(seconds, memory),
        control=link.control,
        greedy=options.greedy,
    )
    return CheckedAction(operator, answer, time.process_time() - began)


def _operator(task: Task, state: State, text: str) -> int:
    """The operator of the action that is applicable, if one is."""
    if re.fullmatch("#[0-9]{1,9}", text) and int(text[1:]) < len(task.operators):
        return _require_applicable(task, state, int(text[1:]))
    plan = parse_plan(text, "--action")
    if len(plan.steps) != 1:
        raise UsageError(f"'{text}' is not one action", hint='write --action "(name arguments)"')
    number = operators_of_plan(replace(task, init=state), plan)[0]
    others = task.operators_of_action[plan.steps[0].action]
    same = [other for other in others if is_applicable(task.operators[other], state)]
    meanings = {
        (operator.effect, operator.conditional, operator.cost)
        for operator in map(task.operators.__getitem__, same)
    }
    if len(meanings) > 1:
        raise UsageError(
            f"{len(same)} operators with different effects or costs are named {plan.steps[0]}",
            hint=f"choose one: --action {' or '.join(f'#{other}' for other in same[:5])}",
        )
    return _require_applicable(task, state, number)


def _require_applicable(task: Task, state: State, number: int) -> int:
    operator = task.operators[number]
    if not is_applicable(operator, state):
        missing = [fact for fact in operator.precondition if state[fact[0]] != fact[1]]
        needed = ", ".join(format_fact(task.variables[v].values[x]) for v, x in missing[:3])
        raise UsageError(f"({operator.name}) is not applicable in the state: it needs {needed}")
    return number
