"""One unit: repeatable, sound, and stopped in good order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from reference import fdr
from reference.recording_link import RecordingLink

from engine.campaign import unit as unit_module
from engine.campaign.unit import run_unit
from engine.policies import ahead
from engine.records.codec import decode, encode
from engine.records.config import MadeState, Unit
from engine.records.events import (
    FindingReported,
    RegionsChanged,
    RunFinished,
    StateAdded,
    StateTested,
    TaskReady,
    UnitEvent,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStatistics,
    UnitStopped,
    Warned,
)
from engine.records.evidence import State
from engine.records.finding import BugKind, Finding
from engine.task.sas import parse_sas
from engine.workers import link as link_module
from engine.workers.limits import ProcessLimits

MakeUnit = Callable[..., Unit]

SIZE = 24  # the pool of a unit by default


def events_of(unit: Unit) -> list[UnitEvent]:
    link = RecordingLink()
    run_unit(link, unit)
    return link.events


def findings_of(events: list[UnitEvent]) -> list[Finding]:
    return [event.finding for event in events if isinstance(event, FindingReported)]


def timeless(events: list[UnitEvent]) -> list[UnitEvent]:
    """The events without their times."""
    kept: list[UnitEvent] = []
    for event in events:
        if isinstance(event, StateTested):
            answers = tuple(replace(answer, seconds=0, cpu=0) for answer in event.answers)
            flags = tuple(replace(flag, seconds=0, cpu=0) for flag in event.flags)
            kept.append(replace(event, answers=answers, seconds=0, flags=flags))
        elif isinstance(event, UnitFinished):
            kept.append(replace(event, statistics=UnitStatistics()))
        elif not isinstance(event, UnitProgress):
            has_time = hasattr(event, "seconds")
            kept.append(replace(event, seconds=0) if has_time else event)
    return kept


def test_same_seed_same_events_other_seed_other_states(make_unit: MakeUnit) -> None:
    first, second = (timeless(events_of(make_unit(seed=3))) for _ in range(2))
    assert first == second
    states = [event.state for event in first if isinstance(event, StateAdded)]
    others = [e.state for e in events_of(make_unit(seed=4)) if isinstance(e, StateAdded)]
    assert states != others


def test_what_is_asked_together_changes_no_event(
    make_unit: MakeUnit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "climber.py").write_text(CLIMBER)
    testing = '[testing]\noracles = ["lookahead:depth=2", "aras", "undo"]\n'
    unit = make_unit(
        problems='"p3.pddl"',
        policies='"climber.py:factory"',
        more=f"fuzzing.size = 150\n{testing}",
    )
    seen, calls = [], []
    for width in (1, 7, 64):
        monkeypatch.setattr(ahead, "WIDTH", width)
        events = events_of(unit)
        seen.append(timeless(events))
        calls.append(events[-1].statistics.policy_calls)
    assert findings_of(seen[0])
    assert seen[0] == seen[1] == seen[2]
    assert calls[0] > calls[1] > calls[2]


CLIMBER = """
class Climber:
    def __init__(self, task):
        self.task = task

    def decide(self, states):
        return [max(self.task.applicable(s), key=lambda o: self.score(s, o)) for s in states]

    def score(self, state, operator):
        successor = self.task.successor(state, operator)
        return sum(successor[variable] == value for variable, value in self.task.goal)


def factory(task):
    return Climber(task)
"""


def test_the_oracles_do_not_change_the_pool(make_unit: MakeUnit) -> None:
    """Although they make the policy run far beyond the horizon of the fuzzer's bias."""
    pools = []
    for oracles in ('"aras"', '"lookahead:depth=2", "smo"'):
        walks = "fuzzing.bias = 'plan-length'\nfuzzing.horizon = 2\nfuzzing.size = 200\n"
        testing = f"testing.oracles = [{oracles}]\n"
        events = events_of(make_unit(problems='"p3.pddl"', more=walks + testing))
        pools.append([event.state for event in events if isinstance(event, StateAdded)])
    assert pools[0] == pools[1]


