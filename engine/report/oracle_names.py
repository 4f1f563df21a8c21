"""Oracles by names that are short enough for a legend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable


def short_names(oracles: Iterable[str]) -> dict[str, str]:
    """Each oracle's name, with those options that tell it from others of that name."""
    options: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for text in oracles:
        name, _, rest = text.partition(":")
        options[name][text] = rest.split(",") if rest else []
    names = {}
    for name, asked in options.items():
        shared = set.intersection(*map(set, asked.values()))
        for text, parts in asked.items():
            own = ",".join(part for part in parts if part not in shared)
            names[text] = f"{name}:{own}" if own else name
    return names
