"""Localization, in campaigns and of stored bugs: the truth, the store, limits, stopping."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference import fdr
from reference.bug_workspace import make_workspace, what_is_known
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import parse_config
from engine.campaign.summary import summary
from engine.campaign.unit import run_unit
from engine.cli import main
from engine.commands.console import ConsoleLink
from engine.errors import CancelledError, WorkspaceError
from engine.localize.localizer import Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.records.codec import compress, decode, encode
from engine.records.config import CampaignConfig, Unit
from engine.records.events import (
    BugLocalized,
    FindingReported,
    TaskReady,
    UnitEvent,
    UnitFinished,
    UnitStopped,
    Warned,
)
from engine.records.finding import INFINITY
from engine.records.localization import CauseKind, StepVerdict, by_schema
from engine.task.sas import parse_sas
from engine.task.states import StateTable
from engine.usecases.campaign import run as run_campaign
from engine.usecases.localize import (
    Localized,
    LocalizeOptions,
    Localizing,
    keep_localization,
    localize,
)
from engine.workers.channel import pack, unpack
from engine.workers.limits import ProcessLimits
from engine.workspace.workspace import Workspace, campaign_key

MakeUnit = Callable[..., Unit]
Configure = Callable[..., CampaignConfig]
Contents = Callable[[Workspace], dict[str, list[Any]]]

ON = "[localization]\nenabled = true\n"


def events_of(unit: Unit) -> list[UnitEvent]:
    link = RecordingLink()
    run_unit(link, unit)
    return link.events


def test_every_bug_is_localized_and_the_verdicts_are_true(make_unit: MakeUnit) -> None:
    events = events_of(make_unit(more=ON))
    task = parse_sas(next(event.sas for event in events if isinstance(event, TaskReady)))
    hstar = fdr.optimal_costs(task, fdr.reachable_states(task))
    found = [event.finding for event in events if isinstance(event, FindingReported)]
    runs = {finding.state: finding.run for finding in found}
    localized = [event for event in events if isinstance(event, BugLocalized)]
    assert [event.state for event in localized] == list(runs)
    for event in localized:
        found, state = event.localization, event.state
        assert not found.limited
        assert found.cause is not None
        assert [s.operator for s in found.steps][: len(runs[state].operators)] == list(
            runs[state].operators
        )
        for step in found.steps:
            operator = task.operators[step.operator]
            following = fdr.apply(task, operator, state)
            after = hstar[following] if hstar[following] == INFINITY else None
            after = after or operator.cost + hstar[following]
            optimal = hstar[state] == after or hstar[state] == INFINITY
            assert (step.verdict is StepVerdict.OPTIMAL) == optimal
            state = following
    assert isinstance(events[-1], UnitFinished)
    assert events[-1].statistics.localized == events[-1].statistics.bugs == len(runs)
    assert sum(e.localization.searches for e in localized) < sum(
        e.localization.naive_searches for e in localized
    )


def test_nothing_is_localized_unless_asked_for(make_unit: MakeUnit) -> None:
    assert not any(isinstance(event, BugLocalized) for event in events_of(make_unit()))


def test_a_small_budget_leaves_steps_undecided(make_unit: MakeUnit) -> None:
    budget = "search_expansions = 2\nunit_expansions = 10\n"
    events = events_of(make_unit(problems='"p3.pddl"', more=ON + budget))
    found = [event.localization for event in events if isinstance(event, BugLocalized)]
    reported = [event.finding for event in events if isinstance(event, FindingReported)]
    assert len(found) == len({finding.state for finding in reported})
    assert sum(item.expanded for item in found) <= 10
    assert any(item.limited for item in found)
    again = events_of(make_unit(problems='"p3.pddl"', more=ON + budget))
    repeated = [event.localization for event in again if isinstance(event, BugLocalized)]
    assert [(item.steps, item.cause) for item in repeated] == [
        (item.steps, item.cause) for item in found
    ]


def test_a_unit_that_is_stopped_while_it_localizes_reports_whole_bugs_only(
    make_unit: MakeUnit,
) -> None:
    link = RecordingLink(lambda event: len(link.heard(BugLocalized)) == 3)
    run_unit(link, make_unit(more=ON))
    events = link.events
    assert isinstance(events[-1], UnitStopped)
    found = [event for event in events if isinstance(event, BugLocalized)]
    assert len(found) == 3
    assert not any(event.localization.limited for event in found)


def test_a_limit_that_is_reached_is_reported(make_unit: MakeUnit) -> None:
    unit = make_unit(more=ON)

    def refuse_memory(event: UnitEvent) -> None:
        if isinstance(event, BugLocalized):
            assert link.memory_is_over()

    link = RecordingLink(refuse_memory, ProcessLimits(megabytes=10**6))
    run_unit(link, unit)
    link.close()
    events = link.events
    assert isinstance(events[-1], UnitFinished)
    assert events[-1].statistics.limit == "stopped at its limit of 1000000 MB"
    left = events[-1].statistics.bugs - 1
    assert [event.text for event in events if isinstance(event, Warned)] == [
        f"stopped at its limit of 1000000 MB before {left} bugs were localized"
    ]


def test_a_campaign_that_was_stopped_and_resumed_leaves_the_same(
    configure: Configure,
    in_threads: Callable[[], Any],
    contents: Contents,
    tmp_path: Path,
) -> None:
    config = configure(problems='"p1.pddl", "p2.pddl"', more=ON)
    with Workspace.create(tmp_path / "whole.plumb") as store:
        run_campaign(config, store, executor=in_threads())
        whole = contents(store)
        totals = summary(store, 1)
    assert whole["localizations"]
    assert totals["root_causes"] == len({row[1] for row in whole["localizations"]})
    with Workspace.create(tmp_path / "parts.plumb") as store:
        seen: list[int] = []

        def hear(event: object) -> None:
            seen.extend([1] if isinstance(event, BugLocalized) else [])

        end = run_campaign(
            config,
            store,
            RecordingLink(hear=hear, cancelled=lambda: len(seen) > 2),
            executor=in_threads(),
        )
        run_campaign(config, store, executor=in_threads(), resume=True)
        assert seen or end.finished
        assert contents(store) == whole


def test_localization_is_part_of_a_campaign_only_if_it_is_asked_for(configure: Configure) -> None:
    """A campaign from before there was localization is still the same one."""

    def key(more: str) -> str:
        return campaign_key(configure(more=more), (), (), ())

    assert key("") == key("[localization]\nenabled = false\nbug_expansions = 5\n")
    assert key("") != key(ON) != key(ON + "bug_expansions = 5\n")
    config = configure(more=ON + "bug_seconds = 2.5\n")
    assert decode(encode(config), CampaignConfig) == config


# From c the policy takes the expensive road, whose action comes first in the domain.
DOMAIN = """\
(define (domain one-road)
  (:requirements :strips :action-costs)
  (:predicates (at ?p) (road ?a ?b) (costly ?a ?b))
  (:functions (total-cost))
  (:action race :parameters (?a ?b) :precondition (and (at ?a) (costly ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 7)))
  (:action walk :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 2))))