@pytest.mark.parametrize("complete", [True, False])
def test_a_pool_that_was_made_before_is_complete_when_all_of_it_was_tested(
    complete: bool, make_unit: MakeUnit
) -> None:
    unit = make_unit()
    states = [event for event in events_of(unit) if isinstance(event, StateAdded)]
    made = tuple(MadeState(event.state, event.reference, event.operators) for event in states)
    unit = replace(unit, made=made, made_complete=complete)
    assert events_of(unit)[-1].statistics.complete is complete
    link = RecordingLink(
        lambda event: (
            isinstance(event, StateTested) and event.number == 3 and link.memory_is_over()
        ),
        ProcessLimits(megabytes=10**6),
    )
    run_unit(link, unit)
    link.close()
    assert isinstance(link.events[-1], UnitFinished)
    assert link.events[-1].statistics.states < len(made)
    assert not link.events[-1].statistics.complete


def test_the_order_of_events(make_unit: MakeUnit) -> None:
    events = events_of(make_unit())
    assert isinstance(events[0], UnitStarted)
    assert isinstance(events[1], TaskReady)
    assert isinstance(events[-1], UnitFinished)
    assert any(isinstance(event, RegionsChanged) for event in events)
    for number in range(events[-1].statistics.states):
        places = [
            next(i for i, e in enumerate(events) if isinstance(e, kind) and e.number == number)
            for kind in (StateAdded, RunFinished, StateTested)
        ]
        assert places == sorted(places)


@pytest.mark.parametrize("policy", ['"builtin:hadd"', '"builtin:random"', '"builtin:gc"'])
def test_every_finding_is_a_bug(make_unit: MakeUnit, policy: str) -> None:
    oracles = '[testing]\noracles = ["aras-ehc", "lookahead:depth=2", "undo", "gbfs"]\n'
    events = events_of(make_unit(policies=policy, more=oracles))
    task = parse_sas(next(event.sas for event in events if isinstance(event, TaskReady)))
    states = fdr.reachable_states(task)
    hstar = fdr.optimal_costs(task, states)
    findings = findings_of(events)
    assert findings
    for bug in findings:
        assert bug.bound >= hstar[bug.state]
        if bug.kind is BugKind.FAILS:
            assert bug.gap is None
        else:
            assert bug.run.cost is not None
            assert bug.gap == bug.run.cost - bug.bound > 0


def test_the_optimal_policy_has_no_bugs(make_unit: MakeUnit) -> None:
    events = events_of(make_unit(policies='"builtin:optimal"'))
    assert not findings_of(events)


def test_astar_finds_every_bug_of_the_pool(make_unit: MakeUnit) -> None:
    more = '[testing]\noracles = ["astar"]\n'
    events = events_of(make_unit(more=more))
    task = parse_sas(next(event.sas for event in events if isinstance(event, TaskReady)))
    hstar = fdr.optimal_costs(task, fdr.reachable_states(task))
    pool = {e.number: e.state for e in events if isinstance(e, StateAdded)}
    runs = {e.number: e for e in events if isinstance(e, RunFinished)}
    expected = {
        pool[n]
        for n, run in runs.items()
        if hstar[pool[n]] != fdr.INFINITY
        and (run.policy_cost is None or run.policy_cost > hstar[pool[n]])
    }
    found = {finding.state for finding in findings_of(events)}
    assert found & set(pool.values()) == expected


def test_a_bug_is_found_once_and_improved_afterwards(make_unit: MakeUnit) -> None:
    """Greedy search proves the bug, A* makes the bound exact."""
    more = '[testing]\noracles = ["ehc", "astar"]\nskip_known_bugs = false\n'
    events = events_of(make_unit(problems='"p3.pddl"', more=more))
    bounds: dict[tuple[int, ...], int] = {}
    improved = 0
    for finding in findings_of(events):
        if finding.state in bounds:
            assert finding.bound < bounds[finding.state]
            improved += 1
        bounds[finding.state] = finding.bound
    assert improved


def test_known_bugs_are_skipped_on_request(make_unit: MakeUnit) -> None:
    text = '[testing]\noracles = ["astar", "ehc"]\nskip_known_bugs = {}\n'
    answers = {}
    for value in ("true", "false"):
        events = events_of(make_unit(more=text.format(value)))
        tested = [event for event in events if isinstance(event, StateTested)]
        answers[value] = sum(len(event.answers) for event in tested)
    assert answers["false"] == 2 * SIZE
    assert answers["true"] < 2 * SIZE


