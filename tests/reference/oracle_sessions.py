"""Sessions of oracles on small tasks, and what oracles prove there, checked and in words."""

from __future__ import annotations

from collections.abc import Mapping

from engine.dominance.checker import DominanceChecker
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import factorizations, make_oracle
from engine.oracles.session import Examination, OracleSession, Origin
from engine.policies.portfolio import Member, Portfolio
from engine.policies.runs import PolicyRuns
from engine.records.evidence import Walk
from engine.task.states import StateTable
from engine.task.task import Operator, Task
from engine.verify.evidence import verify
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

Edges = Mapping[str, tuple[int, int, int]]
"""Operators by name: from where, to where, at which cost."""

ROAD: Edges = {
    "direct": (0, 3, 9), "walk": (0, 1, 2), "on": (1, 2, 2), "home": (2, 3, 2),
    "fall": (1, 4, 1), "crawl": (4, 5, 1), "turn": (5, 4, 1),
}  # fmt: skip
"""The goal is 3; from 0 it costs 6, and from 4 and 5 nothing leads to it."""
GOAL, PIT = 3, 4
OPTIMAL = "walk on home"

MORPH = "dominance"
"""In place of the operators of a step that a dominance value proves."""


def session_on(
    edges: Edges,
    goal: int,
    policy: str,
    rivals: Mapping[str, str] | None = None,
    *,
    objective: str = "any",
    step_limit: int | None = None,
) -> OracleSession:
    """States are the values of one variable; a policy is the names of the operators it takes."""
    operators = tuple(
        Operator(name, ((0, old),), ((0, new),), cost) for name, (old, new, cost) in edges.items()
    )
    size = max(max(old, new) for old, new, _ in edges.values()) + 1
    table = StateTable(make_task((size,), operators, (0,), ((0, goal),)))
    table.add([(value,) for value in range(size)])
    numbers = {name: number for number, name in enumerate(edges)}

    def runs_of(names: str) -> PolicyRuns:
        choices = {(edges[name][0],): numbers[name] for name in names.split()}
        return PolicyRuns(TablePolicy(choices), table)

    portfolio = None
    if rivals is not None:
        members = tuple(Member(name, runs_of(names)) for name, names in rivals.items())
        portfolio = Portfolio(members)
    return OracleSession(runs_of(policy), OBJECTIVES[objective], step_limit, portfolio=portfolio)


def road(policy: str, rivals: Mapping[str, str] | None = None) -> OracleSession:
    return session_on(ROAD, GOAL, policy, rivals)


def switch_task(costs: tuple[int, int, int] = (1, 1, 1)) -> Task:
    """Places 0-3 in a line, the goal at 3, and a switch on which nothing depends.

    From 1 one can fall into 4, from where only 5 can be reached.
    """
    ahead = [Operator(f"ahead-{x}", ((0, x),), ((0, x + 1),), costs[x]) for x in range(3)]
    back = [Operator(f"back-{x}", ((0, x + 1),), ((0, x),), costs[x]) for x in range(2)]
    pit = [Operator("fall", ((0, 1),), ((0, 4),), 1), Operator("on", ((0, 4),), ((0, 5),), 1)]
    flip = [Operator(f"flip-{x}", ((1, x),), ((1, 1 - x),), 1) for x in range(2)]
    return make_task((6, 2), (*ahead, *back, *pit, *flip), (0, 0), ((0, 3),))


def switch_session(
    task: Task, policy: Mapping[tuple[int, int], str], rivals: Mapping[str, str] | None = None
) -> OracleSession:
    """The policy takes the named operator in each state; a rival takes its own everywhere."""
    numbers = {operator.name: number for number, operator in enumerate(task.operators)}
    table = StateTable(task)
    table.add([(x, y) for x in range(6) for y in range(2)])
    choices = {state: numbers[name] for state, name in policy.items()}
    runs = PolicyRuns(TablePolicy(choices), table)
    portfolio = None
    if rivals is not None:
        members = []
        for name, names in rivals.items():
            taken = [numbers[operator] for operator in names.split()]
            decisions = {
                (task.operators[number].precondition[0][1], y): number
                for number in taken
                for y in range(2)
            }
            members.append(Member(name, PolicyRuns(TablePolicy(decisions), table)))
        portfolio = Portfolio(tuple(members))
    return OracleSession(runs, OBJECTIVES["any"], portfolio=portfolio)


def state_id(session: OracleSession, *values: int) -> int:
    return int(session.table.add([values])[0])


def examine(session: OracleSession, oracle: str, *states: int) -> Examination:
    """What an oracle says about the last of these states, after it has examined the others."""
    working = make_oracle(oracle, session)
    for state in states[:-1]:
        session.test(state, working)
    return session.test(states[-1], working)


def proven(session: OracleSession, state: int, oracle: str = "") -> list[tuple[str, str]]:
    """A proof in words: origin and operators of each step, after it has been checked."""
    evidence = session.findings[state].evidence
    dominance = None
    if oracle and (used := factorizations([oracle])):
        dominance = DominanceChecker(session.task, used)
    checked = verify(evidence, session.task, dominance)
    assert checked.ok, checked
    assert checked.bound == session.findings[state].bound == session.bounds.u(state)
    return [
        (step.origin, " ".join(session.task.operators[o].name for o in step.operators))
        if isinstance(step, Walk)
        else (step.origin, MORPH)
        for step in evidence.steps
    ]


WAY_BACK: Edges = {"walk": (0, 1, 2), "back": (1, 0, 5), "end": (0, 2, 1)}
LONG_WAY_BACK: Edges = {
    "walk": (0, 1, 2), "around": (1, 3, 2), "back": (3, 0, 5), "end": (0, 2, 1),
}  # fmt: skip
NO_WAY_BACK: Edges = {"walk": (0, 1, 2), "end": (0, 2, 1)}


def walked(edges: Edges, policy: str = "end") -> OracleSession:
    """State 1 was reached by a walk from state 0; the policy has nothing to do there."""
    session = session_on(edges, 2, policy)
    session.origins[1] = Origin(0, (list(edges).index("walk"),))
    return session
