"""What a campaign tells of its progress: a unit that fails is not work that was done."""

from __future__ import annotations

from reference.recording_link import RecordingLink

from engine.records.events import (
    CampaignStarted,
    UnitFailed,
    UnitProgress,
    UnitStarted,
    UnitStatistics,
)
from engine.usecases.campaign import CampaignReporter


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


def test_where_all_units_fail_nobody_knows_the_end() -> None:
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
