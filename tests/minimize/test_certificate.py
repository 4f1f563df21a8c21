"""Certificates: equal exactly for witnesses that are the same up to the names of their objects."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import networkx
import pytest
from reference.minimizing import example_task, situation_of

from engine.minimize.certificate import certificate
from engine.minimize.situation import Situation
from engine.pddl.model import Atom, Domain, Forall, Not, Predicate, Term, TypedName
from engine.records.localization import CauseKind
from engine.records.pattern import Certificate
from engine.verify.pattern import is_isomorphic

DOMAIN = Domain("d", types=(TypedName("place"),), predicates=(Predicate("road"),))
LOOP = CauseKind.LOOP


def places(*names: str) -> tuple[TypedName, ...]:
    return tuple(TypedName(name, ("place",)) for name in names)


def atom(*words: str) -> Atom:
    return Atom(words[0], tuple(map(Term, words[1:])))


def roads(*pairs: str, goals: tuple[str, ...] = ("a",)) -> Situation:
    names = sorted({name for pair in pairs for name in pair})
    facts = tuple(("road", *pair) for pair in pairs)
    return Situation(places(*names), facts, (), tuple(atom("at", goal) for goal in goals))


def found(situation: Situation, action: str = "drive a b", **options: object) -> Certificate:
    return certificate(DOMAIN, situation, LOOP, action, **options)[0]  # type: ignore[arg-type]


def renamed(situation: Situation, action: str, seed: int) -> tuple[Situation, str]:
    """Other names, and everything in another order."""
    draw = random.Random(seed)
    names = [item.name for item in situation.objects]
    new = dict(zip(names, draw.sample([f"n{number}" for number in names], len(names)), strict=True))

    def atom_of(fact: tuple[str, ...]) -> tuple[str, ...]:
        return (fact[0], *(new[name] for name in fact[1:]))

    def shuffled(items):  # type: ignore[no-untyped-def]
        return tuple(draw.sample(list(items), len(items)))

    schema, *objects = action.split()
    goals = [
        Atom(g.predicate, tuple(Term(new[t.name]) for t in g.arguments)) for g in situation.goals
    ]
    return (
        Situation(
            shuffled([replace(item, name=new[item.name]) for item in situation.objects]),
            shuffled([atom_of(fact) for fact in situation.facts]),
            shuffled([(atom_of(term), value) for term, value in situation.values]),
            shuffled(goals),
        ),
        " ".join([schema, *(new[name] for name in objects)]),
    )


def example() -> tuple[Domain, Situation, str]:
    task = example_task("parcel-delivery", "p03")
    assert task.source is not None
    situation = situation_of(task)
    truck = next(fact for fact in situation.facts if fact[0] == "for-hire")[1]
    return task.source.domain, situation, f"hire {truck}"


def test_17_renaming_all_objects_and_shuffling_gives_the_same_certificate() -> None:
    domain, situation, action = example()
    key = certificate(domain, situation, LOOP, action)[0].key
    for seed in range(100):
        other, other_action = renamed(situation, action, seed)
        again, order = certificate(domain, other, LOOP, other_action)
        assert again.key == key
        assert sorted(order) == sorted(item.name for item in other.objects)


def test_17_one_difference_gives_another_certificate() -> None:
    situation = roads("ab", "ba", "bc", "cb", goals=("c",))
    keys = {
        found(situation, "drive a b").key,
        found(situation, "drive b a").key,
        found(replace(situation, facts=situation.facts[:-1])).key,
        found(replace(situation, values=((("length", "a", "b"), Fraction(2)),))).key,
        found(replace(situation, values=((("length", "a", "b"), Fraction(3)),))).key,
        found(replace(situation, goals=(atom("at", "b"),))).key,
        found(replace(situation, goals=(Not(atom("at", "c")),))).key,
        found(situation, unit_costs=True).key,
        certificate(DOMAIN, situation, CauseKind.DETOUR, "drive a b")[0].key,
    }
    assert len(keys) == 9


def test_a_goal_that_is_no_literal_has_its_objects_in_textual_order() -> None:
    def goal(first: str, second: str) -> Situation:
        inner = Not(Atom("between", (Term("?x"), Term(first), Term(second))))
        condition = Forall((TypedName("?x", ("place",)),), inner)
        return replace(roads("ab", "bc"), goals=(condition,))

    one, other = goal("a", "b"), goal("b", "a")
    assert found(one, "drive").key != found(other, "drive").key


def test_18_interchangeable_places_need_one_branch() -> None:
    names = [f"p{number}" for number in range(12)]
    facts = tuple(("road", "hub", name) for name in names)
    situation = Situation(places("hub", *names), facts, (), (atom("at", "hub"),))
    result, order = certificate(DOMAIN, situation, LOOP, "drive hub p3", max_leaves=1)
    assert result.exact
    assert set(order) == {"hub", *names}


def strongly_regular() -> Situation:
    """The rook's graph: 16 places that look alike, and no two of them are twins."""
    cells = list(itertools.product(range(4), repeat=2))
    names = {cell: f"c{cell[0]}{cell[1]}" for cell in cells}
    facts = tuple(
        ("road", names[a], names[b])
        for a, b in itertools.permutations(cells, 2)
        if (a[0] == b[0]) != (a[1] == b[1])
    )
    return Situation(places(*names.values()), facts, (), (atom("done"),))


