"""A policy run or a plan, state by state, for the plan comparison and the state view.

A run that ends in a loop has the step that closes it as its last one; it leads back to the state
number `loop_begin`. A proof that is not a plan is followed as far as its actions are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from engine.records.evidence import Evidence, State, Walk
from engine.records.finding import Run
from engine.task.successors import applicable_operators, is_goal, successor
from engine.task.task import Task


class Ending(Enum):
    """How a trace ends."""

    GOAL = "goal"
    LOOP = "loop"
    NO_ACTION = "no-action"
    INAPPLICABLE = "inapplicable"
    POLICY_ERROR = "policy-error"
    STEP_LIMIT = "step-limit"
    BOUND = "bound"  # the rest is known to be possible, but not how


@dataclass(frozen=True, slots=True)
class TraceStep:
    """The operator applied in the state number `index`, and the costs until before and after it."""

    index: int
    operator: int
    action: str
    cost: int
    cost_before: int

    @property
    def cost_after(self) -> int:
        return self.cost_before + self.cost

    @property
    def schema(self) -> str:
        return self.action.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Trace:
    """`states[i]` is the state before `steps[i]`; without a loop one more state follows."""

    states: tuple[State, ...]
    steps: tuple[TraceStep, ...]
    ending: Ending
    loop_begin: int | None = None
    rest: int = 0  # what a BOUND promises for what is left
    stuck: bool = False  # nothing is applicable at the end

    @property
    def cost(self) -> int:
        """The cost of all steps that are there."""
        return self.steps[-1].cost_after if self.steps else 0

    def state_after(self, index: int) -> State:
        """The state to which the step number `index` leads."""
        following = index + 1
        if following == len(self.states) and self.loop_begin is not None:
            following = self.loop_begin
        return self.states[following]

    def in_loop(self, index: int) -> bool:
        return self.loop_begin is not None and index >= self.loop_begin


def policy_trace(task: Task, start: State, run: Run) -> Trace:
    """What the policy does."""
    states, steps = _follow(task, start, run.operators)
    ending = Ending(run.reason)
    if ending is not Ending.LOOP:
        stuck = (
            ending is not Ending.GOAL and next(applicable_operators(task, states[-1]), None) is None
        )
        return Trace(states, steps, ending, stuck=stuck)
    if run.last_decision < 0:  # it does nothing forever
        return Trace(states, steps, ending, loop_begin=len(states) - 1)
    closing = task.operators[run.last_decision]
    cost = steps[-1].cost_after if steps else 0
    last = TraceStep(len(steps), run.last_decision, closing.name, closing.cost, cost)
    begin = states.index(successor(task, closing, states[-1]))
    return Trace(states, (*steps, last), ending, loop_begin=begin)


def plan_trace(task: Task, start: State, operators: Sequence[int]) -> Trace:
    states, steps = _follow(task, start, operators)
    reached = is_goal(task, states[-1])
    return Trace(states, steps, Ending.GOAL if reached else Ending.STEP_LIMIT)


def evidence_trace(task: Task, evidence: Evidence) -> Trace:
    """The plan that is the evidence; or the actions before the first dominance step."""
    if evidence.is_plan:
        return plan_trace(task, evidence.state, evidence.operators)
    known: list[int] = []
    for step in evidence.steps:
        if not isinstance(step, Walk):
            break
        known += step.operators
    states, steps = _follow(task, evidence.state, known)
    cost = steps[-1].cost_after if steps else 0
    return Trace(states, steps, Ending.BOUND, rest=evidence.bound - cost)


def _follow(
    task: Task, start: State, operators: Sequence[int]
) -> tuple[tuple[State, ...], tuple[TraceStep, ...]]:
    states, steps, cost = [tuple(start)], [], 0
    for index, number in enumerate(operators):
        operator = task.operators[number]
        steps.append(TraceStep(index, number, operator.name, operator.cost, cost))
        states.append(successor(task, operator, states[-1]))
        cost += operator.cost
    return tuple(states), tuple(steps)
