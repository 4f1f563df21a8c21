"""Reports for other programs: CSV for spreadsheets, JSON for scripts, JUnit for test servers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from textwrap import indent
from typing import Any
from xml.etree import ElementTree

from engine.plain_text import plain_cell, printable
from engine.records.codec import to_json
from engine.report.content import Content
from engine.workspace.filter import KIND_WORDS
from engine.workspace.rows import BugRow

_COLUMNS = [field.name for field in fields(BugRow)]


def csv_report(content: Content) -> Iterator[str]:
    """One line per bug."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for bug in content.bugs:
        row = (getattr(bug, name) for name in _COLUMNS)
        writer.writerow([plain_cell(v) if isinstance(v, str) else v for v in row])
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def json_report(content: Content) -> Iterator[str]:
    """One document; lists that may be long are written as they are read."""
    head = {
        "workspace": content.workspace,
        "campaign": content.campaign.id,
        "made": content.made,
        "totals": content.totals,
    }
    patterns = [
        {
            "id": story.pattern.id,
            "family": story.pattern.family,
            "title": story.title,
            "bugs": list(story.pattern.bugs),
            "witness": story.pattern.witness,
        }
        for story in content.patterns
    ]
    tail = {
        "patterns": patterns,
        "configuration": to_json(content.campaign.config),
        "versions": content.versions,
    }
    yield "{\n"
    for name, value in head.items():
        yield f"{_member(name, value)},\n"
    yield from _list("bugs", map(_bug, content.bugs))
    yield ",\n"
    yield from _times(content.times)
    yield from _list("root_causes", map(to_json, content.causes))
    yield ",\n"
    yield ",\n".join(_member(name, value) for name, value in tail.items())
    yield "\n}\n"


def _bug(row: BugRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in _COLUMNS}


def _member(name: str, value: object) -> str:
    return indent(f"{json.dumps(name)}: {json.dumps(value, indent=2)}", "  ")


def _list(name: str, items: Iterable[object], margin: str = "  ") -> Iterator[str]:
    """Items have a line each: there may be a million."""
    yield f"{margin}{json.dumps(name)}: ["
    empty = True
    for item in items:
        yield "\n" if empty else ",\n"
        yield f"{margin}  {json.dumps(item)}"
        empty = False
    yield "]" if empty else f"\n{margin}]"


def _times(times: Mapping[str, Sequence[float]]) -> Iterator[str]:
    yield '  "bugs_over_time": {'
    for number, (oracle, found) in enumerate(times.items()):
        yield ",\n" if number else "\n"
        yield from _list(oracle, found, "    ")
    yield "\n  },\n" if times else "},\n"


def junit_report(content: Content) -> Iterator[str]:
    """Every unit is a test suite of its own, every bug in it a failed test.

    An unfinished unit counts as skipped: that it has no bugs says little.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="plumbline">\n'
    store = content.bugs.store
    units = store.units(content.campaign.id)
    for row, unit in zip(units, content.totals["units"], strict=True):
        suite = _suite(unit, store.bugs_of_unit(row.id))
        ElementTree.indent(suite, level=1)
        text = ElementTree.tostring(suite, "unicode")
        yield f"  {printable(text).strip()}\n"
    yield "</testsuites>\n"


def _suite(unit: Mapping[str, Any], bugs: Sequence[BugRow]) -> ElementTree.Element:
    name = f"{unit['problem']}, {unit['policy']}, seed {unit['seed']}"
    errors = [unit["error"]] if unit["error"] else []
    undone = unit.get("limit") or (unit["status"] if unit["status"] != "finished" else "")
    skipped = [undone] if undone and not errors else []
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(max(1, len(bugs) + len(errors) + len(skipped))),
        failures=str(len(bugs)),
        errors=str(len(errors)),
        skipped=str(len(skipped)),
        time=f"{unit.get('seconds') or 0:.3f}",
    )
    for text in errors:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name="unit")
        ElementTree.SubElement(case, "error", message=text)
    for status in skipped:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name="unit")
        ElementTree.SubElement(case, "skipped", message=f"the unit is {status}")
    for bug in bugs:
        _case(suite, name, bug)
    if not bugs and not errors and not skipped:
        ElementTree.SubElement(suite, "testcase", classname=name, name="no bug found")
    return suite


def _case(suite: ElementTree.Element, unit: str, bug: BugRow) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=unit, name=f"bug {bug.id}")
    cost = "the goal is not reached" if bug.policy_cost is None else f"cost {bug.policy_cost}"
    message = f"{KIND_WORDS[bug.kind]}: {cost}; {bug.bound} suffices; found by {bug.found_by}"
    ElementTree.SubElement(case, "failure", type=bug.kind, message=message)
