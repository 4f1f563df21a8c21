"""The pitfalls of conditional effects and axioms, each on the smallest task that shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference import fdr
from reference.adl_tasks import adl_tasks, axiom_task, flipped
from reference.random_tasks import make_task
from reference.relaxation import LMCUT_RULES

from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.oracles.undo import asked_facts
from engine.policies.asnets.action_operators import ActionOperators
from engine.policies.plugin.host import PluginTask
from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.search.heuristics import Evaluator
from engine.task.atoms import fluent_atoms, format_fact, state_atoms
from engine.task.axioms import Axiom
from engine.task.sas import parse_sas, write_sas
from engine.task.states import StateTable, require_state
from engine.task.successors import successor
from engine.task.task import ConditionalEffect, Fact, Operator, Task, Variable
from engine.verify import semantics


def task_of(
    sizes: tuple[int, ...],
    init: tuple[int, ...],
    goal: tuple[Fact, ...],
    *operators: tuple[tuple[Fact, ...], tuple[Fact, ...], tuple[ConditionalEffect, ...], int],
) -> Task:
    listed = tuple(
        Operator(f"op {n}", pre, effect, cost, conditional)
        for n, (pre, effect, conditional, cost) in enumerate(operators)
    )
    return make_task(sizes, listed, init, goal)


def derive(task: Task, defaults: dict[int, int], *axioms: tuple[tuple[Fact, ...], int]) -> Task:
    variables = tuple(
        replace(variable, layer=0, default=defaults[number]) if number in defaults else variable
        for number, variable in enumerate(task.variables)
    )
    return replace(task, variables=variables, axioms=tuple(Axiom(*axiom) for axiom in axioms))


def every_successor(task: Task, state: fdr.State) -> set[fdr.State]:
    """By kernels, by Python, by the verifier and by what plug-ins see."""
    table = StateTable(task)
    (number,) = table.add(state).tolist()
    kernel = tuple(table.values(table.apply(number, 0))[0].tolist())
    operator = task.operators[0]
    return {
        kernel,
        successor(task, operator, state),
        semantics.successor(task, operator, state),
        PluginTask(task).successor(state, 0),
        fdr.apply(task, operator, state),
    }


def hstar(task: Task) -> int:
    table, costs = hstar_all(task, "product")
    return int(costs[table.find(task.init)[0]])


def test_p48_conditions_see_the_state_before() -> None:
    swap = ((((1, 1),), (0, 1)), (((1, 0),), (0, 0)), (((0, 0),), (1, 0)), (((0, 1),), (1, 1)))
    task = task_of((2, 2), (0, 1), ((0, 1),), ((), (), swap, 1))
    assert every_successor(task, (0, 1)) == {(1, 0)}


def test_p49_of_conflicting_effects_the_later_one_counts() -> None:
    effects = ((((0, 0),), (1, 1)), (((0, 0),), (1, 2)))
    task = task_of((2, 3), (0, 0), ((1, 2),), ((), (), effects, 1))
    assert every_successor(task, (0, 0)) == {(0, 2)}


def test_p50_an_effect_that_changes_nothing_can_hide_another() -> None:
    task = task_of((3,), (1,), ((0, 2),), ((), ((0, 2),), ((((0, 1),), (0, 1)),), 1))
    assert every_successor(parse_sas(write_sas(task)), (1,)) == {(1,)}
    assert every_successor(parse_sas(write_sas(task)), (0,)) == {(2,)}


def test_p51_conditions_are_neither_preconditions_nor_forgotten() -> None:
    task = task_of((2, 2), (0, 0), ((1, 1),), ((), ((1, 1),), ((((0, 1),), (1, 0)),), 1))
    assert Evaluator(task, "hmax")(task.init)[0] == hstar(task) == 1
    task = task_of((2, 2), (1, 0), ((1, 1),), ((), (), ((((0, 1),), (1, 1)),), 1))
    assert Evaluator(task, "hmax")(task.init)[0] == hstar(task) == 1


BOTH = ((((0, 0),), (0, 1)), (((1, 0),), (1, 1)))


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_p52_pieces_of_an_action_share_its_cost(rule: str) -> None:
    task = task_of((2, 2), (0, 0), ((0, 1), (1, 1)), ((), (), BOTH, 1))
    assert Evaluator(task, rule)(task.init)[0] == hstar(task) == 1


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_p53_a_piece_does_not_go_for_one_of_another_action(rule: str) -> None:
    task = task_of((2, 2), (0, 0), ((0, 1), (1, 1)), ((), (), BOTH, 1), ((), ((0, 1),), (), 1))
    assert Evaluator(task, rule)(task.init)[0] == hstar(task) == 1


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_p54_landmarks_are_given_back_by_group(rule: str) -> None:
    for task in adl_tasks(40, first=500):
        states = fdr.all_states(task)
        truth = fdr.optimal_costs(task, states)
        evaluator = Evaluator(task, rule)
        for state in states[::7]:
            reached = fdr.successors(task, state)
            values = evaluator.successors(state, [o for o, _ in reached]).tolist()
            assert all(v <= truth[s] for (_, s), v in zip(reached, values, strict=True))


def test_p55_lmcut_is_at_least_hmax_although_its_cuts_need_not_be() -> None:
    chain = ((((0, 1),), (1, 1)), (((1, 1),), (2, 1)))
    task = task_of((2, 2, 2), (1, 0, 0), ((2, 1),), ((), (), chain, 1))
    assert hstar(task) == 2
    for heuristic in ("hmax", *LMCUT_RULES):
        assert Evaluator(task, heuristic)(task.init)[0] == 2


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_p56_after_a_cut_all_pieces_of_a_group_are_cheaper(rule: str) -> None:
    """Else cuts of cost 0 appear, which is a defect of the kernel."""
    many = tuple((((v, 0), ((v + 1) % 6, v % 2)), (v, 1)) for v in range(6))
    task = task_of(
        (2,) * 6,
        (0,) * 6,
        tuple((v, 1) for v in range(6)),
        *(((), (), tuple((tuple(sorted(c)), f) for c, f in many[i:]), 2) for i in range(4)),
        *(((), ((v, v % 2),), (), 1) for v in range(6)),
    )
    states = fdr.all_states(task)
    truth = fdr.optimal_costs(task, states)
    values = Evaluator(task, rule)(states).tolist()
    assert all(value <= truth[state] for state, value in zip(states, values, strict=True))


def test_p63_conditions_and_bodies_are_relevant() -> None:
    for task in adl_tasks(60, first=900):
        truth = fdr.optimal_costs(task, fdr.all_states(task))[task.init]
        found = search(task, heuristic="blind").cost  # works on the relevant part
        assert (INFINITY if found is None else found) == truth
    task = task_of((2, 2), (1, 0), ((1, 1),), ((), (), ((((0, 1),), (1, 1)),), 1))
    assert search(task).cost == 1


def test_p64_of_operators_of_one_name_the_applicable_one_is_chosen() -> None:
    operators = tuple(Operator("leave", ((0, x),), ((0, 2),), 1) for x in (0, 1))
    task = make_task((3,), operators, (1,), ((0, 2),))
    actions = ActionOperators(task, ["leave", "fly"])
    states = np.array([[0], [1], [1], [0]], np.int32)
    assert actions.chosen(np.array([0, 0, 1, -1]), states).tolist() == [0, 1, -2, -1]


def test_p65_values_are_bounded_by_the_pieces_not_by_the_actions() -> None:
    chain = tuple((((v, 1),), (v + 1, 1)) for v in range(7))
    task = task_of((2,) * 8, (1, *(0,) * 7), ((7, 1),), ((), (), chain, 2**29))
    assert hstar(task) == 7 * 2**29
    for heuristic in ("hmax", *LMCUT_RULES):
        assert Evaluator(task, heuristic)(task.init)[0] == 7 * 2**29


def test_p67_every_door_computes_derived_values() -> None:
    for seed in range(20):
        task = axiom_task(seed)
        for state in fdr.all_states(task)[:5]:
            wrong = flipped(task, state)
            table = StateTable(task)
            assert tuple(table.values(table.add(wrong))[0].tolist()) == state
            assert require_state(task, wrong) == state
            assert replace(task, init=wrong).init == state
            expected = Evaluator(task, "hmax")(state)
            assert (Evaluator(task, "hmax")(wrong) == expected).all()
            assert search(task, state=wrong).cost == search(task, state=state).cost


def falling(*axioms: tuple[tuple[Fact, ...], int]) -> Task:
    """Variable 0 can be put to 0; those that axioms derive have the default 1."""
    count = 1 + len({head for _, head in axioms})
    task = task_of((2,) * count, (1, *(0,) * (count - 1)), ((1, 1),), ((), ((0, 0),), (), 1))
    return derive(task, dict.fromkeys(range(1, count), 1), *axioms)


@pytest.mark.parametrize("heuristic", ["hmax", "hadd", "ff", *LMCUT_RULES])
def test_p68_defaults_can_be_reached_again(heuristic: str) -> None:
    task = falling((((0, 1),), 1))
    assert hstar(task) == 1
    assert Evaluator(task, heuristic)(task.init)[0] == 1


@pytest.mark.parametrize("heuristic", ["hmax", "hadd", "ff", *LMCUT_RULES])
def test_p69_inside_a_cycle_rules_need_not_be_blocked(heuristic: str) -> None:
    task = falling((((0, 1),), 1), (((2, 0),), 1), (((1, 0),), 2))
    assert hstar(task) == 1
    assert Evaluator(task, heuristic)(task.init)[0] <= 1


def test_p70_negation_waits_for_its_layer() -> None:
    for seed in range(80):
        task = axiom_task(seed)
        table = StateTable(task)
        states = fdr.all_states(task)
        found = table.values(table.add([flipped(task, state) for state in states])).tolist()
        assert [tuple(row) for row in found] == states


def test_p71_conditions_on_derived_variables_see_the_state_before() -> None:
    task = task_of((2, 2, 2), (0, 0, 0), ((1, 1),), ((), ((0, 1),), ((((2, 1),), (1, 1)),), 1))
    task = derive(task, {2: 0}, (((0, 1),), 2))
    assert every_successor(task, (0, 0, 0)) == {(1, 0, 1)}
    assert every_successor(task, (1, 0, 1)) == {(1, 1, 1)}


def test_p72_derived_atoms_are_no_part_of_a_state() -> None:
    names = (("Atom at(a)", "Atom at(b)"), ("Atom safe()", "NegatedAtom safe()"))
    made_up = ("Atom new-axiom@3(a)", "NegatedAtom new-axiom@3(a)")
    variables = (
        Variable("v0", names[0]),
        Variable("v1", names[1], 0, 1),
        Variable("v2", made_up, 0, 1),
    )
    task = Task(variables, (), (0, 0, 0), ((2, 0),), axioms=(Axiom((), 1), Axiom((), 2)))
    assert fluent_atoms(task, task.init) == [("at", "a")]
    assert state_atoms(task, task.init) == {("at", "a")}
    assert format_fact(made_up[0]) == "<condition 3 of a>"
    assert format_fact(made_up[1]) == "(not <condition 3 of a>)"


def test_p73_derived_variables_are_counted_nowhere() -> None:
    task = axiom_task(1)
    own = [task.domain_sizes[v] for v in task.state_variables]
    table, _ = hstar_all(task, "product")
    assert len(table) == np.prod(own)


def test_p73_a_derived_fact_is_nothing_new() -> None:
    """Where both other variables have changed before, only the derived one has a new value."""
    task = task_of((2, 2, 2), (0, 0, 0), ((2, 1),), *(((), ((v, 1),), (), 1) for v in range(2)))
    task = derive(task, {2: 0}, (((0, 1), (1, 1)), 2))
    sizes = set()
    for seed in range(20):
        options = FuzzOptions(size=10, walk_length=2, walks=50, seed=seed, novelty=1)
        fuzzer = Fuzzer(StateTable(task), None, options)
        sizes.add(len(list(fuzzer.grow())))
    assert max(sizes) == 3


def test_p74_a_conditional_effect_can_move_what_axioms_depend_on() -> None:
    task = task_of((2, 2, 2), (0, 1, 0), ((2, 1),), ((), (), ((((1, 1),), (0, 1)),), 1))
    task = derive(task, {2: 0}, (((0, 1),), 2))
    assert every_successor(task, (0, 1, 0)) == {(1, 1, 1)}


def test_p75_goals_to_go_back_to_have_no_derived_facts() -> None:
    for seed in range(20):
        task = axiom_task(seed)
        assert not {v for v, _ in asked_facts(task)} & set(task.derived_variables)
