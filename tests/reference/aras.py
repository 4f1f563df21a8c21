"""Action elimination straight from its definition.

See docs/theory/searches.md, "Plan improvement".
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.task.task import Fact, Task

from . import fdr


def action_elimination(
    task: Task, start: fdr.State, plan: Sequence[int], goal: Sequence[Fact]
) -> tuple[int, ...]:
    plan, i, state = list(plan), 0, start
    while i < len(plan):
        removed, after = {i}, state
        for j in range(i + 1, len(plan)):
            operator = task.operators[plan[j]]
            if fdr.holds(operator.precondition, after):
                after = fdr.apply(task, operator, after)
            else:
                removed.add(j)
        if fdr.holds(goal, after):
            plan = [o for j, o in enumerate(plan) if j not in removed]
        else:
            state = fdr.apply(task, task.operators[plan[i]], state)
            i += 1
    return tuple(plan)
