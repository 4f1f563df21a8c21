from __future__ import annotations

import pytest

from engine.equivalence.budget import Budget, LimitExceededError, Limits
from engine.equivalence.ground_cover import Case, Gap, cover, exact_cover, uniform_cover
from engine.equivalence.grounding import Rule, TooManyStatesError
from engine.equivalence.instances import Change, ground_change
from engine.equivalence.schemas import lift
from engine.errors import CancelledError
from engine.pddl.model import Domain


def budget(**limits) -> Budget:
    return Budget(Limits(**limits), lambda: False)


def rules(made: Domain, objects: int, distinct: bool = False) -> list[Rule]:
    everything = frozenset(range(objects))
    schemas = lift(made, ()).schemas
    return [
        Rule.of(i, schema, (everything,) * len(schema.parameters), distinct)
        for i, schema in enumerate(schemas)
    ]


def change(pre=(), npre=(), add=(), delete=()) -> Change:
    return Change(frozenset(pre), frozenset(npre), frozenset(add), frozenset(delete))


def chain(domain, length: int) -> Domain:
    steps = [(f"s{i}", "", f"(p{i})", f"(p{i + 1}) (not (p{i}))") for i in range(length)]
    return domain(" ".join(f"(p{i})" for i in range(length + 1)), *steps)


def test_a_macro_of_any_length_is_found(domain) -> None:
    made = chain(domain, 6)
    found = uniform_cover(
        change(pre=[(0,)], npre=[(i,) for i in range(1, 7)], add=[(6,)], delete=[(0,)]),
        rules(made, 0),
        budget(),
    )
    assert found is not None
    assert [step[0] for step in found[0].steps] == list(range(6))


def test_what_is_not_known_may_not_be_touched(domain) -> None:
    """A token that lies in the way moves on first; one sequence does not fit all states."""
    made = chain(domain, 3)
    jump = change(pre=[(0,)], add=[(3,)], delete=[(0,)])
    assert uniform_cover(jump, rules(made, 0), budget()) is None
    found = exact_cover(jump, rules(made, 0), budget())
    assert not isinstance(found, Gap)
    by_condition = {(case.true, case.false): [s[0] for s in case.steps] for case in found}
    assert by_condition[frozenset(), frozenset({(1,), (2,)})] == [0, 1, 2]
    assert by_condition[frozenset({(1,), (2,)}), frozenset()] == [2, 1, 0]


def test_inclusion_not_equality(domain) -> None:
    """A weaker precondition and an effect that holds anyway do not matter."""
    made = domain("(p) (q)", ("a", "", "", "(q)"))
    assert cover(change(pre=[(0,)], add=[(1,)]), rules(made, 0), budget()) == (
        Case(frozenset(), frozenset(), ((0, ()),)),
    )
    stricter = domain("(p) (q)", ("a", "", "(p)", "(q)"))
    assert cover(change(add=[(1,)]), rules(stricter, 0), budget()) == Gap(frozenset())


def test_cases_over_an_atom_the_action_does_not_test(domain) -> None:
    tool = domain(
        "(tool) (done)",
        ("get", "", "(not (tool))", "(tool)"),
        ("work", "", "(tool)", "(done)"),
        ("put", "", "(tool)", "(not (tool))"),
    )
    found = cover(change(add=[(1,)]), rules(tool, 0), budget())
    assert not isinstance(found, Gap)
    assert [[step[0] for step in case.steps] for case in found] == [[0, 1, 2], [1]]
    assert found[0].false == {(0,)}
    assert found[1].true == {(0,)}


def test_nothing_is_needed_for_an_action_without_effect_or_never_applicable(domain) -> None:
    made = domain("(p)")
    for idle in (change(pre=[(0,)]), change(pre=[(0,)], npre=[(0,)], add=[(0,)])):
        assert cover(idle, rules(made, 0), budget()) == (Case(frozenset(), frozenset(), ()),)


def test_distinct_parameters_need_different_objects(domain) -> None:
    made = domain("(p ?x)", ("a", "?x ?unused", "", "(p ?x)"))
    target = change(add=[(0, 0)])
    assert cover(target, rules(made, 1, distinct=True), budget()) == Gap(frozenset())
    assert not isinstance(cover(target, rules(made, 1), budget()), Gap)
    assert not isinstance(cover(target, rules(made, 2, distinct=True), budget()), Gap)


def test_an_effect_that_nothing_can_repair_is_not_taken(domain) -> None:
    made = domain("(p) (q)", ("a", "", "", "(p) (q)"))
    assert cover(change(add=[(0,)]), rules(made, 0), budget()) == Gap(frozenset())


def test_bounds_limits_and_stop_requests_end_a_search(domain) -> None:
    """Twelve switches that have to be set and cleared again around one step."""
    switches = range(12)
    steps = [(f"on{i}", "", f"(not (b{i}))", f"(b{i})") for i in switches]
    steps += [(f"off{i}", "", f"(b{i})", f"(not (b{i}))") for i in switches]
    steps.append(("work", "", " ".join(f"(b{i})" for i in switches), "(done)"))
    made = domain(" ".join(f"(b{i})" for i in switches) + " (done)", *steps)
    target = change(add=[(12,)])
    with pytest.raises(LimitExceededError, match="limit of 100 states"):
        exact_cover(target, rules(made, 0), budget(states=100))
    with pytest.raises(LimitExceededError, match=r"limit of 0\.001 s"):
        exact_cover(target, rules(made, 0), budget(seconds=0.001))
    with pytest.raises(TooManyStatesError):
        exact_cover(target, rules(made, 0), budget(), bound=50)
    with pytest.raises(CancelledError):
        exact_cover(target, rules(made, 0), Budget(Limits(), lambda: True))


def test_ground_actions_that_coincide_are_normalized(domain) -> None:
    made = domain("(p ?x)", ("swap", "?x ?y", "(p ?x)", "(p ?y) (not (p ?x))"))
    schema = lift(made, ()).schemas[0]
    assert ground_change(schema, (0, 0)).idle
