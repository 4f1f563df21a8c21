"""Nothing vanishes, boxes lie in boxes, and who does not move keeps its place."""

from __future__ import annotations

import copy
import hashlib
import os
import subprocess
import sys

import pytest
from reference.drawn_tasks import EXAMPLES, Made, example_task, walk
from reference.picture_checks import (
    faults_of_boxes,
    faults_of_facts,
    faults_of_stillness,
    groups_of,
    reads_back,
)

from engine.pictures.picture import Picture
from engine.pictures.svg import svg
from engine.task.successors import successor


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_vanishes_on_walks_through_the_examples(name: str, seed: int) -> None:
    task = example_task(name)
    states, actions = walk(task, 40, seed)
    picture = Picture(task, [states])
    roles, groups = picture.roles_json(), groups_of(task)
    before = None
    for number, state in enumerate(states):
        after = states[number + 1] if number < len(actions) else None
        action = actions[number] if after else ""
        document = {"roles": roles, **picture.json(picture.step("", state, after, action))}
        assert faults_of_facts(task, state, document) == []
        assert reads_back(task, state, document, groups) == []
        assert faults_of_boxes(document) == []
        if before is not None:
            assert faults_of_stillness(before, document) == []
        before = document


def test_the_checks_notice_a_lost_an_invented_and_a_moved_thing() -> None:
    task = example_task("ferry")
    states, _ = walk(task, 3)
    picture = Picture(task, [states])
    document = {"roles": picture.roles_json(), **picture.json(picture.step("", states[0]))}
    lost = copy.deepcopy(document)
    fact = next(f for f in lost["facts_shown"] if f not in lost["facts_absent"])
    lost["facts_shown"].remove(fact)
    assert faults_of_facts(task, states[0], lost)
    nowhere = copy.deepcopy(document)
    for row in nowhere["objects"].values():
        row["inside"] = None
    assert faults_of_facts(task, states[0], nowhere)
    moved = copy.deepcopy(document)
    name = next(n for n, row in moved["objects"].items() if row["inside"])
    moved["objects"][name]["box"][0] += 500
    assert faults_of_boxes(moved)
    assert faults_of_stillness(document, moved)
    empty = copy.deepcopy(document)
    empty["facts_absent"] = []
    denied = copy.deepcopy(document)
    denied["facts_denied"] = list(document["facts_absent"])
    assert reads_back(task, states[0], denied, groups_of(task))


LOCKS = """(:types block)
  (:predicates (clear ?x - block) (on ?x ?y - block) (ontable ?x - block) (locked ?x - block))
  (:action stack :parameters (?x ?y - block)
    :precondition (and (ontable ?x) (clear ?x) (clear ?y))
    :effect (and (not (ontable ?x)) (not (clear ?y)) (on ?x ?y)))
  (:action unstack :parameters (?x ?y - block) :precondition (and (on ?x ?y) (clear ?x))
    :effect (and (ontable ?x) (clear ?y) (not (on ?x ?y))))
  (:action lock :parameters (?x - block) :precondition (clear ?x) :effect (not (clear ?x)))"""


def test_what_a_reader_would_conclude_wrongly_is_denied(make_task: Made) -> None:
    task = make_task(
        LOCKS, "a b - block", "(clear a) (clear b) (ontable a) (ontable b)", "(and (on a b))"
    )
    states, actions = walk(task, 12, seed=3)
    denied = set()
    picture = Picture(task, [states])
    for state in states:
        document = {"roles": picture.roles_json(), **picture.json(picture.step("", state))}
        assert faults_of_facts(task, state, document) == []
        assert reads_back(task, state, document, groups_of(task)) == []
        denied.update(document["facts_denied"])
    assert any(action.startswith("lock") for action in actions)
    assert denied >= {f"(clear {action.split()[1]})" for action in actions if "lock" in action}
    scene = picture.scene("", states[-1])
    assert any("not (clear" in getattr(item, "text", "") for item in scene.items)