"""
PROBLEM = """\
(define (problem p) (:domain one-road) (:objects a b c d e)
  (:init (at a) (road a b) (road b c) (road c d) (road d e) (costly c d) (= (total-cost) 0))
  (:goal (at e)) (:metric minimize (total-cost)))
"""


@pytest.fixture
def one_road(tmp_path: Path, in_threads: Callable[[], Any]) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    text = 'domain = "domain.pddl"\nproblems = "p.pddl"\npolicies = "builtin:gc"\nseeds = [0, 1]\n'
    text += f'{ON}[fuzzing]\nsize = 5\n[testing]\noracles = ["astar"]\n'
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        run_campaign(parse_config(text, tmp_path / "c.toml"), store, executor=in_threads())
    return path


def test_three_bugs_with_one_bad_action_have_one_root_cause(one_road: Path) -> None:
    """Each of the two seeds finds all three, and the root cause is the same one."""
    with Workspace.open(one_road) as store:
        (cause,) = store.root_causes()
        bugs = {row.id: row for row in store.bugs()}
        assert len(bugs) == 6
        assert sorted(cause.bugs) == sorted(bugs)
        assert {row.root_cause for row in bugs.values()} == {cause.id}
        assert (cause.kind, cause.action, cause.schema) == (CauseKind.DETOUR, "race c d", "race")
        assert (cause.problem, cause.policy) == ("p.pddl", "builtin:gc")
        smallest = store.bug(cause.smallest_bug)
        assert smallest.finding.state == cause.state
        assert smallest.row.gap == 5
        (group,) = by_schema(store.root_causes())
        assert (group.schema, group.bugs) == ("race", 6)
        found = store.localization(cause.bugs[-1])
        assert found is not None
        assert found.bad_steps == (2,)
        assert (found.steps[2].loss_low, found.steps[2].loss_high) == (5, 5)
        assert summary(store, 1)["root_causes"] == 1
        assert store.root_causes(campaign=2) == []
        assert store.localized_bugs() == set(bugs)


def test_a_localization_is_read_as_it_was_written(one_road: Path) -> None:
    with Workspace.open(one_road) as store:
        for row in store.bugs():
            bug = store.bug(row.id)
            task = store.task(bug.problem_id)
            found = Localizer(StateTable(task)).localize_finding(bug.finding)
            store.save_localization(row.id, found)
            assert store.localization(row.id) == found
            limits = LocalizationLimits(total_expansions=0)
            limited = Localizer(StateTable(task)).localize_finding(bug.finding, limits)
            assert limited.undecided_steps
            keep_localization(store, bug, limited, task)  # knows less, does not replace it
            assert store.localization(row.id) == found


def test_all_kinds_of_localizations_are_read_as_they_were_written(
    configure: Configure, in_threads: Callable[[], Any], tmp_path: Path
) -> None:
    """Failures with dead ends and loops, and infinite costs."""
    kinds = set()
    with Workspace.create(tmp_path / "w.plumb") as store:
        config = configure(problems='"p1.pddl"', policies='"builtin:random"')
        run_campaign(config, store, executor=in_threads())
        localizer = Localizer(StateTable(store.task(1)))
        for row in store.bugs():
            found = localizer.localize_finding(store.bug(row.id).finding)
            store.save_localization(row.id, found)
            assert store.localization(row.id) == found
            assert found.cause is not None
            kinds.add(found.cause.kind)
        assert sum(len(cause.bugs) for cause in store.root_causes()) == len(store.bugs())
    assert {CauseKind.DEAD_END, CauseKind.LOOP, CauseKind.DETOUR} <= kinds


@pytest.mark.parametrize("steps", [b"\1\2", compress(b"[" * 100_000)], ids=["bytes", "nested"])
def test_a_damaged_localization_is_reported_and_can_be_repaired(
    one_road: Path, steps: bytes
) -> None:
    with Workspace.open(one_road) as store:
        forge(store.path, f"UPDATE localized_steps SET steps = x'{steps.hex()}'")
        with pytest.raises(WorkspaceError, match="localization of bug 1 is damaged"):
            store.localization(1)
        localize(RecordingLink(), one_road, [1])
        assert store.localization(1) is not None


def bugs_with_bounds_only(path: Path) -> list[int]:
    with Workspace.open(path) as store:
        bounds = [row.id for row in store.bugs() if row.evidence_kind != "plan"]
        fine = [bug for bug in bounds if store.bug(bug).finding.run.reason == "loop"]
    assert len(fine) > 2
    return fine[:3]


BOUNDS_ONLY = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:gc"]
fuzzing.size = 12
testing.oracles = ["bmo"]
"""


