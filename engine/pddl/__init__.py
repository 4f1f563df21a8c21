"""The lifted model: read, check, print and compare PDDL domains and problems."""

from engine.pddl.costs import without_costs
from engine.pddl.diagnostics import Diagnostic, InvalidPddlError, Severity
from engine.pddl.model import Domain, Problem
from engine.pddl.printer import (
    format_condition,
    format_domain,
    format_effect,
    format_problem,
    format_typed_list,
)
from engine.pddl.reader import (
    Report,
    check_files,
    check_texts,
    parse_domain,
    parse_problem,
    read_domain,
    read_problem,
)
from engine.pddl.refusals import unsupported_for_task
from engine.pddl.types import Types, objects_of_type
from engine.pddl.walk import static_predicates

__all__ = [
    "Diagnostic",
    "Domain",
    "InvalidPddlError",
    "Problem",
    "Report",
    "Severity",
    "Types",
    "check_files",
    "check_texts",
    "format_condition",
    "format_domain",
    "format_effect",
    "format_problem",
    "format_typed_list",
    "objects_of_type",
    "parse_domain",
    "parse_problem",
    "read_domain",
    "read_problem",
    "static_predicates",
    "unsupported_for_task",
    "without_costs",
]
