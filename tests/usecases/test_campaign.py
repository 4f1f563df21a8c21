"""Whole campaigns: stopped, killed, paused, crashed, and still the same findings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from reference.faulty import workers_of, writer_elsewhere
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import read_config
from engine.campaign.summary import summary
from engine.errors import PddlError, UsageError, WorkspaceError
from engine.policies.consent import Consent
from engine.records.config import CampaignConfig
from engine.records.events import (
    AlreadyDone,
    CampaignEvent,
    CampaignFinished,
    CampaignStarted,
    CampaignStatus,
    FindingReported,
    StateTested,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStatistics,
    UnitStopped,
)
from engine.records.evidence import State
from engine.usecases.campaign import MIN_SUBMITTED, CampaignEnd, CampaignReporter, run, run_campaign
from engine.workers.link import NULL_LINK
from engine.workers.supervisor import make_executor
from engine.workspace.workspace import Workspace

Contents = Callable[[Workspace], dict[str, list[Any]]]
Configure = Callable[..., CampaignConfig]
MakeExecutor = Callable[[], Executor]

SIZE = "size = 12"
EXAMPLE = Path(__file__).parents[2] / "resources/examples/container-yard/campaign.toml"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.plumb"


@pytest.fixture
def config(configure: Configure) -> CampaignConfig:
    """Two problems and two policies make four units."""
    return configure('"p2.pddl", "p3.pddl"', '"builtin:hadd", "builtin:gc"', f"[fuzzing]\n{SIZE}\n")


@pytest.fixture
def expected(
    config: CampaignConfig, tmp_path: Path, in_threads: MakeExecutor, contents: Contents
) -> dict[str, list[Any]]:
    """What an undisturbed campaign leaves behind."""
    with Workspace.create(tmp_path / "undisturbed.plumb") as store:
        assert run(config, store, executor=in_threads()).finished
        return contents(store)


def test_events_are_stored_before_they_are_reported(
    config: CampaignConfig, path: Path, in_threads: MakeExecutor
) -> None:
    seen: list[CampaignEvent] = []
    found: set[tuple[int, State]] = set()
    with Workspace.create(path) as store, Workspace.open(path) as other:

        def emit(event: CampaignEvent) -> None:
            seen.append(event)
            if isinstance(event, FindingReported):
                found.add((event.unit, event.finding.state))
                assert len(other.bugs()) >= len(found)

        end = run(config, store, RecordingLink(hear=emit), executor=in_threads())
        assert end.finished
        assert isinstance(seen[0], CampaignStarted)
        assert isinstance(seen[-1], CampaignFinished)
        assert len(store.bugs()) == len(found) > 0
        assert any(isinstance(event, StateTested) for event in seen)
        totals = summary(store, end.campaign)
        assert totals["bugs"] == totals["verified"] > 0
        assert totals["qualitative"] + totals["quantitative"] == totals["bugs"]
        assert totals["bugs"] + totals["nonpool_bugs"] == len(store.bugs(1))
        assert totals["states"] == sum(unit["states"] for unit in totals["units"])
        assert {unit["status"] for unit in totals["units"]} == {"finished"}


def test_stopped_and_resumed_it_finds_the_same(
    config: CampaignConfig,
    path: Path,
    in_threads: MakeExecutor,
    contents: Contents,
    expected: dict[str, list[Any]],
) -> None:
    stops = 0
    with Workspace.create(path) as store:
        for tests in (3, 15, 30):
            seen: list[CampaignEvent] = []
            enough = partial(has_tested, seen, tests)
            end = run(
                config,
                store,
                RecordingLink(hear=seen.append, cancelled=enough),
                executor=in_threads(),
                resume=True,
            )
            stops += not end.finished
            assert set(contents(store)["history"]) <= set(expected["history"])
        assert stops
        run(config, store, executor=in_threads(), resume=True)
        assert contents(store) == expected


def has_tested(events: list[CampaignEvent], count: int) -> bool:
    return sum(isinstance(event, StateTested) for event in events) >= count


def test_finished_units_are_not_done_again(
    config: CampaignConfig, path: Path, in_threads: MakeExecutor
) -> None:
    seen: list[CampaignEvent] = []
    with Workspace.create(path) as store:
        run(config, store, executor=in_threads())
        end = run(
            config, store, RecordingLink(hear=seen.append), executor=in_threads(), resume=True
        )
    assert end.finished
    assert not [event for event in seen if isinstance(event, UnitStarted)]


class PauseOnce:
    """Pauses an endless campaign until nothing has happened for a while, then resumes it."""

    QUIET_TURNS = 8

    def __init__(self) -> None:
        self.seen: list[CampaignEvent] = []
        self.during_pause: int | None = None
        self._quiet, self._last = 0, 0

    def paused(self) -> bool:
        tested = self._tested()
        if self.during_pause is not None or not tested:
            return False
        self._quiet = self._quiet + 1 if tested == self._last else 0
        self._last = tested
        if self._quiet >= self.QUIET_TURNS:
            self.during_pause = tested
        return True

    def went_on(self) -> bool:
        return self.during_pause is not None and self._tested() > self.during_pause

    def _tested(self) -> int:
        return sum(isinstance(event, StateTested) for event in self.seen)


def test_a_stop_that_comes_too_late_leaves_a_finished_campaign(
    configure: Configure, path: Path
) -> None:
    with Workspace.create(path) as store:
        link = RecordingLink(lambda event: isinstance(event, UnitFinished))
        assert run(configure(), store, link, executor=make_executor("local:1")).finished
        assert store.campaign(1).status == CampaignStatus.FINISHED


def test_a_campaign_killed_after_its_last_unit_is_resumed_to_its_end(
    configure: Configure, path: Path, in_threads: MakeExecutor
) -> None:
    config = configure()
    with Workspace.create(path) as store:
        run(config, store, executor=in_threads())
        store.apply([CampaignFinished(1, CampaignStatus.STOPPED, 1.0)])
    consent = Consent()
    end = run_campaign(NULL_LINK, path, config, "local:1", consent)
    assert isinstance(end, CampaignEnd)
    assert end.finished
    assert run_campaign(NULL_LINK, path, config, "local:1", consent) == AlreadyDone(1)


def test_in_a_pause_nothing_happens_until_it_is_over(
    configure: Configure, path: Path, in_threads: MakeExecutor
) -> None:
    pause = PauseOnce()
    config = configure(problems='"many-states.pddl"', more="[fuzzing]\nsize = 100000000\n")
    with Workspace.create(path) as store:
        run(
            config,
            store,
            RecordingLink(hear=pause.seen.append, cancelled=pause.went_on, paused=pause.paused),
            executor=in_threads(),
        )
    assert pause.during_pause
    assert pause.went_on()


def test_a_policy_that_does_not_load_costs_its_own_units(
    configure: Configure, path: Path, in_threads: MakeExecutor, folder: Path
) -> None:
    (folder / "broken.pt").write_text("no policy")
    config = configure(policies='"broken.pt", "builtin:hadd"')
    with Workspace.create(path) as store:
        assert run(config, store, executor=in_threads()).status == "incomplete"
        status = {unit.policy: (unit.status, unit.error) for unit in store.units()}
        log = store.log()
    assert status["builtin:hadd"] == ("finished", "")
    assert status["broken.pt"][0] == "failed"
    assert str(folder / "broken.pt") in status["broken.pt"][1]
    assert any(row.level == "error" and "not a policy file" in row.text for row in log)


def test_wrong_pddl_is_reported_before_anything_runs(
    configure: Configure, path: Path, in_threads: MakeExecutor, folder: Path
) -> None:
    config = configure()
    (folder / "p2.pddl").write_text("(define (problem p) (:domain carter) (:objcts))")
    with Workspace.create(path) as store:
        with pytest.raises(PddlError, match=r"p2\.pddl:1"):
            run(config, store, executor=in_threads())
        assert store.campaigns() == []


@pytest.mark.parametrize("text", ["local:", "local:0", "local:-1", "local:x", "cloud:3"])
def test_unknown_executors_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="unknown executor"):
        make_executor(text)


# With real processes.


def test_a_killed_worker_costs_one_unit(
    path: Path, tmp_path: Path, in_threads: MakeExecutor, contents: Contents
) -> None:
    config = read_config(EXAMPLE)  # its units take long enough to be paused
    with Workspace.create(tmp_path / "undisturbed.plumb") as store:
        assert run(config, store, executor=in_threads()).finished
        expected = contents(store)
    seen: list[CampaignEvent] = []
    victims: list[int] = []

    def emit(event: CampaignEvent) -> None:
        seen.append(event)
        if isinstance(event, UnitStarted) and not victims:
            victims.append(event.unit)
            for pid in workers_of(os.getpid()):
                os.kill(pid, signal.SIGKILL)

    with Workspace.create(path) as store:
        # No unit gets ahead of its killer: all wait until one process was killed.
        link = RecordingLink(hear=emit, paused=lambda: not victims)
        end = run(config, store, link, executor=make_executor("local:1"))
        assert end.status == "incomplete"
        lost = [event for event in seen if isinstance(event, UnitFailed)]
        assert [event.unit for event in lost] == victims
        assert lost[0].lost
        assert "was killed" in lost[0].error
        assert sum(isinstance(event, UnitFinished) for event in seen) == 3
        run(config, store, resume=True)
        assert contents(store) == expected


def test_killed_at_any_moment_it_continues_to_the_same_end(
    config: CampaignConfig, folder: Path, path: Path, contents: Contents, expected: dict[str, Any]
) -> None:
    (folder / "c.toml").write_text(
        'domain = "domain.pddl"\nproblems = ["p2.pddl", "p3.pddl"]\n'
        f'policies = ["builtin:hadd", "builtin:gc"]\nfuzzing.{SIZE}\n'
    )
    command = [sys.executable, "-m", "engine.cli", "campaign", str(folder / "c.toml")]
    command += ["--out", str(path), "--resume"]
    seen: set[Any] = set()
    for seconds in (0.4, 1.0, 1.5):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if path.exists() and path.stat().st_size:
            with Workspace.create(path) as store:  # it may have been killed while it made the file
                assert store.damage() == ""
                committed = set(contents(store)["history"])
                assert seen <= committed <= set(expected["history"])
                seen = committed
    assert subprocess.run(command, check=False, capture_output=True, timeout=300).returncode == 0
    with Workspace.open(path) as store:
        assert contents(store) == expected


def test_a_second_campaign_on_the_same_file_is_refused(
    config: CampaignConfig, path: Path, in_threads: MakeExecutor
) -> None:
    refused = pytest.raises(WorkspaceError, match="is writing")
    with writer_elsewhere(path), Workspace.open(path) as store, refused:
        run(config, store, executor=in_threads())


def test_stopping_waits_for_nothing_and_keeps_what_was_found(
    configure: Configure, path: Path
) -> None:
    """The A* search of the only unit would run for hours."""
    more = '[testing]\noracles = ["gbfs", "astar:expansions=1000000000"]\n[fuzzing]\nsize = 99999\n'
    seen: list[CampaignEvent] = []

    def cancelled() -> bool:
        return any(isinstance(event, FindingReported) for event in seen)

    with Workspace.create(path) as store:
        end = run(
            configure(problems='"many-states.pddl"', more=more),
            store,
            RecordingLink(hear=seen.append, cancelled=cancelled),
        )
        assert not end.finished
        assert store.bugs()
        assert isinstance(seen[-2], UnitStopped)
        assert store.campaigns()[0].status == "stopped"


class Counting:
    """An executor that accepts calls and never makes them."""

    lost, size = False, None

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, *call: object) -> None:
        self.submitted += 1

    def order(self, command: object) -> None: ...

    def close(self) -> None: ...


def test_stopping_does_not_wait_until_all_units_are_submitted(
    config: CampaignConfig, path: Path
) -> None:
    executor = Counting()
    link = RecordingLink(cancelled=lambda: executor.submitted > 0)
    with Workspace.create(path) as store:
        end = run(config.with_seeds(*range(500)), store, link, executor=executor)
        assert end.status == "stopped"
        assert executor.submitted == MIN_SUBMITTED
        statuses = Counter(unit.status for unit in store.units())
        assert statuses["stopped"] == MIN_SUBMITTED
        assert statuses["waiting"] == len(store.units()) - MIN_SUBMITTED


def test_states_without_bugs_are_counted(
    configure: Configure, path: Path, in_threads: MakeExecutor
) -> None:
    config = configure(policies='"builtin:optimal"', more="[fuzzing]\nsize = 12\n")
    with Workspace.create(path) as store:
        run(config, store, executor=in_threads())
        counts = store.tested()
        assert not store.bugs()
        assert counts.tested == store.pool_states() > 0
        (unit,) = store.units()
        proven = max(oracle.optimal for oracle in unit.statistics.oracles)
        assert 0 < proven <= counts.optimal <= counts.tested


def tenth(unit: int) -> UnitProgress:
    return UnitProgress(unit, UnitStatistics(states=1, size=10))


def test_a_failed_unit_is_taken_from_what_there_is_to_do() -> None:
    link = RecordingLink()
    reporter = CampaignReporter(link)
    for event in (CampaignStarted(1, (1, 2)), tenth(1), tenth(2), UnitFailed(1, "no policy")):
        reporter.emit(event)
    shares = [(done, total) for done, total, _ in link.reports]
    assert shares == [(0, 2.0), (0.1, 2.0), (0.2, 2.0), (0.1, 1.0)]
    reporter.emit(UnitStarted(1, "p", "policy", 0))  # it is tried again
    assert link.reports[-1][:2] == (0.2, 2.0)


def test_if_all_units_fail_the_end_is_unknown() -> None:
    link = RecordingLink()
    reporter = CampaignReporter(link)
    reporter.emit(CampaignStarted(1, (1,)))
    reporter.emit(UnitFailed(1, "no policy"))
    assert link.reports[-1][:2] == (0, None)


def test_no_unit_is_more_than_done() -> None:
    link = RecordingLink()
    reporter = CampaignReporter(link)
    reporter.emit(CampaignStarted(1, (1,)))
    reporter.emit(UnitProgress(1, UnitStatistics(states=12, size=10)))
    assert link.reports[-1][:2] == (1.0, 1.0)
