"""External planners: A* with LM-cut, anytime LAMA and EHC of Fast Downward.

The planner is under the GPL and stays a program of its own: it gets the task as a file, with any
state as the initial one, and its plan files are read while it runs. No plan is trusted before it
has been replayed on the task, and only a complete configuration may say that there is none.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from engine.errors import Location, PlanError, PlannerError
from engine.files import scratch_errors, scratch_folder
from engine.pddl.unsupported import MAX_COST
from engine.task.plans import parse_plan
from engine.task.sas import write_sas
from engine.task.successors import is_goal
from engine.task.task import Task
from engine.task.translate import NO_LIMITS, Limits
from engine.task.validate import validate_operators
from engine.workers.link import NULL_LINK
from engine.workers.program import Ending, ProcessResult, run_process, signal_name

PACKAGE = "up_fast_downward"
_BINARY = Path("downward", "builds", "release", "bin", "downward")
_REINSTALL = "pip install --force-reinstall up-fast-downward"

_log = logging.getLogger(__name__)


class Planner(Enum):
    ASTAR_LMCUT = "astar-lmcut"  # one optimal plan
    LAMA = "lama"  # better and better plans
    EHC_FF = "ehc-ff"  # one plan, or nothing

    @property
    def complete(self) -> bool:
        """Whether it finds a plan, given time and memory, whenever there is one."""
        return self is not Planner.EHC_FF

    @property
    def complete_below_bounds(self) -> bool:
        """Whether it finds a plan below a bound whenever there is one.

        LAMA's greedy searches do not reopen: a state first reached by an expensive path keeps it.
        """
        return self is Planner.ASTAR_LMCUT


class PlannerOutcome(Enum):
    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    NO_PLAN_BELOW_BOUND = "no-plan-below-bound"
    GAVE_UP = "gave-up"  # an incomplete planner found nothing, which says nothing
    LIMIT = "limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """A plan that was replayed: it is valid from the state that was asked about."""

    operators: tuple[int, ...]
    cost: int
    seconds: float  # since the start of the planner


@dataclass(frozen=True, slots=True)
class PlannerResult:
    """The result of a run; each plan is cheaper than the one before.

    SOLVED without `finished`: a limit ended an anytime planner that had found plans.
    """

    outcome: PlannerOutcome
    plans: tuple[FoundPlan, ...] = ()
    finished: bool = True
    seconds: float = 0.0
    expanded: int = 0
    evaluated: int = 0
    generated: int = 0
    search_seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def plan(self) -> FoundPlan | None:
        """The cheapest plan."""
        return self.plans[-1] if self.plans else None


def planner_path() -> Path:
    """The planner's program; its package is found but never imported."""
    spec = importlib.util.find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    if not folders:
        raise PlannerError("Fast Downward is not installed", hint="pip install up-fast-downward")
    path = Path(folders[0]) / _BINARY
    if not os.access(path, os.X_OK):
        raise PlannerError("not a program", Location.of(path), _REINSTALL)
    return path


def run_planner(
    planner: Planner,
    task: Task,
    state: Sequence[int] | None = None,
    *,
    bound: int | None = None,
    limits: Limits = NO_LIMITS,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    on_plan: Callable[[FoundPlan], None] | None = None,
    program: Path | None = None,
) -> PlannerResult:
    """Plan from `state` (default: the initial state) for plans that cost less than `bound`.

    `on_plan` receives each plan while the planner runs. `cancelled` is called about every 50 ms.
    """
    start = task.init if state is None else task.extend([int(value) for value in state])
    if is_goal(task, start):
        return _at_the_goal(bound, on_plan)
    program = program or planner_path()
    with scratch_errors(), scratch_folder("planner") as folder:
        (folder / "task.sas").write_text(write_sas(_with_plain_names(task, start)))
        plans = _PlanFiles(folder, task, start, bound, on_plan)
        statistics = _Statistics()

        def stop() -> bool:
            plans.collect()
            return cancelled()

        result = run_process(
            [
                *(str(program), "--internal-plan-file", plans.file_name),
                *("--search", _search_option(planner, task, bound)),
            ],
            folder=folder,
            input_file=folder / "task.sas",
            time_limit=limits.seconds,
            memory_limit=limits.megabytes * 2**20 if limits.megabytes else None,
            cancelled=stop,
            on_line=statistics.read,
        )
        plans.collect()
    _log.debug("planner ended with %d after %.2f s", result.return_code, result.seconds)
    finished, outcome = _outcome(planner, result, limits, bool(plans.found))
    if outcome in _NO_PLAN and not _sums_fit(task, statistics.counts["Evaluated"]):
        outcome = PlannerOutcome.GAVE_UP
    return PlannerResult(
        outcome,
        tuple(plans.found),
        finished,
        result.seconds,
        statistics.counts["Expanded"],
        statistics.counts["Evaluated"],
        statistics.counts["Generated"],
        statistics.search_seconds,
        statistics.peak_bytes,
    )


