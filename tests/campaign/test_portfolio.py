"""Campaigns whose oracles compare the policy with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import parse_config
from engine.campaign.inputs import policy_inputs, portfolio_inputs, problem_inputs
from engine.campaign.unit import run_unit
from engine.errors import ConfigurationError
from engine.records.codec import decode, encode
from engine.records.config import CampaignConfig, Unit
from engine.records.events import FindingReported, UnitFinished, Warned
from engine.workspace.workspace import Workspace, campaign_key

Configure = Callable[..., CampaignConfig]

RIVALS = 'portfolio = ["builtin:gc", "builtin:optimal"]\ntesting.oracles = ["pco-p", "pco-e"]'


def checkpoints(folder: Path, *names: str) -> str:
    (folder / "checkpoints").mkdir(parents=True)
    for name in names:
        (folder / "checkpoints" / name).write_text(name)
    return 'portfolio = "checkpoints"'


def key_of(config: CampaignConfig) -> str:
    return campaign_key(
        config, problem_inputs(config), policy_inputs(config), portfolio_inputs(config)
    )


def test_a_directory_stands_for_its_checkpoints(folder: Path, configure: Configure) -> None:
    config = configure(more=checkpoints(folder, "b.pt", "a.pt", "notes.txt"))
    assert [Path(path).name for path in config.portfolio] == ["a.pt", "b.pt"]
    assert decode(encode(config), CampaignConfig) == config


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (
            'testing.oracles = ["gbfs", "pco-e:runs=2"]',
            r"pco-e:runs=2 needs a portfolio of policies",
        ),
        ('portfolio = ["builtin:gc", "nowhere.pt"]', "file 'nowhere.pt'"),
        ('portfolio = "checkpoints"', "'checkpoints' contains no policy files"),
        ("portfolio = []", "the list is empty"),
    ],
)
def test_mistakes_have_a_place(folder: Path, more: str, complaint: str) -> None:
    (folder / "checkpoints").mkdir()
    text = f'domain = "domain.pddl"\nproblems = "p1.pddl"\npolicies = "builtin:gc"\n{more}'
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        parse_config(text, folder / "campaign.toml")
    assert caught.value.location is not None
    assert caught.value.location.line == 4


def test_findings_and_statistics_name_the_rivals(configure: Configure) -> None:
    config = configure(policies='"builtin:random"', more=RIVALS)
    (problem,), (policy,) = problem_inputs(config), policy_inputs(config)
    unit = Unit(1, problem, policy, 0, config.fuzzing, config.testing, config.limits)
    link = RecordingLink()
    run_unit(link, replace(unit, portfolio=portfolio_inputs(config)))
    events = link.events
    origins = {
        step.origin
        for event in events
        if isinstance(event, FindingReported)
        for step in event.finding.evidence.steps
    }
    assert "builtin:optimal" in origins
    finished = events[-1]
    assert isinstance(finished, UnitFinished)
    rows = {(row.oracle, row.policy): row for row in finished.statistics.portfolio}
    assert len(rows) == 4
    assert rows["pco-p", "builtin:optimal"].runs >= rows["pco-p", "builtin:optimal"].bugs > 0


def test_units_are_taken_up_again_with_their_portfolio(
    folder: Path, tmp_path: Path, configure: Configure
) -> None:
    config = configure(more=checkpoints(folder, "b.pt", "a.pt"))
    inputs = problem_inputs(config), policy_inputs(config)
    with Workspace.create(tmp_path / "w.plumb") as store:
        number = store.begin(config, *inputs, False, portfolio_inputs(config))
        (folder / "checkpoints" / "a.pt").unlink()
        (unit,) = store.pending(number)
    assert [rival.name for rival in unit.portfolio] == ["a.pt", "b.pt"]
    assert [rival.file.content for rival in unit.portfolio if rival.file] == [b"a.pt", b"b.pt"]


def test_another_portfolio_is_another_campaign(folder: Path, configure: Configure) -> None:
    config = configure(more=checkpoints(folder, "a.pt"))
    before = key_of(config)
    assert key_of(config) == before != key_of(configure())
    (folder / "checkpoints" / "a.pt").write_text("trained on")
    assert key_of(config) != before


@pytest.mark.parametrize("mode", ["hunt", "compare"])
def test_a_rival_that_gives_no_answers_is_named(
    mode: str, folder: Path, configure: Configure
) -> None:
    body = "def decide(self, states):\n        raise RuntimeError('out of order')"
    (folder / "broken.py").write_text(
        f"class factory:\n    def __init__(self, task): ...\n    {body}"
    )
    more = RIVALS.replace("builtin:gc", "broken.py:factory")
    config = configure(policies='"builtin:random"', more=f'{more}\ntesting.mode = "{mode}"')
    (problem,), (policy,) = problem_inputs(config), policy_inputs(config)
    unit = Unit(1, problem, policy, 0, config.fuzzing, config.testing, config.limits)
    link = RecordingLink()
    run_unit(link, replace(unit, portfolio=portfolio_inputs(config)))
    assert isinstance(link.events[-1], UnitFinished)
    (warning,) = [event.text for event in link.heard(Warned) if "failed" in event.text]
    assert warning.startswith("broken.py:factory of the portfolio failed: ")
    assert "out of order" in warning