def test_a_campaign_keeps_the_plans_that_localizing_keeps(tmp_path: Path) -> None:
    known = []
    for name, more in (("after", ""), ("within", "localization.enabled = true\n")):
        (tmp_path / name).mkdir()
        path = make_workspace(tmp_path / name, BOUNDS_ONLY + more)
        with Workspace.open(path) as store:
            kinds = {row.evidence_kind for row in store.bugs()}
        assert ("dominance" in kinds) == (name == "after")
        if name == "after":
            localize(RecordingLink(), path, None)
        with Workspace.open(path) as store:
            bugs = [store.bug(row.id) for row in store.bugs()]
            known.append([(bug.finding, bug.row.gap, bug.row.root_cause) for bug in bugs])
    assert known[0] == known[1]


def test_a_plan_that_comes_to_light_becomes_evidence(workspace: Path) -> None:
    link, bugs = RecordingLink(), bugs_with_bounds_only(workspace)
    done = localize(link, workspace, bugs)
    assert [item.bug for item in done] == bugs
    assert link.heard(Localized) == list(done) == [unpack(pack(item)) for item in done]
    assert [item.not_kept for item in done] == ["", "", ""]
    with Workspace.open(workspace) as store:
        assert {store.bug(bug).row.evidence_kind for bug in bugs} == {"plan"}
        for item in done:
            assert store.localization(item.bug) == item.localization
    assert {text for _, _, text in link.reports} == {f"bug {bug}" for bug in bugs}
    parts = [done for done, total, _ in link.reports]
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] <= 3


