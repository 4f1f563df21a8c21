"""Evidence as `--json` writes it, read as a user's script would read it."""

from __future__ import annotations

from typing import Any

from engine.records.evidence import Evidence, Morph, Step, Walk


def evidence_of(document: dict[str, Any]) -> Evidence:
    steps = tuple(map(_step, document["steps"]))
    return Evidence(tuple(document["state"]), steps, document["bound"])


def _step(document: dict[str, Any]) -> Step:
    if "walk" in document:
        return Walk(tuple(document["walk"]), document["origin"])
    return Morph(tuple(document["morph"]), document["gain"], document["origin"])