def test_18_beyond_the_budget_a_witness_is_a_pattern_of_its_own() -> None:
    result = found(strongly_regular(), "wait", max_leaves=5)
    assert not result.exact
    assert found(strongly_regular(), "wait", max_leaves=5).key == result.key
    exact = found(strongly_regular(), "wait")
    assert exact.exact
    assert exact.key != result.key


def graph_of(one: Certificate) -> networkx.Graph:
    graph = networkx.Graph()
    for number, color in enumerate(one.colors):
        graph.add_node(number, mark=color)
    for number, (kind, label, names) in enumerate(one.tuples):
        graph.add_node(("t", number), mark=(kind, label))
        for position, name in enumerate(names):
            graph.add_edge(("t", number), ("p", number, position))
            graph.nodes["p", number, position]["mark"] = position
            graph.add_edge(("p", number, position), name)
    return graph


@pytest.mark.parametrize("seed", range(20))
def test_19_networkx_and_the_verifier_agree(seed: int) -> None:
    """Random situations with much symmetry: the same certificate exactly if isomorphic."""
    draw = random.Random(seed)
    made = []
    for _ in range(4):
        pairs = [a + b for a, b in itertools.permutations("abcd", 2) if draw.random() < 0.4]
        base = roads("ab", *pairs, "cd")
        for number in range(2):
            made.append(renamed(base, "drive a b", number)) if number else made.append(
                (base, "drive a b")
            )
    certificates = [found(situation, action) for situation, action in made]
    for a, b in itertools.combinations(certificates, 2):
        matcher = networkx.algorithms.isomorphism.GraphMatcher(
            graph_of(a), graph_of(b), node_match=lambda x, y: x["mark"] == y["mark"]
        )
        assert (a == b) is matcher.is_isomorphic() is is_isomorphic(a, b)


def test_20_another_domain_or_constant_is_another_pattern() -> None:
    situation = roads("ab", "bc")
    key = found(situation).key
    other = replace(DOMAIN, predicates=(*DOMAIN.predicates, Predicate("rail")))
    assert certificate(other, situation, LOOP, "drive a b")[0].key != key
    laid_out = replace(DOMAIN, requirements=("strips",), path="elsewhere.pddl")
    assert certificate(laid_out, situation, LOOP, "drive a b")[0].key == key
    keys = set()
    for constant in ("x", "y"):
        domain = replace(DOMAIN, constants=places("x", "y"))
        facts = (*situation.facts, ("road", "c", constant))
        keys.add(certificate(domain, replace(situation, facts=facts), LOOP, "drive a b")[0].key)
    assert len(keys) == 2
