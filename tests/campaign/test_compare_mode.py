"""Oracles that are compared: nothing one does changes what another one says."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.campaign import unit as unit_module
from engine.campaign.timeline import bug_course, whole_course
from engine.campaign.unit import run_unit
from engine.errors import ConfigurationError
from engine.policies.consent import NO_CONSENT
from engine.records.config import CampaignConfig, Unit
from engine.records.events import (
    FindingReported,
    StateAdded,
    StateTested,
    UnitEvent,
    UnitFinished,
    Warned,
)
from engine.usecases.campaign import run
from engine.usecases.verify import verify
from engine.workspace.workspace import Workspace

MakeUnit = Callable[..., Unit]
ORACLES = ("astar", "bmo:lookahead=8", "gbfs:expansions=6", "smo", "undo", "lookahead:depth=1")
Table = dict[str, list[tuple[int, str, int | None]]]


def text_of(oracles: tuple[str, ...], limits: str = "") -> str:
    names = ", ".join(f'"{oracle}"' for oracle in oracles)
    return f'fuzzing.size = 10\n{limits}\n[testing]\nmode = "compare"\noracles = [{names}]\n'


def events_of(unit: Unit) -> list[UnitEvent]:
    link = RecordingLink()
    run_unit(link, unit)
    assert isinstance(link.events[-1], UnitFinished), link.events[-1]
    return link.events


def table_of(events: list[UnitEvent]) -> Table:
    """What each oracle said about each state, and which bugs it proved."""
    table: Table = {}
    for event in events:
        if isinstance(event, StateTested):
            for answer in event.answers:
                row = (event.number, answer.verdict.value, answer.bound)
                table.setdefault(answer.oracle, []).append(row)
            for flag in event.flags:
                table.setdefault(flag.oracle, []).append((flag.number, "flag", flag.bound))
    return {oracle: sorted(rows, key=repr) for oracle, rows in table.items()}


def test_the_order_of_the_oracles_changes_nothing(make_unit: MakeUnit) -> None:
    first = events_of(make_unit(more=text_of(ORACLES)))
    table = table_of(first)
    assert {rows[0][1] for rows in table.values()} != {"not refuted"}
    shuffle = random.Random(7)
    for _ in range(5):
        order = tuple(shuffle.sample(ORACLES, len(ORACLES)))
        events = events_of(make_unit(more=text_of(order)))
        assert table_of(events) == table
        assert bugs_of(events) == bugs_of(first)


@pytest.mark.parametrize("oracle", ORACLES)
def test_an_oracle_says_the_same_alone_and_among_others(make_unit: MakeUnit, oracle: str) -> None:
    among = table_of(events_of(make_unit(more=text_of(ORACLES))))
    alone = table_of(events_of(make_unit(more=text_of((oracle,)))))
    assert alone == {oracle: among[oracle]}


def bugs_of(events: list[UnitEvent]) -> list[tuple[tuple[int, ...], int, str]]:
    found = [event.finding for event in events if isinstance(event, FindingReported)]
    return [(finding.state, finding.bound, finding.oracle) for finding in found]


def test_a_team_finds_at_least_what_the_best_of_all_finds(make_unit: MakeUnit) -> None:
    """And its members return what others proved, which is why they cannot be compared."""
    compared = make_unit(problems='"p3.pddl"', more=text_of(ORACLES))
    events = events_of(compared)
    pool = {event.state for event in events if isinstance(event, StateAdded)}
    best = {state: bound for state, bound, _ in bugs_of(events) if state in pool}
    hunt = text_of(ORACLES).replace('"compare"', '"hunt"\nskip_known_bugs = false')
    team_events = events_of(make_unit(problems='"p3.pddl"', more=hunt))
    team = {state: bound for state, bound, _ in bugs_of(team_events) if state in pool}
    assert best.keys() <= team.keys()
    assert all(team[state] <= bound for state, bound in best.items())
    confirmed = {item.oracle: item.bugs for item in team_events[-1].statistics.oracles}
    proven = {item.oracle: item.bugs for item in events[-1].statistics.oracles}
    assert confirmed["bmo:lookahead=8"] > proven["bmo:lookahead=8"]


def test_a_planner_remembers_nothing_from_state_to_state(make_unit: MakeUnit) -> None:
    """A plan through a state that was tested before proves a bug there in a team only."""
    one = ("gbfs:expansions=6",)
    compared = table_of(events_of(make_unit(more=text_of(one))))[one[0]]
    flagged = {number for number, verdict, _ in compared if verdict == "flag"}
    assert flagged == {number for number, verdict, _ in compared if verdict == "bug"}


def test_bugs_that_are_proven_later_have_the_time_of_their_proof(make_unit: MakeUnit) -> None:
    unit = make_unit(
        problems='"p3.pddl"',
        more=text_of(("bmo:lookahead=8",)).replace("size = 10", "size = 40"),
    )
    events = events_of(unit)
    clock, later = 0.0, 0
    for event in events:
        if isinstance(event, StateTested):
            for flag in event.flags:
                assert flag.cpu >= clock
                later += flag.number < event.number
            clock = max([clock, *(flag.cpu for flag in event.flags)])
    (item,) = events[-1].statistics.oracles
    assert later
    assert item.bugs > sum(
        answer.verdict.value == "bug"
        for event in events
        if isinstance(event, StateTested)
        for answer in event.answers
    )
    assert clock <= item.cpu
    assert 0 < item.setup_cpu < item.cpu


def test_merged_factors_are_the_default_and_atomic_ones_are_reported(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = events_of(make_unit(more=text_of(("bmo", "bmo:factors=atomic", "astar"))))
    assert [item.factors for item in events[-1].statistics.oracles] == ["merged", "atomic", ""]
    assert not [event for event in events if isinstance(event, Warned)]
    monkeypatch.setattr("engine.dominance.cache.read", lambda path, task: None)
    limited = events_of(make_unit(more=text_of(("bmo:seconds=1e-9",))))
    (item,) = limited[-1].statistics.oracles
    assert item.factors == "atomic"
    assert any("atomic factors" in event.text for event in limited if isinstance(event, Warned))


def test_an_oracle_stops_at_its_limit_and_the_others_go_on(make_unit: MakeUnit) -> None:
    more = text_of(("astar", "ehc"), "limits.oracle_seconds = 1e-6")
    events = events_of(make_unit(more=more))
    for item in events[-1].statistics.oracles:
        assert item.examined < 10
        assert item.limit == "stopped at its limit of 1e-06 s"
    assert sum(isinstance(event, StateTested) for event in events) == 10


def test_a_limit_per_state_cuts_off_and_keeps_what_was_proven(make_unit: MakeUnit) -> None:
    more = text_of(("bmo", "astar"), "limits.state_seconds = 1e-9")
    events = events_of(make_unit(more=more))
    answers = [
        answer for event in events if isinstance(event, StateTested) for answer in event.answers
    ]
    assert len(answers) == 20
    assert all(answer.limited for answer in answers)


def test_a_flag_that_cannot_be_confirmed_is_none(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_module, "find_problem", lambda *claim: "it is made up")
    events = events_of(make_unit(more=text_of(ORACLES)))
    assert not bugs_of(events)
    for rows in table_of(events).values():
        assert not {verdict for _, verdict, _ in rows} & {"flag", "bug"}


def test_skipping_known_bugs_is_refused(configure: Callable[..., CampaignConfig]) -> None:
    assert not configure(more='[testing]\nmode = "compare"\n').testing.skip_known_bugs
    with pytest.raises(ConfigurationError, match="must examine every state"):
        configure(more='[testing]\nmode = "compare"\nskip_known_bugs = true\n')


@pytest.fixture
def compared(
    tmp_path: Path, configure: Callable[..., CampaignConfig], in_threads: Callable[[], object]
) -> Path:
    config = configure(problems='"p2.pddl", "p3.pddl"', more=text_of(ORACLES))
    with Workspace.create(tmp_path / "w.plumb") as store:
        run(config, store, executor=in_threads())
    return tmp_path / "w.plumb"


def test_results_are_stored_per_state_and_oracle(compared: Path) -> None:
    with Workspace.open(compared) as store:
        rows = store.oracle_results(1)
        assert len(rows) == 2 * 10 * len(ORACLES)
        scores = {score.oracle: score for score in bug_course(store, store.campaign(1)).scores}
        times = bug_course(store, store.campaign(1)).bug_times
        whole = whole_course(store, 1).proof_times
        assert {name: found.tolist() for name, found in times.items()} == {
            name: found.tolist() for name, found in whole.items()
        }
        for oracle in ORACLES:
            flagged = [row for row in rows if row.oracle == oracle and row.flag_bound is not None]
            assert len(flagged) == scores[oracle].bugs == len(times.get(oracle, ()))
            assert scores[oracle].recall == len(flagged) / 20
            unsolved = [row for row in flagged if row.outcome != "solved"]
            assert scores[oracle].bugs_unsolved == len(unsolved)
        unit = store.units(1)[1].id
        assert [row for row in rows if row.unit == unit and row.number > 4] == (
            store.oracle_results(1, unit=unit, after=4)
        )


def test_everything_it_says_is_verified(compared: Path) -> None:
    found = verify(RecordingLink(), compared, NO_CONSENT)
    assert not found.failed
    assert not found.undecided


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE flags SET bound = 0", "not proven"),
        ("INSERT INTO flags VALUES (1, 0, 'lama', 1, 0, 0)", "did not use it"),
        ("DELETE FROM flags WHERE oracle = 'astar'", "without a proof"),
    ],
)
def test_a_forged_flag_is_noticed(compared: Path, change: str, reason: str) -> None:
    forge(compared, change)
    found = verify(RecordingLink(), compared, NO_CONSENT)
    assert any(reason in item.verdict.reason for item in found.failed)
