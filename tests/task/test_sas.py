from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PlumblineError, SasError
from engine.pddl.unsupported import MAX_COST
from engine.task.sas import parse_sas, write_sas
from engine.task.task import Operator, Task, Variable

LAMP = """\
begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
3
Atom at(hall)
Atom at(cellar)
<none of those>
end_variable
begin_variable
var1
-1
2
Atom lit()
NegatedAtom lit()
end_variable
1
begin_mutex_group
2
0 1
1 0
end_mutex_group
begin_state
0
1
end_state
begin_goal
1
1 0
end_goal
2
begin_operator
switch hall
1
0 0
1
0 1 -1 0
5
end_operator
begin_operator
go hall cellar
0
1
0 0 0 1
0
end_operator
0
"""


def line_of(text: str, occurrence: int = 1) -> int:
    """The number of the line that reads `text`."""
    lines = LAMP.split("\n")
    return [number for number, line in enumerate(lines, 1) if line == text][occurrence - 1]


def changed(number: int, *lines: str) -> str:
    """The example with one line replaced."""
    kept = LAMP.split("\n")
    kept[number - 1 : number] = lines
    return "\n".join(kept)


def test_reads_every_part() -> None:
    task = parse_sas(LAMP)
    assert task.variables[1] == Variable("var1", ("Atom lit()", "NegatedAtom lit()"))
    assert task.domain_sizes == (3, 2)
    assert task.init == (0, 1)
    assert task.goal == ((1, 0),)
    assert task.mutexes == (((0, 1), (1, 0)),)
    assert task.has_costs
    assert task.operators == (
        Operator("switch hall", ((0, 0),), ((1, 0),), 5),
        Operator("go hall cellar", ((0, 0),), ((0, 1),), 0),
    )
    assert task.source is None


def test_without_metric_every_operator_costs_one() -> None:
    task = parse_sas(changed(line_of("1"), "0"))
    assert not task.has_costs
    assert [operator.cost for operator in task.operators] == [1, 1]


def test_accepts_windows_line_ends_and_blank_end() -> None:
    assert parse_sas(LAMP.replace("\n", "\r\n") + "\n\n") == parse_sas(LAMP)


def test_facts_are_sorted_by_variable() -> None:
    text = LAMP.replace("1\n0 0\n1\n0 1 -1 0\n5", "1\n1 1\n1\n0 0 0 2\n5")
    assert parse_sas(text).operators[0].precondition == ((0, 0), (1, 1))


@pytest.mark.parametrize("kept", range(len(LAMP.split("\n")) - 2))
def test_every_truncation_is_an_error_with_a_line(kept: int) -> None:
    text = "\n".join(LAMP.split("\n")[:kept])
    with pytest.raises(SasError) as caught:
        parse_sas(text, "lamp.sas")
    assert caught.value.location.file == "lamp.sas"
    assert 1 <= (caught.value.location.line or 0) <= max(1, kept)


@pytest.mark.parametrize(
    ("number", "lines", "message"),
    [
        (2, ["4"], "version 4"),
        (5, ["2"], "between 0 and 1"),
        (7, ["99999999999"], "more than the rest"),
        (7, ["9" * 30], "expected"),
        (7, ["two"], "expected"),
        (7, ["-1"], "at least 0"),
        (11, ["0"], "at least 1"),
        (11, ["1000000000"], "more than the rest"),
        (line_of("Atom at(cellar)"), [""], "empty line"),
        (line_of("begin_mutex_group") + 2, ["2 0"], "there are 2"),
        (line_of("begin_mutex_group") + 2, ["0 3"], "which has 3"),
        (line_of("begin_mutex_group") + 2, ["0 1 1"], "'variable value'"),
        (line_of("begin_state") + 1, ["3"], "between 0 and 2"),
        (line_of("begin_state") + 1, [], "must be|expected"),
        (line_of("begin_goal") + 2, ["0 -1"], "value -1"),
        (line_of("switch hall") + 4, ["0 1 -1"], "0 variable before after"),
        (line_of("switch hall") + 4, ["-1 1 -1 0"], "0 variable before after"),
        (line_of("switch hall") + 4, ["0 0 1 2"], "two values of variable 0"),
        (line_of("switch hall") + 5, ["-5"], "between 0"),
        (line_of("switch hall") + 5, [str(MAX_COST + 1)], "between 0"),
        (line_of("switch hall") + 5, ["1_0"], "expected"),
        (line_of("switch hall") + 5, ["٣"], "expected"),
        (len(LAMP.split("\n")), ["more"], "ends before"),
    ],
)
def test_nonsense_is_an_error_with_a_line(number: int, lines: list[str], message: str) -> None:
    with pytest.raises(SasError, match=message) as caught:
        parse_sas(changed(number, *lines))
    assert abs((caught.value.location.line or 0) - number) <= 1


def test_too_small_a_count_is_noticed_where_the_next_part_should_start() -> None:
    with pytest.raises(SasError, match="'end_variable' expected, not '<none of those>'") as caught:
        parse_sas(changed(11, "2"))
    assert caught.value.location.line == 14


def test_goal_with_two_values_of_a_variable() -> None:
    with pytest.raises(SasError, match="the goal names two values of variable 1"):
        parse_sas(LAMP.replace("begin_goal\n1\n1 0", "begin_goal\n2\n1 0\n1 1"))


def test_two_different_effects_on_a_variable() -> None:
    with pytest.raises(SasError, match=r"the effect of \(switch hall\) names two values"):
        parse_sas(LAMP.replace("1\n0 1 -1 0\n5", "2\n0 1 -1 0\n0 1 -1 1\n5"))


names = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=8)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    sizes = draw(st.lists(st.integers(1, 4), max_size=4))
    variables = tuple(
        Variable(f"var{index}", tuple(draw(names) for _ in range(size)))
        for index, size in enumerate(sizes)
    )

    def facts() -> tuple[tuple[int, int], ...]:
        chosen = draw(st.sets(st.sampled_from(range(len(sizes))))) if sizes else set()
        return tuple((index, draw(st.integers(0, sizes[index] - 1))) for index in sorted(chosen))

    has_costs = draw(st.booleans())
    operators = tuple(
        Operator(
            " ".join(draw(st.lists(names, min_size=1, max_size=3))),
            facts(),
            facts(),
            draw(st.integers(0, MAX_COST)) if has_costs else 1,
        )
        for _ in range(draw(st.integers(0, 4)))
    )
    init = tuple(draw(st.integers(0, size - 1)) for size in sizes)
    mutexes = tuple(facts() for _ in range(draw(st.integers(0, 2))))
    return Task(variables, operators, init, facts(), mutexes, has_costs)


@given(tasks())
def test_what_is_written_reads_back_equal(task: Task) -> None:
    again = parse_sas(write_sas(task))
    assert again == task
    assert again.hash == task.hash


junk = st.one_of(
    st.integers(-3, 10**20).map(str),
    st.sampled_from(["", "begin_operator", "end_variable", "0 0", "1 0 0 1 -1 0", "\x00", "é"]),
    st.text(max_size=12),
)


@given(st.lists(st.tuples(st.integers(1, 70), st.lists(junk, max_size=2)), max_size=4))
def test_a_mutated_file_reads_or_gives_our_error(edits: list[tuple[int, list[str]]]) -> None:
    lines = LAMP.split("\n")
    for number, replacement in edits:
        lines[number - 1 : number] = replacement
    try:
        task = parse_sas("\n".join(lines))
    except PlumblineError:
        return
    assert parse_sas(write_sas(task)) == task
