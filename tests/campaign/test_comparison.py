"""Two campaigns side by side, and what is said about bugs that only one of them has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.campaign.campaign import run
from engine.campaign.comparison import Change, compare_campaigns
from engine.campaign.config import CampaignConfig
from engine.campaign.store import Store

Configure = Callable[..., CampaignConfig]
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
    with Store.create(tmp_path / "w.plumb") as store:
        numbers = {
            name: run(config, store, executor=in_threads()).campaign
            for name, config in campaigns.items()
        }
        states = {
            name: {state for (state,) in store.rows(_FINDINGS, (number,))}
            for name, number in numbers.items()
        }
        assert states["greedy"]

        mended = compare_campaigns(store, numbers["greedy"], numbers["optimal"])
        assert mended.count(Change.GONE) == len(states["greedy"])
        assert mended.count(Change.NEW) == mended.count(Change.STILL) == 0
        assert any(bug.tested for bug in mended.bugs)

        back = compare_campaigns(store, numbers["optimal"], numbers["greedy"])
        assert {bug.change for bug in back.bugs} == {Change.NEW}

        seeds = compare_campaigns(store, numbers["greedy"], numbers["other seed"])
        both = states["greedy"] & states["other seed"]
        assert seeds.count(Change.STILL) == len(both) > 0
        assert seeds.count(Change.GONE) == len(states["greedy"] - both)
        assert seeds.count(Change.NEW) == len(states["other seed"] - both)
        # The same policy: a state that both have tested with A* is a bug in both or in none.
        assert not any(bug.tested for bug in seeds.bugs if bug.change is not Change.STILL)

        apart = compare_campaigns(store, numbers["greedy"], numbers["other problem"])
        assert apart.bugs == apart.shared_problems == ()


_FINDINGS = "SELECT f.state FROM findings f JOIN units u ON u.id = f.unit WHERE u.campaign = ?"