def test_both_faces_store_the_same_also_when_stopped_in_the_middle(
    bug_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user stops during the first search for the second bug: by Ctrl-C, or in the window."""
    bugs = bugs_with_bounds_only(bug_workspace)
    before = what_is_known(bug_workspace)
    window, terminal = (
        Path(shutil.copy(bug_workspace, tmp_path / name)) for name in ("a.plumb", "b.plumb")
    )

    def is_in_the_middle(event: object) -> bool:
        return isinstance(event, Localizing) and event.bug == bugs[1]

    link = RecordingLink(is_in_the_middle)
    with pytest.raises(CancelledError):
        localize(link, window, bugs)
    assert [item.bug for item in link.heard(Localized)] == bugs[:1]

    emit = ConsoleLink.emit

    def emit_and_interrupt(link: ConsoleLink, event: object) -> None:
        emit(link, event)
        if is_in_the_middle(event):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ConsoleLink, "emit", emit_and_interrupt)
    words = [word for bug in bugs for word in ("--bug", str(bug))]
    assert main(["localize", str(terminal), *words]) == 130

    after = what_is_known(window)
    assert after == what_is_known(terminal)
    assert [bug for bug, known in after.items() if known != before[bug]] == bugs[:1]


def test_a_workspace_that_cannot_be_written_still_gets_an_answer(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug, *_ = bugs_with_bounds_only(workspace)
    before = what_is_known(workspace)
    monkeypatch.setattr("engine.workspace.guard.os.access", lambda path, mode: False)
    (item,) = localize(RecordingLink(), workspace, [bug])
    assert "cannot be written" in item.not_kept
    assert item.localization.bad_steps
    assert what_is_known(workspace) == before


def test_time_for_all_bugs_replaces_the_time_for_one() -> None:
    options = LocalizeOptions(bug_seconds=5.0)
    assert options.limits(time.monotonic() - 100).total_seconds == 5
    options = LocalizeOptions(bug_seconds=5.0, total_seconds=60.0)
    assert options.limits(time.monotonic() - 100).total_seconds == 0
    left = options.limits(time.monotonic()).total_seconds
    assert left is not None
    assert 50 < left <= 60