def _sums_fit(task: Task, states: int) -> bool:
    """Whether nothing that the planner has added up can exceed its numbers of 32 bits.

    A path is no longer than the states it has evaluated, and a heuristic adds up one cost for
    each operator or fact. It may count a step as its cost + 1.
    """
    most = max((operator.cost for operator in task.operators), default=0) + 1
    facts = sum(task.domain_sizes)
    return most * (states + len(task.operators) + facts + 1) < MAX_COST


def _at_the_goal(bound: int | None, on_plan: Callable[[FoundPlan], None] | None) -> PlannerResult:
    """Return the result for a goal state, which the planner would refuse."""
    if bound is not None and bound <= 0:
        return PlannerResult(PlannerOutcome.NO_PLAN_BELOW_BOUND)
    plan = FoundPlan((), 0, 0.0)
    if on_plan is not None:
        on_plan(plan)
    return PlannerResult(PlannerOutcome.SOLVED, (plan,))


def _with_plain_names(task: Task, start: tuple[int, ...]) -> Task:
    """Number the operators, because several may have the same name; it refuses any without effect.

    Landmarks look for a predicate in every fact's name and fail where there is none.
    """
    operators = tuple(
        replace(operator, name=f"o{number}")
        for number, operator in enumerate(task.operators)
        if operator.effect or operator.conditional
    )
    variables = tuple(
        replace(
            variable,
            values=tuple(
                value if _ATOM.match(value) else _NONE_OF_THOSE for value in variable.values
            ),
        )
        for variable in task.variables
    )
    return replace(task, variables=variables, operators=operators, init=start)


_ATOM = re.compile(r"(Negated)?Atom [^(]*\(")
_NONE_OF_THOSE = "<none of those>"


# The searches, in the planner's own language.


def _search_option(planner: Planner, task: Task, bound: int | None) -> str:
    limit = f"bound={'infinity' if bound is None or bound >= MAX_COST else max(bound, 0)}"
    if planner is Planner.ASTAR_LMCUT:
        return f"astar(lmcut(),{limit})"
    if planner is Planner.EHC_FF:
        return f"ehc(ff(),{limit})"
    return _lama(all(operator.cost == 1 for operator in task.operators), limit)


def _lama(unit_costs: bool, limit: str) -> str:
    """Greedy search for a first plan, then weighted A* with falling weights for better ones.

    The heuristics are FF and landmarks, both with preferred operators. Where costs differ, the
    first plan is sought as if they did not, and later searches count each step as its cost + 1.
    """

    def guided(search: str, suffix: str, *options: str) -> str:
        pair = f"[ff{suffix},lm{suffix}]"
        return f"{search}({','.join((pair, f'preferred={pair}', *options))})"

    if unit_costs:
        definitions = _lama_heuristics("1", "normal")
        phases = [guided("lazy_greedy", "1")]
    else:
        definitions = _lama_heuristics("1", "one") + _lama_heuristics("2", "plusone")
        phases = [
            guided("lazy_greedy", "1", "cost_type=one", "reopen_closed=false"),
            guided("lazy_greedy", "2", "reopen_closed=false"),
        ]
    last = "1" if unit_costs else "2"
    phases += [guided("lazy_wastar", last, f"w={weight}") for weight in (5, 3, 2, 1)]
    search = f"iterated([{','.join(phases)}],repeat_last=true,{limit})"
    for name, heuristic in reversed(definitions):
        search = f"let({name},{heuristic},{search})"
    return search


def _lama_heuristics(suffix: str, costs: str) -> list[tuple[str, str]]:
    landmarks = "landmark_sum(lm_reasonable_orders_hps(lm_rhw()),pref=false)"
    return [
        (f"lm{suffix}", f"eval_modify_costs({landmarks},cost_type={costs})"),
        (f"ff{suffix}", f"eval_modify_costs(ff(),cost_type={costs})"),
    ]


# What it answers.

_NO_PLAN = (PlannerOutcome.UNSOLVABLE, PlannerOutcome.NO_PLAN_BELOW_BOUND)

_PLAN_FOUND = frozenset({0, 1, 2, 3})
_UNSOLVABLE = 11
_UNSOLVED_INCOMPLETE = 12
_UNSOLVABLE_WITHIN_BOUND = 13
_OUT_OF_RESOURCES = frozenset({22, 23, 24})
_NO_MEMORY_TO_START = ("Cannot allocate memory", "failed to map segment", "MemoryError")


