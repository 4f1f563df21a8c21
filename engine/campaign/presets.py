"""Starting points for a configuration; explicit keys override what a preset says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    name: str
    title: str
    purpose: str  # one sentence for users
    values: Mapping[str, Mapping[str, Any]]  # by table and key, as they stand in a TOML file


_PRESETS = (
    Preset(
        "quick",
        "Quick look",
        "A small pool and cheap oracles; takes seconds per problem.",
        {
            "fuzzing": {"size": 50, "bias": "none"},
            "testing": {
                "oracles": ["aras-ehc:expansions=1000", "lookahead:depth=1", "gbfs"],
                "skip_known_bugs": True,
            },
        },
    ),
    Preset(
        "thorough",
        "Thorough",
        "A large pool, biased random walks, and A* to prove optimality; takes minutes per problem.",
        {
            "fuzzing": {"size": 500, "bias": "plan-length"},
            "testing": {
                "oracles": [
                    "bmo",
                    "aras-ehc",
                    "lookahead:depth=2",
                    "undo",
                    "astar:expansions=20000",
                ]
            },
            "localization": {"enabled": True},
        },
    ),
)

PRESETS = {preset.name: preset for preset in _PRESETS}
DEFAULT_PRESET = "quick"
