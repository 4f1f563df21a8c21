"""What is read over time adds up to what the units counted, in any portions, killed or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.campaign.timeline import (
    BugCourse,
    Progress,
    Timeline,
    bug_course,
    unit_offsets,
    whole_course,
)
from engine.errors import UnreadableFileError
from engine.records.config import CampaignConfig
from engine.records.events import UnitStatistics
from engine.usecases.campaign import resume, run
from engine.workspace.rows import UnitRow
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]
ORACLES = 'seeds = [0, 1]\n[testing]\noracles = ["lookahead:depth=1", "ehc", "astar"]\n'


@pytest.fixture
def finished(tmp_path: Path, configure: Configure, in_threads: Callable[[], object]) -> Path:
    config = configure(problems='"p1.pddl", "p2.pddl"', more=ORACLES + "skip_known_bugs = false\n")
    with Workspace.create(tmp_path / "w.plumb") as store:
        run(config, store, executor=in_threads())
    return tmp_path / "w.plumb"


@pytest.mark.parametrize("portion", [1, 7, 10_000])
def test_a_course_agrees_with_what_the_units_counted(finished: Path, portion: int) -> None:
    with Workspace.open(finished) as store:
        course = Timeline(store, 1)
        while course.read_more(portion):
            pass
        units, progress = store.units(1), course.progress()
        counted = [counts for unit in units for counts in unit.statistics.oracles]
        for score in progress.scores:
            own = [counts for counts in counted if counts.oracle == score.oracle]
            assert own
            for name in ("examined", "bugs", "unique", "optimal"):
                assert getattr(score, name) == sum(getattr(one, name) for one in own), (score, name)
            assert score.seconds == pytest.approx(sum(one.seconds for one in own))
            assert len(progress.proof_times.get(score.oracle, ())) == score.bugs
        pool = [bug for bug in store.bugs(1) if bug.pool_number is not None]
        assert progress.bugs == len(pool) > 0
        assert progress.further == len(store.bugs(1)) - len(pool)
        assert store.counts()[1].bugs == len(pool)
        assert store.counts()[1].further == progress.further
        assert progress.solved == sum(unit.statistics.solved for unit in store.units(1))
        assert progress.states == store.pool_states(1)
        assert progress.state_times[-1] <= progress.seconds
        assert progress.policy_calls == sum(unit.statistics.policy_states for unit in units)
        assert sum(map(len, progress.first_times.values())) == progress.bugs
        assert (np.diff(progress.state_times) >= 0).all()
        assert all(score.recall is None for score in progress.scores)  # a team shares its bounds


def test_a_running_campaign_is_read_as_it_grows(
    tmp_path: Path, configure: Configure, in_threads: Callable[[], object]
) -> None:
    config = configure(more=ORACLES)
    seen: list[tuple[int, int]] = []
    with (
        Workspace.create(tmp_path / "w.plumb") as store,
        Workspace.open(tmp_path / "w.plumb") as reader,
    ):
        courses: list[Timeline] = []

        def listen(event: object) -> None:
            course = courses[0] if courses else Timeline(reader, 1)
            courses[:] = [course]
            course.read_more(3)
            progress = course.progress()
            seen.append((progress.states, progress.bugs))

        run(config, store, RecordingLink(hear=listen), executor=in_threads())
        while courses[0].read_more():
            pass
        grown, whole = courses[0].progress(), whole_course(reader, 1)
        assert whole.scores == grown.scores
        assert whole.state_times.tolist() == grown.state_times.tolist()
        assert_same(bug_course(reader, reader.campaign(1)), whole)
    assert seen == sorted(seen)


def test_a_bug_of_a_state_that_is_not_fully_tested_is_in_the_pool_everywhere(
    finished: Path,
) -> None:
    with Workspace.open(finished) as store:
        bug = max(
            (row for row in store.bugs_of_unit(1) if row.pool_number is not None),
            key=lambda row: row.pool_number,
        )
    # As a stop in this state leaves it.
    forge(finished, "DELETE FROM answers WHERE unit = 1 AND number >= ?", [bug.pool_number])
    forge(finished, "DELETE FROM pool WHERE unit = 1 AND number > ?", [bug.pool_number])
    forge(finished, "UPDATE pool SET tested = 0 WHERE unit = 1 AND number = ?", [bug.pool_number])
    with Workspace.open(finished) as store:
        whole, counts = whole_course(store, 1), store.counts()[1]
        assert (whole.bugs, whole.further) == (counts.bugs, counts.further)
        assert whole.states == store.pool_states(1) - 1
        assert sum(map(len, whole.first_times.values())) == whole.bugs
        assert_same(bug_course(store, store.campaign(1)), whole)


def assert_same(course: BugCourse, whole: Progress) -> None:
    assert list(course.scores) == list(whole.scores)
    times = {oracle: found.tolist() for oracle, found in course.bug_times.items()}
    assert times == {oracle: found.tolist() for oracle, found in whole.bug_times.items()}
    assert any(times.values())


def unit(number: int, started: float | None, seconds: float, status: str = "finished") -> UnitRow:
    return UnitRow(number, 1, "p", "y", 0, status, started, "", UnitStatistics(seconds=seconds))


def test_idle_time_does_not_count() -> None:
    one_after_the_other = [unit(1, 100.0, 10.0), unit(2, 110.0, 5.0)]
    assert unit_offsets(one_after_the_other) == {1: 0.0, 2: 10.0}
    taken_up_next_day = [unit(1, 100.0, 10.0), unit(2, 86_500.0, 5.0), unit(3, 86_502.0, 9.0)]
    assert unit_offsets(taken_up_next_day) == {1: 0.0, 2: 10.0, 3: 12.0}
    side_by_side = [unit(2, 101.0, 5.0), unit(1, 100.0, 1.0, "running"), unit(3, None, 0.0)]
    assert unit_offsets(side_by_side) == {1: 0.0, 2: 1.0}


def test_a_campaign_is_taken_up_without_its_files(
    tmp_path: Path, configure: Configure, in_threads: Callable[[], object]
) -> None:
    config = configure(problems='"p1.pddl", "p2.pddl"', more=ORACLES)
    with Workspace.create(tmp_path / "w.plumb") as store:
        turns = iter([False] * 3 + [True] * 100)
        end = run(
            config,
            store,
            RecordingLink(cancelled=lambda: next(turns)),
            executor=in_threads(),
        )
        assert not end.finished
        assert store.pending(end.campaign)
        (tmp_path / "domain.pddl").unlink()
        with pytest.raises(UnreadableFileError):
            run(config, store, executor=in_threads(), resume=True)
        assert resume(end.campaign, store, executor=in_threads()).finished
        assert not store.pending(end.campaign)
        assert {unit.status for unit in store.units()} == {"finished"}
