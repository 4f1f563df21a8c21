"""Pictures in the HTML report: inline, offline, and never too much of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.report import content
from engine.report.content import gather, telling
from engine.report.html import html_report
from engine.report.story_pictures import story_pictures
from engine.report.trace import evidence_trace, policy_trace
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]


@pytest.mark.parametrize("kind", ["goal", "loop"])
def test_a_bug_has_its_worst_step_and_what_comes_of_it(
    store: Workspace, bug_with: Find, kind: str
) -> None:
    bug = bug_with(kind)
    task = store.task(bug.problem_id)
    policy = policy_trace(task, bug.finding.state, bug.finding.run)
    better = evidence_trace(task, bug.finding.evidence)
    before, after = story_pictures(task, policy, better, store.localization(bug.row.id))
    assert before.caption.startswith("Before step ")
    assert after.caption == before.caption.replace("Before", "After")
    for picture in (before, after):
        assert picture.svg.startswith("<svg ")
        assert "<script" not in picture.svg
        assert "href" not in picture.svg
        assert len(picture.svg) < 60_000


def test_the_page_has_the_pictures_and_needs_nothing_else(store: Workspace) -> None:
    found = gather(store, None, 3)
    page = "".join(html_report(found))
    assert page.count('<div class="pictures">') == 3
    assert page.count('role="img"') >= 6
    assert "src=" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_a_page_has_a_limit_for_the_bytes_of_pictures(
    store: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "MAX_BYTES", 1)
    stories = gather(store, None, 3).stories
    assert [bool(story.pictures) for story in stories] == [True, False, False]


def test_plans_that_part_stand_side_by_side(store: Workspace) -> None:
    lines = [line for story in gather(store, None, 20).stories for line in story.lines]
    parting = [line for line in lines if line.parts]
    assert not any(line.is_common for line in parting)
    assert sum(line.policy is not None and line.better is not None for line in parting) > 1
    assert all(line.policy and line.better for line in lines if line.is_common)


def test_any_number_of_bugs_may_be_asked_for(store: Workspace) -> None:
    everything = telling(store.bugs(), 10**18)
    assert len(everything) == len(store.bugs())
    assert telling(store.bugs(), 2) == everything[:2]
