"""The filter language: what it matches, what it completes, where its errors stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.bug_filter import fits
from reference.bug_order import SORTED, grouped, in_order
from reference.forging import forge, forging
from reference.listed_bugs import store_bugs

from engine.errors import WorkspaceError
from engine.records.finding import BugKind, BugStatus
from engine.workspace.bug_list import GROUPS, BugQuery
from engine.workspace.filter import (
    COLUMNS,
    FilterError,
    completions,
    parse_terms,
    quoted,
    split_words,
)
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

COSTLY = BugRow(
    *(7, 1, 3, BugKind.TOO_EXPENSIVE, "p03", "ferry.pt", 4, 24, 17, 7, "bmo:lookahead=100", "plan"),
    *(2, None, BugStatus.NEW, "loads the wrong car", 1.5, 0, False),
)
FAILS = replace(COSTLY, id=8, kind=BugKind.FAILS, policy_cost=None, gap=None, region=None, note="")


@pytest.fixture(scope="module")
def two_bugs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    path = tmp_path_factory.mktemp("filter") / "two.plumb"
    store_bugs(path, (COSTLY, FAILS))
    with Workspace.open(path) as store:
        yield store


@pytest.mark.parametrize(
    ("text", "costly", "fails"),
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
def test_what_a_filter_matches(two_bugs: Workspace, text: str, costly: bool, fails: bool) -> None:
    terms = parse_terms(text)
    expected = [row.id for row, holds in ((COSTLY, costly), (FAILS, fails)) if holds]
    assert [row.id for row in (COSTLY, FAILS) if fits(row, terms)] == expected
    assert [row.id for row in two_bugs.bugs(terms=terms)] == expected
    assert two_bugs.bug_list(BugQuery(terms)).bugs.tolist() == expected


FILTERS = [
    *("status:new", "-status:conf|dup", "kind:fails", "kind:quant", "problem:P1", "policy:ferry"),
    *("cost>30", "cost:inf", "bound<=20", "gap:none", "gap:any", "oracle:aras|bmo", "oracle:any"),
    *("evidence:plan", "evidence:none", "pool:yes", "-pool:y", "region:2", "region:none"),
    *("action:drive", "action:none", "action:any", "-action:take", "worst:none", "worst:load|ÄÖ"),
    *("loss>0", "loss:none", "loss:inf", "root:any", "root:7..8", "pattern:any", "pattern:none"),
    *("pattern:1", "-pattern:1", "pattern>1", "family:loop", "family:none", "family:any", "seed:3"),
    *("campaign>1", "time<2", "original:any", "original:1", "note:none", "note:any", "note:straße"),
    *("note:ÜBER", "-note:ü", "crane", "P2", "detour", "gap>5 status:new -p0", "id:3..9 pool:no"),
]


def _bug(n: int) -> BugRow:
    """Bugs that differ in everything a filter can ask for."""
    localized, fails = n % 3 == 0, n % 4 == 0
    return BugRow(
        id=n,
        campaign=1 + n % 2,
        unit=0,
        kind=BugKind.FAILS if fails else list(BugKind)[n % 3],
        problem=f"p{n % 5}-Crane",
        policy=("ferry.pt", "builtin:hadd")[n % 2],
        seed=n % 4,
        policy_cost=None if fails else 20 + n,
        bound=10 + n % 7,
        gap=None if fails else 10 + n - n % 7,
        found_by=("bmo", "aras-EHC", "lookahead:depth=2")[n % 3],
        evidence_kind=("plan", "dominance")[n % 2],
        region=None if n % 5 else 1 + n % 3,
        root_cause=5 + n % 4 if localized else None,
        status=list(BugStatus)[n % 4],
        note=("", "über die Brücke", "STRASSE", "a|b", "")[n % 5],
        seconds=n / 10,
        pool_number=None if n % 3 else n,
        retrospective=False,
        bad_action=("drive a b", "take x", "", "load ÄÖ")[n % 4] if localized else "",
        worst_step=n % 3 if localized else None,
        worst_action=("load ÄÖ y", "", "drive b a")[n % 3] if localized and n % 9 else "",
        loss=(None if fails else n % 5) if localized else None,
        loss_high=None,
        duplicate_of=1 if n == 7 else None,
        pattern=None,
        family="",
    )


@pytest.fixture(scope="module")
def many_bugs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    path = tmp_path_factory.mktemp("filter") / "bugs.plumb"
    store_bugs(path, map(_bug, range(1, 60)))
    with forging(path) as connection:
        for number, cause, family in ((1, 5, "loop: drive"), (2, 7, "detour: take")):
            connection.execute(
                "INSERT INTO patterns VALUES (?, ?, '{}', ?)", (number, str(number), family)
            )
            connection.execute(
                "INSERT INTO witnesses (bug, root_cause, same, pattern, document) "
                "VALUES (1, ?, 'action', ?, '{}')",
                (cause, number),
            )
    with Workspace.open(path) as store:
        yield store


@pytest.mark.parametrize("text", FILTERS)
def test_sql_and_plain_python_agree(many_bugs: Workspace, text: str) -> None:
    terms, every = parse_terms(text), many_bugs.bugs()
    expected = [row.id for row in every if fits(row, terms)]
    assert len(every) == 59
    assert [row.id for row in many_bugs.bugs(terms=terms)] == expected
    assert many_bugs.bug_list(BugQuery(terms)).bugs.tolist() == expected
    opposite = [term.text for term in terms if not term.text.startswith("-")]
    if len(opposite) == 1 == len(terms):
        rest = many_bugs.bug_list(BugQuery(parse_terms(f"-{text}"))).bugs.tolist()
        assert sorted([*expected, *rest]) == [row.id for row in every]


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("name", SORTED)
def test_bugs_are_sorted_as_python_sorts_them(many_bugs: Workspace, name: str, down: bool) -> None:
    expected = in_order(in_order(many_bugs.bugs(), "gap", True), name, down)
    found = many_bugs.bug_list(BugQuery((), ((name, down), ("gap", True))))
    assert found.bugs.tolist() == [row.id for row in expected]
    places = [found.place_of(row.id) for row in expected]
    assert places == list(range(len(expected)))
    assert found.place_of(1000) == found.place_of(0) == -1


def test_a_note_with_any_characters_can_be_sorted_by(two_bugs: Workspace) -> None:
    first, second = (row.id for row in two_bugs.bugs())
    two_bugs.set_note([first], "b\x1fc,\n\x00'")
    two_bugs.set_note([second], "a")
    found = two_bugs.bug_list(BugQuery((), (("note", False),)))
    assert found.bugs.tolist() == [second, first]


@pytest.mark.parametrize("name", GROUPS)
def test_the_largest_group_comes_first_and_bugs_without_one_last(
    many_bugs: Workspace, name: str
) -> None:
    groups = grouped(in_order(many_bugs.bugs(), "gap", True), name)
    found = many_bugs.bug_list(BugQuery((), (("gap", True),), name))
    assert found.groups is not None
    assert found.bugs.tolist() == [bug for bugs in groups.values() for bug in bugs]
    assert found.groups.counts.tolist() == [len(bugs) for bugs in groups.values()]
    assert [found.groups.key(number) for number in range(len(groups))] == list(groups)
    assert [found.groups.find(key) for key in groups] == list(range(len(groups)))
    assert found.groups.find("12345") == -1


def test_what_all_bugs_have_in_common(many_bugs: Workspace, two_bugs: Workspace) -> None:
    found = many_bugs.bug_overview()
    assert (found.total, found.silent, found.has_patterns) == (59, frozenset(), True)
    assert found.values is not None
    assert found.values["oracle"] == ["aras-EHC", "bmo", "lookahead:depth=2"]
    assert found.values["action"] == ["drive", "load", "take"]
    few = two_bugs.bug_overview()
    assert few.silent == {"evidence", "worst", "loss", "root", "pattern"}


def test_damaged_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bugs.plumb"
    store_bugs(path, map(_bug, range(1, 30)))
    with Workspace.open(path) as store:
        for statement in (
            "UPDATE findings SET gap = 'much' WHERE id = 9",
            "UPDATE findings SET gap = 1.5 WHERE id = 9",
        ):
            forge(path, statement)
            with pytest.raises(WorkspaceError, match="invalid value"):
                store.bug_list(BugQuery((), (("gap", False),)))
            forge(path, "UPDATE findings SET gap = 3 WHERE id = 9")
        assert len(store.bug_list(BugQuery((), (("gap", False),))).bugs) == 29


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
        parse_terms(text)
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
        f"{name}{'>' if column.is_number else ':'}" for name, column in COLUMNS.items()
    }


@given(st.text(st.characters(exclude_characters='"', exclude_categories=("Cc", "Cs")), min_size=1))
def test_what_is_quoted_matches_itself(value: str) -> None:
    if value.lower() in ("none", "any") or value.isspace():
        return
    assert fits(replace(COSTLY, note=value), parse_terms(f"note:{quoted(value)}"))
