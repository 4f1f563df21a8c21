"""Experiment files: what presets say, what may be overridden, and mistakes with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigurationError, UsageError
from engine.experiments.config_reader import preset_experiment, read_experiment
from engine.experiments.config_writer import preset_text
from engine.experiments.presets import EXPERIMENT_PRESETS
from engine.records.config import Mode
from engine.records.experiment import ExperimentConfig, ExperimentKind, Suite


def read(folder: Path, text: str, scale: int | None = None) -> ExperimentConfig:
    path = folder / "experiment.toml"
    path.write_text(text)
    return read_experiment(path, scale)


SUITE = """
[[suite]]
name = "loads"
domain = "domain.pddl"
problems = ["p?.pddl"]
policies = ["builtin:hadd"]
portfolio = ["builtin:gc"]
"""


@pytest.mark.parametrize("name", EXPERIMENT_PRESETS)
def test_every_preset_runs_on_the_bundled_examples(name: str) -> None:
    config = preset_experiment(name)
    preset = EXPERIMENT_PRESETS[name]
    assert (config.kind, config.preset, config.scale) == (preset.kind, name, 1)
    assert config.pairs if config.kind is ExperimentKind.EQUIVALENCE else config.suites
    if config.oracles:
        assert config.testing.mode is Mode.COMPARE
        assert config.testing.oracles == tuple(item.oracle for item in config.oracles)


@pytest.mark.parametrize("name", EXPERIMENT_PRESETS)
def test_the_text_of_a_preset_means_the_preset(name: str, folder: Path) -> None:
    text = preset_text(EXPERIMENT_PRESETS[name])
    own = read(folder, text)
    preset = preset_experiment(name)
    assert own == preset_with(preset, own)
    assert all(setting.source in text for setting in EXPERIMENT_PRESETS[name].settings)


def preset_with(preset: ExperimentConfig, own: ExperimentConfig) -> ExperimentConfig:
    """The file spells everything out and names no preset."""
    from msgspec.structs import replace

    return replace(preset, preset=own.preset)


def test_the_papers_settings() -> None:
    steinmetz = preset_experiment("steinmetz-2022")
    assert (steinmetz.fuzzing.size, steinmetz.fuzzing.walk_length) == (200, 5)
    assert (steinmetz.fuzzing.novelty, steinmetz.fuzzing.seconds) == (2, 5 * 3600)
    assert steinmetz.only_solved
    assert [variant.name for variant in steinmetz.variants] == ["", "bias off", "novelty off"]
    eisenhut = preset_experiment("eisenhut-2023")
    assert len(eisenhut.oracles) == 11
    assert (eisenhut.limits.oracle_seconds, eisenhut.limits.state_seconds) == (14_400, 1800)
    actions = preset_experiment("eisenhut-2025").actions
    assert (actions.actions, actions.seconds, actions.megabytes) == (2, 1800, 8192)
    assert preset_experiment("sievers-2026").portfolio.sizes == (1, 2, 5, 10)
    assert preset_experiment("d-val").equivalence.seconds == 1800


def test_scale_divides_pools_and_seconds_alone() -> None:
    whole, small = preset_experiment("eisenhut-2023"), preset_experiment("eisenhut-2023", scale=20)
    assert small.fuzzing.size == 10
    assert small.limits.oracle_seconds == 720
    assert small.limits.unit_megabytes == whole.limits.unit_megabytes
    assert "gbfs:expansions=1000" in small.testing.oracles
    assert small.scale == 20


def test_a_file_overrides_its_preset(folder: Path) -> None:
    text = f"""preset = "eisenhut-2023"
scale = 2
seeds = [1, 2]
[fuzzing]
size = 50
[oracles]
"A*" = "astar"
{SUITE}"""
    config = read(folder, text)
    assert (config.fuzzing.size, config.fuzzing.novelty) == (25, 2)
    assert [item.label for item in config.oracles] == ["A*"]
    assert config.seeds == (1, 2)
    (suite,) = config.suites
    assert suite.name == "loads"
    assert len(suite.problems) == 3
    assert read(folder, text, scale=5).fuzzing.size == 10


def test_each_policy_of_a_suite_has_a_row_of_its_own(folder: Path) -> None:
    text = f'preset = "eisenhut-2023"{SUITE.replace("hadd", "hadd", 1)}'.replace(
        'policies = ["builtin:hadd"]', 'policies = ["builtin:hadd", "builtin:gc"]'
    )
    names = [suite.name for suite in read(folder, text).suites]
    assert names == ["loads (builtin:hadd)", "loads (builtin:gc)"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('preset = "steinmetz"', 1, "unknown preset"),
        ('kind = "orakel"', 1, "unknown value"),
        ("scale = 3", None, "'kind' is missing"),
        ('preset = "d-val"\nscale = 0', 2, "0 is not between 1 and"),
        ('preset = "d-val"\npairs = "nothing.csv"', 2, "does not exist"),
        ('preset = "eisenhut-2023"\n[oracles]\n"A*" = "atsar"', 3, "unknown oracle"),
        ('preset = "eisenhut-2023"\n[oracles]\na = "bmo"\nb = "bmo"', 2, "named twice"),
        (
            'preset = "eisenhut-2023"\n[testing]\noracles = ["bmo"]',
            3,
            "an experiment names its oracles",
        ),
        ('preset = "eisenhut-2023"\nfolders = ["nowhere"]', 2, "does not exist"),
        ('preset = "eisenhut-2023"\nspeed = 3', 2, "unknown setting"),
        ('preset = "eisenhut-2025"\n[actions]\nheuristics = ["ff"]', 3, "unknown value"),
        ('preset = "sievers-2026"\n[portfolio]\nsizes = [0]', 3, "0 is not between 1 and"),
        ('kind = "oracles"', None, "no oracles"),
        ('preset = "steinmetz-2022"\n[variants]\nx = { bias = "up" }', 3, "unknown value"),
    ],
)
def test_mistakes_have_their_place(folder: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        read(folder, text)
    assert caught.value.location.line == line


def test_oracles_that_compare_policies_need_a_portfolio(folder: Path) -> None:
    text = f'preset = "sievers-2026"{SUITE}'.replace('portfolio = ["builtin:gc"]', "")
    with pytest.raises(ConfigurationError, match="no portfolio for 'loads'"):
        read(folder, text)


def test_pairs_come_from_a_table(folder: Path) -> None:
    (folder / "suite.csv").write_text(
        "domain,kind,a,b,expected\nloads,same,domain.pddl,domain.pddl,equivalent\n"
    )
    (pair,) = read(folder, 'preset = "d-val"\npairs = "suite.csv"').pairs
    assert (pair.domain, pair.version, pair.expected) == ("loads", "same", "equivalent")
    (folder / "suite.csv").write_text("domain,a,b\n")
    with pytest.raises(ConfigurationError, match="no column 'kind'"):
        read(folder, 'preset = "d-val"\npairs = "suite.csv"')
    (folder / "suite.csv").write_text("domain,kind,a,b\nloads,same,domain.pddl,gone.pddl\n")
    with pytest.raises(ConfigurationError, match=r"gone\.pddl") as caught:
        read(folder, 'preset = "d-val"\npairs = "suite.csv"')
    assert caught.value.location.line == 2


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(UsageError, match="unknown experiment 'paper'"):
        preset_experiment("paper", [Suite("x", None, ())])
