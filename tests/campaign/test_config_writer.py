"""A configuration written as TOML reads as the same configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.campaign.config_reader import parse_config, read_config
from engine.campaign.config_writer import config_text
from engine.records.config import CampaignConfig, UnitLimits

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"


@pytest.mark.parametrize(
    "example", sorted(path.parent.name for path in EXAMPLES.glob("*/campaign.toml"))
)
def test_the_examples_survive(example: str, tmp_path: Path) -> None:
    config = read_config(EXAMPLES / example / "campaign.toml")
    for folder in (EXAMPLES / example, tmp_path):
        text = config_text(config, folder / "c.toml")
        assert parse_config(text, folder / "c.toml") == config
    assert str(EXAMPLES) not in config_text(config, EXAMPLES / example / "c.toml")


def test_every_setting_and_strange_names_survive(
    folder: Path, configure: Callable[..., CampaignConfig]
) -> None:
    (folder / "p[1]*.pddl").write_text((folder / "p1.pddl").read_text())
    (folder / "plug in.py").write_text("def make(task): ...")
    (folder / "odd [3].pt").write_bytes(b"PK\x03\x04")
    config = configure(more='[testing]\noracles = ["bmo:lookahead=0", "astar"]\n')
    config = replace(
        config,
        problems=(*config.problems, str(folder / "p[1]*.pddl")),
        policies=("builtin:gc", str(folder / "odd [3].pt"), f"{folder / 'plug in.py'}:make"),
        portfolio=("grpc://host:1", str(folder / "odd [3].pt")),
        seeds=(3, 1),
        unit_costs=True,
        limits=UnitLimits(2.5, 100),
        localization=replace(config.localization, enabled=True, bug_seconds=3.0),
        fuzzing=replace(config.fuzzing, novelty=2, seconds=2.5, bias="plan-length"),
    )
    assert parse_config(config_text(config, folder / "x.toml"), folder / "x.toml") == config
