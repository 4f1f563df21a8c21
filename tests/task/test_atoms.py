from __future__ import annotations

import random

import pytest

from engine.pddl.model import Atom, Term
from engine.task.atoms import (
    fluent_atoms,
    format_atom,
    format_fact,
    ground_atom,
    model_atom,
    state_atoms,
)
from engine.task.load import load_task
from engine.task.sas import parse_sas, write_sas
from engine.task.successors import applicable_operators, successor
from engine.task.task import Task, atom_of_fact


@pytest.fixture
def task(courier) -> Task:
    return load_task(courier.domain, courier.problem)


@pytest.mark.parametrize(
    ("name", "atom"),
    [
        ("Atom at(b1, rooma)", ("at", "b1", "rooma")),
        ("Atom rested()", ("rested",)),
        ("NegatedAtom at(b1, rooma)", None),
        ("<none of those>", None),
        ("Atom broken", None),
    ],
)
def test_atom_of_fact(name: str, atom: tuple[str, ...] | None) -> None:
    assert atom_of_fact(name) == atom


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Atom at(b1, rooma)", "(at b1 rooma)"),
        ("NegatedAtom rested()", "(not (rested))"),
        ("<none of those>", "<none of those>"),
    ],
)
def test_facts_for_people(name: str, text: str) -> None:
    assert format_fact(name) == text


def test_atoms_to_the_model_and_back() -> None:
    atom = ("at", "b1", "rooma")
    assert model_atom(atom) == Atom("at", (Term("b1"), Term("rooma")))
    assert ground_atom(model_atom(atom)) == atom
    assert format_atom(atom) == "(at b1 rooma)"


def test_the_initial_state_is_the_whole_init(task: Task) -> None:
    assert task.source is not None
    assert state_atoms(task, task.init) == {ground_atom(a) for a in task.source.problem.init}
    assert ("path", "home", "office") in task.static_atoms
    assert ("rested",) not in state_atoms(task, task.init)


def test_on_walks_states_differ_exactly_where_their_atoms_do(task: Task) -> None:
    choose = random.Random(1)
    state = task.init
    by_atoms = {state_atoms(task, state): state}
    for _ in range(200):
        number = choose.choice(list(applicable_operators(task, state)))
        state = successor(task, task.operators[number], state)
        atoms = state_atoms(task, state)
        assert by_atoms.setdefault(atoms, state) == state
        assert atoms == task.static_atoms | set(fluent_atoms(task, state))
    assert len(by_atoms) > 10


def test_a_sas_task_knows_only_its_variables(task: Task) -> None:
    bare = parse_sas(write_sas(task))
    assert state_atoms(bare, bare.init) == set(fluent_atoms(task, task.init))
