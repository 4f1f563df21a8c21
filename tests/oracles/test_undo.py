"""Undo: the walk is taken back, by as many operators as it takes."""

import pytest
from reference.oracle_sessions import (
    LONG_WAY_BACK,
    MORPH,
    NO_WAY_BACK,
    WAY_BACK,
    examine,
    proven,
    session_on,
    walked,
)
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

from engine.dominance.function import DominanceFunction
from engine.errors import UsageError
from engine.oracles import kind, undo
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import factorizations, make_oracle, parse_oracle
from engine.oracles.session import OracleSession, Origin
from engine.oracles.undo import asked_facts
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind
from engine.search.forward import search
from engine.task.states import StateTable
from engine.task.successors import successor
from engine.task.task import Operator, Task


def test_the_way_back_and_the_plan_from_there_are_a_plan() -> None:
    session = walked(WAY_BACK)
    examination = examine(session, "undo", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[1].kind is BugKind.FAILS
    assert proven(session, 1) == [("undo", "back"), ("policy", "end")]


def test_without_a_way_back_nothing_is_proven() -> None:
    session = walked(NO_WAY_BACK)
    assert examine(session, "undo", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_where_the_policy_fails_at_the_start_a_plan_is_searched_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = walked(WAY_BACK, policy="")
    examination = examine(session, "undo", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert proven(session, 1) == [("undo", "back end")]
    none = walked(NO_WAY_BACK, policy="")
    asked = []
    monkeypatch.setattr(undo, "search", lambda *a, **b: asked.append(a) or search(*a, **b))
    oracle = make_oracle("undo:root=1", none)
    for _ in range(3):
        none.test(1, oracle)
    assert sum(len(arguments) == 3 and arguments[1] == "gbfs" for arguments in asked) <= 4


def test_a_state_that_no_walk_led_to_is_compared_with_the_initial_one() -> None:
    session = session_on(WAY_BACK, 2, "end")
    assert examine(session, "undo", 1).verdict is OracleVerdict.BUG
    assert proven(session, 1) == [("undo", "back"), ("policy", "end")]


def visiting(places: int = 3) -> Task:
    """A robot in a line of places that has to visit all; what was visited stays so."""
    moves = tuple(
        Operator(f"{a}-{b}", ((0, a),), ((0, b), (1 + b, 1)), 1)
        for a in range(places)
        for b in (a - 1, a + 1)
        if 0 <= b < places
    )
    goal = tuple((1 + place, 1) for place in range(places))
    return make_task((places, *[2] * places), moves, (1, 0, 1, *[0] * (places - 2)), goal)


def session_where_the_policy_goes(task: Task, *names: str) -> OracleSession:
    """It knows what to do on the run from the initial state only."""
    table, state, choices = StateTable(task), task.init, {}
    numbers = {operator.name: number for number, operator in enumerate(task.operators)}
    for name in names:
        choices[state] = numbers[name]
        state = successor(task, task.operators[numbers[name]], state)
    return OracleSession(PolicyRuns(TablePolicy(choices), table), OBJECTIVES["any"])


def test_a_state_at_least_as_good_as_the_start_is_enough() -> None:
    """A place cannot be unvisited, so there is no exact way back."""
    task = visiting()
    session = session_where_the_policy_goes(task, "1-0", "0-1", "1-2")
    start, walked_to = session.table.add([task.init, (2, 0, 1, 1)]).tolist()
    session.origins[walked_to] = Origin(start, None)
    assert examine(session, "inverse", walked_to).verdict is OracleVerdict.NOT_REFUTED
    examination = examine(session, "undo", walked_to)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 4)
    assert proven(session, walked_to) == [("undo", "2-1 1-0 0-1 1-2")]


def test_what_a_condition_or_the_goal_asks_for_has_to_hold() -> None:
    task = visiting()
    asked = asked_facts(task)
    assert {(0, place) for place in range(3)} <= asked
    assert {(1 + place, 1) for place in range(3)} <= asked
    assert not {(1 + place, 0) for place in range(3)} & asked


def test_what_an_effect_or_an_axiom_looks_at_has_to_hold_whatever_it_is() -> None:
    """There a fact that holds in addition may do harm."""
    spring = Operator("jump", ((0, 0),), ((0, 1),), 1, conditional=((((1, 1),), (0, 2)),))
    task = make_task((3, 2, 2), (spring,), (0, 0, 0), ((0, 1),))
    assert {(1, 0), (1, 1)} <= asked_facts(task)
    assert not {(2, 0), (2, 1)} & asked_facts(task)


def test_a_broken_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no condition asked for the place of the robot, its plan could not be followed."""
    task = visiting()
    session = session_where_the_policy_goes(task, "1-0", "0-1", "1-2")
    start, walked_to = session.table.add([task.init, (2, 0, 1, 1)]).tolist()
    session.origins[walked_to] = Origin(start, None)
    monkeypatch.setattr(undo, "asked_facts", lambda task: frozenset())
    with pytest.raises(ValueError, match="not applicable"):
        examine(session, "undo", walked_to)


BY_DOMINANCE = "undo:dominance=true"


def refueling() -> Task:
    """Who has left place 0 comes back with more fuel than before, and no action spills it."""
    drives = tuple(
        Operator(f"drive-{fuel}", ((0, 0), (1, fuel)), ((0, 2), (1, fuel - 1)), 3)
        for fuel in (1, 2)
    )
    leave = Operator("leave", ((0, 0),), ((0, 1), (1, 0)), 1)
    refuel = Operator("refuel", ((0, 1),), ((0, 0), (1, 2)), 2)
    return make_task((3, 3), (*drives, leave, refuel), (0, 1), ((0, 2),))


def walked_away(task: Task) -> tuple[OracleSession, int]:
    session = session_where_the_policy_goes(task, "drive-1")
    start, away = session.table.add([task.init, (1, 0)]).tolist()
    session.origins[away] = Origin(start, None)
    return session, away


def test_a_state_that_dominates_the_start_is_enough() -> None:
    """Preconditions ask for the very amount of fuel, so that the first rule says nothing."""
    session, away = walked_away(refueling())
    assert examine(session, "undo", away).verdict is OracleVerdict.NOT_REFUTED
    examination = examine(session, BY_DOMINANCE, away)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 5)
    assert proven(session, away, BY_DOMINANCE) == [
        (BY_DOMINANCE, "refuel"),
        (BY_DOMINANCE, MORPH),
        ("policy", "drive-1"),
    ]


def test_a_state_that_the_start_dominates_is_not() -> None:
    """The other way round: less fuel than before."""
    task = refueling()
    less = Operator("refuel", ((0, 1),), ((0, 0), (1, 0)), 2)
    task = make_task((3, 3), (*task.operators[:3], less), (0, 1), task.goal)
    session, away = walked_away(task)
    assert examine(session, BY_DOMINANCE, away).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_the_ways_that_are_looked_at_are_limited() -> None:
    session, away = walked_away(refueling())
    examination = examine(session, f"{BY_DOMINANCE},expansions=1", away)
    assert examination.verdict is OracleVerdict.NOT_REFUTED


def test_dominance_is_computed_only_where_it_is_asked_for() -> None:
    session, _ = walked_away(refueling())
    make_oracle("undo", session)
    assert not session.functions
    assert not factorizations(["undo"])
    make_oracle(BY_DOMINANCE, session)
    assert len(session.functions) == 1
    assert factorizations([f"{BY_DOMINANCE},factors=merged:40"]) == (Factorization(40),)


def test_where_there_is_no_dominance_the_first_rule_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(task: Task, *_: object, **__: object) -> DominanceFunction:
        return DominanceFunction.identity(task, "r", "it has axioms")

    monkeypatch.setattr(kind, "dominance_function", none)
    session, away = walked_away(refueling())
    assert examine(session, BY_DOMINANCE, away).verdict is OracleVerdict.NOT_REFUTED
    assert examine(walked(WAY_BACK), BY_DOMINANCE, 1).verdict is OracleVerdict.BUG


def test_a_longer_way_back_is_searched_for() -> None:
    session = walked(LONG_WAY_BACK)
    examination = examine(session, "undo", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 8)
    assert proven(session, 1) == [("undo", "around back"), ("policy", "end")]


def test_a_limit_proves_nothing() -> None:
    session = walked(LONG_WAY_BACK)
    assert examine(session, "undo:expansions=1", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_limits_that_are_none() -> None:
    with pytest.raises(UsageError, match="undo: '-1' is not a positive number"):
        parse_oracle("undo:expansions=-1")
