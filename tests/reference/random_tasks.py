"""Small random tasks as hypothesis strategies, with everything that is legal but unusual: zero
costs, no preconditions, empty effects, duplicate operators, variables with one value, no goal.
"""

from __future__ import annotations

from hypothesis import strategies as st

from engine.task.task import Fact, Operator, Task, Variable

COSTS = (0, 1, 1, 2, 3, 5)


@st.composite
def partial_states(draw: st.DrawFn, sizes: tuple[int, ...], most: int) -> tuple[Fact, ...]:
    count = draw(st.integers(0, min(most, len(sizes))))
    chosen = draw(st.permutations(range(len(sizes))))[:count]
    return tuple((v, draw(st.integers(0, sizes[v] - 1))) for v in sorted(chosen))


@st.composite
def tasks(
    draw: st.DrawFn,
    variables: tuple[int, int] = (2, 5),
    values: tuple[int, int] = (1, 5),
    operators: int = 14,
    costs: tuple[int, ...] = COSTS,
) -> Task:
    """Bounds are (least, most); at most a few thousand states with the default ones."""
    sizes = tuple(
        draw(st.lists(st.integers(*values), min_size=variables[0], max_size=variables[1]))
    )
    listed: list[Operator] = []
    for number in range(draw(st.integers(0, operators))):
        if listed and draw(st.integers(0, 9)) == 0:
            twin = draw(st.sampled_from(listed))
            precondition, effect = twin.precondition, twin.effect
        else:
            precondition = draw(partial_states(sizes, 3))
            effect = draw(partial_states(sizes, 2))
        listed.append(Operator(f"op {number}", precondition, effect, draw(st.sampled_from(costs))))
    return make_task(
        sizes,
        tuple(listed),
        tuple(draw(st.integers(0, size - 1)) for size in sizes),
        draw(partial_states(sizes, 3)),
    )


def make_task(
    sizes: tuple[int, ...],
    operators: tuple[Operator, ...],
    init: tuple[int, ...],
    goal: tuple[Fact, ...],
) -> Task:
    variables = tuple(
        Variable(f"var{v}", tuple(f"Atom holds(v{v}, x{x})" for x in range(size)))
        for v, size in enumerate(sizes)
    )
    has_costs = any(operator.cost != 1 for operator in operators)
    return Task(variables, operators, init, goal, has_costs=has_costs)
