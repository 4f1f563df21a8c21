"""A campaign configuration as the text of a TOML file that means the same.

Every setting is written out. Paths below the folder of the file become relative to it, so that
the folder can be moved.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import tomli_w

from engine.records.codec import to_json
from engine.records.config import CampaignConfig
from engine.records.policy_spec import PolicySpec, SpecKind

_HEADER = "# Run it with: plumbline campaign {name} --out {stem}.plumb\n\n"


def config_text(config: CampaignConfig, path: Path) -> str:
    """The text to write to `path`."""
    folder = path.absolute().parent
    tables = {
        name: to_json(getattr(config, name))
        for name in ("fuzzing", "testing", "limits", "localization", "minimization")
    }
    top: dict[str, Any] = {
        "domain": None if config.domain is None else _relative(config.domain, folder),
        "problems": [glob.escape(_relative(name, folder)) for name in config.problems],
        "policies": [_policy(spec, folder) for spec in config.policies],
        "portfolio": [_policy(spec, folder) for spec in config.portfolio],
        "pool": None if config.pool is None else _relative(config.pool, folder),
        "seeds": list(config.seeds),
        "unit_costs": config.unit_costs,
    }
    if not top["portfolio"]:
        del top["portfolio"]
    whole = {**top, **tables}
    header = _HEADER.format(name=path.name, stem=path.stem)
    return header + tomli_w.dumps(_without_nothing(whole), multiline_strings=False)


def _policy(spec: str, folder: Path) -> str:
    named = PolicySpec.parse(spec)
    if named.path is None:
        return spec
    place = _relative(named.place, folder)
    is_pattern = named.kind is SpecKind.FILE
    return str(named.at(glob.escape(place) if is_pattern else place))


def _relative(name: str, folder: Path) -> str:
    path = Path(name)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else name


def _without_nothing(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out None, which TOML cannot express."""
    return {
        key: _without_nothing(value) if isinstance(value, dict) else value
        for key, value in document.items()
        if value is not None
    }
