"""A bug with its evidence, as data: what an oracle finds, a unit sends and a workspace keeps."""

from __future__ import annotations

from enum import StrEnum

from engine.records.codec import Count, Record
from engine.records.evidence import Evidence, State

Cost = Count
INFINITY = 2**63 - 1
"""The kernels' infinite cost: no plan, or a dead end. Never add to it."""

NO_DECISION = -3
"""The policy's last decision is not an operator that could be written down."""


class BugKind(StrEnum):
    FAILS = "qualitative"  # the policy fails, though there is a plan
    TOO_EXPENSIVE = "quantitative"  # the policy reaches the goal, but too expensively
    STOPPED = "unclassified"  # its run was stopped when it was already too expensive


class BugStatus(StrEnum):
    """What the user thinks of a bug."""

    NEW = "new"
    CONFIRMED = "confirmed"
    IGNORED = "ignored"
    DUPLICATE = "duplicate"


class RunOutcome(StrEnum):
    UNKNOWN = "unknown"  # not run to its end
    SOLVED = "solved"
    FAILED = "failed"  # proved: the policy never reaches the goal from here
    ABORTED = "aborted"  # stopped before there was a result


class EndReason(StrEnum):
    """Why a run ended."""

    NONE = "none"
    GOAL = "goal"
    LOOP = "loop"
    NO_ACTION = "no-action"
    INAPPLICABLE = "inapplicable"
    POLICY_ERROR = "policy-error"
    STEP_LIMIT = "step-limit"


class Run(Record):
    """A policy's run from a state: `operators`, and what came next if it failed.

    `cost` is None if it failed, and a lower bound if it was aborted. After the operators,
    `last_decision` closes a loop (an operator), or is one of the policy's marks for doing nothing,
    or `NO_DECISION`.
    """

    outcome: RunOutcome
    reason: EndReason
    cost: Cost | None
    operators: tuple[Count, ...]
    last_decision: int = NO_DECISION


class Finding(Record):
    """The policy is not optimal in `state`: it takes `run`, and h*(state) <= `bound`."""

    state: State
    kind: BugKind
    run: Run
    bound: Cost
    evidence: Evidence  # proves the bound
    oracle: str

    @property
    def gap(self) -> Cost | None:
        """What the policy is proven to pay too much; None if it fails."""
        return None if self.run.cost is None else self.run.cost - self.bound
