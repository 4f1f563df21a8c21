"""Small random tasks as hypothesis strategies, with everything that is legal but unusual: zero
costs, no preconditions, empty effects, duplicate operators, variables with one value, no goal.
"""

from __future__ import annotations

from dataclasses import replace

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


def widened(task: Task, bits: int) -> Task:
    """The same task in states that are wider by at least this many bits.

    Every variable gets a shadow that changes with it, and between the two lie variables that
    nothing changes, though the goal asks for them: a kernel must read and write several words.
    """
    sizes = task.domain_sizes
    fillers = (8,) * (-(-bits // 3))
    shift = len(sizes) + len(fillers)

    def doubled(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        return facts + tuple((variable + shift, value) for variable, value in facts)

    operators = tuple(
        Operator(o.name, doubled(o.precondition), doubled(o.effect), o.cost) for o in task.operators
    )
    init = task.init + (5,) * len(fillers) + task.init
    idle = tuple((len(sizes) + filler, 5) for filler in range(len(fillers)))
    goal = tuple(sorted(doubled(task.goal) + idle))
    return make_task(sizes + fillers + sizes, operators, init, goal)


def with_idle_variables(task: Task) -> Task:
    """The same task with two more variables, which operators change and no condition mentions.

    One changes with every operator, the other where the first variable has its first value.
    """
    first, second = len(task.variables), len(task.variables) + 1
    idle = tuple(
        Variable(f"idle{values}", tuple(f"Atom idle(x{x})" for x in range(values)))
        for values in (3, 2)
    )
    operators = tuple(
        replace(
            operator,
            effect=(*operator.effect, (first, number % 3)),
            conditional=(*operator.conditional, (((0, 0),), (second, number % 2))),
        )
        for number, operator in enumerate(task.operators)
    )
    return replace(
        task, variables=task.variables + idle, operators=operators, init=(*task.init, 0, 0)
    )


def counter(bits: int, costs: tuple[int, ...] = (1,)) -> Task:
    """A binary counter: one path through all 2^bits states."""
    operators = tuple(
        Operator(
            f"carry {bit}",
            (*((lower, 1) for lower in range(bit)), (bit, 0)),
            (*((lower, 0) for lower in range(bit)), (bit, 1)),
            costs[bit % len(costs)],
        )
        for bit in range(bits)
    )
    return make_task((2,) * bits, operators, (0,) * bits, tuple((bit, 1) for bit in range(bits)))


def dials(count: int, values: int, costs: tuple[int, ...] = (1,), solvable: bool = True) -> Task:
    """Independent dials that turn both ways: a state space as large as one likes.

    Unsolvable by two switches of which only one can be set, so that no relaxation notices.
    """
    turns = tuple(
        Operator(f"turn {dial} {x} {y}", ((dial, x),), ((dial, y),), costs[dial % len(costs)])
        for dial in range(count)
        for x in range(values)
        for y in ((x + 1) % values, (x - 1) % values)
    )
    sizes, goal = (values,) * count, tuple((dial, values // 2) for dial in range(count))
    if solvable:
        return make_task(sizes, turns, (0,) * count, goal)
    off = ((count, 0), (count + 1, 0))
    switches = tuple(Operator(f"set {v}", off, ((v, 1),), costs[0]) for v in (count, count + 1))
    both = ((count, 1), (count + 1, 1))
    return make_task((*sizes, 2, 2), turns + switches, (0,) * (count + 2), goal + both)
