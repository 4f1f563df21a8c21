"""Finds the domains, problems and policies of an experiment in folders.

A folder is one suite if it has a `domain.pddl`; otherwise each of its folders that has one is.
Problems are in `problems`, policies beside the domain or in `policies`, and what such a folder
calls `checkpoints` is the portfolio.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from engine.errors import ConfigurationError, Location
from engine.files import read_text, resource
from engine.policies.kinds import portfolio_files
from engine.records.experiment import DomainPair, Suite
from engine.records.policy_spec import PolicySpec

DOMAIN = "domain.pddl"


def bundled_suites() -> list[Suite]:
    """The examples that come with Plumbline."""
    return folder_suites(resource("examples"))


def bundled_pairs() -> list[DomainPair]:
    ferry, versions = resource("examples", "ferry", DOMAIN), resource("versions")
    return [
        DomainPair("ferry", path.stem.removeprefix("ferry-"), str(ferry), str(path))
        for path in sorted(versions.glob("ferry-*.pddl"))
    ]


def folder_suites(folder: Path) -> list[Suite]:
    """All suites in a folder, by name."""
    if os.path.isfile(folder / DOMAIN):
        return [_suite(folder)]
    found = [_suite(child) for child in _children(folder) if os.path.isfile(child / DOMAIN)]
    if not found:
        raise ConfigurationError(
            f"no folder with a {DOMAIN} here", Location.of(folder), "name a folder of domains"
        )
    return found


def _suite(folder: Path) -> Suite:
    problems = sorted((folder / "problems").glob("*.pddl"))
    if not problems:
        problems = sorted(path for path in folder.glob("*.pddl") if path.name != DOMAIN)
    if not problems:
        raise ConfigurationError(
            "no problems for this domain", Location.of(folder / DOMAIN), "put them into problems/"
        )
    policies = portfolio_files(folder)
    if os.path.isdir(folder / "policies"):
        policies += portfolio_files(folder / "policies")
    checkpoints = folder / "policies" / "checkpoints"
    portfolio = portfolio_files(checkpoints) if os.path.isdir(checkpoints) else []
    return Suite(
        folder.name,
        str(folder / DOMAIN),
        tuple(map(str, problems)),
        tuple(map(str, policies)),
        tuple(map(str, portfolio)),
    )


def single_policies(suite: Suite) -> Iterator[Suite]:
    """A suite for every policy of a suite: each has a row of its own in tables."""
    if len(suite.policies) < 2:
        yield suite
        return
    for spec in suite.policies:
        name = f"{suite.name} ({PolicySpec.parse(spec).name})"
        yield replace(suite, name=name, policies=(spec,))


def _children(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if os.path.isdir(path))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"cannot be read: {reason}", Location.of(folder)) from None


PAIR_COLUMNS = ("domain", "kind", "a", "b")
EXPECTED = ("expected", "distinct_objects", "authors_label")
"""Columns that say what the verdict should be; the first that a file has counts."""


def read_pairs(path: Path) -> list[DomainPair]:
    """The pairs of a CSV file; paths in it are relative to it."""
    rows = csv.DictReader(io.StringIO(read_text(path, "a list of domain pairs")))
    try:
        names = rows.fieldnames or ()
        for column in PAIR_COLUMNS:
            if column not in names:
                raise ConfigurationError(
                    f"no column '{column}'",
                    Location.of(path, 1),
                    f"the first line names the columns {', '.join(PAIR_COLUMNS)}",
                )
        expected = next((name for name in EXPECTED if name in names), None)
        return list(_pairs(rows, path, expected))
    except csv.Error as error:
        raise ConfigurationError(f"not CSV: {error}", Location.of(path, rows.line_num)) from None


def _pairs(rows: csv.DictReader[str], path: Path, expected: str | None) -> Iterator[DomainPair]:
    for row in rows:
        place = Location.of(path, rows.line_num)
        cells = [row[column] for column in PAIR_COLUMNS]
        if not all(cells):
            raise ConfigurationError("a cell is empty", place, "fill it, or remove the line")
        domain, version, a, b = cells
        files = [path.resolve().parent / name for name in (a, b)]
        for file in files:
            if not os.path.isfile(file):
                raise ConfigurationError(
                    f"file '{file.name}' does not exist", place, "paths are relative to this file"
                )
        said = (row[expected] or "") if expected else ""
        yield DomainPair(domain, version, str(files[0]), str(files[1]), said)
