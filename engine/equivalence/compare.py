"""Functional equivalence of two domain models (D-VAL), decided exactly.

Two domains are equivalent if some bijection of their predicates makes their reach sets equal for
every set of objects. Unlike the paper, covers may split cases, need not match the numbers of
preconditions and effects, and have no bound on their length.
See docs/theory/equivalence.md, "Definition".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from engine.equivalence.budget import Budget, LimitExceededError, Limits
from engine.equivalence.certificate import Names
from engine.equivalence.counterexample import build_counterexample, find_obstacle
from engine.equivalence.mapping_search import Failure, MappingSearch, Outcome, fixed_types
from engine.equivalence.schemas import LiftedModel, constants_of, lift
from engine.equivalence.sorts import TypeMatch, find_isomorphism, match_types, possible_types
from engine.errors import CancelledError, UnsupportedError
from engine.pddl.model import Domain
from engine.records.comparison import (
    Comparison,
    Effort,
    EquivalenceVerdict,
    MacroStep,
    Obstacle,
    Parameters,
    ReadingResult,
)
from engine.records.events import ComparisonEvent, StageStarted

BOTH = (Parameters.DISTINCT, Parameters.PDDL)
MOST_TYPES = 300
MAX_MACROS = 100
"""Shortest macros that are listed for one operator."""
NOT_PERMUTED = "whether they are equivalent with permuted arguments is not known"
EQUIVALENT = "every action of either domain can be done by actions of the other"


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """`limits` hold for all readings together."""

    parameters: tuple[Parameters, ...] = BOTH
    permute_arguments: bool = False
    all_macros: bool = False
    limits: Limits = field(default_factory=Limits)


def _silent(event: ComparisonEvent) -> None:
    del event


def compare_domains(
    first: Domain,
    second: Domain,
    options: CompareOptions | None = None,
    emit: Callable[[ComparisonEvent], None] = _silent,
    cancelled: Callable[[], bool] = lambda: False,
) -> Comparison:
    """Compare under every reading asked for. A stop request leaves its reading undecided.

    `cancelled` is asked several times per tenth of a second, sometimes from a second thread.
    """
    options = options or CompareOptions()
    budget = Budget(options.limits, cancelled)
    readings: list[ReadingResult] = []
    stopped = False
    for parameters in options.parameters:
        before = Effort(states=budget.states, seconds=budget.seconds)
        try:
            if stopped:
                raise CancelledError
            reading = _Reading((first, second), parameters, options, budget, emit).run()
        except CancelledError:
            stopped = True
            reading = ReadingResult(parameters, EquivalenceVerdict.UNDECIDED, "stopped on request")
        except UnsupportedError as error:
            reading = ReadingResult(parameters, EquivalenceVerdict.UNDECIDED, str(error))
        except LimitExceededError as error:
            reading = ReadingResult(parameters, EquivalenceVerdict.UNDECIDED, str(error))
        effort = replace(
            reading.effort,
            states=budget.states - before.states,
            seconds=budget.seconds - before.seconds,
        )
        readings.append(replace(reading, effort=effort))
    return Comparison(tuple(readings), budget.seconds, stopped or cancelled())


class _Reading:
    """One reading of the parameters, from the domains to the result."""

    def __init__(
        self,
        domains: tuple[Domain, Domain],
        parameters: Parameters,
        options: CompareOptions,
        budget: Budget,
        emit: Callable[[ComparisonEvent], None],
    ) -> None:
        self._domains = domains
        self._parameters = parameters
        self._options = options
        self._budget = budget
        self._emit = emit

    def run(self) -> ReadingResult:
        self._budget.look()
        self._emit(StageStarted(self._parameters, "operators"))
        constants = constants_of(*self._domains)
        models = lift(self._domains[0], constants), lift(self._domains[1], constants)
        notes = _notes(models)
        difference = explain_counts(models)
        if difference:
            return ReadingResult(
                self._parameters,
                EquivalenceVerdict.NOT_EQUIVALENT,
                difference,
                notes=notes,
                obstacle=Obstacle.NO_BIJECTION,
            )
        match = match_types(*self._domains)
        refusal = match.refusal or _no_isomorphism(models, match)
        if refusal:
            return ReadingResult(
                self._parameters, EquivalenceVerdict.UNDECIDED, refusal, notes=notes
            )
        result = self._search(models, match, permute=False)
        if self._options.permute_arguments and result.verdict is EquivalenceVerdict.NOT_EQUIVALENT:
            result = self._with_permutations(result, models, match)
        return replace(result, notes=(*notes, *result.notes))

    def _with_permutations(
        self, result: ReadingResult, models: tuple[LiftedModel, LiftedModel], match: TypeMatch
    ) -> ReadingResult:
        """The result with permuted arguments if it is another one; a limit or a stop changes none.

        What was proven without permutations stays true.
        """
        try:
            permuted = self._search(models, match, permute=True)
        except CancelledError:
            unknown = "stopped on request"
        except LimitExceededError as limit:
            unknown = str(limit)
        else:
            unknown = permuted.reason
            if permuted.verdict is EquivalenceVerdict.EQUIVALENT:
                return permuted
            if permuted.verdict is EquivalenceVerdict.NOT_EQUIVALENT:
                return result
        return replace(result, notes=(f"{NOT_PERMUTED}: {unknown}",))

    def _search(
        self, models: tuple[LiftedModel, LiftedModel], match: TypeMatch, *, permute: bool
    ) -> ReadingResult:
        search = MappingSearch(
            models,
            match,
            distinct=self._parameters is Parameters.DISTINCT,
            permute=permute,
            budget=self._budget,
            emit=self._emit,
        )
        outcome = search.run()
        names = Names(models, match, search.directions)
        best = outcome.best
        result = ReadingResult(
            self._parameters,
            EquivalenceVerdict.EQUIVALENT,
            EQUIVALENT,
            mapping=names.predicate_pairs(best.candidate),
            types=names.type_pairs(best.candidate),
            operators=names.operator_covers(
                best,
                self._budget.look_for_stop,
                MAX_MACROS if self._options.all_macros else 0,
            ),
            a_within_b=not any(failure.direction == 0 for failure in best.failures),
            b_within_a=not any(failure.direction == 1 for failure in best.failures),
            effort=Effort(outcome.candidates, outcome.learned),
        )
        if outcome.equivalent:
            permuted = [
                f"{pair.b} (arguments {pair.places})" for pair in result.mapping if pair.permuted
            ]
            if permuted:
                reason = f"equivalent if arguments are permuted: {', '.join(permuted)}"
                return replace(result, reason=reason)
            return result
        return self._refuted(result, outcome, search, names)

    def _refuted(
        self, result: ReadingResult, outcome: Outcome, search: MappingSearch, names: Names
    ) -> ReadingResult:
        """Show the failure with the fewest objects, and why no other mapping helps."""
        self._emit(StageStarted(self._parameters, "counterexample"))

        def size(failure: Failure) -> int:
            instance = search.directions[failure.direction].instance(
                failure.operator, failure.instance
            )
            return len(instance.sorts)

        shown = min(outcome.best.failures, key=size)
        side = shown.direction
        coverage = search.directions[side]
        schema = coverage.covered.schemas[shown.operator]
        instance = coverage.instance(shown.operator, shown.instance)
        objects = names.objects(schema, instance)
        pairs = search.renaming(outcome.best.candidate, side)
        state = (names.atom(1 - side, atom, objects) for atom in shown.gap.state)
        counterexample = build_counterexample(
            self._domains,
            result.mapping,
            things=names.things(side, schema, instance, pairs),
            side=side,
            action=MacroStep(schema.name, tuple(objects[value] for value in instance.arguments)),
            state=frozenset((a.predicate, *(term.name for term in a.arguments)) for a in state),
            distinct=self._parameters is Parameters.DISTINCT,
            look=self._budget.look_for_stop,
        )
        one, other = "AB"[side], "BA"[side]
        action = "(" + " ".join((schema.name, *schema.parameters)) + ")"
        failing = f"{other} cannot do what {action} of {one} does"
        verdict, reason = (
            EquivalenceVerdict.NOT_EQUIVALENT,
            f"{failing}; no mapping of the predicates helps",
        )
        obstacle, blocked = None, ""
        if not outcome.unfinished:
            obstacle, blocked = find_obstacle(search, outcome, self._budget)
        if outcome.unfinished:
            verdict = EquivalenceVerdict.UNDECIDED
            reason = (
                f"{outcome.unfinished}; under the closest mapping {failing}, "
                "but other mappings of the predicates are not excluded"
            )
        return replace(
            result,
            verdict=verdict,
            reason=reason,
            counterexample=counterexample,
            exclusions=tuple(names.exclusion(conflict) for conflict in outcome.conflicts),
            obstacle=obstacle,
            blocked=blocked,
        )


def _notes(models: tuple[LiftedModel, LiftedModel]) -> tuple[str, ...]:
    notes = [f"{side}: {note}" for side, m in zip("AB", models, strict=True) for note in m.notes]
    declared = [{constant.name for constant in model.domain.constants} for model in models]
    for side, names in (("A", declared[0] - declared[1]), ("B", declared[1] - declared[0])):
        if names:
            listed = ", ".join(sorted(names))
            notes.append(f"constants go by name; only {side} has {listed}")
    return tuple(notes)


def explain_counts(models: tuple[LiftedModel, LiftedModel]) -> str:
    """Why there is no bijection of the predicates at all, or nothing."""
    counts = [Counter(model.arities) for model in models]
    arity = next((n for n in sorted(counts[0] | counts[1]) if counts[0][n] != counts[1][n]), None)
    if arity is None:
        return ""
    arguments = "1 argument" if arity == 1 else f"{arity} arguments"
    text = (
        f"A has {counts[0][arity]} and B has {counts[1][arity]} predicates with {arguments}, "
        "so they cannot be mapped one to one"
    )
    for mine, theirs in ((0, 1), (1, 0)):
        names, others = (set(models[side].predicates) for side in (mine, theirs))
        if names - others:
            text += f"; only {'AB'[mine]} has {', '.join(sorted(names - others))}"
        types = {entry.name for entry in models[theirs].domain.types}
        turned = sorted(types & names - others)
        if turned:
            text += f" ({', '.join(turned)}: a type in {'AB'[theirs]}, a predicate in {'AB'[mine]})"
    return text


def _no_isomorphism(models: tuple[LiftedModel, LiftedModel], match: TypeMatch) -> str:
    """Types that do not go by name must have an isomorphism; and constants must follow it."""
    if match.by_name:
        return ""
    if len(match.first_types) > MOST_TYPES:
        return f"{len(match.first_types)} types with different names are too many to match"
    declared = [{constant.name for constant in model.domain.constants} for model in models]
    alone = sorted(declared[0] ^ declared[1])
    if alone:
        return f"the types have different names and only one domain has the constant {alone[0]}"
    if find_isomorphism(match, possible_types(match, fixed_types(models))) is None:
        return "the type hierarchies of A and B do not correspond under any renaming"
    return ""
