"""Are names known, and are they used with the right number and types of arguments?

The Fast Downward translator looks at names and arity only. An argument that can never have the
right type is an error here; one that may have it (its type is more general) is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine.pddl.diagnostics import Diagnostics
from engine.pddl.model import (
    TOTAL_COST,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    Equality,
    Exists,
    Forall,
    Function,
    FunctionTerm,
    Imply,
    Increase,
    Not,
    Or,
    Position,
    Predicate,
    Problem,
    Term,
    TypedName,
    When,
)
from engine.pddl.printer import format_type
from engine.pddl.types import Fit, Types

Scope = Mapping[str, tuple[str, ...]]
"""The types of every variable and object that may be named."""


class Vocabulary:
    """The names of a domain, and of a problem if there is one, and how they may be used."""

    def __init__(self, domain: Domain, problem: Problem | None, diagnostics: Diagnostics) -> None:
        self.types = Types.of(domain)
        self.predicates = {item.name: item for item in domain.predicates}
        self.functions = {item.name: item for item in domain.functions}
        self.derived = {rule.predicate.name: rule for rule in domain.derived}
        declared = (*domain.constants, *(problem.objects if problem else ()))
        self.objects: dict[str, tuple[str, ...]] = {item.name: item.types for item in declared}
        self.diagnostics = diagnostics

    def check_types(self, names: Iterable[TypedName]) -> None:
        for item in names:
            for name in item.types:
                if name not in self.types:
                    hint = self.diagnostics.similar(name, self.types.names, "declare it in :types")
                    self.diagnostics.error(item.type_position, f"unknown type '{name}'", hint)

    def extended(self, scope: Scope, names: Sequence[TypedName]) -> Scope:
        """The scope inside a quantifier."""
        self.check_types(names)
        return {**scope, **{item.name: item.types for item in names}}

    def check_condition(self, condition: Condition, scope: Scope) -> None:
        match condition:
            case Atom():
                self.check_atom(condition, scope)
            case Equality(left, right):
                self._known_types(left, scope)
                self._known_types(right, scope)
            case Not(part):
                self.check_condition(part, scope)
            case And(parts) | Or(parts):
                for part in parts:
                    self.check_condition(part, scope)
            case Imply(premise, conclusion):
                self.check_condition(premise, scope)
                self.check_condition(conclusion, scope)
            case Forall(names, part) | Exists(names, part):
                self.check_condition(part, self.extended(scope, names))

    def check_effect(self, effect: Effect, scope: Scope) -> None:
        match effect:
            case Add(atom) | Delete(atom):
                self.check_atom(atom, scope)
                self.refuse_derived(atom, "an effect", "actions cannot change it")
            case EffectAnd(parts):
                for part in parts:
                    self.check_effect(part, scope)
            case EffectForall(names, part):
                self.check_effect(part, self.extended(scope, names))
            case When(condition, part):
                self.check_condition(condition, scope)
                self.check_effect(part, scope)
            case Increase(target, amount):
                self.check_function_term(target, scope)
                if isinstance(amount, FunctionTerm):
                    self.check_function_term(amount, scope)

    def refuse_derived(self, atom: Atom, place: str, reason: str) -> None:
        rule = self.derived.get(atom.predicate)
        if rule:
            self.diagnostics.error(
                atom.position,
                f"the derived predicate '{atom.predicate}' appears in {place}",
                f"{reason}: it follows from the rule in line {rule.position.line} of the domain",
            )

    def check_atom(self, atom: Atom, scope: Scope) -> None:
        predicate = self.predicates.get(atom.predicate)
        if predicate is None:
            self._unknown_predicate(atom)
        self._check_arguments(predicate, "predicate", atom, scope)

    def _unknown_predicate(self, atom: Atom) -> None:
        otherwise = "declare it in :predicates"
        if atom.predicate in self.types and len(atom.arguments) == 1:
            otherwise = (
                "this is a type, not a predicate: give it to the variable where that is declared"
            )
        hint = self.diagnostics.similar(atom.predicate, self.predicates, otherwise)
        self.diagnostics.error(atom.position, f"unknown predicate '{atom.predicate}'", hint)

    def check_function_term(self, term: FunctionTerm, scope: Scope) -> None:
        function = self.functions.get(term.name)
        if function is None and term.name == TOTAL_COST:
            self.diagnostics.warning(
                term.position,
                f"the function '{TOTAL_COST}' is not declared",
                f"add '(:functions ({TOTAL_COST}) - number)'",
            )
        elif function is None:
            hint = self.diagnostics.similar(term.name, self.functions, "declare it in :functions")
            self.diagnostics.error(term.position, f"unknown function '{term.name}'", hint)
        self._check_arguments(function, "function", term, scope)

    def _check_arguments(
        self,
        declared: Predicate | Function | None,
        what: str,
        used: Atom | FunctionTerm,
        scope: Scope,
    ) -> None:
        given = [self._known_types(term, scope) for term in used.arguments]
        if declared is None:
            return
        asked = declared.parameters
        if len(given) != len(asked):
            self.diagnostics.error(
                used.position,
                f"the {what} '{declared.name}' takes {count_arguments(len(asked))} "
                f"but has {len(given)} here",
                f"write {_form(declared)}",
            )
            return
        for term, types, parameter in zip(used.arguments, given, asked, strict=True):
            self._check_type(term, types, parameter, declared)

    def _check_type(
        self,
        term: Term,
        given: tuple[str, ...],
        parameter: TypedName,
        declared: Predicate | Function,
    ) -> None:
        if not all(name in self.types for name in (*given, *parameter.types)):
            return  # unknown types are reported where they are written
        fit = self.types.fit(given, parameter.types)
        if fit is Fit.ALWAYS:
            return
        report = self.diagnostics.error if fit is Fit.NEVER else self.diagnostics.warning
        report(
            term.position,
            f"'{term.name}' has the type '{format_type(given)}', "
            f"but '{declared.name}' asks for '{format_type(parameter.types)}' here",
            "use another argument or change one of the types",
        )

    def _known_types(self, term: Term, scope: Scope) -> tuple[str, ...]:
        """The types of a term; of an unknown one nothing, so that it fits everywhere."""
        types = scope.get(term.name)
        if types is not None:
            return types
        if term.is_variable:
            variables = (name for name in scope if name.startswith("?"))
            hint = self.diagnostics.similar(
                term.name, variables, "declare it as a parameter or in a quantifier"
            )
            self.diagnostics.error(term.position, f"unknown variable '{term.name}'", hint)
        else:
            names = (name for name in scope if not name.startswith("?"))
            hint = self.diagnostics.similar(
                term.name, names, "declare it in :objects or :constants"
            )
            self.diagnostics.error(term.position, f"unknown object '{term.name}'", hint)
        return ()


def check_duplicates(
    names: Iterable[tuple[str, Position]], what: str, diagnostics: Diagnostics
) -> None:
    seen: dict[str, Position] = {}
    for name, position in names:
        if name in seen:
            diagnostics.error(
                position,
                f"the {what} '{name}' is declared twice",
                f"remove or rename this or the one in line {seen[name].line}",
            )
        else:
            seen[name] = position


def count_arguments(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments" if number else "no arguments"


def _form(declared: Predicate | Function) -> str:
    words = [declared.name]
    for parameter in declared.parameters:
        words += [parameter.name, "-", format_type(parameter.types)]
    return f"'({' '.join(words)})'"
