"""Settings as text: seeds, oracles with options, presets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models import campaign_settings
from app.models.campaign_settings import (
    default_config,
    oracle_text,
    parse_seeds,
    preset_of,
    seeds_text,
    with_preset,
    written_options,
)
from engine.campaign.presets import PRESETS
from engine.fuzzing.biases import BIASES
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import ORACLES, parse_oracle
from engine.records.config import Unsolved
from engine.records.project import Project


@given(st.lists(st.integers(0, 60), min_size=1, unique=True))
def test_seeds_survive_their_text(seeds: list[int]) -> None:
    assert parse_seeds(seeds_text(seeds)) == tuple(seeds)


def test_seeds_are_written_as_people_do() -> None:
    assert parse_seeds(" 0, 3 ,5-9,3") == (0, 3, 5, 6, 7, 8, 9)
    assert seeds_text((0, 1, 5, 6, 7, 3)) == "0, 1, 5-7, 3"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at least one"),
        ("a", "invalid seed 'a'"),
        ("1.5", "invalid seed"),
        ("-3", "invalid seed"),
        ("9-5", "did you mean 5-9"),
        ("4294967296", "largest"),
        ("0-100000", "too many"),
    ],
)
def test_wrong_seeds_are_explained(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_seeds(text)


def test_every_choice_has_words() -> None:
    assert tuple(campaign_settings.BIASES) == BIASES
    assert set(campaign_settings.OBJECTIVES) == set(OBJECTIVES)
    assert set(campaign_settings.UNSOLVED) == {choice.value for choice in Unsolved}
    assert list(campaign_settings.NOVELTY) == [0, 1, 2, 3]


def test_the_thorough_preset_localizes() -> None:
    config = default_config(Project("d", ("p",), ("builtin:gc",)))
    thorough = with_preset(config, "thorough")
    assert thorough.localization.enabled
    assert not with_preset(thorough, "quick").localization.enabled


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_recognized(name: str) -> None:
    config = with_preset(default_config(Project("d", ("p",), ("builtin:gc",))), name)
    assert preset_of(config) == name
    assert preset_of(config.with_seeds(7)) == name
    for oracle in config.testing.oracles:
        kind, _ = parse_oracle(oracle)
        assert oracle_text(kind, written_options(oracle)) == oracle


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_defaults_can_be_written(name: str) -> None:
    kind = ORACLES[name]
    options = {
        option: entry.default_text
        for option, entry in kind.options.items()
        if entry.default is not None
    }
    assert parse_oracle(oracle_text(kind, options)) == parse_oracle(name)


def test_defaults_without_a_value_say_what_happens() -> None:
    options = ORACLES["bmo"].options
    assert options["factors"].default_text == "automatic"
    assert options["seconds"].default_text == "no limit"