def _outcome(
    planner: Planner, result: ProcessResult, limits: Limits, has_plans: bool
) -> tuple[bool, PlannerOutcome]:
    """Whether the planner came to its own end, and what that means."""
    if result.ending is Ending.CANCELLED:
        return False, PlannerOutcome.CANCELLED
    code = result.return_code
    starved = code in _OUT_OF_RESOURCES or _out_of_memory(result, limits)
    if result.ending in (Ending.TIME_LIMIT, Ending.MEMORY_LIMIT) or starved:
        return False, PlannerOutcome.SOLVED if has_plans else PlannerOutcome.LIMIT
    if has_plans and code in _PLAN_FOUND:
        return code == 0, PlannerOutcome.SOLVED
    proven = {
        _UNSOLVABLE: planner.complete,
        _UNSOLVABLE_WITHIN_BOUND: planner.complete_below_bounds,
    }
    if not (has_plans or proven.get(code, True)):
        return True, PlannerOutcome.GAVE_UP
    answers = {
        _UNSOLVABLE: PlannerOutcome.UNSOLVABLE,
        _UNSOLVABLE_WITHIN_BOUND: PlannerOutcome.NO_PLAN_BELOW_BOUND,
        _UNSOLVED_INCOMPLETE: PlannerOutcome.GAVE_UP,
    }
    if code in answers and not has_plans:
        return True, answers[code]
    if code < 0:
        raise PlannerError(f"the planner was terminated by {signal_name(code)}", hint=_REINSTALL)
    last = result.output[-1] if result.output else "no message"
    raise PlannerError(f"the planner failed with code {code}: {last}", hint=_REINSTALL)


def _out_of_memory(result: ProcessResult, limits: Limits) -> bool:
    """Killed by the system for its memory, or given too little even to start."""
    crashed_at_start = result.return_code < 0 and not result.output
    return (
        result.return_code == -9
        or (crashed_at_start and limits.megabytes is not None)
        or any(sign in line for line in result.output for sign in _NO_MEMORY_TO_START)
    )


class _PlanFiles:
    """The plan files of a run, each read once it is complete."""

    file_name = "plan"

    def __init__(
        self,
        folder: Path,
        task: Task,
        start: tuple[int, ...],
        bound: int | None,
        on_plan: Callable[[FoundPlan], None] | None,
    ) -> None:
        self.found: list[FoundPlan] = []
        self._folder, self._task, self._start, self._bound = folder, task, start, bound
        self._on_plan = on_plan
        self._started = time.monotonic()
        self._read: set[str] = set()

    def collect(self) -> None:
        """Take the plans that have appeared since the last time."""
        names = set(os.listdir(self._folder)) - self._read - {"task.sas"}
        for name in sorted(names, key=_number):
            text = (self._folder / name).read_text()
            if _COST_LINE.search(text):  # written last
                self._take(text)
                self._read.add(name)  # not before: after an interrupt there it is taken again

    def _take(self, text: str) -> None:
        operators = _operator_numbers(text)
        verdict = validate_operators(self._task, operators, self._start)
        if verdict.cost is None:
            step = f"step {verdict.failed_step}: " if verdict.failed_step else ""
            raise _rejected(step + verdict.reason)
        cost = int(verdict.cost)
        best = self.found[-1].cost if self.found else self._bound
        if best is not None and cost >= best:
            return
        plan = FoundPlan(operators, cost, time.monotonic() - self._started)
        if self._on_plan is not None:
            self._on_plan(plan)
        self.found.append(plan)


_COST_LINE = re.compile(r"^; cost = -?[0-9]+ .*\n", re.MULTILINE)  # it may overflow
_OPERATOR = re.compile(r"o[0-9]{1,9}")


def _number(file_name: str) -> int:
    suffix = file_name.rpartition(".")[2]
    return int(suffix) if suffix.isdigit() else 0


def _operator_numbers(text: str) -> tuple[int, ...]:
    try:
        names = [step.action for step in parse_plan(text).steps]
    except PlanError as error:
        raise _rejected(str(error)) from error
    if wrong := [name for name in names if not _OPERATOR.fullmatch(name)]:
        raise _rejected(f"unknown operator {wrong[0]}")
    return tuple(int(name[1:]) for name in names)


def _rejected(reason: str) -> PlannerError:
    return PlannerError(f"the planner's plan is not valid: {reason}", hint=_REINSTALL)


class _Statistics:
    """Adds up what the planner prints about its work, search by search."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.peak_bytes = 0
        self._seconds = 0.0  # of the last line, for a planner that was stopped
        self._search_seconds: float | None = None

    @property
    def search_seconds(self) -> float:
        return self._seconds if self._search_seconds is None else self._search_seconds

    def read(self, line: str) -> None:
        prefix = _PREFIX.match(line)
        if prefix is None:
            return
        self._seconds = float(prefix[1])
        self.peak_bytes = max(self.peak_bytes, int(prefix[2]) * 1024)
        text = line[prefix.end() :]
        if text == "Cumulative statistics:":
            self.counts.clear()
        elif count := _COUNT.fullmatch(text):
            self.counts[count[1]] += int(count[2])
        elif seconds := _SEARCH_TIME.fullmatch(text):
            self._search_seconds = float(seconds[1])


_PREFIX = re.compile(r"\[t=([0-9.]+)s, ([0-9]+) KB\] ")
_COUNT = re.compile(r"(Expanded|Evaluated|Generated) ([0-9]+) state\(s\)\.")
_SEARCH_TIME = re.compile(r"Search time: ([0-9.]+)s")
