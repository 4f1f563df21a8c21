"""An experiment as the text of a TOML file: a preset's settings, each with its source."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import tomli_w

from engine.experiments.presets import ExperimentPreset, Setting
from engine.records.experiment import ExperimentKind

_WHERE = {
    ExperimentKind.EQUIVALENCE: """\
# Pairs of domain versions: a CSV file with the columns domain, kind, a and b (paths relative to
# it) and, if known, expected. Without it: the pairs that come with Plumbline.
# pairs = "suite.csv"
""",
}
_SUITES = """\
# Folders of domains: each has domain.pddl, problems/, and policies beside them or in policies/;
# policies/checkpoints is the portfolio. Without them: the examples that come with Plumbline.
# folders = ["domains"]
"""
_ONE = """
# Or domain by domain, as often as needed:
# [[suite]]
# name = "gripper"
# domain = "gripper/domain.pddl"
# problems = ["gripper/problems/*.pddl"]
# policies = ["gripper/policy.pt"]
# portfolio = ["gripper/checkpoints"]
"""


def preset_text(preset: ExperimentPreset) -> str:
    """What `plumbline experiment --init` writes."""
    is_pairs = preset.kind is ExperimentKind.EQUIVALENCE
    lines = [
        f"# {preset.paper}",
        f"# {preset.answers}",
        f"# Run it with: plumbline experiment {preset.name}.toml --out {preset.name}.plumb",
        "",
        _WHERE.get(preset.kind, _SUITES),
        "# Divide pool sizes and limits in seconds by this, for a first look.",
        "scale = 1",
        "seeds = [0]",
        f'kind = "{preset.kind}"',
    ]
    lines += [_line(setting) for setting in preset.settings if not setting.table]
    tables = [setting for setting in preset.settings if setting.table]
    for table, settings in groupby(tables, key=lambda setting: setting.table):
        lines += ["", f"[{table}]", *map(_line, settings)]
    if not is_pairs:
        lines.append(_ONE)
    return "\n".join(lines).rstrip() + "\n"


def _line(setting: Setting) -> str:
    return f"{_assignment(setting.key, setting.value)}  # {setting.source}"


def _assignment(key: str, value: Any) -> str:
    name, _, _ = tomli_w.dumps({key: 0}).partition(" =")
    return f"{name} = {toml_value(value)}"


def toml_value(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(_assignment(name, item) for name, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return tomli_w.dumps({"x": value}).strip().removeprefix("x = ")
