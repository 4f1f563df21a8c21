"""The soundness harness: small tasks whose truth is known, policies of all qualities, and a plain
check of everything an oracle says against that truth.

A violation is returned as a sentence. Nothing here uses a kernel, a bound or a policy run of the
engine to know what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.oracles.bounds import Bounds
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import Examination, Oracle, OracleSession, Origin
from engine.policies.portfolio import Member, Portfolio
from engine.policies.runs import PolicyRuns
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind, Finding
from engine.task.states import StateTable
from engine.task.task import Operator, Task
from engine.verify.evidence import DominanceCheck, verify
from reference import fdr
from reference.random_tasks import make_task

State = fdr.State
Table = dict[State, int]  # an operator per state, -1: none

POOL = 16


class TablePolicy:
    """Decides by a table; a state that is not in it gets no action."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def decide(self, states: np.ndarray) -> np.ndarray:
        return np.array([self.table.get(tuple(row), -1) for row in states.tolist()], np.int32)


def random_task(random: Random) -> Task:
    """2-4 variables that move step by step, with side conditions, side effects and dead ends.

    Costs include zero; some steps can be taken back, at their own cost. The goal lies far away.
    """
    while True:
        sizes = tuple(random.randint(3, 4) for _ in range(random.randint(2, 4)))
        costs = random.choice([(1,), (0, 1, 2, 3), (0, 0, 1), (1, 2, 5)])
        operators: list[Operator] = []
        while len(operators) < 5 * len(sizes):
            operators += _moves(random, sizes, len(operators), costs)
        init = tuple(random.randrange(size) for size in sizes)
        states = fdr.reachable_states(make_task(sizes, tuple(operators), init, ()))
        target = random.choice(states[-4:])
        chosen = sorted(random.sample(range(len(sizes)), random.randint(1, 2)))
        goal = tuple((v, target[v]) for v in chosen)
        task = make_task(sizes, tuple(operators), init, goal)
        if len(states) > 12 and not fdr.holds(goal, init):
            return task


def _moves(
    random: Random, sizes: Sequence[int], number: int, costs: Sequence[int]
) -> Iterator[Operator]:
    """A step of one variable, and with luck the step back."""
    mover = random.randrange(len(sizes))
    old, new = random.sample(range(sizes[mover]), 2)
    others = _facts(random, sizes, 2)
    before = {**dict(others), mover: old}
    after = {mover: new}
    if random.random() < 0.3:
        after |= {v: x for v, x in _facts(random, sizes, 1) if v != mover}
    if random.random() < 0.1:
        del before[mover]
    yield _operator(f"op {number}", before, after, random.choice(costs))
    if random.random() < 0.3 and all(v in before for v in after):
        undone = {v: before[v] for v in after}
        yield _operator(f"op {number} back", {**before, **after}, undone, random.choice(costs))


def _operator(name: str, pre: dict[int, int], eff: dict[int, int], cost: int) -> Operator:
    return Operator(name, tuple(sorted(pre.items())), tuple(sorted(eff.items())), cost)


def _facts(random: Random, sizes: Sequence[int], most: int) -> tuple[tuple[int, int], ...]:
    chosen = random.sample(range(len(sizes)), random.randint(0, min(most, len(sizes))))
    return tuple((v, random.randrange(sizes[v])) for v in sorted(chosen))


@dataclass(frozen=True)
class Truth:
    """A task with everything there is to know about it."""

    task: Task
    states: list[State]  # closed under successors
    hstar: dict[State, int]

    @classmethod
    def of(cls, task: Task, *, everything: bool = False) -> Truth:
        """Of all reachable states, or of all combinations of values: some oracles go there."""
        states = fdr.all_states(task) if everything else fdr.reachable_states(task)
        return cls(task, states, fdr.optimal_costs(task, states))

    def policy_cost(self, policy: Table, state: State) -> int:
        cost, seen = 0, set()
        while not fdr.holds(self.task.goal, state):
            choice = policy.get(state, -1)
            if state in seen or choice < 0:
                return fdr.INFINITY
            operator = self.task.operators[choice]
            if not fdr.holds(operator.precondition, state):
                return fdr.INFINITY
            seen.add(state)
            cost += operator.cost
            state = fdr.apply(self.task, operator, state)
        return cost


