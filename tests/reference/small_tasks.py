"""Small tasks written down by hand: operators as (name, precondition, effect, cost)."""

from __future__ import annotations

from engine.task.task import Operator, Task, Variable

Rule = tuple[str, dict[int, int], dict[int, int], int]


def task_of(
    sizes: tuple[int, ...],
    operators: list[Rule],
    init: tuple[int, ...],
    goal: dict[int, int],
) -> Task:
    return Task(
        tuple(
            Variable(f"var{number}", tuple(f"Atom v{number}-{value}()" for value in range(size)))
            for number, size in enumerate(sizes)
        ),
        tuple(
            Operator(name, tuple(sorted(pre.items())), tuple(sorted(eff.items())), cost)
            for name, pre, eff, cost in operators
        ),
        init,
        tuple(sorted(goal.items())),
        has_costs=True,
    )


def one_key() -> Task:
    """Two doors and a key that breaks: no plan, but a relaxed one."""
    doors = [(f"open door{d}", {0: 0}, {0: 1, d: 1}, 1) for d in (1, 2)]
    return task_of((2, 2, 2), doors, (0, 0, 0), {1: 1, 2: 1})
