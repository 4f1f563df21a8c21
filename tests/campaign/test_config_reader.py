"""Configurations: presets and defaults, patterns, and every mistake at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.campaign.config_reader import parse_config, read_config
from engine.campaign.presets import PRESETS
from engine.campaign.template import template
from engine.errors import ConfigurationError, UnreadableFileError
from engine.records.codec import decode, encode
from engine.records.config import CampaignConfig

BASE = 'domain = "domain.pddl"\nproblems = ["p1.pddl"]\npolicies = "builtin:hadd"\n'


def parse(folder: Path, text: str) -> CampaignConfig:
    return parse_config(text, folder / "c.toml")


def test_one_value_may_stand_without_brackets(folder: Path) -> None:
    config = parse(folder, BASE + "seeds = 7")
    assert config.seeds == (7,)
    assert config.policies == ("builtin:hadd",)
    assert config.problems == (str(folder / "p1.pddl"),)


def test_patterns_name_files_in_order(folder: Path) -> None:
    text = 'domain = "domain.pddl"\nproblems = ["p3.pddl", "p[12].pddl", "p*.pddl"]\n'
    config = parse(folder, text + 'policies = ["builtin:gc"]')
    assert [Path(path).name for path in config.problems] == ["p3.pddl", "p1.pddl", "p2.pddl"]


@pytest.mark.parametrize("name", PRESETS)
def test_explicit_keys_override_a_preset(folder: Path, name: str) -> None:
    plain = parse(folder, f'preset = "{name}"\n{BASE}')
    assert plain.fuzzing.size == PRESETS[name].values["fuzzing"]["size"]
    assert list(plain.testing.oracles) == PRESETS[name].values["testing"]["oracles"]
    changed = parse(folder, f'preset = "{name}"\n{BASE}[fuzzing]\nsize = 7')
    assert changed.fuzzing.size == 7
    assert changed.fuzzing.bias == plain.fuzzing.bias
    assert changed.testing == plain.testing


def test_the_written_example_is_valid(folder: Path) -> None:
    (folder / "problems").mkdir()
    (folder / "policies" / "checkpoints").mkdir(parents=True)
    (folder / "policies" / "checkpoints" / "epoch-001.pt").write_text("")
    (folder / "p1.pddl").rename(folder / "problems" / "p1.pddl")
    (folder / "policies" / "one.pt").write_text("")
    (folder / "pool.txt").write_text("")
    config = parse(folder, template())
    assert config.policies == (str(folder / "policies" / "one.pt"),)
    explicit = parse(folder, "\n".join(line.removeprefix("# ") for line in TEMPLATE_KEYS))
    assert explicit.limits.unit_megabytes == 4000
    assert explicit.pool == str(folder / "pool.txt")
    assert explicit.portfolio == (str(folder / "policies" / "checkpoints" / "epoch-001.pt"),)


# The commented keys of the example must be keys that exist, with values that are accepted.
TEMPLATE_KEYS = [
    line.partition("  #")[0]
    for line in template().splitlines()
    if line.startswith(("[", "preset", "domain", "problems", "policies", "seeds"))
    or (line.startswith("# ") and " = " in line)
]


def test_json_keeps_everything(folder: Path) -> None:
    config = parse(folder, BASE + "seeds=[1,2]\n[limits]\nunit_seconds = 2\n[fuzzing]\nnovelty = 2")
    assert decode(encode(config), CampaignConfig) == config


def test_sas_files_need_no_domain(folder: Path) -> None:
    (folder / "t.sas").write_text("")
    config = parse(folder, 'problems = "t.sas"\npolicies = "builtin:gc"')
    assert config.domain is None


def test_plugins_are_looked_for_beside_the_file(folder: Path) -> None:
    (folder / "mine.py").write_text("")
    config = parse(folder, BASE.replace("builtin:hadd", "mine.py:make"))
    assert config.policies == (f"{folder / 'mine.py'}:make",)


MISTAKES = {
    "sizes = 3\n" + BASE: (1, 1, "unknown setting 'sizes'"),
    BASE + "[fuzzing]\nsiez = 3": (5, 1, "did you mean 'size'"),
    BASE + "[localisation]\nenabled = true": (4, 2, "did you mean 'localization'"),
    BASE + "[fuzzing]\n  size = 0": (5, 3, "not between 1"),
    BASE + "[fuzzing]\nsize = 'many'": (5, 1, "whole number"),
    BASE + "[fuzzing]\nsize = true": (5, 1, "whole number"),
    BASE + "[fuzzing]\nbias = 'detuor'": (5, 1, "did you mean 'detour'"),
    BASE + "fuzzing.novelty = 4": (4, 1, "not between 0 and 3"),
    BASE + "[testing]\noracles = ['gbfs',\n 'astra']": (6, 2, "did you mean 'astar'"),
    BASE + "[testing]\noracles = ['gbfs:depth=1']": (5, 12, "no option 'depth'"),
    BASE + "[testing]\noracles = []": (5, 1, "empty"),
    BASE + "[limits]\nunit_seconds = -1": (5, 1, "positive"),
    BASE + "seeds = [1, 2.5]": (4, 13, "whole number"),
    BASE + "unit_costs = 1": (4, 1, "true or false"),
    BASE + "fuzzing = 3": (4, 1, "table"),
    BASE.replace("p1", "p9"): (2, 13, "file 'p9.pddl' does not exist"),
    BASE.replace("p1.pddl", "q*.pddl"): (2, 13, "no file matches"),
    BASE.replace("builtin:hadd", "nobody.pt"): (3, 1, "file 'nobody.pt' does not exist"),
    BASE.replace("builtin:hadd", "builtin:had"): (3, 1, "unknown built-in policy 'had'"),
    BASE.replace("domain.pddl", "other.pddl"): (1, 1, "file 'other.pddl' does not exist"),
    BASE + 'preset = "quik"': (4, 1, "did you mean 'quick'"),
    "a = = 1": (1, 5, "not TOML"),
    BASE + "x = [1,\n": (5, None, "not TOML"),
    'policies = "builtin:gc"': (None, None, "'problems' is missing"),
    'problems = "p1.pddl"\npolicies = "builtin:gc"': (None, None, "'domain' is missing"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_reported_at_their_place(folder: Path, text: str) -> None:
    line, column, reason = MISTAKES[text]
    with pytest.raises(ConfigurationError) as caught:
        parse(folder, text)
    location = caught.value.location
    assert (location.file, location.line) == (str(folder / "c.toml"), line)
    assert column is None or location.column == column
    assert reason in str(caught.value)


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="does not exist"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("grpc://host", "is not the address of a policy server; write grpc://host:port"),
        ("plug.py", "write plug.py:FACTORY"),
        ("plug.py:1x", "'1x' is not the name of a function"),
        ("builtin:", "names no policy"),
    ],
)
def test_what_names_no_policy_has_a_place(folder: Path, policy: str, said: str) -> None:
    text = f'domain = "domain.pddl"\nproblems = "p1.pddl"\npolicies = ["builtin:gc",\n"{policy}"]\n'
    with pytest.raises(ConfigurationError) as caught:
        parse(folder, text)
    assert (caught.value.location.line, caught.value.location.column) == (4, 1)
    assert said in str(caught.value)
