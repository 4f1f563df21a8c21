"""Plan files as Fast Downward writes them: one `(name arguments)` per line, `;` comments.

Case does not matter. The comment `; cost = 12 (general cost)` is read and written; everything
else after a semicolon is ignored.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import Location, PlanError
from engine.files import read_text
from engine.task.successors import choose_operator, successor
from engine.task.task import Task

_COST = re.compile(r";\s*cost\s*=\s*([0-9]{1,18})\b")
_FORM = "write one '(action object object)' per line"


@dataclass(frozen=True, slots=True)
class PlanStep:
    name: str
    arguments: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def action(self) -> str:
        """The ground action as operators are named: `pick b1 rooma left`."""
        return " ".join((self.name, *self.arguments))

    def __str__(self) -> str:
        return f"({self.action})"


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[PlanStep, ...]
    stated_cost: int | None = None  # what a comment in the file says
    path: str | None = field(default=None, compare=False)

    def location(self, index: int) -> Location:
        """Where the step with this index (from 0) stands in the file."""
        return Location(self.path, self.steps[index].line or None)


def read_plan(path: str | Path) -> Plan:
    return parse_plan(read_text(path, "a plan file"), str(path))


def parse_plan(text: str, path: str | None = None) -> Plan:
    """The plan in `text`; `path` is only named in errors. No steps at all is a plan, too."""
    steps = []
    cost = None
    for number, line in enumerate(text.splitlines(), start=1):
        content, semicolon, comment = line.partition(";")
        if content.strip():
            steps.append(_parse_step(content, number, path))
        if found := _COST.match(semicolon + comment):
            cost = int(found[1])
    return Plan(tuple(steps), cost, path)


def _parse_step(content: str, line: int, path: str | None) -> PlanStep:
    def error(message: str, index: int) -> PlanError:
        return PlanError(message, Location(path, line, index + 1), _FORM)

    start = len(content) - len(content.lstrip())
    if content[start] != "(":
        raise error("an action must start with '('", start)
    end = content.find(")", start)
    if end == -1:
        raise error("the closing ')' is missing", len(content.rstrip()))
    inner = content.find("(", start + 1, end)
    if inner != -1:
        raise error("'(' inside an action", inner)
    rest = content[end + 1 :]
    if rest.strip():
        raise error("unexpected text after the action", content.index(rest.strip()[0], end + 1))
    words = content[start + 1 : end].lower().split()
    if not words:
        raise error("an action without a name", start)
    return PlanStep(words[0], tuple(words[1:]), line)


def format_plan(actions: Iterable[str], cost: int, has_costs: bool) -> str:
    """A plan file; `actions` are ground actions as operators are named."""
    lines = [f"({action})" for action in actions]
    lines.append(f"; cost = {cost} ({'general' if has_costs else 'unit'} cost)")
    return "\n".join(lines) + "\n"


def format_operator_plan(task: Task, operators: Sequence[int]) -> str:
    cost = sum(task.operators[number].cost for number in operators)
    return format_plan((task.operators[n].name for n in operators), cost, task.has_costs)


def operators_of_plan(task: Task, plan: Plan) -> tuple[int, ...]:
    """The operator of every step.

    An action with several operators (a disjunctive condition) is meant by the first that is
    applicable where the plan comes to it; if none is, by the first.
    """
    state = task.init
    chosen = []
    for index, step in enumerate(plan.steps):
        operator = choose_operator(task, step.action, state)
        if operator is None:
            raise _no_operator(task, plan, index)
        chosen.append(operator)
        state = successor(task, task.operators[chosen[-1]], state)
    return tuple(chosen)


def _no_operator(task: Task, plan: Plan, index: int) -> PlanError:
    step = plan.steps[index]
    known = {name.partition(" ")[0] for name in task.operators_of_action}
    if task.source is not None:
        known |= {action.name for action in task.source.domain.actions}
    if step.name not in known:
        return unknown_action(step, known, plan.location(index))
    return PlanError(
        f"the task has no operator {step}",
        plan.location(index),
        "its arguments are wrong, or it can never be applied, or it changes nothing",
    )


def unknown_action(step: PlanStep, known: Iterable[str], location: Location) -> PlanError:
    return PlanError(f"unknown action '{step.name}'", location, suggestion(step.name, known))


def suggestion(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name."""
    names = sorted(known)
    if close := difflib.get_close_matches(name, names, n=1):
        return f"did you mean '{close[0]}'?"
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"known actions: {shown}" if names else ""
