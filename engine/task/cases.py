"""The cases of an operator: in each it is known which of its conditional effects can fire.

A condition of an effect on another variable is foreign. For every variable that a foreign condition
names, a case chooses a class of its values: each named value is one by itself, the others are one
together. Within a case, what happens to a variable depends on its own value alone.
See docs/theory/conditional-effects.md, "Cases".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from engine.task.task import Operator, Task

MAX_CASES = 64
"""Of one operator, for dominance and merge-and-shrink."""
MAX_ALL_CASES = 50_000
"""Of all operators of a task."""


@dataclass(frozen=True)
class Case:
    """The values that variables may have before, and where each value of a variable leads.

    Variables that are not listed may have any value, and keep it.
    """

    operator: int
    images: dict[int, dict[int, int]]


def classes(operator: Operator, task: Task) -> dict[int, list[tuple[int, ...]]]:
    """By variable that a foreign condition names: the classes of its values, the rest last."""
    named: dict[int, set[int]] = defaultdict(set)
    for condition, (changed, _) in operator.conditional:
        for variable, value in condition:
            if variable != changed:
                named[variable].add(value)
    found = {}
    for variable in sorted(named):
        rest = tuple(x for x in range(task.domain_sizes[variable]) if x not in named[variable])
        found[variable] = [(value,) for value in sorted(named[variable])] + ([rest] if rest else [])
    return found


def case_count(operator: Operator, task: Task) -> int:
    return prod(map(len, classes(operator, task).values()))


def find_obstacle(task: Task) -> str:
    """Return why the variables of a task cannot be treated one by one, or an empty string."""
    if task.axioms and task.cone == set(task.state_variables):
        return "axioms depend on all variables, so that these cannot be compared one by one"
    counts = [case_count(operator, task) for operator in task.operators]
    most = max(counts, default=0)
    if most > MAX_CASES:
        name = task.operators[counts.index(most)].name
        return f"the conditional effects of ({name}) have more than {MAX_CASES} cases"
    if sum(counts) > MAX_ALL_CASES:
        return f"the conditional effects have more than {MAX_ALL_CASES} cases together"
    return ""


def all_cases(task: Task) -> Iterator[Case]:
    """Operator by operator; one case for an operator without foreign conditions."""
    for number, operator in enumerate(task.operators):
        groups = classes(operator, task)
        for chosen in product(*groups.values()):
            yield _case(task, number, dict(zip(groups, chosen, strict=True)))


def _case(task: Task, number: int, chosen: dict[int, tuple[int, ...]]) -> Case:
    operator = task.operators[number]
    allowed: dict[int, tuple[int, ...]] = {
        variable: (value,) for variable, value in operator.precondition
    }
    for variable, values in chosen.items():
        before = allowed.get(variable, values)
        allowed[variable] = tuple(value for value in values if value in before)
    changed = {variable for variable, _ in operator.effect}
    changed |= {variable for _, (variable, _) in operator.conditional}
    images = {}
    for variable in sorted(changed | allowed.keys()):
        values = allowed.get(variable, tuple(range(task.domain_sizes[variable])))
        images[variable] = {x: _image(operator, chosen, variable, x) for x in values}
    return Case(number, images)


def _image(
    operator: Operator, chosen: dict[int, tuple[int, ...]], variable: int, value: int
) -> int:
    after = dict(operator.effect).get(variable, value)
    for condition, (changed, result) in operator.conditional:
        if changed == variable and all(
            x == value if v == variable else chosen[v] == (x,) for v, x in condition
        ):
            after = result
    return after


MAX_SPLIT = 20_000
"""Operators of a task without conditional effects, besides four for each there was."""


def find_split_obstacle(task: Task) -> str:
    """Return why conditional effects cannot be compiled away, or an empty string."""
    if task.derived_variables:
        return "the task has axioms"
    most = MAX_SPLIT + 4 * len(task.operators)
    largest, total = (0, ""), 0
    for operator in task.operators:
        count = _split_count(operator, task)
        largest = max(largest, (count, operator.name))
        total += count
    if total <= most:
        return ""
    return f"the conditional effects of ({largest[1]}) and others make too many operators"


def _split_count(operator: Operator, task: Task) -> int:
    """An upper bound: every variable that a condition names is multiplied out."""
    needed = dict(operator.precondition)
    named = {v for condition, _ in operator.conditional for v, _ in condition} - needed.keys()
    return prod(task.domain_sizes[variable] for variable in named)
