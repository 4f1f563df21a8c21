"""The activation of a network agrees with its definition, and what does not fit is refused."""

from dataclasses import replace

import numpy as np
import pytest

from engine.native.networks import IndexRows, NativeNetwork, NetworkArrays, elu
from engine.native.policies import NativePolicy
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.task.states import native_task
from engine.task.task import Operator
from tests.reference.random_tasks import make_task


def test_elu() -> None:
    steps = np.linspace(-100.0, 20.0, 20011, dtype=np.float32)
    tiny = np.array([0.0, -1e-30, 1e-30, -1e30, 1e30, -np.inf, np.inf], np.float32)
    values = np.concatenate([steps, tiny, -np.abs(steps) / 1e4])
    expected = np.where(values > 0, values, np.expm1(np.minimum(values, 0).astype(np.float64)))
    np.testing.assert_allclose(elu(values), expected.astype(np.float32), rtol=2e-7, atol=0.0)


def test_what_is_no_number_stays_none() -> None:
    assert np.isnan(elu(np.array([1.0, np.nan], np.float32))).tolist() == [False, True]


def rows(*lists: list[int]) -> IndexRows:
    begin = np.cumsum([0, *map(len, lists)])
    entries = [number for part in lists for number in part]
    return IndexRows(begin.astype(np.int32), np.array(entries, np.int32))


def small_network() -> NetworkArrays:
    """Two operators of one schema; each is related to a fact of its own and must see it hold."""
    return NetworkArrays(
        hidden=4,
        layers=1,
        schemas=1,
        facts=np.array([[0, 1], [1, 1]], np.int32),
        required=rows([0], [1]),
        forbidden=rows([], []),
        base=np.array([[0, 0]], np.int32),
        sources=rows([0, 2], [1, 2]),
        values=np.array([1, 2, 1, 2], np.int32),
        schema=np.zeros(2, np.int32),
        products=rows([0], [1]),
        pools=rows([0], [1]),
        blocks=np.array([[2, 1, 0]], np.int32),
    )


TABLE = np.array([[0, 0], [1, 2], [3, -1], [2, 1]], np.float32).repeat(2, axis=1) / 2
WEIGHTS = np.concatenate(
    [
        np.eye(4).ravel(),  # of the pools
        [0.25, 0.25, -0.25, -0.25],  # bias of a fact
        [1, 1, 1, 1],  # a fact in the operator
        [2, 2, 3, 3],  # the operator itself
        [10],  # its bias
    ]
).astype(np.float32)


def policy_of(network: NativeNetwork) -> NativePolicy:
    """Its first action has two operators, its second one none."""
    set_both = Operator("set both", ((0, 1), (1, 1)), ((0, 0), (1, 0)), 1)
    task = make_task((2, 2), (Operator("set", (), ((0, 1),), 1), set_both), (0, 0), ((0, 1),))
    return NativePolicy.network(native_task(task), network, rows([1, 0], []), 1e-5)


def test_a_network_that_can_be_computed_by_hand() -> None:
    network = NativeNetwork(small_network(), 2, TABLE, WEIGHTS)
    logits, applicable = network.logits(np.array([[1, 0]], np.int32))
    assert applicable.tolist() == [[True, False]]
    # Row 3 of the table is (1, 1, .5, .5), its fact a quarter more or less; row 0 likewise.
    low = np.expm1(-0.25)
    assert logits[0].tolist() == pytest.approx([3 + 4 + 3 + 10, 0.5 + 2 * low + 10], rel=1e-6)
    states = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.int32)
    # Of the operators of an action the applicable one counts.
    assert policy_of(network).decide(states).tolist() == [0, NO_OPERATION, 1, NO_ACTION]


def test_a_logit_that_is_no_number_decides_nothing() -> None:
    network = NativeNetwork(small_network(), 2, TABLE * np.float32(np.nan), WEIGHTS)
    assert policy_of(network).decide(np.array([[1, 1]], np.int32)).tolist() == [NO_ACTION]


@pytest.mark.parametrize(
    "change",
    [
        {"facts": np.array([[0, 1], [2, 1]], np.int32)},
        {"required": rows([2], [1])},
        {"forbidden": rows([], [-1])},
        {"base": np.array([[0, 1]], np.int32)},
        {"base": np.array([[0, -1]], np.int32)},
        {"sources": rows([0, 3], [1, 2])},
        {"values": np.array([1, 2, 1, -2], np.int32)},
        {"schema": np.array([0, 1], np.int32)},
        {"products": rows([0], [2])},
        {"pools": rows([0], [2])},
        {"blocks": np.array([[1, 2, 0]], np.int32)},
        {"layers": 2},
        {"hidden": 0},
        {"hidden": 6},
        {"required": rows([0])},
        {"values": np.array([1, 2, 1], np.int32)},
    ],
)
def test_what_does_not_fit_is_refused(change: dict) -> None:
    with pytest.raises(ValueError, match=r"out of range|expected shape|beginning and an end"):
        NativeNetwork(replace(small_network(), **change), 2, TABLE, WEIGHTS)


def test_states_of_another_task_are_refused() -> None:
    network = NativeNetwork(small_network(), 2, TABLE, WEIGHTS)
    with pytest.raises(ValueError, match="expected shape"):
        network.logits(np.zeros((1, 3), np.int32))
    with pytest.raises(ValueError, match="expected shape"):
        policy_of(network).decide(np.zeros((1, 3), np.int32))
    with pytest.raises(ValueError, match="out of range"):
        policy_of(network).decide(np.array([[0, 2]], np.int32))
    with pytest.raises(ValueError, match="out of range"):
        NativeNetwork(small_network(), 2, TABLE, WEIGHTS[1:])
