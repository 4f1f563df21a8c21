"""Is this a plan? If not, which step fails and why, in words.

`validate_plan` works on the lifted model alone and is the one to trust; `validate_operators`
checks a sequence of operator ids on a grounded task, from any state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from engine.errors import Location
from engine.pddl.model import OBJECT, Action, Domain, Problem
from engine.task.atoms import format_atom, format_fact
from engine.task.lifted import AtomSet, Outcome, UndefinedValueError, World
from engine.task.plans import Plan, PlanStep, suggestion
from engine.task.successors import State, is_applicable, is_goal, successor
from engine.task.task import Fact, Task

SHOWN = 5
"""How many unreached goals a reason names."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`failed_step` counts from 1; it is None when all steps work but the goal is not reached."""

    valid: bool
    cost: Fraction | None = None  # None when not valid
    failed_step: int | None = None
    reason: str = ""
    location: Location = field(default=Location(), compare=False)


def validate_plan(domain: Domain, problem: Problem, plan: Plan) -> Verdict:
    """Validate a plan; without a metric every step costs 1."""
    world = World(domain, problem)
    state = world.init
    cost = Fraction(0)
    for index, step in enumerate(plan.steps):
        outcome = _execute(world, step, state)
        if isinstance(outcome, str):
            return _failed(index + 1, f"{step} {outcome}", plan.location(index))
        state = outcome.state
        cost += outcome.cost if problem.metric else 1
    missing = list(world.complaints(problem.goal, {}, state))
    if missing:
        return Verdict(False, reason=_unreached(missing))
    return Verdict(True, cost)


def validate_operators(
    task: Task, operators: Sequence[int], start: Sequence[int] | None = None
) -> Verdict:
    """Whether the operators lead from `start` (the initial state if not given) to the goal."""
    state: State = task.init if start is None else task.extend(start)
    cost = 0
    for number, identifier in enumerate(operators, start=1):
        if not 0 <= identifier < len(task.operators):
            return _failed(number, f"operator {identifier} does not exist")
        operator = task.operators[identifier]
        if not is_applicable(operator, state):
            broken = next(fact for fact in operator.precondition if state[fact[0]] != fact[1])
            return _failed(number, f"({operator.name}) needs {describe_unmet(task, broken)}")
        state = successor(task, operator, state)
        cost += operator.cost
    if not is_goal(task, state):
        unmet = [fact for fact in task.goal if state[fact[0]] != fact[1]]
        return Verdict(False, reason=_unreached(describe_unmet(task, fact) for fact in unmet))
    return Verdict(True, Fraction(cost))


def describe_unmet(task: Task, fact: Fact) -> str:
    """A fact that does not hold, in words that follow "needs"."""
    variable, value = fact
    if task.variables[variable].is_derived:
        return f"{format_fact(task.variables[variable].values[value])}, which is false"
    atoms = task.fact_atoms[variable]
    atom = atoms[value]
    if atom is not None:
        return f"{format_atom(atom)}, which is false"
    others = [format_atom(other) for other in atoms if other is not None]
    if len(others) == 1:
        return f"{others[0]} to be false, but it is true"
    if others:
        return f"none of {', '.join(others)} to be true"
    return f"{task.variables[variable].values[value]} of {task.variables[variable].name}"


def _failed(step: int, reason: str, location: Location | None = None) -> Verdict:
    return Verdict(False, None, step, f"step {step}: {reason}", location or Location())


def _unreached(missing: Iterable[str]) -> str:
    parts = list(missing)
    more = f"; and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return "the goal is not reached: it needs " + "; ".join(parts[:SHOWN]) + more


def _execute(world: World, step: PlanStep, state: AtomSet) -> Outcome | str:
    """Return the state after the step, or why it cannot be applied."""
    action = world.domain.action(step.name)
    if action is None:
        hint = suggestion(step.name, (item.name for item in world.domain.actions))
        return f"is not an action of the domain; {hint}"
    if reason := _misfit(world, step, action):
        return reason
    names = (parameter.name for parameter in action.parameters)
    binding = dict(zip(names, step.arguments, strict=True))
    for complaint in world.complaints(action.precondition, binding, state):
        return f"needs {complaint}"
    try:
        return world.apply(action, binding, state)
    except UndefinedValueError as undefined:
        return (
            f"needs the value of {undefined}, which the problem does not give; "
            "count actions instead of costs with '--unit-costs'"
        )


def _misfit(world: World, step: PlanStep, action: Action) -> str:
    """Why the step's objects cannot be the action's parameters; empty if they can."""
    if len(step.arguments) != len(action.parameters):
        given = "1 argument" if len(step.arguments) == 1 else f"{len(step.arguments)} arguments"
        names = " ".join(parameter.name for parameter in action.parameters)
        needed = f"{len(action.parameters)}: {names}" if names else "none"
        return f"has {given}, but '{action.name}' takes {needed}"
    for argument, parameter in zip(step.arguments, action.parameters, strict=True):
        if argument not in world.objects[OBJECT]:
            hint = suggestion(argument, world.objects[OBJECT])
            return f"names '{argument}', which is not an object; {hint}"
        if not any(argument in world.objects[name] for name in parameter.types):
            needed = " or ".join(parameter.types)
            is_a = " or ".join(_types_of_object(world, argument))
            return f"needs a {needed} for {parameter.name}, but '{argument}' is a {is_a}"
    return ""


def _types_of_object(world: World, name: str) -> tuple[str, ...]:
    declared = (*world.domain.constants, *world.problem.objects)
    return next(item.types for item in declared if item.name == name)
