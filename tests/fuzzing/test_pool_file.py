import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.random_tasks import make_task

from engine.errors import PlumblineError
from engine.fuzzing.pool_file import PoolEntry, parse_pool, write_pool

TASK = make_task((3, 2), (), (0, 0), ((0, 2),))
ENTRIES = [PoolEntry((0, 0)), PoolEntry((2, 1), 0, 3), PoolEntry((1, 1), 1, 5)]
TEXT = write_pool(TASK, ENTRIES)


def test_a_pool_reads_back() -> None:
    assert parse_pool(TEXT, TASK) == ENTRIES


@pytest.mark.parametrize(
    ("old", "new", "place", "complaint"),
    [
        ("sas_variables", "sas", "p:1", "not a pool file"),
        ("\n2\n", "\n3\n", "p:2", "another task"),
        ("\n2\n", "\n\n", "p:2", "expected 2 variables, found ''"),
        ("holds(v1, x0)", "holds(v1, x9)", "p:4", "variable 1 is another one"),
        ("\npool\n", "\npuddle\n", "p:5", "expected the line 'pool'"),
        ("0;3;#1;2;1", "0;3;#1;2", "p:7", "an entry has 5 parts"),
        ("0;3;#1;2;1", "0;3;#1;2;x", "p:7", "integers only"),
        ("0;3;#1;2;1", "0;3;#1;3;1", "p:7", "no value 3"),
        ("0;3;#1;2;1", "5;3;#1;2;1", "p:7", "earlier entry"),
        ("#0;0;0", "#0;1;0", "p:6", "initial state"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(old, new, place, complaint) -> None:
    assert old in TEXT
    with pytest.raises(PlumblineError) as caught:
        parse_pool(TEXT.replace(old, new, 1), TASK, "p")
    assert str(caught.value).startswith(place)
    assert complaint in str(caught.value)


def test_a_pool_of_another_encoding_is_refused() -> None:
    """P43: the same facts in another order of variables."""
    other = make_task((2, 3), (), (0, 0), ())
    with pytest.raises(PlumblineError, match="another task"):
        parse_pool(TEXT, other)


@given(st.lists(st.integers(0, len(TEXT) - 1), max_size=4), st.text(max_size=4))
def test_broken_pools_give_our_errors_only(places: list[int], junk: str) -> None:
    text = TEXT
    for place in places:
        text = text[:place] + junk + text[place + 1 :]
    with contextlib.suppress(PlumblineError):
        assert parse_pool(text, TASK)[:1] in ([], ENTRIES[:1])
