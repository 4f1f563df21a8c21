"""Where the policy goes: its own run from the initial state, and random walks around it."""

from __future__ import annotations

import numpy as np

from engine.native.library import Int32Array
from engine.task.states import StateTable
from engine.training.unrolled import FrozenPolicy


def run_cost(policy: FrozenPolicy, step_limit: int) -> int | None:
    """What the policy's run from the initial state costs; nothing if it misses the goal."""
    task = policy.task
    table = StateTable(task)
    state = int(table.add(task.init)[0])
    seen: set[int] = set()
    cost = 0
    while not table.is_goal(state)[0]:
        if state in seen or len(seen) == step_limit:
            return None
        seen.add(state)
        operator = int(policy.decide(table.values(state))[0])
        if operator < 0:
            return None
        state = int(table.apply(state, operator)[0])
        cost += task.operators[operator].cost
    return cost


def explore(
    policy: FrozenPolicy, walks: int, step_limit: int, random: np.random.Generator
) -> Int32Array:
    """All states met, one row for each visit: the first walk is greedy, the others drawn."""
    task = policy.task
    table = StateTable(task)
    at = np.repeat(table.add(task.init), walks)
    seen: set[int] = set()
    met = []
    greedy = np.arange(walks) == 0
    for _ in range(step_limit):
        on_the_way = ~table.is_goal(at)
        if greedy[0]:
            on_the_way[0] &= int(at[0]) not in seen
            seen.add(int(at[0]))
        at, greedy = at[on_the_way], greedy[on_the_way]
        if not len(at):
            break
        states = table.values(at)
        met.append(states)
        operators = policy.sample(states, random.random(len(at)))
        if greedy[0]:
            operators[0] = policy.decide(states[:1])[0]
        chosen = operators >= 0
        at, greedy = table.apply(at[chosen], operators[chosen]), greedy[chosen]
        if not len(at):
            break
    return np.concatenate(met) if met else np.empty((0, len(task.variables)), np.int32)
