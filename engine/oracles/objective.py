"""What counts as a bug.

An objective compares what a policy does in a state with what is proven possible. `AnyBug` is the
papers' notion: the policy is more expensive than it needs to be, or fails where there is a plan.
`GoalReaching` asks only for the goal. See docs/theory/definitions.md, "Bugs".
"""

from __future__ import annotations

from typing import Protocol

from engine.records.finding import INFINITY, BugKind, RunOutcome


class Objective(Protocol):
    name: str

    def bug_kind(self, outcome: RunOutcome, policy_cost: int, bound: int) -> BugKind | None:
        """The kind of bug that an upper bound on h* proves, if it proves one.

        `policy_cost` is the cost if SOLVED, INFINITY if FAILED, and if ABORTED what the run had
        cost when it was stopped.
        """
        ...

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        """Bounds below this prove a bug; INFINITY: any bound does; None: no bound can."""
        ...


class AnyBug:
    name = "any"

    def bug_kind(self, outcome: RunOutcome, policy_cost: int, bound: int) -> BugKind | None:
        limit = self.needs_less_than(outcome, policy_cost)
        if limit is None or bound >= limit:
            return None
        if outcome is RunOutcome.FAILED:
            return BugKind.FAILS
        return BugKind.TOO_EXPENSIVE if outcome is RunOutcome.SOLVED else BugKind.STOPPED

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        if outcome is RunOutcome.UNKNOWN:
            return None
        return INFINITY if outcome is RunOutcome.FAILED else policy_cost


class GoalReaching:
    name = "goal"

    def bug_kind(self, outcome: RunOutcome, policy_cost: int, bound: int) -> BugKind | None:
        del policy_cost
        return BugKind.FAILS if outcome is RunOutcome.FAILED and bound < INFINITY else None

    def needs_less_than(self, outcome: RunOutcome, policy_cost: int) -> int | None:
        del policy_cost
        return INFINITY if outcome is RunOutcome.FAILED else None


OBJECTIVES: dict[str, Objective] = {"any": AnyBug(), "goal": GoalReaching()}
