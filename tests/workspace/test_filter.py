"""The filter language: what it matches, what it completes, where its errors stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records.finding import BugKind, BugStatus
from engine.workspace.filter import (
    COLUMNS,
    FilterError,
    completions,
    matching,
    parse_filter,
    parse_terms,
    quoted,
    split_words,
)
from engine.workspace.rows import BugRow

DEAR = BugRow(
    *(7, 1, 3, BugKind.TOO_EXPENSIVE, "p03", "ferry.pt", 4, 24, 17, 7, "bmo:lookahead=100", "plan"),
    *(2, None, BugStatus.NEW, "loads the wrong car", 1.5, 0, False),
)
FAILS = replace(DEAR, id=8, kind=BugKind.FAILS, policy_cost=None, gap=None, region=None, note="")


@pytest.mark.parametrize(
    ("text", "dear", "fails"),
    [
        ("", True, True),
        ("gap>5", True, True),
        ("gap:5..9", True, False),
        ("gap:..6", False, False),
        ("gap:8..", False, True),
        ("gap:inf", False, True),
        ("kind:fails", False, True),
        ('kind:"too expensive"', True, False),
        ("-kind:fails", True, False),
        ("region:none", False, True),
        ("region:any", True, False),
        ("root:none", True, True),
        ("note:any", True, False),
        ("note:none", False, True),
        ('note:"wrong car"', True, False),
        ("note:car|boat", True, False),
        ("id:8|9", False, True),
        ("id=7|8", True, True),
        ("wrong|qualitative", True, True),
        ('"the wrong"', True, False),
        ("oracle:bmo:lookahead=100", True, True),
        ("status:new gap<10", True, False),
        ("-", False, False),
        ("|", True, True),
    ],
)
def test_what_a_filter_matches(text: str, dear: bool, fails: bool) -> None:
    holds = parse_filter(text)
    assert (holds(DEAR), holds(FAILS)) == (dear, fails)
    expected = [row for row, fits in ((DEAR, dear), (FAILS, fails)) if fits]
    assert matching([DEAR, FAILS], parse_terms(text)) == expected


@pytest.mark.parametrize(
    ("text", "wrong", "words"),
    [
        ("status:new gpa>5", "gpa>5", "did you mean 'gap'"),
        ("gap>many", "gap>many", "needs a number"),
        ("gap:1..x", "gap:1..x", "needs a number"),
        ("x -kind>3", "kind>3", "is not a number"),
        ("gap:nan", "gap:nan", "needs a number"),
        ("zzz:1", "zzz:1", "write for example"),
    ],
)
def test_errors_say_what_is_wrong_and_where(text: str, wrong: str, words: str) -> None:
    with pytest.raises(FilterError, match=words) as caught:
        parse_filter(text)
    assert text[caught.value.start : caught.value.end] == wrong


@given(st.text(alphabet='abgapkindnote:><=|".-1 ', max_size=24))
def test_any_text_is_a_filter_or_an_error_with_its_place(text: str) -> None:
    words = [word for _, word in split_words(text)]
    try:
        found = [text[term.start : term.end] for term in parse_terms(text)]
    except FilterError as error:
        found, words = [text[error.start : error.end].lstrip("-")], [w.lstrip("-") for w in words]
        words = [word for word in words if word in found][:1]
    assert found == words


def test_words_are_completed() -> None:
    values = {"status": ["new", "ignored"], "oracle": ["aras ehc", "bmo"]}
    assert completions("st", values) == ["status:"]
    assert completions("-ga", values) == ["-gap>"]
    assert completions("status:n", values) == ["status:new", "status:ignored", "status:none"]
    assert completions("oracle:bmo|ar", values) == ['oracle:bmo|"aras ehc"']
    assert completions("status:new", values) == []
    assert completions("gap>", values) == []
    assert set(completions("", values)) == {
        f"{name}{':' if column.text else '>'}" for name, column in COLUMNS.items()
    }


@given(st.text(st.characters(exclude_characters='"', exclude_categories=("Cc", "Cs")), min_size=1))
def test_what_is_quoted_matches_itself(value: str) -> None:
    if value.lower() in ("none", "any") or value.isspace():
        return
    assert parse_filter(f"note:{quoted(value)}")(replace(DEAR, note=value))
