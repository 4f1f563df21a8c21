"""Templates of pages, in which texts of others neither become markup nor control a terminal."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from engine.plain_text import printable

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def template(name: str) -> Template:
    """Compiled once: that takes longer than a page."""
    from jinja2 import Environment

    return Environment(autoescape=True, finalize=_harmless).from_string(source(name))


def source(name: str) -> str:
    return files("engine.report").joinpath(name).read_text(encoding="utf-8")


def _harmless(value: object) -> object:
    """A page is also read in a terminal. What is markup already stays so."""
    if not isinstance(value, str) or (shown := printable(value)) == value:
        return value
    return type(value)(shown)