def test_statistics_count_what_the_events_say(make_unit: MakeUnit) -> None:
    more = '[testing]\noracles = ["astar", "ehc"]\nskip_known_bugs = false\n'
    events = events_of(make_unit(more=more))
    statistics = events[-1].statistics
    tested = [event for event in events if isinstance(event, StateTested)]
    by_oracle = {item.oracle: item for item in statistics.oracles}
    bugs = {
        name: {
            e.number for e in tested for a in e.answers if a.oracle == name and a.verdict == "bug"
        }
        for name in by_oracle
    }
    assert {name: item.bugs for name, item in by_oracle.items()} == {
        name: len(numbers) for name, numbers in bugs.items()
    }
    assert by_oracle["astar"].unique == len(bugs["astar"] - bugs["ehc"])
    assert statistics.bugs == len({finding.state for finding in findings_of(events)})
    assert statistics.policy_states > 0


def test_a_policy_is_asked_about_many_states_at_once(make_unit: MakeUnit) -> None:
    """One that decides outside the kernels, of the pool and of what its runs lead to."""
    more = 'fuzzing.size = 200\n[testing]\noracles = ["bmo"]\n'
    unit = make_unit(problems='"p3.pddl"', policies='"builtin:optimal"', more=more)
    statistics = events_of(unit)[-1].statistics
    assert statistics.policy_states >= statistics.states >= 150
    assert statistics.policy_states >= 8 * statistics.policy_calls  # one by one it is 1


def test_retrospective_bugs_are_pool_states_that_had_been_cleared(make_unit: MakeUnit) -> None:
    """A very short search clears states; plans from others through them prove them bugs later."""
    more = '[testing]\noracles = ["gbfs:expansions=6"]\n'
    pool: dict[tuple[int, ...], int] = {}
    tested: set[int] = set()
    found: set[State] = set()
    flags = []
    for event in events_of(make_unit(more=more)):
        if isinstance(event, StateAdded):
            pool[event.state] = event.number
        elif isinstance(event, StateTested):
            tested.add(event.number)
        elif isinstance(event, FindingReported) and event.finding.state not in found:
            found.add(event.finding.state)
            assert event.retrospective == (pool.get(event.finding.state) in tested)
            flags.append(event.retrospective)
    assert set(flags) == {True, False}


def test_a_finding_that_does_not_hold_is_dropped(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_module, "find_problem", lambda *claim: "it is made up")
    events = events_of(make_unit())
    assert not findings_of(events)
    assert any("it is made up" in event.text for event in events if isinstance(event, Warned))


def test_a_finding_can_be_sent_and_stored(make_unit: MakeUnit) -> None:
    for finding in findings_of(events_of(make_unit())):
        assert decode(encode(finding), Finding) == finding
        assert (finding.evidence.state, finding.evidence.bound) == (finding.state, finding.bound)


def test_too_few_states_are_reported_and_no_endless_walk(make_unit: MakeUnit) -> None:
    events = events_of(make_unit(problems='"p1.pddl"', more="[fuzzing]\nsize = 60\n"))
    assert not [event for event in events if isinstance(event, Warned)]
    assert isinstance(events[-1], UnitFinished)
    statistics = events[-1].statistics
    assert statistics.complete
    assert 0 < statistics.states < 60 == statistics.size
    filtered = make_unit(problems='"p1.pddl"', more="[fuzzing]\nsize = 60\nnovelty = 1\n")
    events = events_of(filtered)
    assert any("random walks found" in e.text for e in events if isinstance(e, Warned))
    assert not events[-1].statistics.complete


def test_stopping_ends_with_what_was_found(make_unit: MakeUnit) -> None:
    link = RecordingLink(lambda event: isinstance(event, StateTested) and event.number == 5)
    run_unit(link, make_unit())
    events = link.events
    whole = timeless(events_of(make_unit()))
    assert isinstance(events[-1], UnitStopped)
    part = timeless(events)[:-1]
    assert part == whole[: len(part)]


