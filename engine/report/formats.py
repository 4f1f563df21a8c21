"""The formats in which a report can be written, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.report.content import Content
from engine.report.html import html_report
from engine.report.tables import csv_report, json_report, junit_report

FORMATS: Mapping[str, Callable[[Content], Iterator[str]]] = {
    "html": html_report,
    "csv": csv_report,
    "json": json_report,
    "junit": junit_report,
}
SUFFIXES = {".html": "html", ".htm": "html", ".csv": "csv", ".json": "json", ".xml": "junit"}
STORIES = 30
"""How many bugs a page shows with their plans by default."""
