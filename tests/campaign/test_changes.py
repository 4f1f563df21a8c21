"""Two campaigns side by side, and what is reported about bugs that only one of them has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reference.forging import forge

from engine.campaign.changes import Change, Trend, compare_campaigns
from engine.records.config import CampaignConfig
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]
PLUGIN = """
class Policy:
    def __init__(self, task, choose):
        self.task, self.choose = task, choose

    def decide(self, states):
        return [self.choose(filter(lambda n: self.able(n, state), range(len(self.task.operators))))
                for state in states]

    def able(self, number, state):
        return all(state[v] == x for v, x in self.task.operators[number].precondition)


def first(task):
    return Policy(task, min)


def last(task):
    return Policy(task, max)
"""
ASTAR = '[testing]\noracles = ["astar"]\n'


def test_bugs_are_new_gone_or_still_there(
    tmp_path: Path, configure: Configure, in_threads: Callable[[], object]
) -> None:
    campaigns = {
        "greedy": configure(more=ASTAR),
        "optimal": configure(policies='"builtin:optimal"', more=ASTAR),
        "other seed": configure(more=f"seeds = 7\n{ASTAR}"),
        "other problem": configure(problems='"p1.pddl"', more=ASTAR),
    }
    with Workspace.create(tmp_path / "w.plumb") as store:
        numbers = {
            name: run(config, store, executor=in_threads()).campaign
            for name, config in campaigns.items()
        }
        states = {
            name: {place.state for place in store.finding_places(number)}
            for name, number in numbers.items()
        }
        assert states["greedy"]

        fixed = compare_campaigns(store, numbers["greedy"], numbers["optimal"])
        assert {bug.change for bug in fixed.bugs} == {Change.GONE, Change.UNTESTED}
        assert len(fixed.bugs) == len(states["greedy"])
        for bug in fixed.bugs:
            in_pool = bug.finding.pool_number is not None  # both campaigns walk the same way
            assert bug.change is (Change.GONE if in_pool else Change.UNTESTED)
            assert bug.trend is (Trend.BETTER if in_pool else Trend.UNKNOWN)

        back = compare_campaigns(store, numbers["optimal"], numbers["greedy"])
        assert {bug.change for bug in back.bugs} == {Change.NEW, Change.UNTESTED}

        seeds = compare_campaigns(store, numbers["greedy"], numbers["other seed"])
        both = states["greedy"] & states["other seed"]
        found = [bug for bug in seeds.bugs if bug.before and bug.after]
        assert len(found) == len(both) > 0
        assert {bug.trend for bug in found} == {Trend.SAME}
        # The same policy: what one campaign has found is in the other too, or was not tested.
        assert {bug.change for bug in seeds.bugs} == {Change.STILL, Change.UNTESTED}

        apart = compare_campaigns(store, numbers["greedy"], numbers["other problem"])
        assert apart.bugs == apart.shared_problems == ()


Run = Callable[..., int]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w.plumb") as store:
        yield store


@pytest.fixture
def campaign(store: Workspace, configure: Configure, in_threads: Callable[[], Any]) -> Run:
    def start(policies: str, seed: int = 0, oracle: str = "astar", objective: str = "any") -> int:
        more = f'seeds = {seed}\nfuzzing.size = 12\ntesting.oracles = ["{oracle}"]\n'
        more += f'testing.objective = "{objective}"\n'
        return run(configure(policies=policies, more=more), store, executor=in_threads()).campaign

    return start


def test_every_policy_is_compared_with_its_own_kind(store: Workspace, campaign: Run) -> None:
    """An optimal policy beside a greedy one has none of its bugs."""
    both = '"builtin:optimal", "builtin:hadd"'
    first, second = campaign(both), campaign('"builtin:hadd", "builtin:optimal"', seed=7)
    compared = compare_campaigns(store, first, second)
    assert {bug.finding.policy for bug in compared.bugs} == {"builtin:hadd"}
    assert {bug.change for bug in compared.bugs} == {Change.STILL, Change.UNTESTED}

    alone = compare_campaigns(store, campaign('"builtin:gc"'), second)
    assert {bug.change for bug in alone.bugs} == {Change.UNTESTED}  # whose place did they take?


def test_a_bug_that_only_one_campaign_found_is_in_both(store: Workspace, campaign: Run) -> None:
    """Weak oracles find little; what strong ones proved about the state decides."""
    strong, weak = campaign('"builtin:hadd"'), campaign('"builtin:hadd"', oracle="inverse")
    for compared in (
        compare_campaigns(store, strong, weak),
        compare_campaigns(store, weak, strong),
    ):
        unnoticed = [bug for bug in compared.bugs if not (bug.before and bug.after)]
        in_pool = [bug for bug in unnoticed if bug.finding.pool_number is not None]
        assert in_pool
        assert {bug.change for bug in in_pool} == {Change.STILL}
        assert {bug.trend for bug in in_pool} == {Trend.SAME}


@pytest.mark.parametrize(
    ("outcome", "cost", "expected"),
    [
        ("solved", -1, (Change.GONE, Trend.BETTER)),
        ("solved", 0, (Change.GONE, Trend.BETTER)),
        ("solved", 1, (Change.STILL, Trend.BETTER)),
        ("failed", None, (Change.STILL, Trend.SAME)),
        ("aborted", 0, (Change.UNDECIDED, Trend.UNKNOWN)),
        ("aborted", 1, (Change.STILL, Trend.UNKNOWN)),
        (None, None, (Change.UNTESTED, Trend.UNKNOWN)),
    ],
)
def test_what_the_other_policy_pays_decides(
    store: Workspace,
    campaign: Run,
    outcome: str | None,
    cost: int | None,
    expected: tuple[Change, Trend],
) -> None:
    """Costs are relative to the bound of a bug in which the earlier policy fails."""
    first, second = campaign('"builtin:hadd"'), campaign('"builtin:optimal"')
    bug = next(
        row
        for row in store.bugs(first)
        if row.kind == "qualitative" and row.pool_number is not None
    )
    forge(
        store.path,
        "UPDATE pool SET outcome = ?, policy_cost = ? WHERE number = ? AND unit = "
        "(SELECT id FROM units WHERE campaign = ?)",
        (outcome, None if cost is None else bug.bound + cost, bug.pool_number, second),
    )
    (compared,) = [
        item for item in compare_campaigns(store, first, second).bugs if item.before == bug
    ]
    assert (compared.change, compared.trend) == expected
    (back,) = [item for item in compare_campaigns(store, second, first).bugs if item.after == bug]
    assert back.change is {Change.GONE: Change.NEW}.get(compared.change, compared.change)


def test_where_only_the_goal_counts_reaching_it_is_no_bug(store: Workspace, campaign: Run) -> None:
    """However much it costs, as long as neither campaign asks for costs."""
    first = campaign('"builtin:hadd"', objective="goal")
    second = campaign('"builtin:optimal"', objective="goal")
    strict = campaign('"builtin:optimal"')
    bug = next(row for row in store.bugs(first) if row.pool_number is not None)
    forge(
        store.path,
        "UPDATE pool SET outcome = 'solved', policy_cost = ? WHERE number = ?",
        (bug.bound + 1, bug.pool_number),
    )

    def change(other: int) -> Change:
        (found,) = [b for b in compare_campaigns(store, first, other).bugs if b.before == bug]
        return found.change

    assert change(second) is Change.GONE
    assert change(strict) is Change.STILL
    forge(store.path, "UPDATE pool SET outcome = 'aborted'")
    assert change(second) is Change.UNDECIDED
    forge(store.path, "UPDATE pool SET outcome = 'failed', policy_cost = NULL")
    assert change(second) is Change.STILL


def test_policies_of_one_plugin_file_are_told_apart(
    store: Workspace, campaign: Run, folder: Path
) -> None:
    """They have their contents in common, and nothing else."""
    (folder / "plugin.py").write_text(PLUGIN)
    both = '"plugin.py:last", "plugin.py:first"'
    first, second = campaign(both), campaign(both, seed=7)
    policies = {bug.finding.policy for bug in compare_campaigns(store, first, second).bugs}
    assert policies == {"plugin.py:last", "plugin.py:first"}
    for bug in compare_campaigns(store, first, second).bugs:
        if bug.before and bug.after:
            assert bug.before.policy == bug.after.policy


def test_a_bug_without_its_policy_is_left_out(store: Workspace, campaign: Run) -> None:
    """As everywhere: a damaged file must not end in a defect of ours."""
    first, second = campaign('"builtin:hadd"'), campaign('"builtin:hadd"', seed=1)
    assert compare_campaigns(store, first, second).bugs
    forge(store.path, "DELETE FROM policies")
    assert compare_campaigns(store, first, second).bugs == ()


def test_a_bug_of_another_kind_is_the_same_bug_with_a_trend(
    store: Workspace, campaign: Run
) -> None:
    first, second = campaign('"builtin:hadd"'), campaign('"builtin:hadd"', seed=1)
    row = next(bug.before for bug in compare_campaigns(store, first, second).bugs if bug.after)
    assert row is not None
    assert row.kind == "qualitative"
    forge(
        store.path,
        "UPDATE findings SET kind = 'quantitative', policy_cost = bound + 2, gap = 2 WHERE id = ?",
        (row.id,),
    )
    (bug,) = [
        item
        for item in compare_campaigns(store, first, second).bugs
        if item.before and item.before.id == row.id
    ]
    assert (bug.change, bug.trend) == (Change.STILL, Trend.WORSE)
    assert bug.before is not None
    assert bug.after is not None
    assert (bug.before.kind, bug.after.kind) == ("quantitative", "qualitative")