def test_a_time_limit_finishes_the_unit(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(link_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    more = "[fuzzing]\nsize = 1000000\n[limits]\nunit_seconds = 0.5\n"
    unit = make_unit(problems='"p3.pddl"', more=more)

    def pass_time(event: UnitEvent) -> None:
        if isinstance(event, StateTested) and event.number == 5:
            now[0] += 0.5

    link = RecordingLink(pass_time, ProcessLimits(unit.limits.unit_seconds))
    run_unit(link, unit)
    link.close()
    events = link.events
    assert isinstance(events[-1], UnitFinished)
    assert events[-1].statistics.limit == "stopped at its limit of 0.5 s"
    assert any("of 1000000 states were tested" in e.text for e in events if isinstance(e, Warned))


def test_a_pause_holds_the_unit_and_its_clock(make_unit: MakeUnit) -> None:
    added = threading.Event()

    def pause(event: UnitEvent) -> None:
        if isinstance(event, StateTested) and event.number == 2:
            link.pause()
            added.set()

    link = RecordingLink(pause)
    events = link.events
    thread = threading.Thread(target=run_unit, args=(link, make_unit()), daemon=True)
    thread.start()
    try:
        assert added.wait(60)
        clock = link.seconds
        thread.join(0.2)
        assert thread.is_alive()
        assert max(e.number for e in events if isinstance(e, StateAdded)) <= 3
        assert link.seconds == clock
    finally:
        link.resume()
        thread.join(60)
    assert isinstance(events[-1], UnitFinished)


def test_errors_name_the_users_files(make_unit: MakeUnit, folder: Path) -> None:
    (folder / "broken.pt").write_text("this is no policy")
    unit = make_unit(policies='"broken.pt"')
    (event,) = [event for event in events_of(unit) if isinstance(event, UnitFailed)]
    assert str(folder / "broken.pt") in event.error
    assert "not a policy file" in event.error


def test_a_plugin_is_tested_where_it_stands(make_unit: MakeUnit, folder: Path) -> None:
    (folder / "beside.py").write_text("CHOICE = 0\n")
    (folder / "mine.py").write_text(
        "import sys, pathlib\n"
        "sys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
        "import beside\n"
        "class First:\n"
        "    def __init__(self, task): self.task = task\n"
        "    def decide(self, states):\n"
        "        return [self.first(state) for state in states]\n"
        "    def first(self, state):\n"
        "        applicable = [n for n, op in enumerate(self.task.operators)\n"
        "                      if all(state[v] == x for v, x in op.precondition)]\n"
        "        return applicable[beside.CHOICE] if applicable else -1\n"
        "def make(task): return First(task)\n"
    )
    events = events_of(make_unit(policies='"mine.py:make"', more="[fuzzing]\nsize = 10\n"))
    assert isinstance(events[-1], UnitFinished), events[-1]
    assert findings_of(events)


def test_a_dropped_finding_does_not_keep_other_oracles_away(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dominance values that cannot be checked are no reason to skip A*, or to forget its merit."""
    monkeypatch.setattr("engine.dominance.checker.MAX_CELLS", 0)
    more = '[testing]\noracles = ["bmo", "astar"]\nskip_known_bugs = true'
    bugs = findings_of(events_of(make_unit(seed=1, more=more)))
    assert {bug.oracle for bug in bugs} == {"bmo", "astar"}
    for bug in bugs:
        assert bug.evidence.is_plan


@pytest.mark.parametrize("oracles", ['"smo"', '"smo", "inverse"'])
def test_an_oracle_is_credited_with_nothing_that_was_not_confirmed(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, oracles: str
) -> None:
    """Neither with a bug where none is reported nor with a bound that was not checked."""
    monkeypatch.setattr("engine.dominance.checker.MAX_CELLS", 0)
    more = f"[testing]\noracles = [{oracles}]\nskip_known_bugs = false"
    events = events_of(make_unit(more=more))
    assert any("were dropped" in event.text for event in events if isinstance(event, Warned))
    states = {event.number: event.state for event in events if isinstance(event, StateAdded)}
    bounds: dict[tuple[int, ...], int] = {}
    for event in events:
        if isinstance(event, FindingReported):
            bounds[event.finding.state] = event.finding.bound
        elif isinstance(event, StateTested):
            for answer in event.answers:
                if answer.verdict == "bug":
                    assert answer.bound is not None
                    assert answer.bound >= bounds[states[event.number]]


@pytest.mark.parametrize("others", ['"astar"', '"gbfs:expansions=30", "lookahead:depth=3"'])
def test_what_cannot_be_confirmed_hides_no_plan(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, others: str
) -> None:
    """Dominance values may have proven the same bound, or a better one, before."""

    def best(oracles: str) -> dict[tuple[int, ...], int]:
        more = f"[testing]\noracles = [{oracles}]\nskip_known_bugs = false"
        events = events_of(make_unit(problems='"p3.pddl"', more=more))
        return {finding.state: finding.bound for finding in findings_of(events)}

    alone = best(others)
    assert alone
    together = best(f'"bmo:lookahead=0", {others}')
    monkeypatch.setattr("engine.dominance.checker.MAX_CELLS", 0)
    doubted = best(f'"bmo:lookahead=0", {others}')
    assert together != doubted
    assert alone.items() <= doubted.items()
