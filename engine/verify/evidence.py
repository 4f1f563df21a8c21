"""Checks evidence again with nothing but the task: no kernel, no state table, no oracle.

Every walk is replayed operator by operator, every claimed dominance value is put to a separate
checker, and the costs are added up again. What cannot be checked does not count as verified.
See docs/theory/evidence.md, "Checking a finding".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.records.evidence import Evidence, Morph, State, Walk
from engine.task.task import Task
from engine.verify.replay import cost_of, replay
from engine.verify.semantics import find_state_problem

DominanceCheck = Callable[[State, State, int], str | None]
"""(s, t, d) -> why D(s, t) >= d could not be confirmed, or None when it was."""


@dataclass(frozen=True, slots=True)
class Verification:
    """`problem` says what is wrong; a verified chain has none."""

    bound: int | None
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem


def verify(evidence: Evidence, task: Task, dominance: DominanceCheck | None = None) -> Verification:
    """Whether `evidence` proves what it claims about `task`."""
    if malformed := find_state_problem(evidence.state, task):
        return Verification(None, malformed)
    state, total = evidence.state, 0
    for number, step in enumerate(evidence.steps, 1):
        if isinstance(step, Walk):
            states = replay(state, step.operators, task)
            if isinstance(states, str):
                return Verification(None, f"part {number} of the chain: {states}")
            state, total = states[-1], total + cost_of(step.operators, task)
        else:
            if problem := _morph_problem(state, step, task, dominance):
                return Verification(None, f"part {number} of the chain: {problem}")
            state, total = step.state, total - step.gain
    missing = [(variable, value) for variable, value in task.goal if state[variable] != value]
    if missing:
        variable, value = missing[0]
        return Verification(None, f"the chain ends where {_fact(task, variable, value)} is false")
    if total > evidence.bound:
        return Verification(
            None, f"the chain costs {total}, more than the claimed {evidence.bound}"
        )
    return Verification(total)


def _morph_problem(
    state: State, morph: Morph, task: Task, dominance: DominanceCheck | None
) -> str | None:
    if dominance is None:
        return "a dominance value was used, but there is no dominance function to check it with"
    return find_state_problem(morph.state, task) or dominance(morph.state, state, morph.gain)


def _fact(task: Task, variable: int, value: int) -> str:
    return task.variables[variable].values[value]
