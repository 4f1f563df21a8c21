"""Small random tasks with conditional effects and axioms, by profile and seed.

They have everything that is legal but unusual: conflicting effects, effects that hide others,
conditions on the changed variable, empty bodies, layers with gaps, both defaults, cycles.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.task.axioms import Axiom
from engine.task.sas import normalize_effects
from engine.task.task import ConditionalEffect, Fact, Operator, Task, Variable
from reference import fdr

PROFILES = ("own", "foreign", "chain", "many", "forall", "conflict", "mixed")
STYLES = ("flat", "negative", "cyclic")
COSTS = ((1,), (0, 1, 2, 3), (0, 0, 0, 1, 2), (1, 2, 3))
MAX_STATES = 256


def conditional_task(seed: int, profile: str | None = None) -> Task:
    """A task with conditional effects and at most 256 states."""
    return _Maker(seed, profile, axioms=False).task()


def axiom_task(seed: int, profile: str | None = None) -> Task:
    """The same with derived variables, which conditions, preconditions and goals may name."""
    return _Maker(seed, profile, axioms=True).task()


def adl_tasks(count: int, first: int = 0) -> Iterator[Task]:
    """Three tasks with conditional effects alone for every one with axioms, too."""
    for seed in range(first, first + count):
        yield axiom_task(seed) if seed % 4 == 3 else conditional_task(seed)


def eventful_task(make: Callable[[int], Task], number: int) -> Task:
    """A task of this kind in which there is something to test.

    Derived values change, if there are any. The goal lies far away: it is made of facts, derived
    ones among them, of a state that is among the last ones reached.
    """
    for seed in itertools.count(number * 100_000):
        task = make(seed)
        states = fdr.reachable_states(task)
        derived = [{state[v] for state in states} for v in task.derived_variables]
        if len(states) <= 12 or (derived and max(map(len, derived)) == 1):
            continue
        chance = random.Random(seed)
        target = chance.choice(states[-4:])
        changed = [v for v, value in enumerate(target) if value != task.init[v]]
        chosen = {chance.choice(changed), chance.randrange(len(target))}
        return replace(task, goal=tuple((v, target[v]) for v in sorted(chosen)))
    raise AssertionError


class _Maker:
    def __init__(self, seed: int, profile: str | None, axioms: bool) -> None:
        self.random = random.Random(f"{seed} {profile} {axioms}")
        self.profile = profile or self.random.choice(PROFILES)
        self.sizes = self._sizes()
        self.n_state = len(self.sizes)
        self.layers = [-1] * self.n_state
        self.defaults: list[int | None] = [None] * self.n_state
        self.axioms: list[Axiom] = []
        if axioms:
            self._add_axioms()

    def _sizes(self) -> list[int]:
        while True:
            sizes = [self.random.randint(2, 4) for _ in range(self.random.randint(2, 5))]
            product = 1
            for size in sizes:
                product *= size
            if product <= MAX_STATES:
                return sizes

    def _add_axioms(self) -> None:
        layers = sorted(self.random.choice((0, 2, 5)) for _ in range(self.random.randint(1, 5)))
        style = self.random.choice(STYLES)
        for layer in layers:
            self.sizes.append(2)
            self.layers.append(layer)
            self.defaults.append(self.random.randint(0, 1))
        for head in range(self.n_state, len(self.sizes)):
            for _ in range(self.random.randint(0, 3)):
                self.axioms.append(Axiom(self._body(head, style), head))
        self.random.shuffle(self.axioms)

    def _body(self, head: int, style: str) -> tuple[Fact, ...]:
        body: dict[int, int] = {}
        for _ in range(self.random.randint(0, 3)):
            variable = self.random.randrange(len(self.sizes))
            if style == "flat" and variable >= self.n_state:
                variable = self.random.randrange(self.n_state)
            if self.layers[variable] > self.layers[head]:
                continue
            value = self.random.randrange(self.sizes[variable])
            default = self.defaults[variable]
            if default is not None and self.layers[variable] == self.layers[head]:
                if style == "negative":
                    continue
                value = 1 - default
            body[variable] = value
        return tuple(sorted(body.items()))

    def facts(self, most: int, least: int = 0) -> tuple[Fact, ...]:
        count = min(self.random.randint(least, most), len(self.sizes))
        chosen = sorted(self.random.sample(range(len(self.sizes)), count))
        return tuple((v, self.random.randrange(self.sizes[v])) for v in chosen)

    def state_fact(self, variable: int | None = None) -> Fact:
        if variable is None:
            variable = self.random.randrange(self.n_state)
        return variable, self.random.randrange(self.sizes[variable])

    def operator(self, number: int, costs: tuple[int, ...]) -> Operator:
        precondition = dict(self.facts(2))
        effects: list[ConditionalEffect] = []
        for _ in range(self.random.randint(0, 2)):
            fact = self.state_fact()
            if fact[0] not in {v for _, (v, _) in effects}:
                effects.append(((), fact))
        effects += self.conditional()
        effect, conditional = normalize_effects(precondition, effects)
        cost = self.random.choice(costs)
        return Operator(
            f"op {number}", tuple(sorted(precondition.items())), effect, cost, conditional
        )

    def conditional(self) -> list[ConditionalEffect]:
        profile = self.profile
        if profile == "mixed":
            profile = self.random.choice(PROFILES[:-1])
        if profile == "own":
            variable, value = self.state_fact()
            return [((self.state_fact(variable),), (variable, value))]
        if profile == "foreign":
            return [(self.facts(2, 1), self.state_fact()) for _ in range(2)]
        if profile == "chain":
            first, second, third = (self.state_fact() for _ in range(3))
            return [((first,), second), ((second,), third)]
        if profile == "many":
            return [(self.facts(2), self.state_fact()) for _ in range(self.random.randint(3, 6))]
        if profile == "forall":
            condition = self.facts(1, 1)
            return [
                (condition, self.state_fact(v))
                for v in range(self.n_state)
                if self.random.random() < 0.7
            ]
        variable = self.random.randrange(self.n_state)  # conflict
        return [
            (self.facts(2), self.state_fact(variable)) for _ in range(self.random.randint(2, 4))
        ]

    def task(self) -> Task:
        costs = self.random.choice(COSTS)
        operators = tuple(self.operator(n, costs) for n in range(self.random.randint(2, 7)))
        variables = tuple(
            Variable(
                f"var{v}", tuple(f"Atom holds(v{v}, x{x})" for x in range(size)), layer, default
            )
            for v, (size, layer, default) in enumerate(
                zip(self.sizes, self.layers, self.defaults, strict=True)
            )
        )
        init = tuple(self.random.randrange(size) for size in self.sizes)
        task = Task(
            variables,
            operators,
            init,
            self.facts(3, 1),
            has_costs=costs != (1,),
            axioms=tuple(self.axioms),
        )
        return reordered(task, self.random.randrange(2**32))


def flipped(task: Task, state: tuple[int, ...]) -> tuple[int, ...]:
    """The state with every derived value wrong."""
    derived = set(task.derived_variables)
    return tuple(1 - x if v in derived else x for v, x in enumerate(state))


def reordered(task: Task, seed: int) -> Task:
    """The same task with its variables in another order: derived ones among the others."""
    order = list(range(len(task.variables)))
    random.Random(seed).shuffle(order)
    new = {old: number for number, old in enumerate(order)}

    def facts(items: tuple[Fact, ...]) -> tuple[Fact, ...]:
        return tuple(sorted((new[v], x) for v, x in items))

    return replace(
        task,
        variables=tuple(task.variables[old] for old in order),
        operators=tuple(
            replace(
                item,
                precondition=facts(item.precondition),
                effect=facts(item.effect),
                conditional=tuple((facts(c), (new[v], x)) for c, (v, x) in item.conditional),
            )
            for item in task.operators
        ),
        init=tuple(task.init[old] for old in order),
        goal=facts(task.goal),
        axioms=tuple(Axiom(facts(rule.body), new[rule.head]) for rule in task.axioms),
    )