def test_a_block_on_itself_is_listed(make_task: Made) -> None:
    domain = """(:types block)
      (:predicates (clear ?x - block) (on ?x ?y - block) (on-table ?x - block))
      (:action move :parameters (?x ?y - block)
        :precondition (and (clear ?x) (clear ?y) (on-table ?x))
        :effect (and (on ?x ?y) (not (on-table ?x)) (not (clear ?y))))
      (:action down :parameters (?x ?y - block) :precondition (and (on ?x ?y) (clear ?x))
        :effect (and (on-table ?x) (clear ?y) (not (on ?x ?y))))"""
    init = "(clear a) (clear b) (on-table a) (on-table b)"
    task = make_task(domain, "a b - block", init, "(on a b)")
    state = task.init
    after = successor(task, task.operators[task.operator_index["move a a"]], state)
    picture = Picture(task, [[state, after]])
    document = picture.json(picture.step("", after))
    assert "(on a a)" in document["facts_listed"]
    assert faults_of_facts(task, after, {"roles": picture.roles_json(), **document}) == []


CITIES = """(:types package vehicle place city)
  (:predicates (at ?p - package ?l - place) (stands ?v - vehicle ?l - place)
    (in ?p - package ?v - vehicle) (in-city ?l - place ?c - city) (road ?a ?b - place))
  (:action drive :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (stands ?v ?a) (road ?a ?b))
    :effect (and (stands ?v ?b) (not (stands ?v ?a))))
  (:action load :parameters (?p - package ?v - vehicle ?l - place)
    :precondition (and (at ?p ?l) (stands ?v ?l)) :effect (and (in ?p ?v) (not (at ?p ?l))))
  (:action unload :parameters (?p - package ?v - vehicle ?l - place)
    :precondition (and (in ?p ?v) (stands ?v ?l)) :effect (and (at ?p ?l) (not (in ?p ?v))))"""


def test_who_arrives_takes_no_more_room_than_it_has_there(make_task: Made) -> None:
    """A truck that is full elsewhere comes empty: its place must not grow beyond the city."""
    places = [f"p{i}" for i in range(4)]
    roads = " ".join(f"(road {a} {b})" for a in places for b in places if a != b)
    cities = " ".join(f"(in-city p{i} c{i % 2})" for i in range(4))
    packages = " ".join(f"(at k{i} p{i % 2})" for i in range(6))
    task = make_task(
        CITIES,
        "k0 k1 k2 k3 k4 k5 - package v0 v1 - vehicle p0 p1 p2 p3 - place c0 c1 - city",
        f"{roads} {cities} {packages} (stands v0 p0) (stands v1 p1)",
        "(and (at k0 p3) (at k1 p2))",
    )
    for seed in range(8):
        states, actions = walk(task, 14, seed)
        picture = Picture(task, [states])
        for number, action in enumerate(actions):
            step = picture.step("", states[number], states[number + 1], action)
            assert faults_of_boxes(picture.json(step)) == []


SCRIPT = """
import hashlib, sys
sys.path.insert(0, "tests")
from reference.drawn_tasks import example_task, walk
from engine.pictures.picture import Picture
from engine.pictures.svg import svg
digest = hashlib.sha256()
for name in ("crumbling-temple", "parcel-delivery"):
    task = example_task(name)
    states, actions = walk(task, 12)
    picture = Picture(task, [states])
    for n, action in enumerate(actions[::4]):
        digest.update(svg(picture.scene("t", states[n], states[n + 1], action)).encode())
print(digest.hexdigest())
"""


def test_the_same_picture_byte_for_byte_in_two_processes() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    ]
    assert len(found[0].strip()) == len(hashlib.sha256().hexdigest())
    assert found[0] == found[1]


def test_svg_has_no_script_no_reference_and_escapes_names(make_task: Made) -> None:
    domain = """(:predicates (at ?x ?y) (road ?x ?y))
      (:action go :parameters (?x ?a ?b) :precondition (and (at ?x ?a) (road ?a ?b))
        :effect (and (at ?x ?b) (not (at ?x ?a))))"""
    task = make_task(domain, "t<b> a&b c", "(at t<b> a&b) (road a&b c) (road c a&b)", "(at t<b> c)")
    text = svg(Picture(task, [[task.init]]).scene("<script>alert(1)</script>", task.init))
    assert "<script" not in text
    assert "t<b>" not in text
    assert "t&lt;b&gt;" in text
    assert "href" not in text
