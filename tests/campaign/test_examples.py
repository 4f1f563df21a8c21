"""The campaigns of the bundled examples name files that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.campaign.config_reader import read_config
from engine.campaign.inputs import policy_inputs, problem_inputs

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"


@pytest.mark.parametrize(
    "folder", sorted(path.parent.name for path in EXAMPLES.glob("*/domain.pddl"))
)
def test_every_example_has_a_campaign(folder: str) -> None:
    config = read_config(EXAMPLES / folder / "campaign.toml")
    assert len(problem_inputs(config)) == 4
    assert [policy.name for policy in policy_inputs(config)] == ["policy.pt"]