def optimal_policy(truth: Truth) -> Table:
    """Always an optimal first step that also leads on: zero-cost steps must not run in circles."""
    policy: Table = {}
    done = {state for state in truth.states if fdr.holds(truth.task.goal, state)}
    while True:
        ready = [
            (state, o)
            for state in truth.states
            if state not in done and truth.hstar[state] != fdr.INFINITY
            for o, successor in fdr.successors(truth.task, state)
            if successor in done
            and truth.hstar[state] == truth.task.operators[o].cost + truth.hstar[successor]
        ]
        if not ready:
            return policy
        for state, o in ready:
            policy.setdefault(state, o)
            done.add(state)


def roundabout_policy(truth: Truth, random: Random) -> Table:
    """Reaches the goal wherever it can, but by any way that leads there."""
    policy: Table = {}
    done = {state for state in truth.states if fdr.holds(truth.task.goal, state)}
    waiting = [state for state in truth.states if state not in done]
    while True:
        random.shuffle(waiting)
        for state in waiting:
            ways = [o for o, successor in fdr.successors(truth.task, state) if successor in done]
            if ways:
                policy[state] = random.choice(ways)
                done.add(state)
                break
        else:
            return policy
        waiting.remove(state)


def policies(truth: Truth, random: Random) -> Iterator[tuple[str, Table]]:
    """Policies of all qualities."""
    best = optimal_policy(truth)
    yield "optimal", best
    yield "roundabout", roundabout_policy(truth, random)
    choices = {state: fdr.applicable(truth.task, state) for state in truth.states}
    yield "random", {s: random.choice(ops) for s, ops in choices.items() if ops}
    spoilt = dict(best)
    for state, ops in choices.items():
        if ops and random.random() < 0.3:
            spoilt[state] = random.choice([*ops, -1])
    yield "spoilt", spoilt
    yield "greedy", {s: _greedy(truth.task, s) for s, ops in choices.items() if ops}
    wild = {s: random.randrange(-1, len(truth.task.operators)) for s in truth.states}
    yield "inapplicable", {**best, **{s: o for s, o in wild.items() if random.random() < 0.2}}


def comparing(rivals: Sequence[tuple[str, Table]]) -> Callable[[str, OracleSession], Oracle]:
    """Makes oracles that compare with these policies."""

    def make(text: str, session: OracleSession) -> Oracle:
        members = [
            Member(name, PolicyRuns(TablePolicy(table), session.table)) for name, table in rivals
        ]
        session.portfolio = Portfolio(tuple(members))
        return make_oracle(text, session)

    return make


def imperfect(truth: Truth, random: Random) -> list[tuple[str, Table]]:
    kinds = [*policies(truth, random), *policies(truth, random)]
    return [(f"{name} {i}", table) for i, (name, table) in enumerate(kinds) if name != "optimal"]


def _greedy(task: Task, state: State) -> int:
    def missing(choice: tuple[int, State]) -> int:
        return sum(choice[1][variable] != value for variable, value in task.goal)

    return min(fdr.successors(task, state), key=missing)[0]


@dataclass(frozen=True)
class Checked:
    """What one oracle said about one policy on one task."""

    violations: list[str]
    flagged: set[State]
    tested: list[State]


