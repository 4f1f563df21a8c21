"""Claims about smallest witnesses: a problem made from a state shows the same mistake there.

Everything is checked again: the content of the problem, what the policy does in it (its run is
checked on its own), and the costs, by the verifier's searches. That no smaller one exists would
take all tries again, and is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from engine.pddl.model import TOTAL_COST, Atom, Condition, Equality, Problem, Term, conjuncts
from engine.pddl.traversal import subconditions
from engine.records.config import CampaignConfig
from engine.records.events import UnitStatistics
from engine.records.evidence import State
from engine.records.finding import INFINITY, EndReason, Finding, RunOutcome
from engine.records.localization import CauseKind, Localization, StepVerdict
from engine.records.pattern import Same, Witness
from engine.records.verification import HOLDS, Verdict, false, undecided
from engine.task.atoms import ground_atom, state_atoms
from engine.task.export import export_state
from engine.task.lifted import substitute
from engine.task.task import GroundAtom, Task
from engine.verify.cost_to_go import CostToGo
from engine.verify.semantics import successor
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import WitnessRow, WitnessUnit

FINDER = "minimize"
"""The finder that witnesses name."""


@dataclass(frozen=True)
class Origin:
    """What a witness was made from: a bug, what is known of its steps, and its task."""

    finding: Finding
    localization: Localization | None
    task: Task
    costs: CostToGo


@dataclass(frozen=True)
class Made:
    """A witness as a bug, and its task."""

    row: WitnessRow
    finding: Finding
    task: Task
    costs: CostToGo


@dataclass(frozen=True, slots=True)
class _Step:
    """The step of the origin that is the mistake."""

    state: State
    kind: CauseKind | None  # None: it has to follow from the witness
    action: str
    better: str  # an action that is known to be optimal there, or empty


def with_minimizer(config: CampaignConfig) -> CampaignConfig:
    """Return the settings of a campaign for its witnesses, which no oracle has found."""
    testing = replace(config.testing, oracles=(*config.testing.oracles, FINDER), objective="any")
    return replace(config, testing=testing)


def check_place(unit: WitnessUnit, row: WitnessRow, store: WorkspaceReader) -> Verdict:
    """Whether a witness and the bug it was made from belong together."""
    problem = next(_place_problems(unit, row, store), "")
    return false(problem) if problem else HOLDS


def _place_problems(unit: WitnessUnit, row: WitnessRow, store: WorkspaceReader) -> Iterator[str]:
    bug = store.bug(row.bug)
    inputs = {item.unit: item for item in store.unit_inputs(unit.campaign)}
    origin = inputs.get(bug.row.unit)
    if origin is None or (origin.problem, origin.policy, origin.seed) != (
        unit.origin,
        unit.policy,
        unit.seed,
    ):
        yield "it belongs to another bug than the one it was made from"
    if row.step is None and row.root_cause != bug.row.root_cause:
        yield "its root cause differs from that of the bug it was made from"
    if row.step is not None and row.root_cause is not None:
        yield "it was made from a step, but names a root cause"
    own = store.unit(unit.unit)
    if own.status != "finished" or own.statistics != UnitStatistics() or store.pool(unit.unit):
        yield "its unit has a result of its own"
    names = [Path(store.problem(number).name) for number in (unit.origin, unit.problem)]
    if not names[1].name.startswith(f"{names[0].stem}-witness-"):
        yield "its name is not that of a witness of its origin"


def check_witness(made: Made, origin: Origin) -> Verdict:
    """Whether a witness shows the mistake of its origin."""
    witness = made.row.attempt.witness
    if witness is None:
        return false("its witness record is missing")
    attempt = made.row.attempt
    if attempt.reason or attempt.minimal != (attempt.stopped_by is None):
        return false("its record contradicts itself about how it was made")
    if attempt.same is not made.row.same:
        return false("its row and its record disagree about what stays the same")
    step = _step(made.row, origin)
    if isinstance(step, str):
        return false(step)
    problem = next(_mismatches(made, witness, step, origin), "")
    return false(problem) if problem else _check_costs(made, witness, step, origin)


def _step(row: WitnessRow, origin: Origin) -> _Step | str:
    found, finding = origin.localization, origin.finding
    if found is None:
        return "the bug it was made from is not localized"
    if row.step is None and found.cause is None:
        return "the bug it was made from has no root cause"
    index = found.cause.index if row.step is None and found.cause else row.step
    better = ""
    known = next((step for step in found.steps if step.index == index), None)
    if known is not None and known.better_plan and known.optimal_low == known.optimal_high:
        better = origin.task.operators[known.better_plan[0]].name
    if row.step is None:
        assert found.cause is not None
        return _Step(found.cause.state, found.cause.kind, found.cause.action, better)
    if known is None or known.verdict is not StepVerdict.NOT_OPTIMAL:
        return f"step {index} of its origin is not proven to be bad"
    state = finding.state
    for operator in finding.run.operators[: row.step]:
        state = successor(origin.task, origin.task.operators[operator], state)
    return _Step(state, None, origin.task.operators[known.operator].name, better)


def _mismatches(made: Made, witness: Witness, step: _Step, origin: Origin) -> Iterator[str]:
    """Return what is wrong regardless of costs."""
    if step.kind is not None and witness.kind is not step.kind:
        yield f"its origin is a {step.kind}, not a {witness.kind}"
    schema, _, objects = witness.action.partition(" ")
    if schema != step.action.partition(" ")[0]:
        yield f"the action of its origin is ({step.action})"
    if made.row.same is not Same.SCHEMA and objects != step.action.partition(" ")[2]:
        yield f"the action of its origin is ({step.action})"
    yield from _content_problems(made.task, witness, step, origin)
    yield from _run_problems(made, witness, origin)


def _content_problems(task: Task, witness: Witness, step: _Step, origin: Origin) -> Iterator[str]:
    """Whether it has nothing that its origin does not have."""
    if task.source is None or origin.task.source is None:
        yield "it has no PDDL"
        return
    domain = task.source.domain
    if (domain, task.source.unit_costs) != (
        origin.task.source.domain,
        origin.task.source.unit_costs,
    ):
        yield "its domain or its metric differs from that of its origin"
    problem, before = task.source.problem, export_state(origin.task, step.state, "origin")
    mapping, constants = dict(witness.mapping), {item.name for item in domain.constants}
    yield from _object_problems(problem, before, mapping, constants)
    mapping |= {name: name for name in constants}
    facts = {ground_atom(atom) for atom in problem.init}
    made_of = state_atoms(origin.task, step.state)
    if facts - set(_renamed(made_of, mapping)):
        yield "it has a fact that its origin does not have"
    if facts != state_atoms(task, task.init):
        yield "its initial state does not match its problem"
    goals = [
        substitute(goal, mapping) for goal in conjuncts(before.goal) if _is_mapped(goal, mapping)
    ]
    if any(goal not in goals for goal in conjuncts(problem.goal)):
        yield "it has a goal that its origin does not have"
    yield from _value_problems(problem, before, mapping)
    sizes, was = witness.after, witness.before
    goal_count = len(set(conjuncts(problem.goal)))
    if (sizes.objects, sizes.facts, sizes.goals) != (len(problem.objects), len(facts), goal_count):
        yield "its sizes do not match its problem"
    goals_before = len(set(conjuncts(before.goal)))
    if (was.objects, was.facts, was.goals) != (len(before.objects), len(made_of), goals_before):
        yield "the stored sizes of its origin are wrong"


def _object_problems(
    problem: Problem, before: Problem, mapping: Mapping[str, str], constants: set[str]
) -> Iterator[str]:
    types = {item.name: item.types for item in before.objects}
    for item in problem.objects:
        if types.get(item.name) != item.types or mapping.get(item.name) != item.name:
            yield f"object '{item.name}' is not an object of its origin"
    here = {item.name for item in problem.objects}
    if not set(mapping.values()) <= here | constants or not mapping.keys() <= types.keys():
        yield "an object was merged into one that is missing"


def _renamed(atoms: frozenset[GroundAtom], mapping: Mapping[str, str]) -> Iterator[GroundAtom]:
    for predicate, *names in atoms:
        if all(name in mapping for name in names):
            yield (predicate, *(mapping[name] for name in names))


def _is_mapped(goal: Condition, mapping: Mapping[str, str]) -> bool:
    """Whether everything that a goal names is left."""
    return all(name in mapping for name in names_of(goal))


def names_of(goal: Condition) -> tuple[str, ...]:
    """The objects that a goal names, in textual order."""
    terms = (term for part in subconditions(goal) for term in _terms(part))
    return tuple(dict.fromkeys(term.name for term in terms if not term.is_variable))


def _terms(part: Condition) -> tuple[Term, ...]:
    match part:
        case Atom():
            return part.arguments
        case Equality():
            return part.left, part.right
    return ()


def _value_problems(problem: Problem, before: Problem, mapping: Mapping[str, str]) -> Iterator[str]:
    known: dict[GroundAtom, list[object]] = {}
    largest: dict[GroundAtom, float] = {}
    for item in before.values:
        names = [term.name for term in item.function.arguments]
        if all(name in mapping for name in names):
            term = (item.function.name, *(mapping[name] for name in names))
            known.setdefault(term, []).append(item.value)
            largest[term] = max(largest.get(term, 0), float(item.value))
    for item in problem.values:
        term = (item.function.name, *(name.name for name in item.function.arguments))
        same = item.value in known.get(term, [])
        if not same and not (term in largest and 1 <= item.value < largest[term]):
            yield f"{item.function} has a value that does not come from its origin"
        if item.function.name == TOTAL_COST and not same:
            yield "its initial costs differ from those of its origin"


def _run_problems(made: Made, witness: Witness, origin: Origin) -> Iterator[str]:
    """S1 and S3: the run begins with the action and goes wrong in the same way."""
    finding, run = made.finding, made.finding.run
    if finding.state != made.task.init:
        yield "its run does not begin in its initial state"
        return
    closes = run.reason is EndReason.LOOP and run.last_decision >= 0
    operators = (*run.operators, run.last_decision) if closes else run.operators
    if witness.after.run != len(operators):
        yield f"its run has {len(operators)} steps, not {witness.after.run}"
    if witness.action:
        if not operators or made.task.operators[operators[0]].name != witness.action:
            yield f"the policy does not begin with ({witness.action})"
    elif operators or run.reason is not origin.finding.run.reason:
        yield "the policy's run does not end in the initial state as that of its origin does"
    solved = run.outcome is RunOutcome.SOLVED
    if solved != (witness.kind is CauseKind.DETOUR):
        yield f"its run is {run.outcome}, which is not a {witness.kind}"
    if witness.kind is CauseKind.LOOP and run.reason is not EndReason.LOOP:
        yield "its run does not end in a loop"


def _check_costs(made: Made, witness: Witness, step: _Step, origin: Origin) -> Verdict:
    """S2, S4 and S5, and which actions are optimal."""
    optimal = _exact(made.costs, made.task.init)
    after = _after(made, witness.action) if witness.action else INFINITY
    if optimal is None or after is None:
        return undecided(made.costs.too_many)
    problem = next(_cost_problems(made, witness, optimal, after), "")
    return false(problem) if problem else _check_better(made, witness, step, origin, optimal)


def _cost_problems(made: Made, witness: Witness, optimal: int, after: int) -> Iterator[str]:
    if optimal == INFINITY:
        yield "it has no plan"
    if optimal != made.finding.bound:
        yield f"the goal costs {optimal}, not {made.finding.bound}"
    loss = None if after == INFINITY else after - optimal
    if loss != witness.loss_after:
        yield f"its action costs {loss} too much, not {witness.loss_after}"
    if loss == 0 and (witness.kind is not CauseKind.LOOP or witness.loss_before != 0):
        yield "its action is optimal"
    if witness.action and (loss is None) != (witness.kind is CauseKind.DEAD_END):
        yield f"its action costs {loss} too much, which is not a {witness.kind}"
    is_root = made.row.step is None
    if is_root and witness.kind is CauseKind.DETOUR and made.finding.run.cost != after:
        yield "a later step of its run is also bad"
    if made.row.same is Same.LOSS and witness.loss_before != witness.loss_after:
        yield "its loss differs from that of its origin"


def _check_better(
    made: Made, witness: Witness, step: _Step, origin: Origin, optimal: int
) -> Verdict:
    found = set()
    for name in made.task.operators_of_action:
        after = _after(made, name)
        if after is None:
            return undecided(made.costs.too_many)
        if after == optimal:
            found.add(name)
    if found != set(witness.better_actions):
        return false("its stored optimal actions are wrong")
    if made.row.same is Same.SCHEMA:
        return HOLDS
    mapping = dict(witness.mapping)
    wanted = {name for name in origin.task.operators_of_action if _mapped(name, mapping) in found}
    return HOLDS if step.better in wanted else _check_origin(step, wanted, origin)


def _check_origin(step: _Step, wanted: set[str], origin: Origin) -> Verdict:
    """Whether one of some actions is optimal in the origin."""
    best = _exact(origin.costs, step.state)
    if best is None:
        return undecided(
            f"the optimal actions of its origin are not known: {origin.costs.too_many}"
        )
    open_ones = False
    for name in sorted(wanted):
        for number in origin.task.operators_of_action[name]:
            operator = origin.task.operators[number]
            if any(step.state[v] != x for v, x in operator.precondition):
                continue
            rest = _exact(origin.costs, successor(origin.task, operator, step.state))
            open_ones |= rest is None
            if rest is not None and rest < INFINITY and rest + operator.cost == best:
                return HOLDS
    if open_ones:
        return undecided(
            f"the optimal actions of its origin are not known: {origin.costs.too_many}"
        )
    return false("no optimal action of its origin is optimal in it")


def _mapped(action: str, mapping: Mapping[str, str]) -> str:
    schema, *names = action.split(" ")
    return " ".join([schema, *(mapping.get(name, name) for name in names)])


def _after(made: Made, action: str) -> int | None:
    """What the goal costs after an action; INFINITY if it is not applicable or loses the goal."""
    costs = []
    for number in made.task.operators_of_action.get(action, ()):
        operator = made.task.operators[number]
        if all(made.task.init[v] == x for v, x in operator.precondition):
            rest = _exact(made.costs, successor(made.task, operator, made.task.init))
            if rest is None:
                return None
            costs.append(rest if rest == INFINITY else rest + operator.cost)
    return min(costs, default=INFINITY)


def _exact(costs: CostToGo, state: State) -> int | None:
    low, high = costs.low(state), costs.high(state)
    return low if low == high else None
