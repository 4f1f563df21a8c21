"""The native state table and successor generator against the definition of FDR tasks."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import fdr
from reference.random_tasks import make_task, tasks

from engine.native.states import NativeTask, Rows
from engine.task.states import StateTable
from engine.task.task import Operator, Task


@given(tasks())
def test_successors_agree_with_the_definition_in_every_state(task: Task) -> None:
    states = fdr.all_states(task)
    table = StateTable(task)
    ids = table.add(states)
    assert ids.tolist() == list(range(len(states)))
    row_begin, operators, successors = table.successors_of(ids)
    assert len(table) == len(states)
    for i, state in enumerate(states):
        row = slice(row_begin[i], row_begin[i + 1])
        expected = fdr.successors(task, state)
        assert operators[row].tolist() == [o for o, _ in expected]
        assert [states[s] for s in successors[row]] == [successor for _, successor in expected]
        assert table.successors(i)[0].tolist() == [o for o, _ in expected]
    assert table.is_goal(ids).tolist() == [fdr.holds(task.goal, state) for state in states]


@given(tasks(), st.data())
def test_apply_says_where_an_operator_is_not_applicable(task: Task, data: st.DataObject) -> None:
    table = StateTable(task)
    start = int(table.add(task.init)[0])
    for o, operator in enumerate(task.operators):
        successor = int(table.apply(start, o)[0])
        if fdr.holds(operator.precondition, task.init):
            expected = fdr.apply(task, operator, task.init)
            assert tuple(table.values(successor)[0].tolist()) == expected
        else:
            assert successor == -1


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=30), st.data())
def test_states_of_any_width_are_kept_exactly(sizes: list[int], data: st.DataObject) -> None:
    task = make_task(tuple(sizes), (), (0,) * len(sizes), ())
    state = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    states = data.draw(st.lists(state, min_size=1, max_size=30))
    table = StateTable(task)
    ids = table.add(states)
    first_seen = list(dict.fromkeys(states))
    assert ids.tolist() == [first_seen.index(s) for s in states]
    assert [tuple(row) for row in table.values(ids).tolist()] == states
    assert table.find(states).tolist() == ids.tolist()
    assert table.add(states).tolist() == ids.tolist()


def test_a_large_table_keeps_its_ids() -> None:
    sizes = (64, 64, 64, 3)
    task = make_task(sizes, (), (0,) * 4, ())
    generator = np.random.default_rng(1)
    order = generator.permutation(int(np.prod(sizes)))[:700_000]
    states = np.stack(np.unravel_index(order, sizes), axis=1)
    table = StateTable(task)
    for part in np.array_split(states, 7):
        table.add(part)
    assert len(table) == len(states)
    assert (table.find(states) == np.arange(len(states))).all()
    assert (table.values(np.arange(len(states))) == states).all()
    assert table.bytes < 20 * len(states)


def test_states_not_in_the_table_are_minus_one() -> None:
    table = StateTable(make_task((2, 3), (), (0, 0), ()))
    table.add((0, 2))
    assert table.find([(0, 2), (1, 2)]).tolist() == [0, -1]


def test_wide_gaps_between_values_and_many_preconditions() -> None:
    rng = np.random.default_rng(5)
    sizes = (1000, 1000, *(2,) * 70)
    operators = []
    for number in range(300):
        chosen = sorted(
            rng.choice(len(sizes), size=int(rng.integers(0, 40)), replace=False).tolist()
        )
        precondition = tuple((v, int(rng.integers(0, min(sizes[v], 50)))) for v in chosen)
        operators.append(Operator(f"op {number}", precondition, ((0, 7),), 1))
    task = make_task(sizes, tuple(operators), (0,) * len(sizes), ())
    states = [
        tuple(
            dict(operator.precondition).get(v, int(rng.integers(0, size)))
            for v, size in enumerate(sizes)
        )
        for operator in operators
    ]
    table = StateTable(task)
    row_begin, found, _ = table.successors_of(table.add(states))
    for i, state in enumerate(states):
        assert found[row_begin[i] : row_begin[i + 1]].tolist() == fdr.applicable(task, state)


def test_a_task_without_variables_has_one_state() -> None:
    task = make_task((), (Operator("noop", (), (), 0),), (), ())
    table = StateTable(task)
    assert table.add(()).tolist() == [0]
    assert table.successors(0)[1].tolist() == [0]


@pytest.mark.parametrize("state", [(0, 3), (-1, 0), (2, 0)])
def test_values_outside_the_domain_are_refused(state: tuple[int, int]) -> None:
    table = StateTable(make_task((2, 3), (), (0, 0), ()))
    with pytest.raises(ValueError, match="out of range"):
        table.add(state)


def test_wrong_shapes_types_and_ids_are_refused() -> None:
    table = StateTable(make_task((2, 3), (), (0, 0), ()))
    with pytest.raises(ValueError, match="shape"):
        table.add((0, 1, 0))
    with pytest.raises(TypeError, match="integers"):
        table.add((0.5, 1.0))
    with pytest.raises(ValueError, match="32 bits"):
        table.add((0, 2**40))
    with pytest.raises(ValueError, match="out of range"):
        table.values([0])
    with pytest.raises(ValueError, match="operators"):
        table.apply([], [0])


def test_malformed_tasks_are_refused() -> None:
    bad = make_task((2, 2), (Operator("twice", ((0, 0), (0, 1)), (), 1),), (0, 0), ())
    with pytest.raises(ValueError, match="out of range"):
        StateTable(bad)


def test_facts_without_number_are_refused() -> None:
    sizes = np.array([2**31 - 1, 2**31 - 1], np.int32)
    none, facts = np.empty(0, np.int64), np.empty((0, 2), np.int32)
    rows = Rows(np.zeros(1, np.int32), facts)
    with pytest.raises(ValueError, match="out of range"):
        NativeTask(domain_sizes=sizes, preconditions=rows, effects=rows, costs=none, goal=facts)


def test_a_table_outlives_the_callers_reference_to_the_task() -> None:
    task = make_task((2, 2), (Operator("flip", (), ((0, 1),), 1),), (0, 0), ((0, 1),))
    table = StateTable(pickle.loads(pickle.dumps(task)))
    del task
    gc.collect()
    start = table.add((0, 0))[0]
    assert table.values(table.successors(int(start))[1]).tolist() == [[1, 0]]
