"""Claims about states: a pool state is where its walk leads, and a bug is in a state that exists.

The initial state can be reached, and so can whatever a walk, a run of the policy or a plan leads
to from there. States of an imported pool are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.records.evidence import Evidence, State, Walk
from engine.records.finding import INFINITY
from engine.records.verification import HOLDS, Verdict, false, undecided
from engine.task.task import Task
from engine.verify.cost_to_go import CostToGo
from engine.verify.replay import replay
from engine.verify.semantics import applicable_operators, find_state_problem, is_goal, successor
from engine.workspace.rows import PoolRow


def check_pool(
    rows: Sequence[PoolRow], task: Task, walk_length: int, imported: Sequence[State] | None
) -> list[Verdict]:
    """Check that each state of a pool is where its walk leads."""
    seen: set[State] = set()
    verdicts = []
    for place, row in enumerate(rows):
        problem = find_state_problem(row.state, task)
        if not problem and row.number != place:
            problem = f"state {place} of the pool is missing"
        if not problem and row.state in seen:
            problem = "the pool has this state twice"
        if not problem and imported is not None:
            problem = _imported_problem(row, imported)
        elif not problem:
            problem = _walk_problem(row, rows[:place], task, walk_length)
        seen.add(row.state)
        verdicts.append(false(problem) if problem else HOLDS)
    return verdicts


def check_complete(states: Sequence[State], task: Task, costs: CostToGo) -> Verdict:
    """Whether a pool has all states that can be reached, except goals and dead ends."""
    known = dict.fromkeys(state for state in states if not find_state_problem(state, task))
    if task.init not in known:
        return false("the initial state is not in the pool")
    for state in known:
        for number in applicable_operators(task, state):
            after = successor(task, task.operators[number], state)
            if after in known or is_goal(task, after) or costs.low(after) == INFINITY:
                continue
            if costs.high(after) == INFINITY:
                return undecided(costs.too_many)
            name = task.operators[number].name
            return false(f"another state can be reached: {name} leads there from {state}")
    return HOLDS


def _imported_problem(row: PoolRow, imported: Sequence[State]) -> str:
    if row.reference != -1 or row.walk:
        return "it has a walk, but the pool was imported"
    if row.number >= len(imported) or imported[row.number] != row.state:
        return "the imported file has another state in this place"
    return ""


def _walk_problem(row: PoolRow, before: Sequence[PoolRow], task: Task, walk_length: int) -> str:
    if row.number == 0:
        is_initial = row.state == task.init and row.reference == -1 and not row.walk
        return "" if is_initial else "the first state of the pool is not the initial state"
    if not 0 <= row.reference < row.number:
        return f"its walk begins in state {row.reference}, which comes after it"
    if not 1 <= len(row.walk) <= walk_length:
        return f"its walk has {len(row.walk)} steps, but walks have 1 to {walk_length}"
    start = before[row.reference].state
    if find_state_problem(start, task):
        return "its walk begins in an invalid state"
    states = replay(start, row.walk, task)
    if isinstance(states, str):
        return f"its walk cannot be replayed: {states}"
    return "" if states[-1] == row.state else "its walk leads to another state"


class Reached:
    """States that are known to be reachable, because something leads there."""

    def __init__(self, task: Task, roots: Iterable[State]) -> None:
        self._task = task
        self._states = {task.init, *roots}

    def __contains__(self, state: object) -> bool:
        return state in self._states

    def add_walk(self, start: State, operators: Iterable[int]) -> None:
        """All states of a walk, if it begins in a state that can be reached."""
        if start in self._states and not isinstance(
            states := replay(start, operators, self._task), str
        ):
            self._states.update(states)

    def add_states(self, start: State, states: Iterable[State]) -> None:
        """What the policy leads to, if it begins in a state that can be reached."""
        if start in self._states:
            self._states.update(states)

    def add_evidence(self, evidence: Evidence) -> None:
        """The states of its first walk; states after a morph do not follow from it."""
        if evidence.steps and isinstance(evidence.steps[0], Walk):
            self.add_walk(evidence.state, evidence.steps[0].operators)


def check_bug_state(state: State, reached: Reached, costs: CostToGo, has_morphs: bool) -> Verdict:
    """Whether a bug outside the pool is in a state that can be reached.

    Oracles that compare states by dominance also run the policy where nothing leads to.
    """
    is_reachable = costs.is_reachable(state)
    if is_reachable or state in reached:
        return HOLDS
    if is_reachable is None:
        return undecided(
            "no walk, run or plan leads to its state, and there are too many to search"
        )
    if has_morphs:
        return undecided("its state cannot be reached; an oracle made it from another one")
    return false("its state cannot be reached")
