"""What the rules infer: the examples, and small domains that need one rule each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reference.drawn_tasks import Made, example_task, walk

from engine.errors import UnsupportedError
from engine.pictures.picture import Picture, require_drawable, state_picture


def roles(name: str) -> dict[str, object]:
    task = example_task(name)
    return Picture(task, [walk(task, 30)[0]]).roles_json()


def test_a_ferry_is_no_object_and_carries_its_berths() -> None:
    found = roles("ferry")
    assert found["tokens"] == {"ferry-at": "ferry"}
    assert found["attached"] == {"berth": "ferry-at"}
    assert found["location"] == {"robot": ["aboard:0", "ashore:0"]}
    assert found["emptiness"] == ["vacant"]
    assert found["layout"] == ["ring"]


def test_a_temple_is_a_grid_with_a_walker() -> None:
    found = roles("crumbling-temple")
    assert found["tokens"] == {"explorer-on": "explorer"}
    assert found["map"] == ["beside:0>1"]
    assert found["layout"] == ["grid", "flow"]


def test_trucks_have_gauges_on_roads() -> None:
    found = roles("parcel-delivery")
    assert found["gauges"] == {"has-room:0": "room"}
    assert found["location"] == {"parcel": ["inside:0", "parcel-at:0"], "truck": ["truck-at:0"]}
    assert found["layout"] == ["net"]


def test_containers_stand_on_each_other() -> None:
    found = roles("container-yard")
    assert found["stacks"] == ["on-top-of"]
    assert found["virtual"] == ["hanging"]
    assert found["emptiness"] == ["crane-idle", "empty", "topmost"]


def test_stages_are_a_chain() -> None:
    found = roles("workshop")
    assert found["chains"]["stage"][0] == "stage0"  # type: ignore[index]
    assert found["gauges"] == {"at-stage:0": "stage"}


def test_obfuscated_names_still_make_a_picture(make_task: Made) -> None:
    domain = """(:predicates (p1 ?x ?y) (p2 ?x ?y) (p3 ?x ?y) (k1 ?x) (k2 ?x) (k3 ?x))
      (:action a1 :parameters (?t ?a ?b) :precondition (and (p1 ?t ?a) (p2 ?a ?b) (k1 ?t))
        :effect (and (p1 ?t ?b) (not (p1 ?t ?a))))
      (:action a2 :parameters (?c ?t ?a) :precondition (and (p1 ?c ?a) (p1 ?t ?a) (k3 ?c) (k1 ?t))
        :effect (and (p3 ?c ?t) (not (p1 ?c ?a))))
      (:action a3 :parameters (?c ?t ?a) :precondition (and (p3 ?c ?t) (p1 ?t ?a))
        :effect (and (p1 ?c ?a) (not (p3 ?c ?t))))"""
    init = (
        "(p1 t u) (p1 c v) (p2 u v) (p2 v u) (p2 v w) (p2 w v) (k1 t) (k3 c) (k2 u) (k2 v) (k2 w)"
    )
    task = make_task(domain, "t c u v w", init, "(p1 c w)")
    found = Picture(task, [walk(task, 20)[0]]).roles_json()
    assert found["location"] == {"k1": ["p1:0"], "k3": ["p1:0", "p3:0"]}
    assert found["places"] == ["k2"]
    assert found["layout"] == ["path"]


def test_many_equal_objects_are_folded_into_one_chip(make_task: Made) -> None:
    domain = """(:types ball room)
      (:predicates (at ?b - ball ?r - room) (robot-at ?r - room) (holding ?b - ball) (free))
      (:action move :parameters (?a ?b - room) :precondition (robot-at ?a)
        :effect (and (robot-at ?b) (not (robot-at ?a))))
      (:action pick :parameters (?x - ball ?r - room)
        :precondition (and (at ?x ?r) (robot-at ?r) (free))
        :effect (and (holding ?x) (not (at ?x ?r)) (not (free))))
      (:action drop :parameters (?x - ball ?r - room) :precondition (and (holding ?x) (robot-at ?r))
        :effect (and (at ?x ?r) (free) (not (holding ?x))))"""
    balls = [f"ball{i}" for i in range(30)]
    init = " ".join(f"(at {ball} hall)" for ball in balls) + " (robot-at hall) (free)"
    goal = "(and " + " ".join(f"(at {ball} cellar)" for ball in balls) + ")"
    task = make_task(domain, f"{' '.join(balls)} - ball hall cellar - room", init, goal)
    states, _ = walk(task, 30)
    folded = Picture(task, [states])
    texts = [item.text for item in folded.scene("", states[0]).items if hasattr(item, "text")]
    assert "30 × ball" in texts  # noqa: RUF001
    open_picture = Picture(task, [states], fold=False)
    names = {item.text for item in open_picture.scene("", states[0]).items if hasattr(item, "text")}
    assert names >= set(balls)


def test_one_state_alone_has_a_picture() -> None:
    task = example_task("ferry")
    scene = state_picture(task, task.init, "Bug 7")
    assert scene.title == "Bug 7"
    assert "holds" in scene.description


def test_a_sas_task_has_no_picture() -> None:
    with pytest.raises(UnsupportedError, match="no objects to draw"):
        require_drawable(replace(example_task("ferry"), source=None))
