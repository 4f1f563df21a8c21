"""What counts as a bug.

An objective compares what a policy does in a state with what is proven possible. `AnyBug` is the
papers' notion: the policy is more expensive than it needs to be, or fails where there is a plan.
`GoalReaching` asks only for the goal. See docs/theory/definitions.md, "Bugs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.records.finding import INFINITY, BugKind, RunOutcome


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A bug's size: `gap` is proven, the true one may be larger; None when the policy fails."""

    kind: BugKind
    gap: int | None


class Objective(Protocol):
    name: str

    def shortfall(self, outcome: RunOutcome, policy_cost: int, bound: int) -> Shortfall | None:
        """The bug proven by an upper bound on h*, if it proves one.

        `policy_cost` is the cost if SOLVED, INFINITY if FAILED, and if ABORTED what the run had
        cost when it was stopped.
        """
        ...

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        """Bounds below this prove a bug; INFINITY: any bound does; None: no bound can."""
        ...


class AnyBug:
    name = "any"

    def shortfall(self, outcome: RunOutcome, policy_cost: int, bound: int) -> Shortfall | None:
        limit = self.needs_less_than(outcome, policy_cost)
        if limit is None or bound >= limit:
            return None
        if outcome is RunOutcome.FAILED:
            return Shortfall(BugKind.FAILS, None)
        if outcome is RunOutcome.SOLVED:
            return Shortfall(BugKind.TOO_EXPENSIVE, policy_cost - bound)
        return Shortfall(BugKind.STOPPED, policy_cost - bound)

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        if outcome is RunOutcome.UNKNOWN:
            return None
        return INFINITY if outcome is RunOutcome.FAILED else policy_cost


class GoalReaching:
    name = "goal"

    def shortfall(self, outcome: RunOutcome, policy_cost: int, bound: int) -> Shortfall | None:
        del policy_cost
        if outcome is RunOutcome.FAILED and bound < INFINITY:
            return Shortfall(BugKind.FAILS, None)
        return None

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        del policy_cost
        return INFINITY if outcome is RunOutcome.FAILED else None


OBJECTIVES: dict[str, Objective] = {"any": AnyBug(), "goal": GoalReaching()}
