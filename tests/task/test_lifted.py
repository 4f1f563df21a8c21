from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.pddl import parse_domain, parse_problem
from engine.pddl.model import And, Atom, Equality, Exists, Forall, Imply, Not, Or, Term, TypedName
from engine.task.atoms import state_atoms
from engine.task.lifted import World, substitute
from engine.task.load import load_task
from engine.task.successors import applicable_operators, successor
from engine.task.task import Task

X, Y, A, B = (Term(name) for name in ("?x", "?y", "a", "b"))


@pytest.fixture
def world() -> World:
    domain = parse_domain(
        """(define (domain d) (:requirements :adl) (:types t u)
             (:predicates (p ?x - object) (q))
             (:action none :parameters () :effect (q)))"""
    )
    text = "(define (problem x) (:domain d) (:objects a b - t c - u) (:init (p a)) (:goal (q)))"
    return World(domain, parse_problem(text, domain))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Atom("p", (A,)), True),
        (Atom("p", (B,)), False),
        (Atom("p", (X,)), True),
        (Not(Atom("q")), True),
        (And(()), True),
        (Or(()), False),
        (Or((Atom("q"), Atom("p", (A,)))), True),
        (Imply(Atom("q"), Atom("p", (B,))), True),
        (Imply(Atom("p", (A,)), Atom("q")), False),
        (Equality(X, A), True),
        (Equality(X, B), False),
        (Forall((TypedName("?y", ("t",)),), Atom("p", (Y,))), False),
        (Exists((TypedName("?y", ("t",)),), Atom("p", (Y,))), True),
        (Exists((TypedName("?y", ("u",)),), Atom("p", (Y,))), False),
        (Exists((TypedName("?y", ("t", "u")),), Not(Atom("p", (Y,)))), True),
        (Forall((TypedName("?x", ("u",)),), Not(Atom("p", (X,)))), True),
    ],
)
def test_conditions(world: World, condition, holds: bool) -> None:
    binding = {"?x": "a"}
    assert world.holds(condition, binding, world.init) is holds
    assert world.holds(substitute(condition, binding), {}, world.init) is holds
    assert bool(list(world.complaints(condition, binding, world.init))) is not holds


@pytest.mark.parametrize("name", ["courier", "toll"])
def test_operators_do_what_the_actions_say(request: pytest.FixtureRequest, name: str) -> None:
    example = request.getfixturevalue(name)
    walk(load_task(example.domain, example.problem), name)


NESTED = """(define (domain rumors) (:requirements :adl)
  (:predicates (knows ?x) (trusts ?x ?y) (tired ?x) (quiet))
  (:action meet :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (trusts ?x ?y))
  (:action sleep :parameters (?x) :effect (and (not (tired ?x)) (when (knows ?x) (quiet))))
  (:action talk :parameters ()
    :effect (forall (?x) (when (and (knows ?x) (not (tired ?x)))
      (and (tired ?x) (not (quiet))
        (forall (?y) (when (trusts ?y ?x) (and (knows ?y) (not (trusts ?y ?x)))))
        (when (quiet) (forall (?z) (not (tired ?z))))))))
  (:action forget :parameters (?x) :precondition (tired ?x) :effect (not (knows ?x))))
"""


def test_effects_inside_effects_do_what_the_action_says(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(NESTED)
    (tmp_path / "p.pddl").write_text(
        "(define (problem p) (:domain rumors) (:objects a b c) (:init (knows a) (trusts b a))"
        "(:goal (and (knows c) (tired b) (quiet))))"
    )
    walk(load_task(tmp_path / "d.pddl", tmp_path / "p.pddl"), "rumors")


def walk(task: Task, name: str) -> None:
    """The translator's operators and the lifted actions, along a random walk."""
    assert task.source is not None
    world = World(task.source.domain, task.source.problem)
    choose = random.Random(name)
    state = task.init
    for _ in range(60):
        atoms = state_atoms(task, state)
        applicable = {}
        for action in world.domain.actions:
            for binding in world.bindings(action.parameters, {}):
                if world.holds(action.precondition, binding, atoms):
                    outcome = world.apply(action, binding, atoms)
                    if outcome.state != atoms:
                        applicable[" ".join((action.name, *binding.values()))] = outcome
        operators = {}
        for number in applicable_operators(task, state):
            after = successor(task, task.operators[number], state)
            if after != state:
                operators[task.operators[number].name] = number
        assert operators.keys() == applicable.keys()
        chosen = choose.choice(sorted(operators))
        state = successor(task, task.operators[operators[chosen]], state)
        assert state_atoms(task, state) == applicable[chosen].state
        if task.has_costs:
            assert task.operators[operators[chosen]].cost == applicable[chosen].cost
