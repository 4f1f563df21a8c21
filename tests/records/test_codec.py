"""Numbers as bytes and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records.codec import pack, unpack


@given(st.lists(st.integers(0, 2**32 - 1)) | st.lists(st.integers(0, 300)))
def test_round_trip(numbers: list[int]) -> None:
    assert list(unpack(pack(numbers))) == numbers


def test_small_values_take_one_byte_each() -> None:
    assert len(pack([255] * 70)) == 71
    assert len(pack([256] * 70)) == 141


@pytest.mark.parametrize("data", [b"", b"\x03abc", b"\x02abc"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no sequence"):
        unpack(data)
