"""Small pieces of sentences: counted nouns, and a text as a sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable


def count_text(number: int, noun: str) -> str:
    """Return `1 state`, `1,200 states`, `2 policies`, `3 families`, `4 searches`."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith("ch") else "s"
    plural = f"{noun[:-1]}ies" if noun.endswith(("cy", "ly")) else f"{noun}{ending}"
    return f"{number:,} {plural}"


def sentence(text: str) -> str:
    """Capitalize the first letter and end with a period."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def complete_text(states: int) -> str:
    """Say that a pool has all states that can be reached, except goals and dead ends."""
    every = "the only reachable state" if states == 1 else f"all {states:,} reachable states"
    return f"complete: {every}"


def short_names(oracles: Iterable[str]) -> dict[str, str]:
    """Return each oracle's name with the options that distinguish it from others of that name."""
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
