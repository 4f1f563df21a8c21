"""What localization says about a policy run: a verdict and a loss per step, and the root cause.

Costs-to-go are intervals `low`..`high` around h*, equal where it is known. INFINITY as `high` says
that no plan is known, as `low` that there is none: the goal is out of reach.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

from engine.records.codec import Count, Record, Seconds
from engine.records.evidence import State
from engine.records.finding import INFINITY, Cost


class StepVerdict(StrEnum):
    """Whether a step of a run begins a cheapest plan from its state."""

    OPTIMAL = "optimal"
    NOT_OPTIMAL = "not-optimal"
    UNDECIDED = "undecided"


class CauseKind(StrEnum):
    """What is wrong with the step that is the root cause."""

    DETOUR = "detour"  # it costs more than necessary
    DEAD_END = "dead-end"  # the goal could be reached before it, and cannot after it
    LOOP = "loop"  # it belongs to a loop from which the goal could be reached
    NO_ACTION = "no-action"  # the policy gives up where the goal could be reached
    FAULT = "fault"  # the policy's answer there cannot be executed, or is an error


class LocalizedStep(Record):
    """One step of a run: `operator` in the state number `index`.

    `after_low`..`after_high` is what the goal costs when this operator is applied and everything
    after it is optimal; the operator is optimal if that is h* of the state. Where the goal is out
    of reach nothing is better than what the policy does: such a step is optimal, and `lost`.
    `loss_low`..`loss_high` is how much more the goal costs because of this step: 0 if it is
    optimal, INFINITY if it loses the goal.
    """

    index: Count
    operator: Count
    verdict: StepVerdict
    policy_cost_to_go: Cost | None  # None: the policy does not reach the goal, or it is not known
    optimal_low: Cost
    optimal_high: Cost
    after_low: Cost
    after_high: Cost
    loss_low: Cost
    loss_high: Cost
    better_operator: Count | None = None  # of a step that is not optimal, if one is known
    better_plan: tuple[Count, ...] | None = None  # costs `optimal_high`, less than `after_low`

    @property
    def optimal_cost_to_go(self) -> int | None:
        """h*, if it is known and finite."""
        known = self.optimal_low == self.optimal_high < INFINITY
        return self.optimal_low if known else None

    @property
    def lost(self) -> bool:
        """Whether the goal cannot be reached anymore, whatever is done."""
        return self.optimal_low == INFINITY

    @property
    def loses_goal(self) -> bool:
        """Whether the goal could be reached before this step, and cannot after it."""
        return self.loss_low == INFINITY


class Cause(Record):
    """The root cause: on a run with several bad steps the last one.

    All runs that go through it are the same from there on, so they agree on it. For a loop it is
    a step of the loop. `operator` is None where the policy has no answer that can be executed.
    """

    kind: CauseKind
    index: Count
    state: State
    operator: Count | None
    action: str = ""  # the operator's name: "pick b1 rooma left"


class Failure(Record):
    """Where a run that does not reach the goal could still have reached it.

    If one state comes right after the other, the step between them is what loses the goal.
    """

    last_solvable: Count | None  # number of the last state from which a plan is known
    first_unsolvable: Count | None  # number of the first state proven to be a dead end
    plan: tuple[Count, ...] | None  # from the last solvable state
    loop_begin: Count | None  # number of the state to which the last step returns


class Localization(Record):
    """The verdicts on all steps; the step that closes a loop is one of them.

    `worst_step` is the one with the largest loss; where the policy stops although it could
    continue, it is the number of steps. `better_plan` costs `optimal_high` of the first state.
    """

    steps: tuple[LocalizedStep, ...]
    cause: Cause | None  # None: no step is proven to be bad
    failure: Failure | None  # None: the run reaches the goal
    searches: Count
    naive_searches: Count  # what one search per state would take
    expanded: Count
    seconds: Seconds
    limited: bool = False  # a limit was reached, or it was stopped: more could be decided
    worst_step: Count | None = None  # None: no step is proven to lose anything
    worst_action: str = ""  # the name of its operator, if it has one
    better_plan: tuple[Count, ...] | None = None  # from the first state, if it beats the run

    @property
    def worst_loss(self) -> tuple[int, int]:
        """What the worst step costs more than necessary, at least and at most."""
        if self.worst_step is None or self.worst_step >= len(self.steps):
            return 0, 0
        worst = self.steps[self.worst_step]
        return worst.loss_low, worst.loss_high

    @property
    def bad_steps(self) -> tuple[int, ...]:
        return self._with(StepVerdict.NOT_OPTIMAL)

    @property
    def undecided_steps(self) -> tuple[int, ...]:
        return self._with(StepVerdict.UNDECIDED)

    def _with(self, verdict: StepVerdict) -> tuple[int, ...]:
        return tuple(step.index for step in self.steps if step.verdict is verdict)


class RootCause(Record):
    """A bad step of one policy on one problem, and the bugs that go back to it."""

    id: Count
    kind: CauseKind
    problem: str
    policy: str
    state: State  # where it is taken
    operator: Count | None  # None: the policy has no answer there that can be executed
    action: str  # the operator's name
    bugs: tuple[Count, ...]  # the nearest to the bad step first

    @property
    def smallest_bug(self) -> int:
        """The bug whose run comes to the bad step soonest."""
        return self.bugs[0]

    @property
    def schema(self) -> str:
        """The action without its objects."""
        return self.action.partition(" ")[0]


class SchemaCauses(Record):
    """All root causes that are instances of one action schema."""

    schema: str
    causes: tuple[RootCause, ...]

    @property
    def bugs(self) -> int:
        return sum(len(cause.bugs) for cause in self.causes)


def by_schema(causes: Iterable[RootCause]) -> list[SchemaCauses]:
    """Root causes by their action schema, those with the most bugs first."""
    groups: defaultdict[str, list[RootCause]] = defaultdict(list)
    for cause in causes:
        groups[cause.schema].append(cause)
    found = [
        SchemaCauses(schema, tuple(sorted(group, key=lambda cause: (-len(cause.bugs), cause.id))))
        for schema, group in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.bugs, group.schema))
