"""Criteria by dominance that decide without search, if they apply.

All of them are about states that have a plan. D(s, t) is by how much t is better than s.
See docs/theory/localization.md, "Dominance criteria".
"""

from __future__ import annotations

from engine.dominance.function import NO_SUM, DominanceFunction
from engine.localize.action_question import ActionQuestion, DecidedBy, Decision
from engine.records.localization import StepVerdict
from engine.task.successors import applicable_operators, successor


def decide_by_dominance(question: ActionQuestion, dominance: DominanceFunction) -> Decision | None:
    """The first criterion that applies; the state must have a plan."""
    if dominance.task_hash != question.task.hash:
        raise ValueError("the dominance function belongs to another task")  # P14
    task, state, cost = question.task, question.state, question.action.cost
    others = [o for o in applicable_operators(task, state) if o != question.operator]
    states = [successor(task, task.operators[o], state) for o in others]
    ids = dominance.ids([state, question.successor, *states])
    before, after, rest = ids[0], ids[1], ids[2:]

    gained = int(dominance.from_one(before, after[None, :])[0])
    if gained != NO_SUM and cost <= gained:
        return Decision(StepVerdict.OPTIMAL, DecidedBy.DOMINANCE_A)
    lost = int(dominance.from_one(after, before[None, :])[0])
    if lost != NO_SUM and -lost < cost:
        return Decision(StepVerdict.NOT_OPTIMAL, DecidedBy.DOMINANCE_B)
    costs = [task.operators[o].cost for o in others]
    better_than = dominance.to_one(after, rest).tolist() if others else []
    if all(
        gain != NO_SUM and cost - other <= gain
        for gain, other in zip(better_than, costs, strict=True)
    ):
        return Decision(StepVerdict.OPTIMAL, DecidedBy.DOMINANCE_C)
    worse_than = dominance.from_one(after, rest).tolist() if others else []
    if any(
        gain != NO_SUM and other - cost < gain
        for gain, other in zip(worse_than, costs, strict=True)
    ):
        return Decision(StepVerdict.NOT_OPTIMAL, DecidedBy.DOMINANCE_D)
    return None
