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


def puzzle() -> Task:
    """A permutation puzzle with far too many states to finish in a test."""
    size = 12
    swaps = [
        (f"swap p{i} t{a} t{b}", {i: a, i + 1: b}, {i: b, i + 1: a}, 1 + (a * b) % 3)
        for i in range(size - 1)
        for a in range(size)
        for b in range(size)
        if a != b
    ]
    return task_of((size,) * size, swaps, tuple(reversed(range(size))), {i: i for i in range(size)})
