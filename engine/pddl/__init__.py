"""The lifted model: read, check, print and compare PDDL domains and problems."""

from engine.pddl.costs import without_costs
from engine.pddl.definition import definition_kind
from engine.pddl.diagnostics import Diagnostic, InvalidPddlError, Severity, raise_errors
from engine.pddl.domain_checks import check_domain
from engine.pddl.model import Domain, Problem
from engine.pddl.printer import (
    format_action,
    format_condition,
    format_domain,
    format_effect,
    format_problem,
    format_typed_list,
)
from engine.pddl.problem_checks import check_problem
from engine.pddl.reader import (
    Report,
    check_files,
    check_problem_file,
    check_texts,
    parse_domain,
    parse_problem,
    read_domain,
    read_problem,
)
from engine.pddl.traversal import static_predicates
from engine.pddl.types import Types, objects_of_type
from engine.pddl.unsupported import unsupported_for_task

__all__ = [
    "Diagnostic",
    "Domain",
    "InvalidPddlError",
    "Problem",
    "Report",
    "Severity",
    "Types",
    "check_domain",
    "check_files",
    "check_problem",
    "check_problem_file",
    "check_texts",
    "definition_kind",
    "format_action",
    "format_condition",
    "format_domain",
    "format_effect",
    "format_problem",
    "format_typed_list",
    "objects_of_type",
    "parse_domain",
    "parse_problem",
    "raise_errors",
    "read_domain",
    "read_problem",
    "static_predicates",
    "unsupported_for_task",
    "without_costs",
]