def check(
    truth: Truth,
    policy: Table,
    oracle: str,
    *,
    objective: str = "any",
    step_limit: int | None = None,
    seed: int = 0,
    make: Callable[[str, OracleSession], object] = make_oracle,
    dominance: DominanceCheck | None = None,
) -> Checked:
    """Let an oracle examine a fuzzed pool and hold everything it says against the truth.

    `dominance` checks the dominance values in evidence, which is not accepted without.
    """
    table = StateTable(truth.task)
    session = OracleSession(
        PolicyRuns(TablePolicy(policy), table), OBJECTIVES[objective], step_limit
    )
    pool = _pool(session, seed)
    working = make(oracle, session)
    violations: list[str] = []
    for state in pool:
        examination = session.test(state, working)
        violations += _verdict_violations(truth, policy, session.values(state), examination)
    for finding in session.findings.values():
        violations += _finding_violations(truth, policy, finding, dominance)
    for number in range(len(table)):
        values = session.values(number)
        if (u := session.bounds.u(number)) < truth.hstar[values]:
            violations.append(f"u{values} = {u} is below h* = {truth.hstar[values]}")
        if session.bounds.plans is not session.bounds:
            violations += _plan_violations(truth, session.bounds, number)
    flagged = {session.values(state) for state in session.findings}
    return Checked(violations, flagged, [session.values(state) for state in pool])


def _pool(session: OracleSession, seed: int) -> list[int]:
    """Fuzzed states with their walks."""
    options = FuzzOptions(size=POOL, walks=2 * POOL, seed=seed)
    fuzzer = Fuzzer(session.table, None, options)
    for _ in fuzzer.grow():
        pass
    ids = session.table.add([entry.state for entry in fuzzer.entries]).tolist()
    for state, entry in zip(ids, fuzzer.entries, strict=True):
        if entry.reference >= 0 and entry.operators is not None:
            session.origins[state] = Origin(ids[entry.reference], entry.operators)
    return ids


def _plan_violations(truth: Truth, bounds: Bounds, state: int) -> Iterator[str]:
    """What is known without dominance values is never better, and holds without them."""
    plans = bounds.plans
    if plans.u(state) < bounds.u(state):
        yield f"a plan of cost {plans.u(state)} is not known where u = {bounds.u(state)}"
    if plans.u(state) != fdr.INFINITY and not verify(plans.evidence(state), truth.task).ok:
        yield f"there is no plan of cost {plans.u(state)} from {plans.evidence(state).state}"


def _verdict_violations(
    truth: Truth, policy: Table, state: State, examination: Examination
) -> Iterator[str]:
    cost, best = truth.policy_cost(policy, state), truth.hstar[state]
    if examination.bound < best:
        yield f"claimed h*{state} <= {examination.bound}, it is {best}"
    if examination.verdict is OracleVerdict.OPTIMAL and cost > best:
        yield f"called {state} optimal, where the policy needs {cost} and h* is {best}"
    if examination.verdict is OracleVerdict.BUG and cost <= best:
        yield f"called {state} a bug, where the policy needs {cost} and h* is {best}"


def _finding_violations(
    truth: Truth, policy: Table, finding: Finding, dominance: DominanceCheck | None
) -> Iterator[str]:
    state = finding.evidence.state
    cost, best = truth.policy_cost(policy, state), truth.hstar[state]
    if not cost > best:
        yield f"flagged {state}, where the policy needs {cost} and h* is {best}"
    if finding.bound < best:
        yield f"bound {finding.bound} of {state} is below h* = {best}"
    if finding.kind is BugKind.FAILS and cost != fdr.INFINITY:
        yield f"said the policy fails on {state}, which it solves at cost {cost}"
    if finding.kind is BugKind.TOO_EXPENSIVE and cost == fdr.INFINITY:
        yield f"said the policy solves {state}, on which it fails"
    if finding.gap is not None and cost != fdr.INFINITY and finding.gap > cost - best:
        yield f"gap {finding.gap} of {state} is larger than the true one, {cost - best}"
    checked = verify(finding.evidence, truth.task, dominance)
    if not checked.ok:
        yield f"evidence for {state} does not hold: {checked.problem}"
