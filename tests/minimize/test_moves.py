"""Which states are sensible, and which moves are refused before anything is translated."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reference.minimizing import (
    Scripted,
    always,
    example_task,
    laboratory,
    moves_of,
    sense_of,
    situation_of,
    task_of,
)

from engine.files import resource
from engine.minimize.mistake import Mistake, Refusal, Shown
from engine.minimize.moves import FactUnit, Merge, Numbers, smaller_numbers
from engine.minimize.sense import Form
from engine.pddl.model import Atom, Term
from engine.records.finding import EndReason
from engine.records.localization import CauseKind
from engine.task.task import Task

EXAMPLES = ("ferry", "parcel-delivery", "workshop", "container-yard", "crumbling-temple")


def domain_text(name: str) -> str:
    return (resource(f"examples/{name}") / "domain.pddl").read_text()


def forms(task: Task) -> set[str]:
    """`ashore(K,*) | aboard(K,*)`, and whether exactly one of them holds."""
    arity = {atom[0]: len(atom) - 1 for values in task.fact_atoms for atom in values if atom}

    def text(form: Form) -> str:
        parts = []
        for predicate, places in form.places:
            words = ["K" if place in places else "*" for place in range(arity[predicate])]
            parts.append(f"{predicate}({','.join(words)})" if words else predicate)
        return " | ".join(parts)

    return {f"{text(form)} {exactly}" for (form, _), exactly in sense_of(task).groups.items()}


def test_groups_have_the_forms_that_people_see() -> None:
    assert {
        "aboard(*,K) | vacant(K) True",
        "aboard(K,*) | ashore(K,*) True",
        "ferry-at(*) True",
    } <= forms(example_task("ferry", "p03"))
    assert {
        "hanging(K) | in-bay(K,*) | on-top-of(K,*) True",
        "hanging(K) | on-top-of(*,K) | topmost(K) True",
        "empty(K) | in-bay(*,K) True",
        "crane-idle | hanging(*) True",
    } <= forms(example_task("container-yard", "p03"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_02_every_origin_is_sensible(name: str) -> None:
    task = example_task(name, "p03")
    assert sense_of(task).groups
    assert sense_of(task).is_sensible(situation_of(task))


LAMPS = """(define (domain lamps) (:requirements :strips :typing) (:types lamp color)
  (:predicates (shines ?l - lamp ?c - color) (broken ?l - lamp) (done))
  (:action change :parameters (?l - lamp ?a ?b - color) :precondition (shines ?l ?a)
    :effect (and (not (shines ?l ?a)) (shines ?l ?b)))
  (:action break :parameters (?l - lamp ?a - color) :precondition (shines ?l ?a)
    :effect (and (not (shines ?l ?a)) (done))))"""


def test_02_an_action_that_only_deletes_makes_it_at_most_one() -> None:
    task = task_of(
        LAMPS,
        """(define (problem p) (:domain lamps) (:objects l - lamp red blue - color)
        (:init (shines l red)) (:goal (done)))""",
    )
    assert forms(task) == {"shines(K,*) False"}
    assert not list(sense_of(task).violated([]))
    both = [("shines", "l", "red"), ("shines", "l", "blue")]
    assert list(sense_of(task).violated(both))


def test_03_one_robot_and_one_island_are_read_rightly() -> None:
    task = task_of(
        domain_text("ferry"),
        """(define (problem p) (:domain ferry) (:objects i j - island r - robot b - berth)
        (:init (ferry-at i) (lane i j) (lane j i) (ashore r i) (vacant b))
        (:goal (ashore r j)))""",
    )
    assert sense_of(task).is_sensible(situation_of(task))
    assert "aboard(K,*) | ashore(K,*) True" in forms(task)


def test_01_an_island_goes_with_its_robots_and_the_ferrys_island_never() -> None:
    task = example_task("ferry", "p06")
    situation, moves = situation_of(task), moves_of(task)
    (ferry_at,) = (fact[1] for fact in situation.facts if fact[0] == "ferry-at")
    assert moves.remove_objects(situation, [ferry_at]) is None
    by_island: dict[str, set[str]] = {}
    for fact in situation.facts:
        if fact[0] == "ashore" and fact[2] != ferry_at:
            by_island.setdefault(fact[2], set()).add(fact[1])
    island, robots = next(iter(by_island.items()))
    rest = moves.remove_objects(situation, [island])
    assert rest is not None
    assert not robots & rest.names
    assert all(island not in fact for fact in rest.facts)


def test_01_protected_objects_stay() -> None:
    task = example_task("ferry", "p03")
    situation = situation_of(task)
    (robot, island) = next(fact[1:] for fact in situation.facts if fact[0] == "ashore")
    moves = moves_of(task, robot)
    assert robot not in moves.objects(situation)
    assert moves.remove_objects(situation, [island]) is None


YARD_PROBLEM = """(define (problem p) (:domain container-yard)
  (:objects a b c d - container one two - bay)
  (:init {facts}) (:goal (and (in-bay b one) (in-bay d two))))"""


def yard(facts: str) -> Task:
    return task_of(domain_text("container-yard"), YARD_PROBLEM.format(facts=facts))


STACK = "(crane-idle) (in-bay c one) (on-top-of b c) (on-top-of a b) (topmost a) "


def test_01_the_top_of_a_stack_goes_only_by_a_chain_move() -> None:
    task = yard(STACK + "(in-bay d two) (topmost d)")
    situation, moves = situation_of(task), moves_of(task)
    removed = moves.remove_objects(situation, ["a"])
    assert removed is None or "b" not in removed.names
    contracted = moves.merge(situation, Merge("a", "b"))
    assert contracted is not None
    assert ("topmost", "b") in contracted.facts
    assert ("on-top-of", "b", "c") in contracted.facts


def test_01_a_hanging_container_never_goes() -> None:
    task = yard(
        "(hanging d) (empty two) (in-bay c one) (on-top-of b c) (on-top-of a b) (topmost a)"
    )
    assert moves_of(task).remove_objects(situation_of(task), ["d"]) is None


ROADS = """(define (domain roads) (:requirements :strips :typing :action-costs)
  (:types place truck parcel room)
  (:predicates (road ?a ?b - place) (rail ?a ?b - place) (at ?t - truck ?p - place)
    (lies ?x - parcel ?p - place) (in ?x - parcel ?t - truck) (has-room ?t - truck ?r - room)
    (one-less ?a ?b - room) (firm ?p - place))
  (:functions (total-cost) (length ?a ?b - place))
  (:action drive :parameters (?t - truck ?a ?b - place) :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (at ?t ?b) (not (at ?t ?a)) (increase (total-cost) (length ?a ?b))))
  (:action load :parameters (?x - parcel ?t - truck ?p - place ?r ?s - room)
    :precondition (and (at ?t ?p) (lies ?x ?p) (has-room ?t ?s) (one-less ?r ?s))
    :effect (and (in ?x ?t) (not (lies ?x ?p)) (has-room ?t ?r) (not (has-room ?t ?s))
      (increase (total-cost) 1)))
  (:action unload :parameters (?x - parcel ?t - truck ?p - place ?r ?s - room)
    :precondition (and (at ?t ?p) (in ?x ?t) (has-room ?t ?r) (one-less ?r ?s))
    :effect (and (lies ?x ?p) (not (in ?x ?t)) (has-room ?t ?s) (not (has-room ?t ?r))
      (increase (total-cost) 1))))"""
ROADS_PROBLEM = """(define (problem p) (:domain roads)
  (:objects a b c - place t - truck x y - parcel r0 r1 r2 - room)
  (:init (road a b) (road b a) (road b c) (road c b) (road a c) (rail a b) {more}
    (at t a) (lies x a) (lies y b) (has-room t r2) (one-less r0 r1) (one-less r1 r2)
    (= (total-cost) 0) (= (length a b) 5) (= (length b a) 5) (= (length b c) 3) (= (length c b) 3)
    (= (length a c) 9))
  (:goal (and (lies x c) (lies y c))) (:metric minimize (total-cost)))"""


def roads(more: str = "") -> Task:
    return task_of(ROADS, ROADS_PROBLEM.format(more=more))


def test_04_two_berths_with_one_robot_are_not_contracted() -> None:
    text = domain_text("ferry").replace("(:predicates", "(:predicates (next ?a ?b - berth)")
    task = task_of(
        text,
        """(define (problem p) (:domain ferry) (:objects i j - island r q - robot b1 b2 - berth)
        (:init (ferry-at i) (lane i j) (lane j i) (ashore q i) (aboard r b2) (vacant b1)
          (next b1 b2)) (:goal (and (ashore r j) (ashore q j))))""",
    )
    situation = situation_of(task)
    assert Merge("b1", "b2") in moves_of(task).merges(situation)
    assert moves_of(task).merge(situation, Merge("b1", "b2")) is None


def test_04_contracting_a_road_keeps_the_values_of_what_stays() -> None:
    situation, moves = situation_of(roads("(road c a)")), moves_of(roads("(road c a)"))
    merged = moves.merge(situation, Merge("b", "a"))
    assert merged is not None
    values = dict(merged.values)
    assert values["length", "a", "c"] == 9  # a's own, not the 3 of b
    assert ("length", "a", "b") not in values
    assert values["length", "c", "a"] == 3  # only b had one
    assert ("road", "a", "a") not in merged.facts
    assert situation.mapping["b"] == "b"
    assert merged.mapping["b"] == "a"


def test_04_all_facts_after_a_merge_come_from_the_origin() -> None:
    """By what objects have become, as the verifier reads it; constants are there, too."""
    domain = ROADS.replace("(:predicates", "(:constants a - place) (:predicates")
    task = task_of(domain, ROADS_PROBLEM.format(more="").replace("a b c - place", "b c - place"))
    situation, moves = situation_of(task), moves_of(task)
    merges = moves.merges(situation)
    assert {move.y for move in merges} > {"a", "b"}
    for move in merges:
        merged = moves.merge(situation, move)
        if merged is None:
            continue
        became = {**merged.mapping, "a": "a"}
        known = [fact for fact in situation.facts if set(fact[1:]) <= became.keys()]
        assert set(merged.facts) <= {(f[0], *(became[name] for name in f[1:])) for f in known}
        assert move.x not in merged.without([move.y]).mapping


def test_05_a_firm_tile_is_never_merged_with_a_fragile_one() -> None:
    situation, moves = situation_of(roads("(firm a)")), moves_of(roads("(firm a)"))
    found = moves.merges(situation)
    assert not {(move.x, move.y) for move in found} & {("a", "b"), ("b", "a")}
    assert Merge("b", "c") in found
    assert Merge("b", "c", drop_goals=True) not in found  # b has no goals
    assert Merge("c", "b", drop_goals=True) in found


def test_05_no_object_loses_its_last_fact_of_a_predicate_in_a_position() -> None:
    task = roads("(firm a) (firm b)")
    situation, moves = situation_of(task), moves_of(task)
    assert moves.remove_facts(situation, [FactUnit((("firm", "a"),))]) is None
    assert moves.remove_facts(situation, [FactUnit((("rail", "a", "b"),))]) is None
    # a keeps a road out, but c would lose its only road in from elsewhere together with it
    assert moves.remove_facts(situation, [FactUnit((("road", "a", "c"),))]) is not None
    both = [FactUnit((("road", "a", "c"),)), FactUnit((("road", "b", "c"), ("road", "c", "b")))]
    assert moves.remove_facts(situation, both) is None


def test_06_a_line_of_numbers_contracts_and_room_follows() -> None:
    situation, moves = situation_of(roads()), moves_of(roads())
    merged = moves.merge(situation, Merge("r2", "r1"))
    assert merged is not None
    assert {fact for fact in merged.facts if fact[0] == "one-less"} == {("one-less", "r0", "r1")}
    assert ("has-room", "t", "r1") in merged.facts


def test_06_a_truck_with_two_parcels_inside_can_unload_or_the_try_fails() -> None:
    """In a line of one room the second parcel stays inside; the goal of the first alone is left."""
    inside = ROADS_PROBLEM.replace("(lies x a) (lies y b) (has-room t r2)", "(in x t) (in y t)")
    task = task_of(ROADS, inside.format(more="(has-room t r0)"))
    unload = (f"unload {x} t c {r} {s}" for x in "xy" for r, s in (("r0", "r1"), ("r1", "r2")))
    policy = Scripted(always("drive t a c", *unload))
    mistake = Mistake(CauseKind.DETOUR, "drive t a c", EndReason.GOAL)
    with laboratory(task, ROADS, policy) as tools:
        origin, moves = situation_of(task), moves_of(task)
        assert isinstance(tools.examine(origin, mistake), Shown)
        merged = moves.merge(origin, Merge("r2", "r1"))
        assert merged is not None
        assert tools.examine(merged, mistake) in (Refusal.UNSOLVABLE, Refusal.TASK)
        one = moves.drop_goals(merged, merged.goals[1:])
        assert one is not None
        assert isinstance(tools.examine(one, mistake), Shown)


def atom(*words: str) -> Atom:
    return Atom(words[0], tuple(map(Term, words[1:])))


def test_07_goals_of_merged_objects_vanish_or_fall_together_and_the_last_one_stays() -> None:
    situation, moves = situation_of(roads("(road c a)")), moves_of(roads("(road c a)"))
    assert situation.goals == (atom("lies", "x", "c"), atom("lies", "y", "c"))
    one = moves.drop_goals(situation, [situation.goals[0]])
    assert one is not None
    assert moves.drop_goals(one, one.goals) is None
    merged = moves.merge(situation, Merge("c", "b"))
    assert merged is not None
    assert merged.goals == (atom("lies", "x", "b"), atom("lies", "y", "b"))
    assert moves.merge(situation, Merge("c", "b", drop_goals=True)) is None  # none is left


def test_08_values_go_with_the_last_fact_of_their_objects() -> None:
    task = roads("(road c a) (rail b c) (rail c a)")
    situation, moves = situation_of(task), moves_of(task)
    rest = moves.remove_facts(situation, [FactUnit((("road", "a", "b"), ("road", "b", "a")))])
    assert rest is not None
    values = dict(rest.values)
    assert ("length", "b", "a") not in values
    assert values["length", "a", "b"] == 5  # (rail a b) stays


def test_08_both_directions_go_at_once_unless_one_road_is_one_way() -> None:
    two_way = situation_of(roads("(road c a)")), moves_of(roads("(road c a)"))
    units = two_way[1].fact_units(two_way[0])
    assert FactUnit((("road", "a", "b"), ("road", "b", "a"))) in units
    one_way = situation_of(roads()), moves_of(roads())
    assert FactUnit((("road", "a", "b"),)) in one_way[1].fact_units(one_way[0])


def test_numbers_become_smaller_and_never_zero() -> None:
    assert smaller_numbers(Fraction(10)) == [1, 2, 3, 5, 8, 9]
    assert smaller_numbers(Fraction(2)) == [1]
    assert smaller_numbers(Fraction(1)) == []
    situation, moves = situation_of(roads()), moves_of(roads())
    first, *others = moves.numbers(situation)
    assert first == [Numbers(tuple(term for term, _ in situation.values[1:]), Fraction(1))]
    assert others[0][0] == Numbers((("length", "a", "b"), ("length", "b", "a")), Fraction(1))
    changed = moves.set_numbers(situation, others[0][1])
    assert changed is not None
    assert dict(changed.values)["length", "b", "a"] == 2
    assert moves.set_numbers(changed, others[0][2]) is None  # not larger again
