"""A comparison of two domains as one HTML file, or as the JSON of `plumbline compare`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from engine import __version__
from engine.campaign.inputs import File

TITLES = {
    "distinct": "Different parameters are different objects",
    "pddl": "Parameters may coincide, as in PDDL",
}
VERDICTS = {
    "equivalent": "Equivalent",
    "not-equivalent": "Not equivalent",
    "undecided": "Undecided within the limits",
}


def comparison_report(answer: Mapping[str, Any], a: File, b: File, suffix: str) -> str:
    """HTML unless the file's name ends with `.json`."""
    if suffix.lower() == ".json":
        return json.dumps({"a": a.path, "b": b.path, **answer}, indent=2) + "\n"
    from jinja2 import Environment

    source = files("engine.report")
    style = source.joinpath("style.css").read_text(encoding="utf-8")
    template = source.joinpath("comparison.html.j2").read_text(encoding="utf-8")
    return (
        Environment(autoescape=True)
        .from_string(template)
        .render(
            a=a,
            b=b,
            text_a=a.content.decode("utf-8-sig", "replace"),
            text_b=b.content.decode("utf-8-sig", "replace"),
            readings=[(TITLES[name], answer[name]) for name in TITLES if name in answer],
            verification=[
                answer.get("verification", {}).get(name) for name in TITLES if name in answer
            ],
            verdicts=VERDICTS,
            seconds=answer.get("seconds", 0.0),
            style=style,
            version=__version__,
        )
    )
