"""Facts, pictures, curves and sentences about a bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from msgspec.structs import replace
from PySide6.QtTest import QAbstractItemModelTester

from app.models.cost_curves import cost_curves
from app.models.fact_list import FactList, Heading
from app.models.plan_table import PlanComparison
from app.views.bugs.evidence_view import chain_states
from engine.localize.localizer import Localizer
from engine.records.finding import INFINITY
from engine.records.localization import LocalizedStep, StepVerdict
from engine.report.bug_text import explain
from engine.report.localization_text import verdict_text, why_bad
from engine.report.state_facts import Change, FactLine, GoalLine, Grouping, state_facts
from engine.report.trace import evidence_trace, policy_trace
from engine.task.atoms import format_atom, state_atoms
from engine.task.states import StateTable
from engine.task.task import Task
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]
TESTER = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture
def bug(bug_with: Find) -> Bug:
    return bug_with("goal")


@pytest.fixture
def task(store: Workspace, bug: Bug) -> Task:
    return store.task(bug.problem_id)


@pytest.fixture
def facts_list() -> Iterator[FactList]:
    model = FactList()
    tester = QAbstractItemModelTester(model, TESTER)
    yield model
    tester.deleteLater()


def test_facts_and_what_a_step_changes(bug: Bug, task: Task) -> None:
    trace = policy_trace(task, bug.finding.state, bug.finding.run)
    for step in trace.steps:
        before, after = trace.states[step.index], trace.state_after(step.index)
        facts = state_facts(task, before, after)
        old, new = state_atoms(task, before), state_atoms(task, after)
        assert set(facts.changed(Change.ADDED)) == new - old
        assert set(facts.changed(Change.REMOVED)) == old - new
        assert set(facts.changed(Change.NONE)) | facts.static == old & new
    end = state_facts(task, trace.states[-1], None)
    assert end.reached == len(end.goals) == len(task.goal)


@pytest.mark.parametrize("grouping", Grouping)
def test_groups_hold_every_fact(bug: Bug, task: Task, grouping: Grouping) -> None:
    facts = state_facts(task, bug.finding.state, None)
    texts = {line.text for group in facts.groups(grouping, static=True) for line in group.lines}
    assert texts == {format_atom(atom) for atom in state_atoms(task, bug.finding.state)}
    some = facts.groups(grouping, "load0 lies", static=True)
    assert {line.text for group in some for line in group.lines} == {
        text for text in texts if "load0" in text and "lies" in text
    }


def test_the_list_of_facts(facts_list: FactList, bug: Bug, task: Task) -> None:
    trace = policy_trace(task, bug.finding.state, bug.finding.run)
    facts_list.show_facts(state_facts(task, trace.states[0], trace.states[1]))
    headings = [line.text for line in facts_list.lines if isinstance(line, Heading)]
    assert headings[:2] == ["Goals", "Changed by the step"]
    goals = [line for line in facts_list.lines if isinstance(line, GoalLine)]
    assert len(goals) == len(task.goal)
    count = facts_list.rowCount()
    facts_list.set_static(True)
    assert facts_list.rowCount() > count
    facts_list.set_grouping(Grouping.OBJECT)
    headings = [line.text for line in facts_list.lines if isinstance(line, Heading)]
    assert "load0" in headings
    facts_list.set_words("load0")
    assert all("load0" in line.text for line in facts_list.lines if isinstance(line, FactLine))
    facts_list.show_facts(None)
    assert facts_list.rowCount() == 0


def localized(store: Workspace, bug: Bug) -> PlanComparison:
    task = store.task(bug.problem_id)
    found = Localizer(StateTable(task)).localize_finding(bug.finding)
    return PlanComparison.of(
        policy_trace(task, bug.finding.state, bug.finding.run),
        evidence_trace(task, bug.finding.evidence),
        found,
        task,
    )


def test_curves_meet_at_the_goal_and_part_at_bad_steps(store: Workspace, bug: Bug) -> None:
    comparison = localized(store, bug)
    curves = cost_curves(comparison)
    assert curves.policy[0] == (0, bug.row.policy_cost)
    assert curves.optimum[0] == (0, bug.row.bound)
    assert curves.policy[-1] == curves.optimum[-1] == (len(comparison.policy.steps), 0)
    excess = [
        ours - best for (_, ours), (_, best) in zip(curves.policy, curves.optimum, strict=True)
    ]
    assert comparison.localization is not None
    falls = [n for n, (a, b) in enumerate(pairwise(excess)) if b < a]
    assert tuple(falls) == comparison.localization.bad_steps
    unknown = cost_curves(PlanComparison.of(comparison.policy, comparison.better))
    assert unknown.better[0] == (0, bug.row.bound)


def test_the_goal_is_lost_at_a_dead_end(store: Workspace, bug_with: Find) -> None:
    comparison = localized(store, bug_with("no-action"))
    curves = cost_curves(comparison)
    assert curves.policy == ()
    assert comparison.worst_step is not None
    step = comparison.verdict(comparison.worst_step)
    assert step is not None
    assert verdict_text(step).startswith("loses the goal, cost-to-go should be ")
    if comparison.worst_step + 1 < len(comparison.policy.steps):
        assert curves.lost_from == comparison.worst_step + 1


def test_words_for_verdicts() -> None:
    step = LocalizedStep(3, 0, StepVerdict.NOT_OPTIMAL, 11, 7, 7, 9, 9, 2, 2)
    assert verdict_text(step) == "cost-to-go 9, should be 7"
    unsure = replace(step, optimal_low=5, after_high=INFINITY)
    assert verdict_text(unsure) == "cost-to-go at least 9, should be at most 7"
    lost = replace(step, loss_low=INFINITY, loss_high=INFINITY)
    assert verdict_text(lost) == "loses the goal, cost-to-go should be 7"
    fine = replace(step, verdict=StepVerdict.OPTIMAL, after_low=7, after_high=7)
    assert verdict_text(fine) == "optimal: cost-to-go 7"
    too_late = replace(fine, optimal_low=INFINITY, optimal_high=INFINITY)
    assert verdict_text(too_late) == "the goal is already unreachable"
    assert "undecided" in verdict_text(replace(step, verdict=StepVerdict.UNDECIDED))


def test_why_a_step_is_bad_in_words(store: Workspace, bug: Bug, task: Task) -> None:
    comparison = localized(store, bug)
    assert comparison.localization is not None
    index = comparison.localization.bad_steps[0]
    step = comparison.verdict(index)
    assert step is not None
    first, better, facts = why_bad(step, comparison.policy.states[index], task)
    assert f"costs {step.loss_low} more than necessary" in first
    bounded = replace(step, loss_high=step.loss_high + 1)
    first = why_bad(bounded, comparison.policy.states[index], task)[0]
    assert f"costs at least {step.loss_low} more than necessary" in first
    assert step.better_operator is not None
    assert f"({task.operators[step.better_operator].name})" in better
    assert "the better action makes" in facts


def test_states_that_a_proof_names_can_be_looked_at(store: Workspace, bug_with: Find) -> None:
    bug = bug_with("loop", "dominance")
    task = store.task(bug.problem_id)
    states = chain_states(bug, task)
    text = " ".join(explain(bug, task))
    assert states["here"][1] == bug.finding.state
    named = [name for name in states if name.startswith("state-")]
    assert named
    assert all(name.replace("-", " ") in text for name in named)
    morph = next(step for step in bug.finding.evidence.steps if hasattr(step, "gain"))
    assert states["state-1"][2] == morph.state
