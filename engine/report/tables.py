"""Reports for other programs: CSV for spreadsheets, JSON for scripts, JUnit for test servers."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict, fields
from xml.etree import ElementTree

from engine.records.codec import to_json
from engine.report.content import Content
from engine.workspace.filter import KIND_WORDS
from engine.workspace.rows import BugRow

_FORMULA = re.compile(r"\s*[=+\-@\t\r]")
_NUMBER = re.compile(r"\s*[+-]?\d[\d.,_]*(?:e[+-]?\d+)?\s*%?", re.IGNORECASE)


def plain_cell(text: str) -> str:
    """The text so that it is shown and not calculated; a name may come from a stranger."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Messages of policies may hold anything."""


def csv_report(content: Content) -> str:
    """One line per bug."""
    text = io.StringIO()
    names = [field.name for field in fields(BugRow)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for bug in content.bugs:
        row = asdict(bug).items()
        writer.writerow({name: plain_cell(v) if isinstance(v, str) else v for name, v in row})
    return text.getvalue()


def json_report(content: Content) -> str:
    document = {
        "workspace": content.workspace,
        "campaign": content.campaign.id,
        "made": content.made,
        "totals": content.totals,
        "bugs": [asdict(bug) for bug in content.bugs],
        "bugs_over_time": content.times,
        "root_causes": [to_json(cause) for cause in content.causes],
        "configuration": to_json(content.campaign.config),
        "versions": content.versions,
    }
    return json.dumps(document, indent=2) + "\n"


def junit_report(content: Content) -> str:
    """Every unit is a test suite of its own, every bug in it a failed test.

    A unit that has not been worked through counts as skipped: that no bug is known says little.
    """
    root = ElementTree.Element("testsuites", name="plumbline")
    by_unit: dict[tuple[str, str, int], list[BugRow]] = {}
    for bug in content.bugs:
        by_unit.setdefault((bug.problem, bug.policy, bug.seed), []).append(bug)
    for unit in content.totals["units"]:
        bugs = by_unit.get((unit["problem"], unit["policy"], unit["seed"]), [])
        name = f"{unit['problem']}, {unit['policy']}, seed {unit['seed']}"
        errors = [unit["error"]] if unit["error"] else []
        undone = unit.get("limit") or (unit["status"] if unit["status"] != "finished" else "")
        skipped = [undone] if undone and not errors else []
        suite = ElementTree.SubElement(
            root,
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
    ElementTree.indent(root)
    text = _NOT_IN_XML.sub("\ufffd", ElementTree.tostring(root, "unicode"))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, unit: str, bug: BugRow) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=unit, name=f"bug {bug.id}")
    cost = "the goal is not reached" if bug.policy_cost is None else f"cost {bug.policy_cost}"
    message = f"{KIND_WORDS[bug.kind]}: {cost}; {bug.bound} suffices; found by {bug.found_by}"
    ElementTree.SubElement(case, "failure", type=bug.kind, message=message)
