"""What a problem must satisfy beyond its syntax, given its domain."""

from __future__ import annotations

from collections.abc import Sequence

from engine.pddl.costs import check_missing_values
from engine.pddl.diagnostics import Diagnostic, Diagnostics
from engine.pddl.model import Atom, Domain, Equality, FunctionTerm, Increase, Problem
from engine.pddl.name_checks import Vocabulary, check_duplicates
from engine.pddl.requirements import check_requirements
from engine.pddl.traversal import subconditions, subeffects


def check_problem(
    problem: Problem, domain: Domain, denied: Sequence[Atom] = ()
) -> list[Diagnostic]:
    """`denied` are the negated facts of :init, which the model leaves out."""
    diagnostics = Diagnostics(problem.path)
    vocabulary = Vocabulary(domain, problem, diagnostics)
    if problem.domain_name not in ("", domain.name):  # that it is missing was said already
        diagnostics.error(
            problem.domain_position,
            f"this problem is for the domain '{problem.domain_name}', "
            f"but the domain given is '{domain.name}'",
            "choose the domain file this problem was written for",
        )
    _check_objects(problem, domain, vocabulary, diagnostics)
    for atom in (*problem.init, *denied):
        _check_fact(atom, vocabulary, diagnostics)
    _check_values(problem, vocabulary, diagnostics)
    vocabulary.check_condition(problem.goal, vocabulary.objects)
    _check_goal(problem, diagnostics)
    check_requirements(domain, problem, diagnostics)
    _check_metric(problem, domain, diagnostics)
    check_missing_values(domain, problem, diagnostics)
    return diagnostics.found


def _check_objects(
    problem: Problem, domain: Domain, vocabulary: Vocabulary, diagnostics: Diagnostics
) -> None:
    check_duplicates(((o.name, o.position) for o in problem.objects), "object", diagnostics)
    vocabulary.check_types(problem.objects)
    constants = {item.name for item in domain.constants}
    for item in problem.objects:
        if item.name in constants:
            diagnostics.error(
                item.position,
                f"the object '{item.name}' is already a constant of the domain",
                "remove it from :objects",
            )


def _check_fact(atom: Atom, vocabulary: Vocabulary, diagnostics: Diagnostics) -> None:
    if _is_ground(atom, diagnostics):
        vocabulary.check_atom(atom, vocabulary.objects)
        vocabulary.refuse_derived(atom, ":init", "it cannot be set")


def _is_ground(item: Atom | FunctionTerm, diagnostics: Diagnostics) -> bool:
    variable = next((term for term in item.arguments if term.is_variable), None)
    if variable:
        diagnostics.error(
            variable.position,
            f"the variable '{variable.name}' appears in :init",
            "facts are about objects: write the name of an object",
        )
    return variable is None


def _check_values(problem: Problem, vocabulary: Vocabulary, diagnostics: Diagnostics) -> None:
    for entry in problem.values:
        if _is_ground(entry.function, diagnostics):
            vocabulary.check_function_term(entry.function, vocabulary.objects)
        if entry.value < 0:
            diagnostics.error(
                entry.position, f"the value of {entry.function} is negative", "costs are 0 or more"
            )


def _check_goal(problem: Problem, diagnostics: Diagnostics) -> None:
    is_there = problem.goal.position.line > 0  # that it is missing was said already
    facts = [part for part in subconditions(problem.goal) if isinstance(part, Atom | Equality)]
    if is_there and not facts:
        diagnostics.warning(
            problem.goal.position,
            "the goal is empty: every state is a goal, so there is nothing to test",
            "add a fact to reach",
            is_idle=True,
        )


def _check_metric(problem: Problem, domain: Domain, diagnostics: Diagnostics) -> None:
    costs = [
        effect
        for action in domain.actions
        for effect in subeffects(action.effect)
        if isinstance(effect, Increase)
    ]
    if problem.metric and not costs:
        diagnostics.warning(
            problem.metric.position,
            "the metric minimizes costs, but no action has a cost, so every plan costs 0",
            "remove the metric to count actions",
            about_costs=True,
        )
    elif costs and not problem.metric:
        diagnostics.warning(
            problem.position,
            "the actions have costs, but the problem has no metric, so every action costs 1",
            "add '(:metric minimize (total-cost))' if the costs should count",
            about_costs=True,
        )
