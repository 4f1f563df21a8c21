"""Finds a plan with our own searches or with LAMA, and gives both the same form of answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import CancelledError, UsageError
from engine.records.finding import INFINITY
from engine.search.forward import Outcome, SearchLimits, search
from engine.search.planners import FoundPlan, Planner, PlannerOutcome, run_planner
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import Link

LAMA = "lama"
DEFAULT_HEURISTICS = {"astar": "lmcut", "gbfs": "ff", "ehc": "ff", "uniform": "blind", LAMA: ""}
ALGORITHMS = tuple(DEFAULT_HEURISTICS)
OWN_HEURISTIC = frozenset(("uniform", LAMA))
"""Algorithms whose heuristic cannot be chosen."""


class PlanOutcome(StrEnum):
    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    NO_CHEAPER_PLAN = "no-cheaper-plan"  # the bound excludes all plans
    LIMIT = "limit"  # no answer


class NoAnswer(StrEnum):
    """Why a search ended without an answer."""

    GAVE_UP = "gave-up"
    TIME_LIMIT = "time-limit"
    MEMORY_LIMIT = "memory-limit"
    TIME_OR_MEMORY_LIMIT = "time-or-memory-limit"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    algorithm: str = "astar"
    heuristic: str = ""  # empty: the usual one of the algorithm
    bound: int | None = None  # find only plans that cost less
    seconds: float | None = None
    megabytes: int | None = None

    def __post_init__(self) -> None:
        usual = DEFAULT_HEURISTICS[self.algorithm]
        if self.algorithm in OWN_HEURISTIC and self.heuristic not in ("", usual):
            raise UsageError(f"{self.algorithm} has its own heuristic", hint="omit --heuristic")

    @property
    def chosen_heuristic(self) -> str:
        return self.heuristic or DEFAULT_HEURISTICS[self.algorithm]


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    outcome: PlanOutcome
    reason: NoAnswer | None = None
    plan: tuple[int, ...] | None = None
    cost: int | None = None
    expanded: int = 0
    evaluated: int = 0
    generated: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    lower_bound: int | None = None  # of the cost of every plan, where one was proved
    cpu_seconds: float | None = None  # of the processor, to compare on a busy machine
    interrupted: bool = False  # by the user; the plan is the best one so far


def find_plan(link: Link, task: Task, options: PlanOptions) -> PlanAnswer:
    """Search for a plan. Stopped, the best plan of LAMA so far is the answer."""
    if options.algorithm == LAMA:
        return _run_lama(link, task, options)
    return _run_search(link, task, options)


def _run_search(link: Link, task: Task, options: PlanOptions) -> PlanAnswer:
    memory = None if options.megabytes is None else options.megabytes * 2**20
    began = time.process_time()
    result = search(
        task,
        "astar" if options.algorithm == "uniform" else options.algorithm,
        options.chosen_heuristic,
        bound=options.bound,
        limits=SearchLimits(options.seconds, memory),
        control=link.control,
    )
    link.check()
    return PlanAnswer(
        *_ENDS[result.outcome],
        result.plan,
        result.cost,
        result.expanded,
        result.evaluated,
        result.generated,
        result.seconds,
        result.peak_bytes,
        None if result.lower_bound in (0, INFINITY) else result.lower_bound,
        time.process_time() - began,
    )


_ENDS = {
    Outcome.SOLVED: (PlanOutcome.SOLVED, None),
    Outcome.UNSOLVABLE: (PlanOutcome.UNSOLVABLE, None),
    Outcome.NO_CHEAPER_PLAN: (PlanOutcome.NO_CHEAPER_PLAN, None),
    Outcome.FAILED: (PlanOutcome.LIMIT, NoAnswer.GAVE_UP),
    Outcome.TIME_LIMIT: (PlanOutcome.LIMIT, NoAnswer.TIME_LIMIT),
    Outcome.MEMORY_LIMIT: (PlanOutcome.LIMIT, NoAnswer.MEMORY_LIMIT),
}


def _run_lama(link: Link, task: Task, options: PlanOptions) -> PlanAnswer:
    plans = 0

    def on_plan(plan: FoundPlan) -> None:
        nonlocal plans
        plans += 1
        link.progress(plans, None, f"best plan costs {plan.cost:,}")

    result = run_planner(
        Planner.LAMA,
        task,
        bound=options.bound,
        limits=Limits(options.seconds, options.megabytes),
        cancelled=link.cancelled,
        on_plan=on_plan,
    )
    best, interrupted = result.plan, result.outcome is PlannerOutcome.CANCELLED
    if interrupted and best is None:
        raise CancelledError
    return PlanAnswer(
        *_PLANNER_ENDS[result.outcome],
        None if best is None else best.operators,
        None if best is None else best.cost,
        result.expanded,
        result.evaluated,
        result.generated,
        result.seconds if interrupted else result.search_seconds,
        result.peak_bytes,
        interrupted=interrupted,
    )


_PLANNER_ENDS = {
    PlannerOutcome.SOLVED: (PlanOutcome.SOLVED, None),
    PlannerOutcome.CANCELLED: (PlanOutcome.SOLVED, None),  # by the best plan so far
    PlannerOutcome.UNSOLVABLE: (PlanOutcome.UNSOLVABLE, None),
    PlannerOutcome.NO_PLAN_BELOW_BOUND: (PlanOutcome.NO_CHEAPER_PLAN, None),
    PlannerOutcome.GAVE_UP: (PlanOutcome.LIMIT, NoAnswer.GAVE_UP),
    PlannerOutcome.LIMIT: (PlanOutcome.LIMIT, NoAnswer.TIME_OR_MEMORY_LIMIT),
}
