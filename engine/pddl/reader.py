"""Read domain and problem files: as a model or an error, or as a report of everything found."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import Location, UnreadableFileError
from engine.files import read_bytes
from engine.pddl.diagnostics import Diagnostic, Diagnostics, MalformedError, Severity, raise_errors
from engine.pddl.domain_checks import check_domain
from engine.pddl.domain_reader import domain_from
from engine.pddl.model import Domain, Predicate, Problem
from engine.pddl.problem_checks import check_problem
from engine.pddl.problem_reader import problem_from
from engine.pddl.sexpr import parse_file
from engine.pddl.unsupported import unsupported_for_task


def read_text(path: str | Path) -> str:
    return decode(read_bytes(path, "a PDDL file"), str(path))


def decode(data: bytes, path: str) -> str:
    where = Location(path or None)
    if not data.strip():
        raise UnreadableFileError("the file is empty", where, "choose a PDDL file with content")
    if b"\0" in data:
        raise UnreadableFileError(
            "this is not a text file", where, "choose a PDDL file; save UTF-16 text as UTF-8"
        )
    return text_of(data)


def text_of(data: bytes) -> str:
    """The text of any bytes: in UTF-8, or else in Latin-1, as in comments of old domains."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


@dataclass(frozen=True, slots=True)
class Report:
    """Everything found in a domain file and a problem file.

    The models are there whenever enough of the files could be read, errors or not.
    """

    domain: Domain | None
    problem: Problem | None
    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)  # by path
    is_complete: bool = False  # whether all names of the domain are known

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(item for item in self.diagnostics if item.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(item for item in self.diagnostics if item.severity is Severity.WARNING)

    @property
    def ok(self) -> bool:
        return not self.errors


def read_domain(path: str | Path) -> Domain:
    """Raises `UnreadableFileError` or `InvalidPddlError`, which carries every error."""
    return parse_domain(read_text(path), str(path))


def read_problem(path: str | Path, domain: Domain) -> Problem:
    """Raises `UnreadableFileError` or `InvalidPddlError`, which carries every error."""
    return parse_problem(read_text(path), domain, str(path))


def parse_domain(text: str, path: str = "") -> Domain:
    domain, found, _ = _domain(text, path)
    raise_errors(found)
    assert domain is not None  # without errors there is a model
    return domain


def parse_problem(text: str, domain: Domain | None, path: str = "") -> Problem:
    """Parse a problem; without a domain only the syntax is checked."""
    problem, found = _problem(text, domain, path)
    raise_errors(found)
    assert problem is not None  # without errors there is a model
    return problem


def check_files(domain_path: str | Path, problem_path: str | Path | None = None) -> Report:
    """Read both files as far as possible and report everything; raises nothing."""
    texts: dict[str, str] = {}
    found: list[Diagnostic] = []
    for path in (domain_path, problem_path):
        if path is not None:
            try:
                texts[str(path)] = read_text(path)
            except UnreadableFileError as error:
                found.append(Diagnostic.of_error(error))
    domain_text = texts.get(str(domain_path))
    problem_text = texts.get(str(problem_path)) if problem_path is not None else None
    report = check_texts(domain_text, problem_text, str(domain_path), str(problem_path or ""))
    return replace(report, diagnostics=(*found, *report.diagnostics), texts=texts)


def check_problem_file(domain: Report, path: str | Path) -> Report:
    """Report on a problem alone, of a domain that `check_files` has read; raises nothing."""
    try:
        text = read_text(path)
    except UnreadableFileError as error:
        return replace(domain, diagnostics=(Diagnostic.of_error(error),))
    problem, found = _problem(text, domain.domain if domain.is_complete else None, str(path))
    report = Report(domain.domain, problem, tuple(found), {str(path): text}, domain.is_complete)
    if domain.domain is None or not (domain.is_complete and domain.ok and report.ok):
        return report
    unsupported = unsupported_for_task(domain.domain, problem)
    own = [item for item in unsupported if item.location.file == str(path)]
    return replace(report, diagnostics=(*found, *own))


def check_texts(
    domain_text: str | None,
    problem_text: str | None = None,
    domain_path: str = "",
    problem_path: str = "",
) -> Report:
    """Check text that is not in a file, or not yet saved, as `check_files` does."""
    domain: Domain | None = None
    problem: Problem | None = None
    found: list[Diagnostic] = []
    trusted = False
    if domain_text is not None:
        domain, found, trusted = _domain(domain_text, domain_path)
    if problem_text is not None:
        problem, more = _problem(problem_text, domain if trusted else None, problem_path)
        found = found + more
    if domain is not None and trusted and not any(i.severity is Severity.ERROR for i in found):
        found = found + unsupported_for_task(domain, problem)
    texts = {domain_path: domain_text or "", problem_path: problem_text or ""}
    return Report(domain, problem, tuple(found), texts, trusted)


def _domain(text: str, path: str) -> tuple[Domain | None, list[Diagnostic], bool]:
    """The model as far as it could be read, what was found, and whether its names are complete."""
    diagnostics = Diagnostics(path)
    try:
        domain, trusted = domain_from(parse_file(text), diagnostics)
    except MalformedError as malformed:
        diagnostics.error(malformed.position, malformed.message, malformed.hint)
        return None, diagnostics.found, False
    found = diagnostics.found + (check_domain(domain) if trusted else [])
    predicates: dict[str, Predicate] = {}
    for item in domain.predicates:
        predicates.setdefault(item.name, item)
    return replace(domain, predicates=tuple(predicates.values())), _in_order(found), trusted


def _problem(
    text: str, domain: Domain | None, path: str
) -> tuple[Problem | None, list[Diagnostic]]:
    """As `_domain`; without a domain only the syntax is checked."""
    diagnostics = Diagnostics(path)
    try:
        read = problem_from(parse_file(text), diagnostics)
    except MalformedError as malformed:
        diagnostics.error(malformed.position, malformed.message, malformed.hint)
        return None, diagnostics.found
    found = diagnostics.found
    if domain is not None and read.trusted:
        found = found + check_problem(read.problem, domain, read.denied)
    return read.problem, _in_order(found)


def _in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics in the order of the file, each once."""
    once = dict.fromkeys(found)
    return sorted(once, key=lambda item: (item.location.line or 0, item.location.column or 0))
