"""Writes the settings of every preset, with the place in its paper, into docs/experiments.md."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine.experiments.config_writer import toml_value  # noqa: E402
from engine.experiments.presets import EXPERIMENT_PRESETS, ExperimentPreset, Setting  # noqa: E402

PAGE = ROOT / "docs" / "experiments.md"
BEGIN = "<!-- The settings below are written by 'make docs'. -->\n"
END = "\n<!-- End of the settings. -->\n"


def guide() -> str:
    """The page with the settings as they are now."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + "".join(map(_section, EXPERIMENT_PRESETS.values())) + END + tail


def _section(preset: ExperimentPreset) -> str:
    rows = "".join(map(_row, preset.settings))
    head = f"\n## {preset.name}\n\n{preset.paper}. Kind `{preset.kind}`. {preset.answers}\n\n"
    return f"{head}| setting | value | section of the paper |\n|---|---|---|\n{rows}"


def _row(setting: Setting) -> str:
    name = f"{setting.table}.{setting.key}" if setting.table else setting.key
    return f"| `{name}` | `{toml_value(setting.value)}` | {setting.source} |\n"


if __name__ == "__main__":
    PAGE.write_text(guide())
