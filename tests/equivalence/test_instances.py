from __future__ import annotations

import pytest

from engine.equivalence.instances import instances
from engine.equivalence.schemas import lift
from engine.equivalence.sorts import operator_types, sort_table
from engine.pddl.model import Domain


def all_instances(made: Domain, distinct: bool):
    names = tuple(constant.name for constant in made.constants)
    table = sort_table(made, operator_types(made))
    sorts = tuple(table.of_type[constant.types[0]] for constant in made.constants)
    return list(instances(lift(made, names).schemas[0], table, sorts, distinct))


@pytest.mark.parametrize(("parameters", "partitions"), [(1, 1), (2, 2), (3, 5), (4, 15)])
def test_partitions_of_the_parameters(domain, parameters, partitions) -> None:
    names = " ".join(f"?x{i}" for i in range(parameters))
    made = domain("(p)", ("a", names, "", "(p)"))
    assert len(all_instances(made, distinct=True)) == 1
    found = all_instances(made, distinct=False)
    assert len(found) == len({i.arguments for i in found}) == partitions
    assert found[0].arguments == tuple(range(parameters))


def test_parameters_may_be_constants_in_both_readings(domain) -> None:
    made = domain("(p)", ("a", "?x ?y", "", "(p)"), constants="k")
    distinct = {instance.arguments for instance in all_instances(made, distinct=True)}
    assert distinct == {(1, 2), (1, 0), (0, 1)}
    both = {instance.arguments for instance in all_instances(made, distinct=False)}
    assert both == distinct | {(1, 1), (0, 0)}


def test_equality_tests_filter(domain) -> None:
    made = domain("(p)", ("a", "?x ?y", "(not (= ?x ?y))", "(p)"))
    assert [i.arguments for i in all_instances(made, distinct=False)] == [(0, 1)]
    made = domain("(p)", ("a", "?x ?y", "(= ?x ?y)", "(p)"))
    assert all_instances(made, distinct=True) == []
    assert [i.arguments for i in all_instances(made, distinct=False)] == [(0, 0)]


def test_merged_parameters_take_the_maximal_common_subtypes(domain) -> None:
    kinds = "boat car - thing amphibian floater - (either boat car) duck - amphibian"
    made = domain("(p)", ("a", "?b - boat ?c - car", "", "(p)"), types=kinds)
    merged = [i for i in all_instances(made, distinct=False) if i.arguments == (0, 0)]
    assert [set(i.sorts[0]) for i in merged] == [{"boat", "car"}]
    apart = domain("(p)", ("a", "?b - boat ?c - car", "", "(p)"), types="boat car")
    assert [i.arguments for i in all_instances(apart, distinct=False)] == [(0, 1)]


def test_alternative_types_give_one_instance_each(domain) -> None:
    made = domain("(p)", ("a", "?x - (either boat car)", "", "(p)"), types="boat car plane")
    assert [set(i.sorts[0]) for i in all_instances(made, distinct=True)] == [{"boat"}, {"car"}]
