"""A question about one action, and what becomes known of it.

An action a is optimal in s if h*(s) = c(a) + h*(s[a]). Everything the searches prove is kept as
bounds of these two numbers: h*(s), and `after`, what the goal costs if the action comes first.
See docs/theory/localization.md, "Action optimality".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from engine.records.finding import INFINITY
from engine.records.localization import StepVerdict
from engine.task.successors import State, successor
from engine.task.task import Operator, Task


class DecidedBy(Enum):
    """What the verdict rests on."""

    SELF_LOOP = "self-loop"  # the action changes nothing
    GOAL = "goal"  # AOCA*: the tag of the first goal
    OPEN_LIST = "open-list"  # AOCA*: all open nodes agree
    PLAN = "plan"  # an optimal plan starts with the action
    COSTS = "costs"  # both costs are known
    DEAD_END = "dead-end"  # no plan starts with the action
    BOUNDS = "bounds"  # a plan is cheaper than what a search still left possible, or the reverse
    LAMA = "lama"  # the same, by a plan of LAMA
    DOMINANCE_A = "dominance-a"
    DOMINANCE_B = "dominance-b"
    DOMINANCE_C = "dominance-c"
    DOMINANCE_D = "dominance-d"


class Reason(Enum):
    """Why there is no verdict."""

    UNSOLVABLE = "unsolvable"  # the state has no plan: nothing is better or worse there
    NO_CRITERION = "no-criterion"  # dominance says nothing about this action
    TIME_LIMIT = "time-limit"
    MEMORY_LIMIT = "memory-limit"
    EXPANSION_LIMIT = "expansion-limit"
    CANCELLED = "cancelled"


class UndecidedError(Exception):
    """Ends an algorithm without a verdict."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True)
class ActionQuestion:
    """`solvable`: the state is known to have a plan; `plan_cost` is that of one, if known."""

    task: Task
    state: State
    operator: int
    solvable: bool = False
    plan_cost: int | None = None

    @property
    def action(self) -> Operator:
        return self.task.operators[self.operator]

    @cached_property
    def successor(self) -> State:
        return successor(self.task, self.action, self.state)


@dataclass
class Knowledge:
    """Bounds of h*(s) and of c(a) + h*(s[a]); INFINITY as an upper one says that none is known.

    They become tighter only. An INFINITY below says that there is no plan.
    """

    solvable: bool
    optimal_low: int = 0
    optimal_high: int = INFINITY
    after_low: int = 0
    after_high: int = INFINITY

    @classmethod
    def of(cls, question: ActionQuestion) -> Knowledge:
        cost = INFINITY if question.plan_cost is None else question.plan_cost
        known = cls(question.solvable or cost < INFINITY, optimal_high=cost)
        known.add_after(question.action.cost)
        return known

    def add_optimal(self, low: int, high: int = INFINITY) -> None:
        """Of the state, and what follows: going through the action is no cheaper."""
        self.optimal_low = max(self.optimal_low, low)
        self.optimal_high = min(self.optimal_high, high)
        self.after_low = max(self.after_low, self.optimal_low)
        self.solvable = self.solvable or self.optimal_high < INFINITY

    def add_after(self, low: int, high: int = INFINITY) -> None:
        self.after_low = max(self.after_low, low)
        self.after_high = min(self.after_high, high)
        self.add_optimal(0, self.after_high)

    def add_verdict(self, verdict: StepVerdict) -> None:
        """Tighten the bounds by a verdict of any algorithm."""
        if verdict is StepVerdict.OPTIMAL:
            self.add_after(self.optimal_low, self.optimal_high)
            self.add_optimal(self.after_low)
        elif self.optimal_low < INFINITY:
            self.add_after(self.optimal_low + 1)

    @property
    def verdict(self) -> StepVerdict | None:
        """Return what the bounds decide; of a state without a plan nothing is claimed."""
        if not self.solvable:
            return None
        if self.after_low == INFINITY or self.optimal_high < self.after_low:
            return StepVerdict.NOT_OPTIMAL
        if self.after_high <= self.optimal_low:
            return StepVerdict.OPTIMAL
        return None

    @property
    def grounds(self) -> DecidedBy:
        """What decides, if the bounds do."""
        if self.after_low == INFINITY:
            return DecidedBy.DEAD_END
        is_exact = self.optimal_low == self.optimal_high and self.after_low == self.after_high
        return DecidedBy.COSTS if is_exact else DecidedBy.BOUNDS


@dataclass(frozen=True, slots=True)
class Decision:
    """What an algorithm answers; the optimal plan if it has one."""

    verdict: StepVerdict
    decided_by: DecidedBy
    plan: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ActionVerdict:
    """The answer to a question; UNDECIDED has a `reason`, any other verdict a `decided_by`.

    `optimal_low`..`optimal_high` are bounds of h*(s), `after_low`..`after_high` of what the goal
    costs behind the action; INFINITY above: no plan is known, below: there is none. `plan` is an
    optimal one from the state, if one was found.
    """

    verdict: StepVerdict
    decided_by: DecidedBy | None
    reason: Reason | None
    optimal_low: int
    optimal_high: int
    after_low: int
    after_high: int
    plan: tuple[int, ...] | None
    expanded: int
    evaluated: int
    seconds: float
    peak_bytes: int

    @property
    def optimal_cost(self) -> int | None:
        """h* of the state, if it is known and finite."""
        known = self.optimal_low == self.optimal_high < INFINITY
        return self.optimal_low if known else None

    @property
    def cost_after(self) -> int | None:
        """The cost of the action and of an optimal plan behind it, if known and finite."""
        known = self.after_low == self.after_high < INFINITY
        return self.after_low if known else None
