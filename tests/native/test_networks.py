"""The kernels between the matrix products of a network agree with their definitions."""

import numpy as np
import pytest
import torch

from engine.native.networks import NativePools, elu

FACTS, SLOTS = [3, 0, 1, 2], [2, 4, 1, 3]
OPERATORS, EMPTY = 7, -1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 3, 16, 48])
def test_elu(width: int, dtype: torch.dtype) -> None:
    steps = torch.linspace(-100.0, 20.0, 20011, dtype=dtype)
    tiny = torch.tensor([0.0, -1e-30, 1e-30, -1e30, 1e30, -torch.inf, torch.inf], dtype=dtype)
    values = torch.cat((steps, tiny, -steps.abs() / 1e4))
    rows = values[: len(values) // width * width].view(-1, width).contiguous()
    bias = torch.arange(width, dtype=dtype) / 8
    sums = rows + bias
    expected = torch.where(sums > 0, sums, torch.expm1(sums.double()).to(dtype))
    elu(rows, bias)
    torch.testing.assert_close(rows, expected, rtol=2e-7, atol=0.0)


def test_what_is_no_number_stays_none() -> None:
    rows = torch.tensor([[1.0, torch.nan]])
    elu(rows, torch.zeros(2))
    assert rows.isnan().tolist() == [[False, True]]


def some_pools() -> list[list[int]]:
    """Per pool its members: none, one, or many."""
    random = np.random.default_rng(3)
    count = sum(facts * slots for facts, slots in zip(FACTS, SLOTS, strict=True))
    return [random.integers(0, OPERATORS, size=i % 4).tolist() for i in range(count)]


def native_pools(members: list[list[int]]) -> NativePools:
    begin = np.cumsum([0, *map(len, members)], dtype=np.int64)
    flat = np.array([member for pool in members for member in pool], dtype=np.int64)
    return NativePools(FACTS, SLOTS, begin, flat, OPERATORS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("hidden", [1, 3, 16, 32])
@pytest.mark.parametrize("states", [1, 5])
def test_pools_are_maxima(hidden: int, states: int, dtype: torch.dtype) -> None:
    members = some_pools()
    generator = torch.Generator().manual_seed(hidden)
    rows = torch.randn((OPERATORS, states, hidden), generator=generator, dtype=dtype)
    result = torch.empty((len(members), states, hidden), dtype=dtype)
    native_pools(members).fill(rows, EMPTY, result)
    lowest = torch.full((states, hidden), EMPTY, dtype=dtype)
    pools = iter([rows[pool].amax(dim=0) if pool else lowest for pool in members])
    blocks = []
    for facts, slots in zip(FACTS, SLOTS, strict=True):
        own = [torch.stack([next(pools) for _ in range(slots)], dim=1) for _ in range(facts)]
        blocks += [fact.flatten() for fact in own]
    assert torch.equal(result.flatten(), torch.cat(blocks))


def test_what_does_not_fit_is_refused() -> None:
    members = some_pools()
    pools = native_pools(members)
    rows = torch.zeros((OPERATORS, 2, 3))
    with pytest.raises(ValueError, match="do not fit"):
        pools.fill(rows, EMPTY, torch.empty((len(members), 2, 2)))
    with pytest.raises(ValueError, match="not the operators"):
        pools.fill(rows[1:], EMPTY, torch.empty((len(members), 2, 3)))
    with pytest.raises(ValueError, match="lie together"):
        pools.fill(rows.transpose(1, 2), EMPTY, torch.empty((len(members), 2, 3)))
    with pytest.raises(ValueError, match="no operator"):
        native_pools([[OPERATORS], *members[1:]])
    with pytest.raises(ValueError, match="a beginning and an end"):
        native_pools(members[1:])
    with pytest.raises(ValueError, match="floats"):
        elu(torch.zeros((1, 3), dtype=torch.int32), torch.zeros(3))
    with pytest.raises(ValueError, match="does not fit"):
        elu(torch.zeros((1, 3)), torch.zeros(2))
    with pytest.raises(ValueError, match="does not fit"):
        elu(torch.zeros((1, 3)), torch.zeros(3, dtype=torch.float64))
