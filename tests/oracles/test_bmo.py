"""Bound maintenance: what is known of one state says something of others, and its look-ahead."""

import heapq

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount
from reference.oracle_sessions import MORPH, examine, proven, state_id, switch_session, switch_task
from reference.random_tasks import tasks
from reference.small_tasks import one_key

from engine.errors import CancelledError, UsageError
from engine.native.control import Control
from engine.native.searches import NativeLookahead
from engine.oracles.bmo import DominanceLookahead
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import parse_oracle
from engine.oracles.session import OracleSession
from engine.policies.builtin import open_builtin
from engine.policies.runs import PolicyRuns
from engine.records.events import OracleVerdict
from engine.records.finding import INFINITY
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.task.task import Task

Step = tuple[int, int, int]
WASTEFUL = {(0, 0): "ahead-0", (1, 0): "flip-0", (1, 1): "ahead-1", (2, 1): "ahead-2"}
"""It flips a switch that leads nowhere."""
STRAIGHT = {(x, y): f"ahead-{x}" for x in range(3) for y in range(2)}


def test_the_states_of_a_run_are_compared_with_each_other() -> None:
    session = switch_session(switch_task((5, 1, 2)), WASTEFUL)
    state = state_id(session, 0, 0)
    examination = examine(session, "bmo:lookahead=0", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 8)
    assert proven(session, state, "bmo") == [
        ("policy", "ahead-0"),
        ("bmo:lookahead=0", MORPH),  # with the goal itself
    ]


def test_a_tested_state_tells_about_another_one() -> None:
    policy = {(1, 1): "ahead-1", (2, 1): "ahead-2"}
    session = switch_session(switch_task(), policy)
    known, state = state_id(session, 1, 1), state_id(session, 1, 0)
    examination = examine(session, "bmo:lookahead=0", known, state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 2)
    assert proven(session, state, "bmo")[0] == ("bmo:lookahead=0", MORPH)
    assert set(session.findings) == {state}


def test_all_visited_states_can_keep_their_bounds() -> None:
    """Algorithm 4; otherwise only what leads to the best bound of the examined state is kept."""
    known = {}
    for visited in ("best", "all"):
        policy = {(1, 1): "ahead-1", (2, 1): "ahead-2"}
        session = switch_session(switch_task(), policy)
        oracle = f"bmo:lookahead=20,local=none,visited={visited}"
        examine(session, oracle, state_id(session, 1, 1), state_id(session, 0, 0))
        bounds = session.bounds
        known[visited] = {n for n in range(len(session.table)) if bounds.u(n) != INFINITY}
    assert known["best"] < known["all"]


def test_an_optimal_policy_is_not_flagged() -> None:
    session = switch_session(switch_task((5, 1, 2)), STRAIGHT)
    states = [state_id(session, x, y) for x in range(3) for y in range(2)]
    assert examine(session, "bmo", *states).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_where_nothing_leads_to_the_goal_there_is_no_bug() -> None:
    session = switch_session(switch_task(), STRAIGHT)
    states = [state_id(session, place, 0) for place in (0, 1, 4, 5)]
    assert examine(session, "bmo", *states).verdict is not OracleVerdict.BUG
    assert not session.findings


def test_it_declines_factors_that_are_none() -> None:
    with pytest.raises(UsageError, match="'whole' is not a factorization; write atomic, merged"):
        parse_oracle("bmo:factors=whole")


def plain_visits(table: StateTable, start: int, size: int) -> dict[int, Step]:
    """State -> cost, state before, operator; in the order of visits."""
    h_ff = Evaluator(table.task, "ff")
    found: dict[int, Step] = {}
    queue = [(0, 0, start, (0, -1, -1))]
    pushed = 1
    while queue and len(found) < size:
        _, _, state, step = heapq.heappop(queue)
        if state in found:
            continue
        found[state] = step
        operators, successors = table.successors(state)
        for operator, successor in zip(operators.tolist(), successors.tolist(), strict=True):
            h = int(h_ff(table.values([successor]))[0])
            if h < INFINITY and successor not in found:
                cost = step[0] + table.task.operators[operator].cost
                heapq.heappush(queue, (h, pushed, successor, (cost, state, operator)))
                pushed += 1
    return found


@settings(deadline=None, max_examples=amount(60, 20))
@given(tasks(), st.integers(1, 40), st.integers(1, 9))
def test_visits_are_those_of_a_plain_search(task: Task, size: int, at_once: int) -> None:
    table = StateTable(task)
    lookahead = NativeLookahead(table.native)
    start = int(table.add([task.init])[0])
    for begin in (start, len(table) - 1, start):  # what one search learns must not show in others
        expected = plain_visits(table, begin, size)
        lookahead.begin(begin)
        wanted = 0
        while wanted < size:
            wanted = min(size, wanted + at_once)
            lookahead.resume(wanted)
        visits = lookahead.visits()
        assert visits.states.tolist() == list(expected)
        for row, (state, (cost, before, operator)) in enumerate(expected.items()):
            assert (visits.costs[row], visits.operators[row]) == (cost, operator)
            states, operators = visits.way_to(row)
            assert (states[0], states[-1]) == (begin, state)
            assert states[-2:-1] == ([before] if row else [])
            assert table.apply(states[:-1], operators).tolist() == states[1:]


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(ValueError, match="out of range"):
        NativeLookahead(StateTable(one_key()).native).begin(7)


def test_a_cancelled_look_ahead_ends() -> None:
    task = one_key()
    table, control = StateTable(task), Control()
    (start,) = table.add([task.init]).tolist()
    runs = PolicyRuns(open_builtin("gc", 0).bind(task), table)
    lookahead = DominanceLookahead(OracleSession(runs, OBJECTIVES["any"], control=control), 10)
    control.cancel()
    with pytest.raises(CancelledError):
        lookahead.search(start, lambda states: pytest.fail("it went on"), "bmo")
