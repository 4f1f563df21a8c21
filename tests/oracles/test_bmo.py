"""The look-ahead kernel against a plain greedy search, and what the oracle makes of it."""

import heapq

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount
from reference.random_tasks import tasks
from reference.small_tasks import one_key

from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.searches import NativeLookahead
from engine.oracles.bmo import DominanceLookahead
from engine.oracles.objective import OBJECTIVES
from engine.oracles.session import OracleSession
from engine.policies.builtin import open_builtin
from engine.policies.runs import PolicyRuns
from engine.records.finding import INFINITY
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.task.task import Task

Step = tuple[int, int, int]


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
