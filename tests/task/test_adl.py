"""Conditional effects and axioms: the file format, the normal form and the semantics in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from reference import fdr
from reference.adl_tasks import adl_tasks, axiom_task, flipped
from reference.random_tasks import make_task

from engine.errors import SasError
from engine.task.axioms import Axiom
from engine.task.sas import normalize_effects, parse_sas, write_sas
from engine.task.successors import is_applicable, successor
from engine.task.task import ConditionalEffect, Fact, Operator, Task, Variable
from engine.verify import semantics

BELL = """\
begin_version
3
end_version
begin_metric
0
end_metric
3
begin_variable
var0
-1
3
Atom at(hall)
Atom at(tower)
<none of those>
end_variable
begin_variable
var1
2
2
Atom high()
NegatedAtom high()
end_variable
begin_variable
var2
0
2
Atom quiet()
NegatedAtom quiet()
end_variable
0
begin_state
1
1
0
end_state
begin_goal
1
1 0
end_goal
1
begin_operator
ring
0
2
1 0 1 0 -1 2
0 0 -1 0
1
end_operator
2
begin_rule
2
0 1
2 0
1 1 0
end_rule
begin_rule
1
0 0
2 0 1
end_rule
"""


def test_reads_conditional_effects_and_axioms() -> None:
    task = parse_sas(BELL)
    assert task.variables[1].layer == 2
    assert task.variables[1].default == 1
    assert task.variables[2].default == 0
    assert task.axioms == (Axiom(((0, 1), (2, 0)), 1), Axiom(((0, 0),), 2))
    assert task.init == (1, 0, 0)  # extended: the file says (1, 1, 0)
    assert task.state_variables == (0,)
    assert task.derived_variables == (1, 2)
    assert not task.is_plain
    (ring,) = task.operators
    assert ring.effect == ((0, 0),)  # it comes later and hides the conditional one
    assert ring.conditional == ()


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("var1\n2\n2", "var1\n-2\n2", "at least -1"),
        ("var1\n2\n2\nAtom high()", "var1\n2\n3\nAtom high()\nAtom low()", "must have 2 values"),
        ("1 0 1 0 -1 2", "1 0 1 1 -1 0", r"\(ring\) sets variable 1, which is derived"),
        ("1 0 1 0 -1 2", "1 0 3 0 -1 2", "names value 3"),
        ("1 0 1 0 -1 2", "1 7 0 0 -1 2", "names variable 7"),
        ("1 0 1 0 -1 2", "2 0 1 0 -1 2", "n conditions"),
        ("1 0 1 0 -1 2", "2 0 1 0 0 0 -1 2", "two values of variable 0"),
        ("1 1 0\nend_rule", "0 1 0\nend_rule", "which is not derived"),
        ("1 1 0\nend_rule", "1 0 1\nend_rule", "the default of variable 1 is 0 here, 1 in"),
        ("1 1 0\nend_rule", "1 1 1\nend_rule", "its default value"),
        ("1 1 0\nend_rule", "1 1 2\nend_rule", "names value 2"),
        ("1 1 0\nend_rule", "1 1\nend_rule", "'variable default value'"),
        ("2\n0 1\n2 0\n", "2\n0 1\n1 1\n", "the default of variable 1 of its layer"),
        ("2\n0 1\n2 0\n", "2\n0 1\n0 0\n", "two values of variable 0"),
        ("1\n0 0\n2 0 1", "1\n1 0\n2 0 1", "of a later layer"),
        ("begin_rule\n1\n0 0", "begin_rule\n9\n0 0", "more than the rest|expected"),
    ],
)
def test_every_rule_of_the_format_is_checked(old: str, new: str, message: str) -> None:
    text = changed(BELL, old, new)
    with pytest.raises(SasError, match=message) as caught:
        parse_sas(text)
    first = BELL[: BELL.index(old)].count("\n") + 1
    assert first <= (caught.value.location.line or 0) <= first + new.count("\n") + 1


def test_a_condition_may_say_a_thing_twice() -> None:
    text = BELL.replace("1 0 1 0 -1 2\n0 0 -1 0", "0 0 -1 0\n2 0 1 0 1 0 -1 2")
    assert parse_sas(text).operators[0].conditional == ((((0, 1),), (0, 2)),)


def test_a_derived_variable_without_rules_keeps_its_default() -> None:
    text = BELL[: BELL.index("2\nbegin_rule")] + "0\n"
    assert parse_sas(text).init == (1, 1, 0)


def test_read_write_read_is_the_identity() -> None:
    for task in adl_tasks(200):
        again = parse_sas(write_sas(task))
        assert again == replace(task, mutexes=again.mutexes)
        assert again.hash == task.hash
        assert write_sas(again) == write_sas(task)


def test_hashes_of_plain_tasks_do_not_change() -> None:
    """Workspaces, caches and pools name tasks by them."""
    operators = (Operator("op 0", ((0, 1),), ((1, 0),), 3),)
    task = make_task((2, 2), operators, (0, 1), ((1, 0),))
    assert task.hash == "ec101c30c104936f3ebd6f830b28534e57bdabc6ca50abe9b88e76da35eb714a"
    assert repr(task.variables[0]) == (
        "Variable(name='var0', values=('Atom holds(v0, x0)', 'Atom holds(v0, x1)'), layer=-1)"
    )


def test_hashes_tell_conditional_effects_defaults_and_axioms_apart() -> None:
    task = parse_sas(BELL)
    (ring,) = task.operators
    others = [
        replace(task, axioms=task.axioms[:1]),
        replace(task, operators=(replace(ring, conditional=((((0, 1),), (0, 2)),)),)),
        replace(task, variables=(*task.variables[:2], replace(task.variables[2], default=1))),
    ]
    assert len({task.hash, *(other.hash for other in others)}) == 4


def effects_in_order(
    precondition: dict[int, int], lines: list[ConditionalEffect], state: tuple[int, ...]
) -> tuple[int, ...] | None:
    if any(state[v] != x for v, x in precondition.items()):
        return None
    values = list(state)
    for condition, (variable, value) in lines:
        if all(state[v] == x for v, x in condition):
            values[variable] = value
    return tuple(values)


def test_the_normal_form_does_what_the_lines_do_in_order() -> None:
    choose = random.Random(7)
    sizes = (2, 3, 3)

    def facts(most: int) -> tuple[Fact, ...]:
        chosen = choose.sample(range(3), choose.randint(0, most))
        return tuple((v, choose.randrange(sizes[v])) for v in chosen)

    for _ in range(400):
        precondition = dict(facts(2))
        lines: list[ConditionalEffect] = []
        for _ in range(choose.randint(0, 5)):
            variable = choose.randrange(3)
            lines.append((facts(2), (variable, choose.randrange(sizes[variable]))))
        effect, conditional = normalize_effects(precondition, lines)
        for state in product(*map(range, sizes)):
            expected = effects_in_order(precondition, lines, state)
            normal = [*(((), fact) for fact in effect), *conditional]
            assert effects_in_order(precondition, normal, state) == expected
        assert normalize_effects(precondition, normal) == (effect, conditional)


Successor = Callable[[Task, Operator, tuple[int, ...]], tuple[int, ...]]


@pytest.mark.parametrize("apply", [successor, semantics.successor], ids=["task", "verify"])
def test_successors_are_those_of_the_definition(apply: Successor) -> None:
    for task in adl_tasks(120, first=1000):
        for state in fdr.all_states(task):
            for operator in task.operators:
                if is_applicable(operator, state):
                    assert apply(task, operator, state) == fdr.apply(task, operator, state)


@pytest.mark.parametrize("extend", [Task.extend, semantics.derive], ids=["task", "verify"])
def test_derived_values_are_those_of_the_definition(
    extend: Callable[[Task, tuple[int, ...]], tuple[int, ...]],
) -> None:
    for seed in range(150):
        task = axiom_task(seed)
        for state in fdr.all_states(task):
            assert extend(task, flipped(task, state)) == state


def test_the_verifier_refuses_states_whose_derived_values_are_wrong() -> None:
    task = parse_sas(BELL)
    assert semantics.find_state_problem(task.init, task) == ""
    problem = semantics.find_state_problem(flipped(task, task.init), task)
    assert problem == "its derived values do not follow from the axioms"


def test_p66_the_state_section_holds_defaults_not_values() -> None:
    task = parse_sas(BELL)
    assert task.init[1] != task.variables[1].default
    again = parse_sas(write_sas(task))
    assert again.variables[1].default == 1
    for state in fdr.all_states(task):
        assert fdr.successors(again, state) == fdr.successors(task, state)


def test_p67_another_initial_state_is_extended() -> None:
    task = parse_sas(BELL)
    assert replace(task, init=(0, 0, 0)).init == (0, 1, 1)


def test_variables_without_a_layer_have_no_default() -> None:
    assert Variable("v", ("a", "b")).default is None
