from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import UnsupportedError
from engine.pddl import format_domain, parse_problem
from engine.task.atoms import state_atoms
from engine.task.export import export_domain, export_state, export_state_text
from engine.task.load import load_task
from engine.task.sas import parse_sas, write_sas
from engine.task.successors import State, applicable_operators, is_goal, successor
from engine.task.task import GroundAtom, Task


def walk(task: Task, seed: int, steps: int) -> State:
    choose = random.Random(seed)
    state = task.init
    for _ in range(steps):
        operator = choose.choice(list(applicable_operators(task, state)))
        state = successor(task, task.operators[operator], state)
    return state


def steps_from(task: Task, state: State) -> dict[str, frozenset[GroundAtom]]:
    """Where the ground actions lead that change the state."""
    here = state_atoms(task, state)
    after = {
        operator.name: state_atoms(task, successor(task, operator, state))
        for operator in map(task.operators.__getitem__, applicable_operators(task, state))
    }
    return {name: atoms for name, atoms in after.items() if atoms != here}


def translate_back(task: Task, state: State, folder: Path) -> Task:
    (folder / "d.pddl").write_text(format_domain(export_domain(task)))
    (folder / "p.pddl").write_text(export_state_text(task, state, "taken home"))
    return load_task(folder / "d.pddl", folder / "p.pddl")


@pytest.mark.parametrize("name", ["courier", "toll"])
@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10**6), length=st.integers(0, 40))
def test_translating_back_gives_the_state(
    request: pytest.FixtureRequest, name: str, tmp_path: Path, seed: int, length: int
) -> None:
    example = request.getfixturevalue(name)
    task = load_task(example.domain, example.problem)
    state = walk(task, seed, length)
    again = translate_back(task, state, tmp_path)
    assert state_atoms(again, again.init) == state_atoms(task, state)
    assert is_goal(again, again.init) == is_goal(task, state)
    if again.operators:
        assert steps_from(again, again.init) == steps_from(task, state)
        assert again.has_costs == task.has_costs


def test_what_does_not_change_stays_as_it_was(toll) -> None:
    task = load_task(toll.domain, toll.problem)
    assert task.source is not None
    old = task.source.problem
    new = export_state(task, walk(task, 3, 5), "P 1")
    assert (new.objects, new.goal, new.metric, new.values) == (
        old.objects,
        old.goal,
        old.metric,
        old.values,
    )
    assert new.name == "p-1"
    assert set(old.init) - set(new.init) == {old.init[0]}  # (in a)
    assert export_state(task, task.init, old.name) == old


def test_the_text_reads_back_as_the_problem(toll) -> None:
    task = load_task(toll.domain, toll.problem)
    state = walk(task, 4, 7)
    text = export_state_text(task, state, "x")
    assert parse_problem(text, export_domain(task)) == export_state(task, state, "x")


def test_with_unit_costs_there_are_no_costs_in_it(toll, tmp_path: Path) -> None:
    task = load_task(toll.domain, toll.problem, unit_costs=True)
    state = walk(task, 5, 4)
    problem = export_state(task, state, "x")
    assert problem.metric is None
    assert problem.values == ()
    again = translate_back(task, state, tmp_path)
    assert state_atoms(again, again.init) == state_atoms(task, state)
    assert not again.has_costs


@pytest.mark.parametrize(
    ("name", "valid"), [("Bug 7!", "bug-7"), ("7", "problem-7"), ("", "problem"), ("a_b", "a_b")]
)
def test_names_become_pddl_names(toll, name: str, valid: str) -> None:
    task = load_task(toll.domain, toll.problem)
    assert export_state(task, task.init, name).name == valid


def test_a_sas_task_has_no_export(toll) -> None:
    task = parse_sas(write_sas(load_task(toll.domain, toll.problem)))
    with pytest.raises(UnsupportedError, match="SAS file"):
        export_state(task, task.init, "x")
