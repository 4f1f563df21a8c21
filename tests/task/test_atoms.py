from __future__ import annotations

import random

import pytest

from engine.errors import UnsupportedError
from engine.pddl.model import Atom, Term
from engine.task.atoms import (
    fluent_atoms,
    format_atom,
    format_fact,
    ground_atom,
    model_atom,
    state_atoms,
    state_from_atoms,
)
from engine.task.load import load_task
from engine.task.sas import parse_sas, write_sas
from engine.task.successors import applicable_operators, successor
from engine.task.task import Task, Variable, atom_of_fact


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


def test_values_to_atoms_and_back_on_walks(task: Task) -> None:
    choose = random.Random(1)
    state = task.init
    for _ in range(200):
        number = choose.choice(list(applicable_operators(task, state)))
        state = successor(task.operators[number], state)
        atoms = state_atoms(task, state)
        assert state_from_atoms(task, atoms) == state
        assert atoms == task.static_atoms | set(fluent_atoms(task, state))


@pytest.mark.parametrize(
    ("add", "remove", "message"),
    [
        ([("here", "office")], [], r"\(here home\), \(here office\) cannot be true together"),
        ([], [("here", "home")], r"one of \(here .* must be true"),
        ([("lies", "l1", "mars")], [], r"\(lies l1 mars\) cannot become true"),
        ([], [("path", "home", "office")], r"\(path home office\) cannot become false"),
    ],
)
def test_states_that_cannot_be_represented(
    task: Task, add: list[tuple[str, ...]], remove: list[tuple[str, ...]], message: str
) -> None:
    atoms = (state_atoms(task, task.init) | set(add)) - set(remove)
    with pytest.raises(UnsupportedError, match=message):
        state_from_atoms(task, atoms)


def test_a_sas_task_knows_only_its_variables(task: Task) -> None:
    bare = parse_sas(write_sas(task))
    assert state_atoms(bare, bare.init) == set(fluent_atoms(task, task.init))
    assert state_from_atoms(bare, state_atoms(bare, bare.init)) == bare.init


def test_an_atom_in_two_variables() -> None:
    first = Variable("var0", ("Atom p(a)", "Atom q(a)"))
    second = Variable("var1", ("Atom p(a)", "<none of those>"))
    task = Task((first, second), (), (0, 0), ())
    assert state_from_atoms(task, {("p", "a")}) == (0, 0)
    assert state_from_atoms(task, {("q", "a")}) == (1, 1)
